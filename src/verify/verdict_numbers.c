/* The verdict as an object, its numbers and its word. */
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

svmp_status svmp_verdict_examination(const svmp_verdict *verdict, svmp_examination *numbers) {
    if (verdict == NULL || numbers == NULL) return SVMP_BAD_CALL;
    *numbers = (svmp_examination){.particles = verdict->particles,
                                  .variables = verdict->variables,
                                  .leaves = verdict->leaves,
                                  .moves = verdict->moves,
                                  .seconds = verdict->seconds,
                                  .limit = verdict->limit,
                                  .unmixed = verdict->unmixed,
                                  .slowest = verdict->slowest,
                                  .drifting = verdict->drifting,
                                  .small = verdict->small,
                                  .searched = verdict->searched,
                                  .local = verdict->local,
                                  .chains = verdict->chains,
                                  .every = verdict->every,
                                  .r_hat = verdict->r_hat,
                                  .draws = verdict->draws};
    return SVMP_OK;
}

int svmp_verdict_drift(const svmp_verdict *verdict, size_t k, svmp_drift *drift) {
    if (verdict == NULL || drift == NULL || k >= verdict->drifts) return 0;
    *drift = verdict->drift[k];
    return 1;
}

int svmp_verdict_is_clear(const svmp_verdict *verdict) {
    return verdict && verdict->finding == SVMP_FINDING_PASSED && verdict->veto == SVMP_NOTE_NONE;
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
    if (verdict->finding == SVMP_FINDING_FAILED || verdict->veto == SVMP_NOTE_NONE)
        return finding_word(verdict->finding);
    if (svmp_veto_is_uncertain(verdict->veto)) return "uncertain";
    return verdict->veto == SVMP_NOTE_FEW_PARTICLES ? finding_word(SVMP_FINDING_NOT_EXAMINED) : "not converged";
}
