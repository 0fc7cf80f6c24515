#include "svmp.h"

const char *svmp_status_text(svmp_status status) {
    switch (status) {
#define TEXT(name, number, text)                                                                                       \
    case SVMP_##name: return text;
        SVMP_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

const char *svmp_outcome_text(svmp_outcome outcome) {
    switch (outcome) {
#define TEXT(name, number, text)                                                                                       \
    case SVMP_##name: return text;
        SVMP_OUTCOME_LIST(TEXT)
#undef TEXT
    }
    return "unknown outcome";
}
