#include "base/csv_field.h"

#include <string.h>

static int is_blank(char byte) { return byte == ' ' || byte == '\t'; }

/* The quotation mark that closes the field; NULL: there is none. */
static const char *closing_quote(const char *at, const char *end) {
    while ((at = memchr(at, '"', (size_t)(end - at))) && at + 1 < end && at[1] == '"') at += 2;
    return at;
}

const char *svmp_csv_field(const char *at, const char *end, csv_field *field) {
    while (at < end && is_blank(*at)) at++;
    if (at < end && *at == '"') {
        const char *quote = closing_quote(at + 1, end);
        *field = (csv_field){at + 1, quote ? quote : end};
        for (at = quote ? quote + 1 : NULL; at && at < end && is_blank(*at);) at++;
        return at;
    }
    const char *comma = memchr(at, ',', (size_t)(end - at));
    *field = (csv_field){at, comma ? comma : end};
    while (field->end > at && is_blank(field->end[-1])) field->end--;
    return comma ? comma : end;
}

char *svmp_csv_unquote(char *start, const char *end) {
    char *to = start;
    for (const char *from = start; from < end; from++) {
        *to++ = *from;
        from += *from == '"' && from + 1 < end && from[1] == '"';
    }
    return to;
}
