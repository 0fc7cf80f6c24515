/* The public readers of models: in the coordinates of the text, or in those that suit the model, which do not change
 * what is reported. */
#include <string.h>

#include "base/notes.h"
#include "base/peers.h"
#include "lang/model_files.h"
#include "model/text_model.h"
#include "prepare/coordinate_choice.h"
#include "prepare/fitted_gaussian.h"
#include "prepare/hush.h"
#include "prepare/mode_search.h"
#include "prepare/sum_truncation.h"

enum { DRAWS = 64, SEED = 1 }; /* coordinates are the model's, whatever the seed of a run */

/* Limits on the terms of all sums together. Sums are made longer up to MOST_TERMS where the posterior reaches their
 * ends, and up to FEW_TERMS where only its tails may. A model with more than MANY_TERMS gets a warning that a run is
 * slow. */
enum { MOST_TERMS = 20000, FEW_TERMS = 4000, MANY_TERMS = 50000 };

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

typedef struct asked {
    model_files files;
    int choose;
} asked;

static svmp_status parse(svmp_context *context, const svmp_reading *how, asked *read) {
    const char *text = how ? how->coordinates : NULL;
    read->files.monitors = how ? how->monitors : NULL;
    read->files.centring = 1;
    read->choose = 0;
    if (text == NULL || strcmp(text, "centred") == 0) return SVMP_OK;
    read->choose = strcmp(text, "auto") == 0;
    if (read->choose) return SVMP_OK;
    read->files.centring = 0;
    if (strcmp(text, "noncentred") == 0) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_CALL, "Unknown coordinates '%.80s': expected auto, centred or noncentred.",
                     text);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* What a model is read with. */
typedef struct choices {
    node_coordinates *coordinates; /* of every node; NULL: all are centred */
    uint32_t *ends;                /* of open sums, by discrete unknown; NULL: they stay where they are */
    bool brief;                    /* these are short; otherwise as where nobody can look */
} choices;

static void release(svmp_context *context, choices *made) {
    svmp_release(context, made->coordinates);
    svmp_release(context, made->ends);
}

static int any_moved(const svmp_model *model, const node_coordinates *chosen) {
    int moved = 0;
    for (size_t v = 0; v < model->graph->nodes; v++) moved |= chosen[v].centring < 1;
    return moved;
}

/* What a look at one reading of a model has found. */
typedef struct look {
    node_coordinates *coordinates; /* NULL: they have no choice, or stay */
    uint32_t *ends;                /* NULL: there are none */
    truncation_change found;
    uint32_t unknown; /* with most weight at its end, where `found` says that one has, */
    double end;       /* which is this one */
    size_t terms;     /* of all sums of this reading */
} look;

/* How many terms all sums have. */
static size_t count_terms(const svmp_model *model) {
    const lowered_summed *summed = &model->lowered->summed;
    size_t terms = 0;
    for (size_t c = 0; c < summed->component_count; c++) terms += summed->components[c].size;
    return terms;
}

/* From draws of the Gaussian on the graph of the model, all of whose nodes are centred. */
static svmp_status look_from_draws(const svmp_model *model, int matters, look *seen) {
    svmp_context *context = model->context;
    gaussian *q = NULL;
    double *x = NULL;
    svmp_status status = SVMP_NEW(context, x, model->graph->variables * DRAWS);
    if (status == SVMP_OK) status = svmp_gaussian_create(model, SEED, &q);
    if (status == SVMP_OK) status = svmp_gaussian_draw(q, SEED, DRAWS, x);
    if (status == SVMP_OK && seen->ends)
        status = svmp_truncation_choose(model, q, DRAWS, x, seen->ends, &seen->unknown, &seen->found);
    if (status == SVMP_OK && matters) {
        status = SVMP_NEW(context, seen->coordinates, model->graph->nodes);
        if (status == SVMP_OK) status = svmp_centring_choose(model, DRAWS, x, seen->coordinates);
    }
    svmp_gaussian_free(q);
    svmp_release(context, x);
    return status;
}

static void forget(svmp_context *context, look *seen) {
    svmp_release(context, seen->coordinates);
    svmp_release(context, seen->ends);
    *seen = (look){0};
}

/* Nothing is found where nothing can be chosen, as in a model without a Gaussian on its graph. */
static svmp_status look_at(const svmp_model *model, look *seen) {
    svmp_context *context = model->context;
    const int matters = svmp_model_has_centring_choice(model);
    *seen = (look){0};
    if (!matters && !svmp_model_has_open_sums(model)) return SVMP_OK;
    if (svmp_model_has_open_sums(model)) SVMP_TRY(SVMP_NEW(context, seen->ends, model->lowered->summed.count));
    hushed h;
    svmp_hush(context, false, &h);
    const svmp_status status = look_from_draws(model, matters, seen);
    svmp_unhush(&h, status);
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
    if (matters)
        svmp_log(context, SVMP_LOG_WARNING, "Could not choose coordinates; all nodes are centred: %s",
                 svmp_context_error(context));
    return SVMP_OK;
}

/* Told before the run; the verdict looks again. `seen` is what was found in the reading that will be run. */
static void warn_of_end(const svmp_model *model, const look *seen) {
    svmp_log(model->context, SVMP_LOG_WARNING,
             "The sum over the values of '%s' ends at %.0f, but larger values seem to be probable, however many are "
             "summed: give it a bound that is far above the data, with T(, bound), or a prior with less weight on "
             "large counts.",
             model->lowered->summed.unknowns[seen->unknown].name, seen->end);
}

/* Without a word: the warnings of the first reading suffice. */
static svmp_status read_quietly(svmp_context *context, const model_files *files, svmp_model **model) {
    hushed h;
    svmp_hush(context, false, &h);
    const svmp_status status = svmp_read_model(context, files, model);
    svmp_unhush(&h, status);
    return status;
}

/* Those that were found, and what stays of those before. */
static svmp_status merge_ends(const svmp_model *model, const uint32_t *before, const look *seen, uint32_t **merged) {
    const size_t count = model->lowered->summed.count;
    SVMP_TRY(SVMP_NEW(model->context, *merged, count));
    for (size_t k = 0; k < count; k++) (*merged)[k] = seen->ends[k] > 0 || before == NULL ? seen->ends[k] : before[k];
    return SVMP_OK;
}

static svmp_status take_ends(const svmp_model *model, const look *seen, choices *made) {
    uint32_t *merged = NULL;
    SVMP_TRY(merge_ends(model, made->ends, seen, &merged));
    svmp_release(model->context, made->ends);
    made->ends = merged;
    return SVMP_OK;
}

static void warn_of_cost(const svmp_model *model) {
    const size_t terms = model->lowered ? count_terms(model) : 0;
    const svmp_note cost = {.code = SVMP_NOTE_MANY_TERMS, .kind = SVMP_WARNING, .count = terms};
    if (terms > MANY_TERMS)
        svmp_log_notes(model->context, SVMP_LOG_WARNING,
                       NOTES(cost, svmp_either(1, svmp_advice(SVMP_NOTE_USE, "method", "nuts")),
                             svmp_either(1, svmp_advice(SVMP_NOTE_SHORTER_SUMS, NULL, NULL))));
}

/* Reads the model with longer sums, and looks again; *next stays empty where that is refused, or the sums are dear. */
static svmp_status look_further(svmp_context *context, const model_files *files, size_t most, look *next) {
    svmp_model *longer = NULL;
    svmp_status status = read_quietly(context, files, &longer);
    if (status == SVMP_OK && count_terms(longer) <= most) status = look_at(longer, next);
    svmp_model_free(longer);
    return status == SVMP_NO_MEMORY ? status : SVMP_OK;
}

/* Longer sums while counts have weight where these end: *seen is what was found in the last reading. */
static svmp_status lengthen(const svmp_model *model, const asked *read, choices *made, look *seen) {
    svmp_context *context = model->context;
    model_files files = read->files;
    while (seen->found >= TRUNCATION_MAYBE_LONGER) {
        look next = {0};
        uint32_t *ends = NULL;
        SVMP_TRY(merge_ends(model, made->ends, seen, &ends));
        files.ends = ends;
        const size_t most = seen->found == TRUNCATION_LONGER ? MOST_TERMS : FEW_TERMS;
        const svmp_status status = look_further(context, &files, most, &next);
        if (status != SVMP_OK || next.ends == NULL) {
            svmp_release(context, ends);
            return status;
        }
        svmp_release(context, made->ends);
        made->ends = ends;
        forget(context, seen);
        *seen = next;
    }
    return SVMP_OK;
}

/* Reads the model as where nobody can look at the ends. *longer stays NULL where that is refused. */
static svmp_status read_long(svmp_context *context, const asked *read, svmp_model **longer) {
    model_files files = read->files;
    files.brief = false;
    const svmp_status status = read_quietly(context, &files, longer);
    return status == SVMP_NO_MEMORY ? status : SVMP_OK;
}

/* No sum within the limits is long enough. Of those that were looked at, in *seen, and those as where nobody can look,
 * the ones with more terms are taken; *seen is what was found in them. */
static svmp_status take_longest(const asked *read, svmp_context *context, choices *made, look *seen) {
    svmp_model *longer = NULL;
    look next = {0};
    svmp_status status = read_long(context, read, &longer);
    if (status == SVMP_OK && longer && count_terms(longer) > seen->terms) {
        svmp_release(context, made->ends);
        made->ends = NULL;
        made->brief = false;
        status = look_at(longer, &next);
        if (next.ends) {
            forget(context, seen);
            *seen = next;
        }
    }
    svmp_model_free(longer);
    return status;
}

/* Short sums it is, after all, where long ones are refused. */
static svmp_status allow_long(svmp_context *context, const asked *read, bool *brief) {
    svmp_model *longer = NULL;
    if (*brief || !read->files.brief) return SVMP_OK;
    SVMP_TRY(read_long(context, read, &longer));
    *brief = longer == NULL;
    svmp_model_free(longer);
    return SVMP_OK;
}

/* What a model that was read with short sums is best read with. */
static svmp_status choose(const svmp_model *model, const asked *read, choices *made) {
    svmp_context *context = model->context;
    look seen = {0};
    svmp_status status;
    SVMP_CHECK(look_at(model, &seen));
    made->brief = read->files.brief && (seen.ends || !svmp_model_has_open_sums(model));
    if (!seen.ends) SVMP_CHECK(allow_long(context, read, &made->brief));
    SVMP_CHECK(lengthen(model, read, made, &seen));
    if (seen.found == TRUNCATION_LONGER) SVMP_CHECK(take_longest(read, context, made, &seen));
    if (seen.found == TRUNCATION_SHORTER) SVMP_CHECK(take_ends(model, &seen, made));
    if (seen.found == TRUNCATION_LONGER) warn_of_end(model, &seen);
    made->coordinates = seen.coordinates;
    seen.coordinates = NULL;
done:
    forget(context, &seen);
    return status;
}

/* With short sums and small tables. If that is refused because of a sum: with totals as unknowns, which have smaller
 * tables. If that is refused, too: with long sums and large tables. The messages are those of the reading that
 * succeeds, or of the last one. */
static svmp_status read_first(svmp_context *context, asked *read, svmp_model **model) {
    svmp_status status = SVMP_OK;
    hushed h = {0};
    bool sums = false;
    for (int turn = 0; turn < 3; turn += turn == 0 && !sums ? 2 : 1) {
        svmp_hushed_free(&h);
        svmp_hush(context, true, &h);
        read->files.brief = turn < 2;
        read->files.totals = turn == 1;
        read->files.strict = turn == 0;
        read->files.sums = &sums;
        status = svmp_read_model(context, &read->files, model);
        read->files.sums = NULL;
        read->files.strict = false;
        svmp_unhush(&h, status);
        if (status == SVMP_OK || status == SVMP_NO_MEMORY) break;
    }
    const svmp_status told = svmp_hushed_log(&h);
    svmp_hushed_free(&h);
    if (status == SVMP_OK) return told;
    if (status != SVMP_NO_MEMORY && context->on_error)
        context->on_error(status, context->error, context->on_error_data);
    return status;
}

/* Whether two readings are of the same model: they are not where a file has changed, or can be read only once. */
static bool are_same(const svmp_model *a, const svmp_model *b) {
    return a->graph->variables == b->graph->variables && a->graph->nodes == b->graph->nodes &&
           (a->lowered == NULL) == (b->lowered == NULL) &&
           (a->lowered == NULL || a->lowered->observed == b->lowered->observed);
}

/* Replaces *model by one that is read with what was chosen; it stays where that fails. */
static svmp_status read_again(svmp_context *context, asked *read, const choices *made, svmp_model **model) {
    model_files files = read->files;
    svmp_model *again = NULL;
    files.coordinates = made->coordinates;
    files.ends = made->ends;
    files.brief = made->brief;
    const svmp_status status = read_quietly(context, &files, &again);
    if (status == SVMP_OK && are_same(*model, again)) {
        svmp_model_free(*model);
        *model = again;
        read->files = files;
        return SVMP_OK;
    }
    svmp_model_free(again);
    if (status == SVMP_NO_MEMORY) return status;
    svmp_log(
        context, SVMP_LOG_WARNING,
        "The model could not be read a second time, in the coordinates that suit it (a pipe can be read only once); it "
        "is run as first read: %s",
        status == SVMP_OK ? "its files have changed." : svmp_context_error(context));
    return SVMP_OK;
}

static svmp_status read_as(svmp_context *context, asked *read, svmp_model **model) {
    choices made = {0};
    svmp_model *first = NULL;
    svmp_status status;
    if (model == NULL) return svmp_read_model(context, &read->files, model);
    if (read->choose) {
        SVMP_CHECK(read_first(context, read, &first));
        SVMP_CHECK(choose(first, read, &made));
        if (made.coordinates || made.ends || made.brief != read->files.brief)
            SVMP_CHECK(read_again(context, read, &made, &first));
        warn_of_cost(first);
    } else {
        SVMP_CHECK(svmp_read_model(context, &read->files, &first));
    }
    SVMP_CHECK(svmp_modes_find(first, &read->files));
    *model = first;
    first = NULL;
done:
    svmp_model_free(first);
    release(context, &made);
    return status;
}

svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths, const svmp_reading *how,
                            svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read = {.files = {.count = count, .paths = paths}};
    SVMP_TRY(parse(context, how, &read));
    return read_as(context, &read, model);
}

svmp_status svmp_model_read_text(svmp_context *context, const char *name, const char *text, const svmp_data *data,
                                 const svmp_reading *how, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (text == NULL || model == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read_text: the %s is NULL.",
                         text ? "result" : "model text");
    asked read = {.files = {.name = name ? name : "<text>", .text = text, .data = data}};
    SVMP_TRY(parse(context, how, &read));
    return read_as(context, &read, model);
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* What the first process has of an array, in all. */
static svmp_status broadcast(svmp_context *context, uint64_t bytes, void **array) {
    const svmp_peers *t = context->peers;
    t->broadcast(t, 0, sizeof bytes, &bytes);
    if (bytes == 0) return SVMP_OK;
    SVMP_TRY(svmp_agree(context, context->peers, t->rank == 0 ? SVMP_OK : svmp_allocate(context, bytes, 1, array)));
    t->broadcast(t, 0, bytes, *array);
    return SVMP_OK;
}

/* The first process reads the whole model, and tells all what it has chosen. What is wrong with the files is told when
 * all of them read these. */
static svmp_status choose_together(svmp_context *context, asked *read, choices *made) {
    const svmp_peers *t = context->peers;
    svmp_model *first = NULL;
    uint64_t nodes = 0, unknowns = 0, brief = 0;
    svmp_status status = SVMP_OK;
    if (t->rank == 0) {
        hushed h;
        svmp_hush(context, false, &h);
        const svmp_status found = read_first(context, read, &first);
        svmp_unhush(&h, found);
        if (found == SVMP_NO_MEMORY) status = found;
        if (found == SVMP_OK) status = choose(first, read, made);
        if (made->coordinates) nodes = first->graph->nodes;
        if (made->ends) unknowns = first->lowered->summed.count;
        brief = made->brief + 2 * (uint64_t)read->files.totals;
    }
    svmp_model_free(first);
    SVMP_TRY(svmp_agree(context, context->peers, status));
    void *coordinates = made->coordinates, *ends = made->ends;
    t->broadcast(t, 0, sizeof brief, &brief);
    made->brief = brief % 2;
    read->files.totals = brief >= 2;
    status = broadcast(context, nodes * sizeof *made->coordinates, &coordinates);
    made->coordinates = coordinates;
    SVMP_TRY(status);
    status = broadcast(context, unknowns * sizeof *made->ends, &ends);
    made->ends = ends;
    return status;
}

svmp_status svmp_model_read_split(svmp_context *context, size_t count, const char *const *paths,
                                  const svmp_reading *how, svmp_model **model, svmp_split *split) {
    if (context == NULL) return SVMP_BAD_CALL;
    asked read = {.files = {.count = count, .paths = paths}};
    choices made = {0};
    if (context->peers->count == 1) {
        SVMP_TRY(svmp_model_read(context, count, paths, how, model));
        return svmp_model_split(model, split);
    }
    SVMP_TRY(svmp_agree(context, context->peers, parse(context, how, &read)));
    SVMP_TRY(svmp_context_compare(context, "the coordinates", how && how->coordinates ? how->coordinates : "centred"));
    svmp_status status = read.choose ? choose_together(context, &read, &made) : SVMP_OK;
    read.files.coordinates = made.coordinates;
    read.files.ends = made.ends;
    read.files.brief = made.brief;
    if (status == SVMP_OK) status = svmp_read_parts(context, &read.files, model, split);
    release(context, &made);
    return status;
}
