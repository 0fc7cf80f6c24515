#include "expr/linear_predictor.h"

#include <string.h>

#include "base/target_clones.h"
#include "expr/instructions.h"
#include "maths/weighted_rows.h"

/* The fewest slots for which a predictor is worthwhile; the number of affine functions that are tried, beginning next
 * to the log value; and the numbers per row that are evaluated together, so that predictors, values and derivatives
 * stay in the cache. */
enum { LEAST_SLOTS = 3, MOST_TRIALS = 64, TOGETHER = 2048 };

/* ---- search ------------------------------------------------------------------------------------------------------ */

typedef struct search {
    svmp_context *context;
    const program_recipe *recipe;
    size_t slots;
    unsigned char *affine;  /* for each operation: whether it is a non-constant affine function of inputs */
    unsigned char *inside;  /* for each operation: whether it is part of the candidate, later of g */
    unsigned char *through; /* for each slot: whether the candidate reads it */
} search;

static bool is_fixed(const recipe_operation *o) { return o->op == OP_literal || o->op == OP_parameter; }

static bool is_affine(const search *s, const recipe_operation *o) {
    const recipe_operation *all = s->recipe->operations;
    const uint32_t a = o->operand[0], b = o->operand[1];
    switch (o->op) {
    case OP_input: return true;
    case OP_add:
    case OP_subtract:
        return (s->affine[a] || is_fixed(&all[a])) && (s->affine[b] || is_fixed(&all[b])) &&
               (s->affine[a] || s->affine[b]);
    case OP_negate: return s->affine[a];
    case OP_multiply: return (s->affine[a] && is_fixed(&all[b])) || (is_fixed(&all[a]) && s->affine[b]);
    case OP_divide: return s->affine[a] && is_fixed(&all[b]);
    default: return false;
    }
}

static bool is_leaf(const recipe_operation *o) { return is_fixed(o) || o->op == OP_input; }

/* Marks in `inside` the operations that `from` depends on, and itself, up to but without `end`. */
static void mark(const search *s, size_t from, size_t end) {
    memset(s->inside, 0, s->recipe->count);
    s->inside[from] = 1;
    for (size_t k = from + 1; k-- > 0;) {
        const recipe_operation *o = &s->recipe->operations[k];
        if (k == end) s->inside[k] = 0;
        if (!s->inside[k] || is_leaf(o)) continue;
        for (int i = 0; i < svmp_op_arity((expr_op)o->op); i++) s->inside[o->operand[i]] = 1;
    }
}

/* Whether operation `k` is a predictor; afterwards `inside` marks the operations of g without the predictor, and
 * `through` its slots, of which there are `count`. */
static bool is_predictor(const search *s, size_t k, size_t *count) {
    const recipe_operation *all = s->recipe->operations;
    *count = 0;
    memset(s->through, 0, s->slots);
    mark(s, k, SIZE_MAX);
    for (size_t i = 0; i <= k; i++)
        if (s->inside[i] && all[i].op == OP_input && !s->through[all[i].operand[0]]) {
            s->through[all[i].operand[0]] = 1;
            ++*count;
        }
    if (*count < LEAST_SLOTS) return false;
    mark(s, s->recipe->count - 1, k);
    for (size_t i = 0; i < s->recipe->count; i++)
        if (s->inside[i] && all[i].op == OP_input && s->through[all[i].operand[0]]) return false;
    return true;
}

/* Returns the operation, or SIZE_MAX. */
static size_t find_operation(const search *s, size_t *count) {
    size_t trials = 0;
    for (size_t k = 0; k < s->recipe->count; k++) s->affine[k] = is_affine(s, &s->recipe->operations[k]);
    if (s->recipe->count == 0 || s->affine[s->recipe->count - 1]) return SIZE_MAX;
    for (size_t k = s->recipe->count; k-- > 0 && trials < MOST_TRIALS;) {
        if (!s->affine[k] || s->recipe->operations[k].op == OP_input) continue;
        if (is_predictor(s, k, count)) return k;
        trials++;
    }
    return SIZE_MAX;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static void list_slots(linear_predictor *p, const unsigned char *through) {
    p->count = p->others = 0;
    for (uint32_t j = 0; j < p->slots; j++)
        if (through[j])
            p->slot[p->count++] = j;
        else
            p->other[p->others++] = j;
}

/* Builds the marked operations, with `end` as input 0 (SIZE_MAX: none) and other inputs renumbered by `renamed`. */
static expr build(const search *s, program_builder *builder, size_t end, const uint32_t *renamed, size_t last,
                  expr *made) {
    for (size_t k = 0; k <= last; k++) {
        const recipe_operation *o = &s->recipe->operations[k];
        if (k == end) made[k] = svmp_expr_input(builder, 0);
        if (!s->inside[k]) continue;
        switch (o->op) {
        case OP_literal: made[k] = svmp_expr_literal(builder, s->recipe->literals[o->operand[0]]); break;
        case OP_input: made[k] = svmp_expr_input(builder, renamed[o->operand[0]]); break;
        case OP_parameter: made[k] = svmp_expr_parameter(builder, o->operand[0]); break;
        default: {
            uint32_t operand[3] = {0};
            for (int i = 0; i < svmp_op_arity((expr_op)o->op); i++) operand[i] = made[o->operand[i]].index;
            made[k] = svmp_builder_node(builder, (expr_op)o->op, operand);
        }
        }
    }
    return made[last];
}

/* The coefficients and offsets of all instances: gradient and value at inputs of 0. */
static svmp_status find_coefficients(linear_predictor *p, const search *s, size_t at, const bound_program *whole,
                                     const double *const *columns) {
    svmp_context *context = p->context;
    svmp_status status;
    program_builder *builder = NULL;
    program *affine = NULL;
    bound_program *bound = NULL;
    uint32_t *place = NULL, *variables = NULL;
    expr *made = NULL;
    double *zeros = NULL;
    void *scratch = NULL;
    SVMP_CHECK(svmp_builder_create(context, &builder));
    SVMP_CHECK(SVMP_NEW(context, place, p->slots));
    SVMP_CHECK(SVMP_NEW(context, made, s->recipe->count));
    SVMP_CHECK(SVMP_NEW(context, variables, whole->instances * p->count));
    SVMP_CHECK(SVMP_NEW(context, zeros, p->count));
    for (uint32_t j = 0; j < p->count; j++) place[p->slot[j]] = j;
    for (size_t k = 0; k < whole->instances * p->count; k++) variables[k] = (uint32_t)(k % p->count);
    mark(s, at, SIZE_MAX);
    const expr eta = build(s, builder, SIZE_MAX, place, at, made);
    SVMP_CHECK(svmp_program_finish(builder, eta, p->count, whole->compiled->columns, &affine));
    SVMP_CHECK(svmp_program_bind(affine, whole->instances, columns, &bound));
    SVMP_CHECK(svmp_allocate(context, svmp_bound_scratch(bound, 1), 1, &scratch));
    svmp_bound_evaluate(bound, variables, 0, whole->instances, 1, zeros, scratch, p->offset, p->coefficient);
done:
    svmp_release_all(context, scratch, zeros, variables, made, place);
    svmp_bound_free(bound);
    svmp_program_free(affine);
    svmp_builder_free(builder);
    return status;
}

/* The partial program of g, without its value. */
static svmp_status find_derivatives(linear_predictor *p) {
    const size_t rows = 1 + p->others;
    uint32_t *all = NULL;
    SVMP_TRY(SVMP_NEW(p->context, all, rows));
    for (uint32_t r = 0; r < rows; r++) all[r] = r;
    const svmp_status status = svmp_bound_partial(p->bound, rows, all, &p->derivatives);
    svmp_release(p->context, all);
    return status;
}

static svmp_status make_rest(linear_predictor *p, const search *s, size_t at, const bound_program *whole,
                             const double *const *columns, const uint32_t *variables) {
    svmp_context *context = p->context;
    const size_t slots = 1 + p->others;
    svmp_status status;
    program_builder *builder = NULL;
    uint32_t *renamed = NULL, *stand = NULL;
    expr *made = NULL;
    SVMP_CHECK(svmp_builder_create(context, &builder));
    SVMP_CHECK(SVMP_NEW(context, renamed, p->slots));
    SVMP_CHECK(SVMP_NEW(context, made, s->recipe->count));
    SVMP_CHECK(SVMP_NEW(context, stand, whole->instances * slots));
    for (uint32_t j = 0; j < p->others; j++) renamed[p->other[j]] = 1 + j;
    mark(s, s->recipe->count - 1, at);
    const expr value = build(s, builder, at, renamed, s->recipe->count - 1, made);
    SVMP_CHECK(svmp_program_finish(builder, value, slots, whole->compiled->columns, &p->compiled));
    SVMP_CHECK(svmp_program_bind(p->compiled, whole->instances, columns, &p->bound));
    for (size_t k = 0; k < whole->instances; k++) {
        stand[k * slots] = UINT32_MAX - (uint32_t)k; /* no two instances have the same predictor */
        for (size_t j = 0; j < p->others; j++) stand[k * slots + 1 + j] = variables[k * p->slots + p->other[j]];
    }
    SVMP_CHECK(svmp_bound_share(p->bound, stand));
    SVMP_CHECK(find_derivatives(p));
    p->one_for_all = p->others == 0 && p->compiled->columns == 0;
done:
    svmp_release_all(context, stand, made, renamed);
    svmp_builder_free(builder);
    return status;
}

static svmp_status make(const search *s, size_t at, const bound_program *whole, const uint32_t *variables,
                        linear_predictor *p) {
    svmp_context *context = p->context;
    const double **columns = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, p->slot, p->slots));
    SVMP_CHECK(SVMP_NEW(context, p->other, p->slots));
    list_slots(p, s->through);
    SVMP_CHECK(SVMP_NEW(context, p->coefficient, whole->instances * p->count));
    SVMP_CHECK(SVMP_NEW(context, p->offset, whole->instances));
    SVMP_CHECK(SVMP_NEW(context, columns, whole->compiled->columns));
    for (size_t c = 0; c < whole->compiled->columns; c++) columns[c] = whole->columns + c * whole->instances;
    SVMP_CHECK(find_coefficients(p, s, at, whole, columns));
    SVMP_CHECK(make_rest(p, s, at, whole, columns, variables));
done:
    svmp_release(context, columns);
    return status;
}

svmp_status svmp_linear_predictor_find(const bound_program *bound, const uint32_t *variables,
                                       linear_predictor **found) {
    const program *whole = bound->compiled;
    svmp_context *context = whole->context;
    search s = {.context = context, .recipe = &whole->recipe, .slots = whole->slots};
    linear_predictor *p = NULL;
    size_t count;
    svmp_status status;
    *found = NULL;
    if (whole->slots < LEAST_SLOTS || bound->instances == 0) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, s.affine, whole->recipe.count));
    SVMP_CHECK(SVMP_NEW(context, s.inside, whole->recipe.count));
    SVMP_CHECK(SVMP_NEW(context, s.through, whole->slots));
    const size_t at = find_operation(&s, &count);
    if (at == SIZE_MAX) goto done;
    SVMP_CHECK(SVMP_NEW(context, p, 1));
    *p = (linear_predictor){.context = context, .slots = whole->slots};
    SVMP_CHECK(make(&s, at, bound, variables, p));
    *found = p;
    p = NULL;
done:
    svmp_linear_predictor_free(p);
    svmp_release_all(context, s.affine, s.inside, s.through);
    return status;
}

svmp_status svmp_linear_predictor_keep(const linear_predictor *p, size_t count, const uint32_t *which,
                                       linear_predictor **kept) {
    svmp_context *context = p->context;
    linear_predictor *made = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (linear_predictor){.context = context,
                               .slots = p->slots,
                               .count = p->count,
                               .others = p->others,
                               .compiled = svmp_program_share(p->compiled),
                               .one_for_all = p->one_for_all};
    SVMP_CHECK(SVMP_NEW(context, made->slot, p->slots));
    SVMP_CHECK(SVMP_NEW(context, made->other, p->slots));
    memcpy(made->slot, p->slot, p->count * sizeof *p->slot);
    memcpy(made->other, p->other, p->others * sizeof *p->other);
    SVMP_CHECK(SVMP_NEW(context, made->coefficient, count * p->count));
    SVMP_CHECK(SVMP_NEW(context, made->offset, count));
    for (size_t k = 0; k < count; k++) {
        made->offset[k] = p->offset[which[k]];
        memcpy(made->coefficient + k * p->count, p->coefficient + which[k] * p->count,
               p->count * sizeof *p->coefficient);
    }
    SVMP_CHECK(svmp_bound_keep(p->bound, count, which, &made->bound));
    SVMP_CHECK(find_derivatives(made));
    *kept = made;
    made = NULL;
done:
    svmp_linear_predictor_free(made);
    return status;
}

void svmp_linear_predictor_pack(packing *p, size_t instances, linear_predictor **predictor) {
    bool there = *predictor != NULL;
    SVMP_PACK(p, there);
    if (!there) return;
    linear_predictor *made = *predictor;
    SVMP_PACK_NEW(p, made, 1);
    if (p->status != SVMP_OK) return;
    *predictor = made;
    made->context = p->context;
    svmp_pack_count(p, &made->slots);
    svmp_pack_length(p, &made->count, 4);
    svmp_pack_indices(p, made->count, made->slots, &made->slot);
    svmp_pack_length(p, &made->others, 4);
    svmp_pack_indices(p, made->others, made->slots, &made->other);
    if (made->count + made->others != made->slots || instances > SIZE_MAX / 16 / (made->count + 1))
        svmp_pack_refuse(p, "is damaged");
    svmp_pack_reals(p, instances * made->count, &made->coefficient);
    svmp_pack_reals(p, instances, &made->offset);
    SVMP_PACK(p, made->one_for_all);
    svmp_program_pack(p, &made->compiled);
    if (p->status == SVMP_OK) svmp_bound_pack(p, made->compiled, &made->bound);
    if (!p->loading || p->status != SVMP_OK) return;
    if (made->bound->instances != instances || made->compiled->slots != 1 + made->others)
        svmp_pack_refuse(p, "is damaged");
    else
        p->status = find_derivatives(made);
}

void svmp_linear_predictor_free(linear_predictor *p) {
    if (p == NULL) return;
    svmp_program_partial_free(p->derivatives);
    svmp_bound_free(p->bound);
    svmp_program_free(p->compiled);
    svmp_release_all(p->context, p->slot, p->other, p->coefficient, p->offset, p);
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

size_t svmp_linear_predictor_row(const linear_predictor *p, uint32_t slot, bool *predicted, size_t *place) {
    size_t before = 0;
    while (before < p->count && p->slot[before] < slot) before++;
    *predicted = before < p->count && p->slot[before] == slot;
    *place = before;
    return *predicted ? 0 : 1 + slot - before;
}

SVMP_CLONES static void scale(size_t n, double factor, const double *from, double *to) {
    for (size_t l = 0; l < n; l++) to[l] = factor * from[l];
}

static size_t together(size_t n) { return n < TOGETHER ? TOGETHER / n : 1; }

/* The parts of the scratch memory: rows of n numbers, then pointers to rows, instances and the scratch memory of g. */
typedef struct parts {
    double *eta, *derivative;
    const double **row;
    uint32_t *instance;
    void *rest;
} parts;

static size_t number_rows(const linear_predictor *p, size_t n) { return together(n) * (2 + p->others); }

static size_t number_pointers(const linear_predictor *p, size_t n) { return p->count + together(n) * (1 + p->others); }

/* In units of eight bytes, so that all parts are aligned. */
static size_t number_before(const linear_predictor *p, size_t n) {
    return number_rows(p, n) * n + number_pointers(p, n) + (together(n) + 1) / 2;
}

static parts part_scratch(const linear_predictor *p, size_t n, void *scratch) {
    double *numbers = scratch, *pointers = numbers + number_rows(p, n) * n,
           *instances = pointers + number_pointers(p, n);
    return (parts){numbers, numbers + together(n) * n, (const double **)(void *)pointers, (uint32_t *)(void *)instances,
                   numbers + number_before(p, n)};
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* The last block may have fewer instances, for which g may have the layout of one lane. */
static size_t scratch_of_rest(const linear_predictor *p, const program_partial *partial, size_t n) {
    const size_t most = svmp_bound_view_scratch(p->bound, partial, p->one_for_all ? together(n) * n : n);
    return larger(most, svmp_bound_view_scratch(p->bound, partial, 1));
}

size_t svmp_linear_predictor_scratch(const linear_predictor *p, const program_partial *partial, size_t n) {
    size_t rest = larger(scratch_of_rest(p, NULL, n), scratch_of_rest(p, p->derivatives, n));
    if (partial) rest = larger(rest, scratch_of_rest(p, partial, n));
    return number_before(p, n) * sizeof(double) + rest;
}

static size_t instance_of(const predictor_work *work, size_t k) {
    return work->view ? work->view->instance[k] : work->first + k;
}

static const double *row_of(const predictor_work *work, size_t k, size_t slots, size_t slot) {
    const instance_view *view = work->view;
    const uint32_t variable = work->variables[instance_of(work, k) * slots + slot];
    if (view && view->y && view->own[slot]) return view->y + (size_t)(uint32_t)(variable + view->shift[k]) * work->n;
    return (view ? view->x : work->x) + variable * work->n;
}

/* The same for one particle. */
static double predict_one(const linear_predictor *p, const predictor_work *work, size_t instance) {
    const uint32_t *variables = work->variables + instance * p->slots;
    const double *c = p->coefficient + instance * p->count;
    double sum = p->offset[instance];
    for (size_t j = 0; j < p->count; j++) sum += c[j] * work->x[variables[p->slot[j]]];
    return sum;
}

/* Computes the predictors of `count` instances from the k-th on, and sets pointers to the rows that g reads. */
static void predict_some(const linear_predictor *p, const predictor_work *work, size_t k, size_t count,
                         const parts *to) {
    const size_t n = work->n;
    const double **of_slots = to->row + together(n) * (1 + p->others), **row = to->row;
    for (size_t i = 0; i < count; i++) {
        const size_t instance = instance_of(work, k + i);
        *row++ = to->eta + i * n;
        to->instance[i] = (uint32_t)instance;
        for (size_t j = 0; j < p->others; j++) *row++ = row_of(work, k + i, p->slots, p->other[j]);
        if (n == 1 && !work->view) {
            to->eta[i] = predict_one(p, work, instance);
            continue;
        }
        for (size_t j = 0; j < p->count; j++) of_slots[j] = row_of(work, k + i, p->slots, p->slot[j]);
        svmp_weighted_rows(n, p->count, of_slots, p->coefficient + instance * p->count, p->offset[instance],
                           to->eta + i * n);
    }
}

/* Evaluates g and its derivatives at these predictors; `partial` NULL: all derivatives. */
static void evaluate_rest(const linear_predictor *p, const program_partial *partial, size_t count, size_t n,
                          const parts *at, double *value, double *derivative) {
    static const uint32_t first = 0;
    const bool joined = p->one_for_all;
    const instance_view view = {
        .count = joined ? 1 : count, .instance = joined ? &first : at->instance, .row = at->row};
    svmp_bound_evaluate_view(p->bound,
                             partial ? partial
                             : value ? NULL
                                     : p->derivatives,
                             NULL, &view, joined ? count * n : n, at->rest, value, derivative);
}

void svmp_linear_predictor_evaluate(const linear_predictor *p, const predictor_work *work, double *value,
                                    double *derivative) {
    const size_t n = work->n, most = together(n), rows = 1 + p->others;
    const parts at = part_scratch(p, n, work->scratch);
    for (size_t k = 0; k < work->count; k += most) {
        const size_t count = work->count - k < most ? work->count - k : most;
        predict_some(p, work, k, count, &at);
        evaluate_rest(p, NULL, count, n, &at, value ? value + k * n : NULL,
                      derivative ? derivative + k * rows * n : NULL);
    }
}

/* Converts rows of derivatives to rows of a gradient; those of a partial are consecutive. */
static void expand(const linear_predictor *p, bool partial, const predictor_work *work, size_t k, size_t count,
                   size_t many, const uint32_t *slots, const double *derivative, double *gradient) {
    const size_t n = work->n;
    size_t rows = 0, place;
    bool predicted, any = false;
    for (size_t j = 0; j < many; j++) {
        svmp_linear_predictor_row(p, slots[j], &predicted, &place);
        rows += !predicted;
        any = any || predicted;
    }
    rows = partial ? rows + any : 1 + p->others;
    for (size_t i = 0; i < count; i++) {
        const double *c = p->coefficient + instance_of(work, k + i) * p->count, *from = derivative + i * rows * n;
        double *to = gradient + (k + i) * many * n;
        for (size_t j = 0, next = any; j < many; j++) {
            const size_t row = svmp_linear_predictor_row(p, slots[j], &predicted, &place);
            if (predicted)
                scale(n, c[place], from, to + j * n);
            else
                memcpy(to + j * n, from + (partial ? next++ : row) * n, n * sizeof *to);
        }
    }
}

void svmp_linear_predictor_gradient(const linear_predictor *p, const program_partial *partial,
                                    const predictor_work *work, size_t many, const uint32_t *slots, double *value,
                                    double *gradient) {
    const size_t n = work->n, most = together(n);
    const parts at = part_scratch(p, n, work->scratch);
    for (size_t k = 0; k < work->count; k += most) {
        const size_t count = work->count - k < most ? work->count - k : most;
        predict_some(p, work, k, count, &at);
        evaluate_rest(p, partial, count, n, &at, value ? value + k * n : NULL, gradient ? at.derivative : NULL);
        if (gradient) expand(p, partial != NULL, work, k, count, many, slots, at.derivative, gradient);
    }
}
