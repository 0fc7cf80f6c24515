/* The verdict as an object, and the numbers in it by name. */
#include <math.h>
#include <string.h>

#include "verify/verdict_inside.h"

svmp_status svmp_verdict_create(svmp_context *context, svmp_verdict **verdict) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (verdict == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_verdict_create: the verdict is NULL.");
    *verdict = NULL;
    SVMP_TRY(SVMP_NEW(context, *verdict, 1));
    **verdict = (svmp_verdict){.context = context,
                               .unexamined = SVMP_UNEXAMINED_UNASKED,
                               .limit = NAN,
                               .slowest = NAN,
                               .r_hat = NAN,
                               .draws = NAN};
    return SVMP_OK;
}

void svmp_verdict_free(svmp_verdict *verdict) {
    if (verdict) svmp_release(verdict->context, verdict);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

typedef enum number_kind { NUMBER_COUNT, NUMBER_REAL, NUMBER_WORD } number_kind;

typedef struct number_row {
    const char *name;
    size_t offset;
    number_kind kind;
} number_row;

#define COUNT(field)                                                                                                   \
    { #field, offsetof(svmp_verdict, field), NUMBER_COUNT }
#define REAL(field)                                                                                                    \
    { #field, offsetof(svmp_verdict, field), NUMBER_REAL }
#define WORD(field)                                                                                                    \
    { #field, offsetof(svmp_verdict, field), NUMBER_WORD }

static const number_row numbers[] = {
    WORD(finding),    WORD(unexamined), WORD(veto),      WORD(unrest), REAL(veto_amount), COUNT(veto_count),
    COUNT(particles), COUNT(variables), COUNT(leaves),   COUNT(moves), REAL(seconds),     REAL(limit),
    COUNT(unmixed),   REAL(slowest),    COUNT(drifting), COUNT(small), WORD(searched),    WORD(local),
    COUNT(chains),    COUNT(every),     REAL(r_hat),     REAL(draws),
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* An enum is read as an int, which C lets it differ from. */
_Static_assert(sizeof(svmp_finding) == sizeof(int) && sizeof(svmp_veto) == sizeof(int) &&
                   sizeof(svmp_unexamined) == sizeof(int) && sizeof(svmp_unrest) == sizeof(int),
               "an enum of the verdict is not as wide as an int");

const char *svmp_verdict_number_name(size_t k) { return k < NUMBERS ? numbers[k].name : NULL; }

double svmp_verdict_number(const svmp_verdict *verdict, const char *name) {
    size_t k = 0;
    while (k < NUMBERS && name && strcmp(numbers[k].name, name) != 0) k++;
    if (verdict == NULL || name == NULL || k == NUMBERS) return NAN;
    const char *at = (const char *)verdict + numbers[k].offset;
    size_t count;
    double real;
    int word;
    switch (numbers[k].kind) {
    case NUMBER_COUNT: return memcpy(&count, at, sizeof count), (double)count;
    case NUMBER_REAL: return memcpy(&real, at, sizeof real), real;
    case NUMBER_WORD: return memcpy(&word, at, sizeof word), (double)word;
    }
    return NAN;
}

int svmp_verdict_drift(const svmp_verdict *verdict, size_t k, svmp_drift *drift) {
    if (verdict == NULL || drift == NULL || k >= verdict->drifts) return 0;
    *drift = verdict->drift[k];
    return 1;
}

int svmp_verdict_is_clear(const svmp_verdict *verdict) {
    return verdict && verdict->finding == SVMP_FINDING_PASSED && verdict->veto == SVMP_VETO_NONE;
}

static const char *finding_word(svmp_finding finding) {
    switch (finding) {
    case SVMP_FINDING_NOT_EXAMINED: return "not examined";
    case SVMP_FINDING_PASSED: return "passed";
    case SVMP_FINDING_FAILED: return "failed";
    case SVMP_FINDING_UNDECIDED: return "undecided";
    }
    return "unknown";
}

const char *svmp_verdict_word(const svmp_verdict *verdict) {
    if (verdict == NULL) return "";
    if (verdict->finding == SVMP_FINDING_FAILED || verdict->veto == SVMP_VETO_NONE)
        return finding_word(verdict->finding);
    return verdict->veto == SVMP_VETO_FEW ? finding_word(SVMP_FINDING_NOT_EXAMINED) : "not converged";
}
