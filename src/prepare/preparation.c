/* Chooses what a model is compiled with: it is compiled as written, then inspected near its posterior, then compiled
 * with what was found. */
#include "prepare/preparation.h"

#include "base/attempt.h"
#include "base/notes.h"
#include "model/text_model.h"
#include "prepare/coordinate_choice.h"
#include "prepare/fitted_gaussian.h"
#include "prepare/prepare_constants.h"
#include "prepare/sum_truncation.h"

void svmp_preparation_free(preparation *p) {
    svmp_release(p->context, p->coordinates);
    svmp_release(p->context, p->ends);
}

/* The array becomes the preparation's. */
static void set_ends(preparation *p, uint32_t *ends) {
    svmp_release(p->context, p->ends);
    p->made.ends = p->ends = ends;
}

static void set_coordinates(preparation *p, node_coordinates *coordinates) {
    svmp_release(p->context, p->coordinates);
    p->made.coordinates = p->coordinates = coordinates;
}

static bool any_moved(const svmp_model *model, const node_coordinates *chosen) {
    bool moved = false;
    for (size_t v = 0; v < model->graph->nodes; v++) moved = moved || chosen[v].centring < 1;
    return moved;
}

/* What draws near the posterior say of the choices that a model was compiled with. */
typedef struct inspection {
    node_coordinates *coordinates; /* better ones; NULL: there are none */
    uint32_t *ends;                /* better ones; NULL: there are no open sums, or nothing is known */
    truncation_change found;
    uint32_t unknown; /* with most weight at its end, where `found` says that one has, */
    double end;       /* which is this one */
    size_t terms;     /* of all sums */
} inspection;

static void forget(svmp_context *context, inspection *seen) {
    svmp_release(context, seen->coordinates);
    svmp_release(context, seen->ends);
    *seen = (inspection){0};
}

static size_t count_terms(const svmp_model *model) {
    const lowered_summed *summed = &model->lowered->summed;
    size_t terms = 0;
    for (size_t c = 0; c < summed->component_count; c++) terms += summed->components[c].size;
    return terms;
}

/* From draws of the Gaussian on the graph of the model, all of whose nodes are centred; the model keeps it. */
static svmp_status inspect_draws(svmp_model *model, bool centring, inspection *seen) {
    svmp_context *context = model->context;
    gaussian *q = NULL;
    double *x = NULL;
    svmp_status status = SVMP_NEW(context, x, model->graph->variables * CHOICE_DRAWS);
    if (status == SVMP_OK) status = svmp_gaussian_create(model, GAUSSIAN_SEED, &q);
    if (status == SVMP_OK) status = svmp_gaussian_draw(q, GAUSSIAN_SEED, CHOICE_DRAWS, x);
    if (status == SVMP_OK && seen->ends)
        status = svmp_truncation_choose(model, q, CHOICE_DRAWS, x, seen->ends, &seen->unknown, &seen->found);
    if (status == SVMP_OK && centring) {
        status = SVMP_NEW(context, seen->coordinates, model->graph->nodes);
        if (status == SVMP_OK) status = svmp_centring_choose(model, CHOICE_DRAWS, x, seen->coordinates);
    }
    svmp_release(context, x);
    if (status == SVMP_OK) return svmp_gaussian_keep(model, GAUSSIAN_SEED, q);
    svmp_gaussian_free(q);
    return status;
}

/* Nothing is found where nothing can be chosen, as in a model without a Gaussian on its graph. */
static svmp_status inspect(svmp_model *model, inspection *seen) {
    svmp_context *context = model->context;
    const bool centring = svmp_model_has_centring_choice(model), sums = svmp_model_has_open_sums(model);
    *seen = (inspection){0};
    if (!centring && !sums) return SVMP_OK;
    if (sums) SVMP_TRY(SVMP_NEW(context, seen->ends, model->lowered->summed.count));
    const svmp_error_function on_error = svmp_attempt_begin(context);
    const svmp_status status = inspect_draws(model, centring, seen);
    svmp_attempt_end(context, on_error, status);
    if (status == SVMP_OK && seen->coordinates && !any_moved(model, seen->coordinates)) {
        svmp_release(context, seen->coordinates);
        seen->coordinates = NULL;
    }
    if (status == SVMP_OK && seen->ends) {
        const lowered_discrete *unknown = &model->lowered->summed.unknowns[seen->unknown];
        seen->end = unknown->least + unknown->states - 1;
        seen->terms = count_terms(model);
    }
    if (status == SVMP_OK) return SVMP_OK;
    forget(context, seen);
    if (status == SVMP_NO_MEMORY) return status;
    if (centring)
        svmp_log(context, SVMP_LOG_WARNING, "Could not choose coordinates; all nodes are centred: %s",
                 svmp_context_error(context));
    return SVMP_OK;
}

/* Compiles with other choices. *model stays NULL if that is refused, which is no error. */
static svmp_status try_choices(const preparation *p, const choices *tried, svmp_model **model) {
    compile_report unused = {0};
    const svmp_error_function on_error = svmp_attempt_begin(p->context);
    const svmp_status status = svmp_compile(p->parsed, tried, NULL, &unused, model);
    svmp_attempt_end(p->context, on_error, status);
    svmp_compile_report_free(p->context, &unused);
    return status == SVMP_NO_MEMORY ? status : SVMP_OK;
}

/* Logged before the run; the verdict looks again. */
static void warn_of_end(const svmp_model *model, const inspection *seen) {
    svmp_log(model->context, SVMP_LOG_WARNING,
             "The sum over the values of '%s' ends at %.0f, but larger values seem to be probable, however many are "
             "summed: give it a bound that is far above the data, with T(, bound), or a prior with less weight on "
             "large counts.",
             model->lowered->summed.unknowns[seen->unknown].name, seen->end);
}

static void warn_of_cost(const svmp_model *model) {
    const size_t terms = model->lowered ? count_terms(model) : 0;
    const svmp_note cost = {.code = SVMP_NOTE_MANY_TERMS, .kind = SVMP_WARNING, .count = terms};
    if (terms > MANY_TERMS)
        svmp_log_notes(model->context, SVMP_LOG_WARNING,
                       NOTES(cost, svmp_either(1, svmp_advice(SVMP_NOTE_USE, "method", "nuts")),
                             svmp_either(1, svmp_advice(SVMP_NOTE_SHORTER_SUMS, NULL, NULL))));
}

/* The better ends, and those before where there is no better one. */
static svmp_status merge_ends(const svmp_model *model, const uint32_t *before, const inspection *seen,
                              uint32_t **merged) {
    const size_t count = model->lowered->summed.count;
    SVMP_TRY(SVMP_NEW(model->context, *merged, count));
    for (size_t k = 0; k < count; k++) (*merged)[k] = seen->ends[k] > 0 || before == NULL ? seen->ends[k] : before[k];
    return SVMP_OK;
}

/* Compiles with longer sums and inspects these; *next stays empty if that is refused, or the sums have too many terms.
 */
static svmp_status inspect_longer(const preparation *p, const uint32_t *ends, size_t most, inspection *next) {
    choices tried = p->made;
    svmp_model *longer = NULL;
    tried.ends = ends;
    svmp_status status = try_choices(p, &tried, &longer);
    if (status == SVMP_OK && longer && count_terms(longer) <= most) status = inspect(longer, next);
    svmp_model_free(longer);
    return status;
}

/* Makes sums longer while counts have weight at the ends; *seen is the last inspection. */
static svmp_status lengthen(preparation *p, const svmp_model *model, inspection *seen) {
    while (seen->found >= TRUNCATION_MAYBE_LONGER) {
        inspection next = {0};
        uint32_t *ends = NULL;
        SVMP_TRY(merge_ends(model, p->ends, seen, &ends));
        const svmp_status status =
            inspect_longer(p, ends, seen->found == TRUNCATION_LONGER ? MOST_TERMS : FEW_TERMS, &next);
        if (status != SVMP_OK || next.ends == NULL) {
            svmp_release(p->context, ends);
            forget(p->context, &next);
            return status;
        }
        set_ends(p, ends);
        forget(p->context, seen);
        *seen = next;
    }
    return SVMP_OK;
}

/* With the sums that are taken where nothing can be said of their ends. */
static svmp_status try_long_sums(const preparation *p, svmp_model **longer) {
    choices tried = p->made;
    tried.short_sums = false;
    tried.ends = NULL;
    return try_choices(p, &tried, longer);
}

/* No sum within the limits is long enough. Of the longest that was inspected, and those of try_long_sums, the one with
 * more terms is taken; *seen is its inspection. */
static svmp_status take_longest(preparation *p, inspection *seen) {
    svmp_model *longer = NULL;
    inspection next = {0};
    svmp_status status = try_long_sums(p, &longer);
    if (status == SVMP_OK && longer && count_terms(longer) > seen->terms) {
        set_ends(p, NULL);
        p->made.short_sums = false;
        status = inspect(longer, &next);
        if (next.ends) {
            forget(p->context, seen);
            *seen = next;
        } else {
            forget(p->context, &next);
        }
    }
    svmp_model_free(longer);
    return status;
}

/* Nothing is known of the ends: long sums, unless they are refused. */
static svmp_status prefer_long_sums(preparation *p) {
    svmp_model *longer = NULL;
    SVMP_TRY(try_long_sums(p, &longer));
    p->made.short_sums = longer == NULL;
    svmp_model_free(longer);
    return SVMP_OK;
}

/* Chooses for a model that was compiled with p->made; *changed: whether to compile it again. */
static svmp_status choose(preparation *p, svmp_model *model, bool *changed) {
    const bool first_short = p->made.short_sums;
    inspection seen = {0};
    uint32_t *ends = NULL;
    svmp_status status;
    SVMP_CHECK(inspect(model, &seen));
    if (first_short && !seen.ends && svmp_model_has_open_sums(model)) SVMP_CHECK(prefer_long_sums(p));
    SVMP_CHECK(lengthen(p, model, &seen));
    if (seen.found == TRUNCATION_LONGER) SVMP_CHECK(take_longest(p, &seen));
    if (seen.found == TRUNCATION_SHORTER) {
        SVMP_CHECK(merge_ends(model, p->ends, &seen, &ends));
        set_ends(p, ends);
    }
    if (seen.found == TRUNCATION_LONGER) warn_of_end(model, &seen);
    set_coordinates(p, seen.coordinates);
    seen.coordinates = NULL;
    *changed = p->coordinates || p->ends || p->made.short_sums != first_short;
done:
    forget(p->context, &seen);
    return status;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* With short sums and small tables. If a sum is refused: with totals as unknowns, which have smaller tables. If one is
 * refused again: with long sums and large tables. The report is that of the last of these. */
static svmp_status compile_first(preparation *p, svmp_model **model) {
    static const choices turns[] = {{.centring = 1, .states = true, .short_sums = true, .small_tables = true},
                                    {.centring = 1, .states = true, .short_sums = true, .totals = true},
                                    {.centring = 1, .states = true}};
    enum { TURNS = sizeof turns / sizeof *turns };
    for (size_t k = 0; k < TURNS; k++) {
        compile_report report = {0};
        svmp_status status = svmp_compile(p->parsed, &turns[k], NULL, &report, model);
        const bool counts = status != SVMP_BAD_INPUT || !report.sum_refused || k + 1 == TURNS;
        if (counts) svmp_compile_report(p->context, &report);
        svmp_compile_report_free(p->context, &report);
        p->made = turns[k];
        p->made.small_tables = false;
        if (counts) return status;
    }
    return SVMP_OK;
}

/* Replaces *model by one with the choices that were made. If these are refused it stays, and so do those that it was
 * compiled with. */
static svmp_status compile_again(preparation *p, const choices *first, svmp_model **model) {
    svmp_model *again = NULL;
    SVMP_TRY(try_choices(p, &p->made, &again));
    if (again) {
        svmp_model_free(*model);
        *model = again;
        return SVMP_OK;
    }
    set_coordinates(p, NULL);
    set_ends(p, NULL);
    p->made = *first;
    svmp_log(p->context, SVMP_LOG_WARNING,
             "The model could not be compiled with the coordinates and the sums that suit it; it is run as written.");
    return SVMP_OK;
}

svmp_status svmp_preparation_compile(preparation *p, svmp_model **model) {
    bool changed = false;
    SVMP_TRY(compile_first(p, model));
    const choices first = p->made;
    SVMP_TRY(choose(p, *model, &changed));
    if (changed) SVMP_TRY(compile_again(p, &first, model));
    warn_of_cost(*model);
    return SVMP_OK;
}
