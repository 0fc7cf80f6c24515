/* What a verdict says, as notes: its result, the evidence, and facts beside it. verdict_advice.c adds what to do. */
#include <math.h>
#include <string.h>

#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

static void add_name(svmp_note *note, const char *name) { snprintf(note->name, sizeof note->name, "%.127s", name); }

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

static svmp_code code_of(const svmp_drift *d) {
    switch (d->aspect) {
    case SVMP_ASPECT_MEAN: return SVMP_NOTE_MEAN_DIFFERS;
    case SVMP_ASPECT_MEDIAN: return SVMP_NOTE_MEDIAN_DIFFERS;
    case SVMP_ASPECT_SPREAD: return d->effect > 1 ? SVMP_NOTE_SD_MULTIPLE : SVMP_NOTE_SD_DIFFERS;
    case SVMP_ASPECT_TAILS: return SVMP_NOTE_TAILS_DIFFER;
    case SVMP_ASPECT_SCORES: return SVMP_NOTE_SCORE_DIFFERS;
    case SVMP_ASPECT_ELSEWHERE: return SVMP_NOTE_DENSITY_ELSEWHERE;
    case SVMP_ASPECT_SHAPE: return SVMP_NOTE_QUANTILE_DIFFERS;
    case SVMP_ASPECT_CORRELATION:
        return isnan(d->level) ? SVMP_NOTE_CORRELATIONS_DIFFER : SVMP_NOTE_CORRELATION_DIFFERS;
    case SVMP_ASPECT_LOG_DENSITY: return SVMP_NOTE_DENSITY_DIFFERS;
    }
    return SVMP_NOTE_NONE;
}

static void add_drift(note_list *list, const svmp_drift *d) {
    svmp_note *note = svmp_note_add(list, code_of(d));
    add_name(note, d->name);
    note->amount = d->effect;
    note->limit = d->level;
    if (note->code == SVMP_NOTE_SD_MULTIPLE) note->amount = 1 + d->effect;
    if (note->code == SVMP_NOTE_CORRELATION_DIFFERS) note->amount = d->level + d->effect;
}

/* Whether another with its name comes before it: variables do, then larger ones. */
static int is_repeated(const svmp_verdict *v, size_t k) {
    const int all = v->drift[k].variable == SIZE_MAX;
    for (size_t j = 0; j < v->drifts; j++) {
        const int before = (v->drift[j].variable == SIZE_MAX) == all ? j < k : all;
        if (before && strcmp(v->drift[j].name, v->drift[k].name) == 0) return 1;
    }
    return 0;
}

/* The worst variables, each once; sums and the log density of all come last, where there is room. */
static void add_drifts(note_list *list, const svmp_verdict *v) {
    enum { NAMED = 3 };
    size_t named = 0, variables = 0;
    for (int all = 0; all < 2; all++)
        for (size_t k = 0; k < v->drifts && named < NAMED; k++) {
            if ((v->drift[k].variable == SIZE_MAX) != all || is_repeated(v, k)) continue;
            add_drift(list, &v->drift[k]);
            named++;
            variables += !all;
        }
    if (v->drifting <= variables) return;
    svmp_note *more = svmp_note_add(list, SVMP_NOTE_MORE_VARIABLES);
    more->count = v->drifting - variables;
    more->total = v->variables;
}

/* ---- the examination --------------------------------------------------------------------------------------------- */

static void add_count(note_list *list, svmp_code code, size_t count, size_t total) {
    svmp_note *note = svmp_note_add(list, code);
    note->count = count;
    note->total = total;
}

static void add_passed(note_list *list, const svmp_verdict *v) {
    svmp_note_add(list, SVMP_NOTE_PASSED);
    if (v->chains) {
        svmp_note *mixed = svmp_note_add(list, SVMP_NOTE_MIXED);
        mixed->amount = v->r_hat;
        mixed->limit = v->draws;
        mixed->total = v->variables;
    }
    if (v->moves) {
        svmp_note *unchanged =
            svmp_note_add(list, v->chains || v->of_draws ? SVMP_NOTE_DRAWS_UNCHANGED : SVMP_NOTE_UNCHANGED);
        unchanged->count = v->moves;
        unchanged->total = v->variables;
        unchanged->amount = (double)v->small;
        unchanged->limit = v->local;
    }
    if (v->leaves) add_count(list, SVMP_NOTE_LEAVES, v->leaves, 0);
    if (v->small) add_count(list, SVMP_NOTE_SMALL_CHANGES, v->small, v->variables);
    if (v->beyond) add_count(list, SVMP_NOTE_DISCREPANCY_CONFIRMED, v->beyond, v->nodes);
    if (v->chains && v->moves == 0)
        svmp_note_add(list, SVMP_NOTE_DRAWS_NOT_EXAMINED);
    else if (!v->searched)
        svmp_note_add(list, SVMP_NOTE_NOT_SEARCHED);
    if (v->chains == 1) svmp_note_add(list, SVMP_NOTE_ONE_CHAIN);
}

static void add_undecided(note_list *list, const svmp_verdict *v) {
    if (v->guessed > 0) {
        svmp_note *guessed = svmp_note_add(list, SVMP_NOTE_MODE_GUESSED);
        add_name(guessed, v->guessed_name);
        guessed->count = v->guessed;
        return;
    }
    svmp_note *note = svmp_note_add(list, v->unexamined == SVMP_UNEXAMINED_NONE          ? SVMP_NOTE_SLOW
                                          : v->unexamined == SVMP_UNEXAMINED_INTERRUPTED ? SVMP_NOTE_SLOW_INTERRUPTED
                                                                                         : SVMP_NOTE_SLOW_TIME);
    add_name(note, v->slowest_name);
    note->count = v->unmixed;
    note->total = v->variables;
    note->amount = (double)v->moves;
}

static svmp_code why_not(const svmp_verdict *v) {
    switch (v->unexamined) {
    case SVMP_UNEXAMINED_TIME: return SVMP_NOTE_NOT_EXAMINED_TIME;
    case SVMP_UNEXAMINED_BOXES: return SVMP_NOTE_NOT_EXAMINED_BOXES;
    case SVMP_UNEXAMINED_FAILED: return SVMP_NOTE_NOT_EXAMINED_ERROR;
    case SVMP_UNEXAMINED_INTERRUPTED: return SVMP_NOTE_NOT_EXAMINED_INTERRUPTED;
    case SVMP_UNEXAMINED_NONE:
    case SVMP_UNEXAMINED_UNASKED: return SVMP_NOTE_NOT_EXAMINED;
    }
    return SVMP_NOTE_NOT_EXAMINED;
}

static void add_finding(note_list *list, const svmp_verdict *v) {
    switch (v->finding) {
    case SVMP_FINDING_FAILED:
        svmp_note_add(list, v->chains || v->of_draws ? SVMP_NOTE_DRAWS_FAILED : SVMP_NOTE_FAILED);
        add_drifts(list, v);
        svmp_note_add(list, SVMP_NOTE_DO_NOT_USE_YET);
        return;
    case SVMP_FINDING_UNDECIDED: add_undecided(list, v); return;
    case SVMP_FINDING_PASSED: add_passed(list, v); return;
    case SVMP_FINDING_NOT_EXAMINED: svmp_note_add(list, why_not(v)); return;
    }
}

/* ---- vetoes ------------------------------------------------------------------------------------------------------ */

/* What a limit has to say. */
static double limit_of(const svmp_verdict *v) {
    double r_hat, draws;
    svmp_chains_limits(v->chains, v->each, &r_hat, &draws);
    switch (v->veto) {
    case SVMP_NOTE_DISCREPANCY: return (double)v->nodes > v->veto_amount;
    case SVMP_NOTE_FEW_PARTICLES: return v->veto_amount;
    case SVMP_NOTE_R_HAT: return r_hat;
    case SVMP_NOTE_FEW_DRAWS: return draws;
    case SVMP_NOTE_LOW_ENERGY: return least_energy;
    default: return svmp_veto_is_unsettled(v->veto) ? (double)v->iterations : 0;
    }
}

static void add_veto(note_list *list, const svmp_verdict *v) {
    const size_t amount = v->veto_amount >= 0 && v->veto_amount < 1e15 ? (size_t)v->veto_amount : 0;
    const int of_one = v->veto == SVMP_NOTE_R_HAT && v->chains == 1;
    svmp_note *note = svmp_note_add(list, of_one ? SVMP_NOTE_R_HAT_OF_ONE : v->veto);
    add_name(note, v->veto_name);
    note->count = v->veto_count;
    note->amount = v->veto_amount;
    note->limit = limit_of(v);
    if (svmp_veto_is_unsettled(v->veto)) note->total = v->variables + v->leaves;
    if (v->veto == SVMP_NOTE_FEW_DRAWS) note->amount = fmax(v->veto_amount, 0);
    if (v->veto == SVMP_NOTE_CHAIN_UNMOVED) note->count = amount, note->total = v->chains;
    if (v->veto == SVMP_NOTE_DISCREPANCY) note->count = amount, note->total = v->nodes;
    switch (v->veto) {
    case SVMP_NOTE_DISCREPANCY: svmp_note_add(list, SVMP_NOTE_DO_NOT_USE_YET); return;
    case SVMP_NOTE_CHAIN_UNMOVED:
    case SVMP_NOTE_NOT_FINITE:
    case SVMP_NOTE_SUM_TRUNCATED: svmp_note_add(list, SVMP_NOTE_DO_NOT_USE); return;
    case SVMP_NOTE_UNCERTAIN_MEAN:
    case SVMP_NOTE_UNCERTAIN_SD:
    case SVMP_NOTE_HEAVY_TAILS:
        if (v->finding == SVMP_FINDING_PASSED) svmp_note_add(list, SVMP_NOTE_REST_PASSED);
        return;
    default: return;
    }
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

static void add_modes(note_list *list, const svmp_verdict *v) {
    const size_t named = v->modes < VERDICT_MODES ? v->modes : VERDICT_MODES;
    double rest = 1;
    if (v->modes < 2) return;
    svmp_note_add(list, SVMP_NOTE_SEVERAL_MODES);
    for (size_t k = 0; k < named; k++) {
        svmp_note *note = svmp_note_add(list, SVMP_NOTE_MODE);
        add_name(note, v->mode_name);
        note->amount = v->mode[k].share;
        note->limit = v->mode[k].value;
        snprintf(note->value, sizeof note->value, "%.1f %%", 100 * v->mode[k].error);
        rest -= v->mode[k].share;
    }
    if (v->modes > named) {
        svmp_note *more = svmp_note_add(list, SVMP_NOTE_MORE_MODES);
        more->count = v->modes - named;
        more->amount = fmax(rest, 0);
    }
    if (v->starts == 0) return;
    svmp_note *ended = svmp_note_add(list, SVMP_NOTE_MODES_ENDED);
    ended->count = v->ends;
    ended->total = v->starts;
    ended->amount = (double)v->ways;
}

/* ---- the numbers ------------------------------------------------------------------------------------------------- */

static void add_numbers(note_list *list, const svmp_verdict *v) {
    if (v->gapped) {
        svmp_note *note = svmp_note_add(list, SVMP_NOTE_IN_A_GAP);
        add_name(note, v->gapped_name);
        note->count = v->gapped;
    }
    if (v->constant) {
        svmp_note *note = svmp_note_add(list, SVMP_NOTE_NEVER_VARIES);
        add_name(note, v->constant_name);
        note->count = v->constant;
        note->amount = (double)v->answered;
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int svmp_verdict_is_endless(const svmp_verdict *v) { return *v->improper_direction && !svmp_verdict_is_clear(v); }

/* What was seen to be wrong comes first, with names and directions; then what withholds the all-clear. */
void svmp_verdict_result(const svmp_verdict *v, note_list *list) {
    if (v->finding == SVMP_FINDING_FAILED || v->veto == SVMP_NOTE_NONE)
        add_finding(list, v);
    else
        add_veto(list, v);
    if (v->finding == SVMP_FINDING_PASSED && (svmp_verdict_is_clear(v) || svmp_veto_is_uncertain(v->veto)))
        add_modes(list, v), add_numbers(list, v);
    if (svmp_verdict_is_endless(v))
        add_name(svmp_note_add(list, v->proper ? SVMP_NOTE_VERY_WIDE : SVMP_NOTE_IMPROPER), v->improper_direction);
}

int svmp_verdict_note(const svmp_verdict *verdict, size_t k, svmp_note *note) {
    note_list list = {0};
    if (verdict == NULL || note == NULL) return 0;
    svmp_verdict_result(verdict, &list);
    svmp_verdict_advise(verdict, &list);
    if (k >= list.count) return 0;
    *note = list.note[k];
    return 1;
}

static const char *write_notes(const svmp_verdict *verdict, void (*fill)(const svmp_verdict *, note_list *),
                               char *buffer, size_t size) {
    note_list list = {0};
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (verdict == NULL) return buffer;
    fill(verdict, &list);
    const svmp_context *context = verdict->context;
    return svmp_notes_write(list.count, list.note, context ? context->spell : NULL,
                            context ? context->spell_data : NULL, buffer, size);
}

const char *svmp_verdict_sentence(const svmp_verdict *verdict, char *buffer, size_t size) {
    return write_notes(verdict, svmp_verdict_result, buffer, size);
}

const char *svmp_verdict_advice(const svmp_verdict *verdict, char *buffer, size_t size) {
    return write_notes(verdict, svmp_verdict_advise, buffer, size);
}
