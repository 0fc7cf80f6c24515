/* Binding and running. The working set of a block should fit in the first-level cache. The bits of a lane depend only
 * on its own numbers, because every loop has the same arithmetic for each lane. */
#include "expr/instructions.h"

/* With at least this many particles a block consists of particles of one instance, read and written in place; with
 * fewer, it gathers instances. Measured with bench/expr.c. */
enum { WIDE_PARTICLES = 16 };

/* The number of lanes of a block that needs `buffers` numbers per lane: as many as fit in 24 KiB if these are at least
 * 128, in 512 KiB if at least 16; never fewer than 8. */
static size_t block_lanes(size_t buffers) {
    size_t near = 24 * 1024 / sizeof(double) / (buffers + 1), far = 512 * 1024 / sizeof(double) / (buffers + 1);
    size_t lanes = near >= 128 ? near : far >= 128 ? 128 : far;
    if (lanes > 512) lanes = 512;
    return lanes < 8 ? 8 : lanes / 8 * 8;
}

/* Sizes of an evaluation for n particles. */
typedef struct block_layout {
    block_mode mode;
    size_t lanes;   /* capacity of a block */
    size_t buffers; /* numbers per lane: registers, then copies of inputs, columns and outputs */
} block_layout;

/* `scattered`: the instances are not consecutive, so their columns are copied. */
static block_layout layout_of(const code_block *code, size_t n, bool scattered) {
    size_t copies = code->inputs + code->outputs + (n > 1 || scattered ? code->columns : 0);
    block_layout wide = {BLOCK_WIDE, block_lanes(code->registers + code->inputs + code->outputs), code->registers + 1};
    block_layout gathered = {BLOCK_GATHERED, block_lanes(code->registers + copies), code->registers + copies};
    return n >= WIDE_PARTICLES || n > gathered.lanes ? wide : gathered;
}

static size_t scratch_bytes(const code_block *code, size_t n, bool scattered) {
    block_layout layout = layout_of(code, n, scattered);
    return code_places(code) * sizeof(double *) + layout.buffers * layout.lanes * sizeof(double);
}

size_t svmp_bound_lane_operations(const bound_program *bound) {
    const code_block *shared = &bound->gradient;
    return shared->shared > 0 ? shared->count - shared->shared : bound->compiled->gradient.count;
}

/* Sharing is worthwhile if there are more instances than variants. */
static const code_block *choose_code(const code_block *plain, const code_block *shared, size_t count) {
    return shared->shared > 0 && count > shared->variants ? shared : plain;
}

static size_t most_bytes(const code_block *plain, const code_block *shared, size_t n, bool scattered) {
    const size_t bytes = scratch_bytes(plain, n, scattered), more = scratch_bytes(shared, n, scattered);
    return bytes > more ? bytes : more;
}

size_t svmp_bound_scratch(const bound_program *bound, size_t n) {
    size_t values = most_bytes(&bound->compiled->values, &bound->values, n, false);
    size_t gradient = most_bytes(&bound->compiled->gradient, &bound->gradient, n, false);
    return values > gradient ? values : gradient;
}

size_t svmp_bound_view_scratch(const bound_program *bound, const program_partial *partial, size_t n) {
    if (partial == NULL) {
        const size_t values = most_bytes(&bound->compiled->values, &bound->values, n, true);
        const size_t all = most_bytes(&bound->compiled->gradient, &bound->gradient, n, true);
        return values > all ? values : all;
    }
    size_t both = most_bytes(&partial->both, &partial->shared_both, n, true);
    size_t gradient = most_bytes(&partial->gradient, &partial->shared_gradient, n, true);
    return both > gradient ? both : gradient;
}

/* Sets the places that are the same for all blocks; returns the memory after the registers. In the scratch memory
 * numbers precede pointers. */
static double *lay_out(const code_block *code, block_layout layout, void *scratch, double ***places) {
    double *registers = scratch, **made = (double **)(void *)(registers + layout.buffers * layout.lanes);
    for (size_t r = 0; r < code->registers; r++) made[r] = registers + r * layout.lanes;
    for (size_t k = 0; k < code->literal_count; k++) made[code_place_literals(code) + k] = &code->literals[k];
    *places = made;
    return registers + code->registers * layout.lanes;
}

/* Instructions from ... to - 1. */
static void run(const code_block *code, size_t from, size_t to, block_mode mode, double *const *places, size_t lanes) {
    for (size_t k = from; k < to; k++) {
        const code_instruction *i = &code->instructions[k];
        i->kernel[mode](lanes, places[i->out], places[i->operand[0]], places[i->operand[1]], places[i->operand[2]]);
    }
}

svmp_status svmp_program_bind(const program *compiled, size_t instances, const double *const *columns,
                              bound_program **bound) {
    svmp_status status = SVMP_OK;
    svmp_context *context = compiled->context;
    const code_block *code = &compiled->instance;
    bound_program *made = NULL;
    void *scratch = NULL;
    if (instances > 0 && compiled->columns > SIZE_MAX / 2 / sizeof(double) / instances)
        return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: %zu instances of %zu numbers.", instances,
                         compiled->columns);
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (bound_program){.compiled = compiled, .instances = instances};
    SVMP_CHECK(SVMP_NEW(context, made->columns, compiled->columns * instances));
    block_layout layout = {BLOCK_GATHERED, block_lanes(code->registers), code->registers};
    size_t bytes = code_places(code) * sizeof(double *) + layout.buffers * layout.lanes * sizeof(double);
    SVMP_CHECK(svmp_allocate(context, bytes, 1, &scratch));
    double **places;
    lay_out(code, layout, scratch, &places);
    for (size_t first = 0; first < instances; first += layout.lanes) {
        for (size_t p = 0; p < code->columns; p++)
            places[code_place_columns(code) + p] = (double *)(uintptr_t)(columns[p] + first); /* read only */
        for (size_t h = 0; h < code->outputs; h++)
            places[code_place_outputs(code) + h] = made->columns + h * instances + first;
        run(code, 0, code->count, BLOCK_GATHERED, places,
            instances - first < layout.lanes ? instances - first : layout.lanes);
    }
    *bound = made;
    made = NULL;
done:
    svmp_release(context, scratch);
    svmp_bound_free(made);
    return status;
}

svmp_status svmp_bound_keep(const bound_program *bound, size_t count, const uint32_t *which, bound_program **kept) {
    svmp_context *context = bound->compiled->context;
    bound_program *made = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (bound_program){.compiled = bound->compiled, .instances = count};
    SVMP_CHECK(SVMP_NEW(context, made->columns, bound->compiled->columns * count));
    for (size_t h = 0; h < bound->compiled->columns; h++)
        for (size_t k = 0; k < count; k++)
            made->columns[h * count + k] = bound->columns[h * bound->instances + which[k]];
    SVMP_CHECK(svmp_bound_share_as(made, bound));
    *kept = made;
    made = NULL;
done:
    svmp_bound_free(made);
    return status;
}

size_t svmp_bound_instances(const bound_program *bound) { return bound->instances; }

void svmp_bound_free(bound_program *bound) {
    if (bound == NULL) return;
    svmp_context *context = bound->compiled->context;
    svmp_code_free(context, &bound->values);
    svmp_code_free(context, &bound->gradient);
    svmp_release_all(context, bound->known.slot, bound->known.column, bound->which, bound->columns, bound);
}

/* ---- lanes ------------------------------------------------------------------------------------- */

/* The instances of a call: `first` ... of the group, or those of a view. */
typedef struct request {
    const bound_program *bound;
    const code_block *code;
    const uint32_t *variables; /* from the first instance on; for a view: of all instances */
    const instance_view *view; /* NULL: no view */
    size_t first, count, n;
    const double *x;
    double *value, *gradient;
    size_t values, derivatives; /* of the code's outputs */
    block_layout layout;
    double **places;
    double *copies; /* the memory after the registers */
} request;

static inline size_t instance_of(const request *r, size_t k) { return r->view ? r->view->instance[k] : r->first + k; }

/* The row in a slot of the k-th instance. */
static inline const double *input_row(const request *r, size_t k, size_t slot) {
    if (r->view && r->view->row) return r->view->row[k * r->code->inputs + slot];
    uint32_t variable = r->variables[(r->view ? instance_of(r, k) : k) * r->code->inputs + slot];
    if (r->view && r->view->y && r->view->own[slot])
        return r->view->y + (size_t)(uint32_t)(variable + r->view->shift[k]) * r->n;
    return r->x + variable * r->n;
}

/* The destination of output o of the k-th instance: a row of n numbers, or NULL if it is not wanted. */
static double *output_row(const request *r, size_t k, size_t o) {
    if (o < r->values) return r->value ? r->value + (k * r->values + o) * r->n : NULL;
    return r->gradient + (k * r->derivatives + o - r->values) * r->n;
}

/* Whether the k-th instance has the shared values of the previous one. */
static bool is_continued(const request *r, size_t k) {
    size_t c = 0;
    if (k == 0) return false;
    if (r->view == NULL) {
        const uint32_t *now = r->variables + k * r->code->inputs, *before = now - r->code->inputs;
        while (c < r->code->common_count && now[r->code->common[c]] == before[r->code->common[c]]) c++;
        return c == r->code->common_count;
    }
    while (c < r->code->common_count && input_row(r, k, r->code->common[c]) == input_row(r, k - 1, r->code->common[c]))
        c++;
    return c == r->code->common_count;
}

/* Pointers to the columns and inputs of the k-th instance, from particle l on. */
static void place_instance(const request *r, size_t k, size_t l) {
    const code_block *code = r->code;
    for (size_t h = 0; h < code->columns; h++)
        r->places[code_place_columns(code) + h] = r->bound->columns + h * r->bound->instances + instance_of(r, k);
    for (size_t j = 0; j < code->inputs; j++)
        r->places[code_place_inputs(code) + j] = (double *)(uintptr_t)(input_row(r, k, j) + l); /* read only */
}

/* The register with the k-th instance's variant of a choice. */
static double *variant_of(const request *r, const code_choice *choice, size_t k) {
    return r->places[choice->first + r->bound->which[choice->column * r->bound->instances + instance_of(r, k)]];
}

/* A block of particles of one instance; nothing is copied. */
static void evaluate_wide(const request *r) {
    const code_block *code = r->code;
    const size_t n = r->n;
    for (size_t l = 0; l < n; l += r->layout.lanes) {
        const size_t lanes = n - l < r->layout.lanes ? n - l : r->layout.lanes;
        for (size_t k = 0; k < r->count; k++) {
            place_instance(r, k, l);
            for (const code_choice *c = code->choices; c < code->choices + code->choice_count; c++)
                r->places[c->place] = variant_of(r, c, k);
            for (size_t o = 0; o < code->outputs; o++) {
                double *row = output_row(r, k, o);
                r->places[code_place_outputs(code) + o] = row ? row + l : r->copies;
            }
            run(code, is_continued(r, k) ? code->shared : 0, code->count, BLOCK_WIDE, r->places, lanes);
        }
    }
}

/* A few numbers: a call to memcpy would cost more. */
static inline void copy_row(double *to, const double *from, size_t n) {
    for (size_t l = 0; l < n; l++) to[l] = from[l];
}

static void gather_input(const request *r, size_t k, size_t instances, size_t slot, double *copy) {
    size_t n = r->n, stride = r->code->inputs;
    if (r->view) {
        for (size_t i = 0; i < instances; i++) copy_row(copy + i * n, input_row(r, k + i, slot), n);
        return;
    }
    const uint32_t *variables = r->variables + k * stride + slot;
    if (n == 1)
        for (size_t i = 0; i < instances; i++) copy[i] = r->x[variables[i * stride]];
    else
        for (size_t i = 0; i < instances; i++) copy_row(copy + i * n, r->x + variables[i * stride] * n, n);
}

static void repeat_column(const request *r, size_t k, size_t instances, const double *column, double *copy) {
    for (size_t i = 0; i < instances; i++) {
        const double value = column[instance_of(r, k + i)];
        for (size_t l = 0; l < r->n; l++) copy[i * r->n + l] = value;
    }
}

/* The row of instance i of an output is `stride` numbers after that of instance i - 1. */
static void scatter_output(const double *copy, size_t instances, size_t n, size_t stride, double *row) {
    if (n == 1)
        for (size_t i = 0; i < instances; i++) row[i * stride] = copy[i];
    else
        for (size_t i = 0; i < instances; i++) copy_row(row + i * stride, copy + i * n, n);
}

/* The number of instances from the k-th on, at most `most`, that share their values. */
static size_t count_continued(const request *r, size_t k, size_t most) {
    const size_t left = r->count - k < most ? r->count - k : most;
    size_t count = 1;
    if (r->code->common_count == 0) return left;
    while (count < left && is_continued(r, k + count)) count++;
    return count;
}

/* Computes the shared values of the k-th instance and the following ones, and repeats them for `instances` instances.
 * */
static void share(const request *r, size_t k, size_t instances) {
    const code_block *code = r->code;
    place_instance(r, k, 0);
    run(code, 0, code->shared, BLOCK_WIDE, r->places, r->n);
    for (size_t c = 0; c < code->carried_count; c++)
        for (size_t i = 1; i < instances; i++)
            copy_row(r->places[code->carried[c]] + i * r->n, r->places[code->carried[c]], r->n);
}

/* A block of all particles of many instances: inputs are gathered, outputs scattered. For n = 1 columns of consecutive
 * instances are read in place, and single outputs are written in place. */
static void evaluate_gathered(const request *r) {
    const code_block *code = r->code;
    size_t n = r->n, lanes = r->layout.lanes, per_block = lanes / n, instances;
    double *inputs = r->copies, *results = inputs + code->inputs * lanes, *columns = results + code->outputs * lanes;
    for (size_t k = 0; k < r->count; k += instances) {
        instances = count_continued(r, k, per_block);
        if (code->shared > 0 && !is_continued(r, k)) share(r, k, instances);
        for (const code_choice *c = code->choices; c < code->choices + code->choice_count; c++)
            for (size_t i = 0; i < instances; i++) copy_row(r->places[c->place] + i * n, variant_of(r, c, k + i), n);
        for (size_t j = 0; j < code->inputs; j++) {
            r->places[code_place_inputs(code) + j] = inputs + j * lanes;
            gather_input(r, k, instances, j, inputs + j * lanes);
        }
        for (size_t h = 0; h < code->columns; h++) {
            double *column = r->bound->columns + h * r->bound->instances;
            const bool copied = n > 1 || r->view;
            if (copied) repeat_column(r, k, instances, column, columns + h * lanes);
            r->places[code_place_columns(code) + h] = copied ? columns + h * lanes : column + r->first + k;
        }
        for (size_t o = 0; o < code->outputs; o++) {
            double *row = output_row(r, k, o);
            bool alone = (o < r->values ? r->values : r->derivatives) == 1;
            r->places[code_place_outputs(code) + o] = alone && row ? row : results + o * lanes;
        }
        run(code, code->shared, code->count, BLOCK_GATHERED, r->places, instances * n);
        for (size_t o = 0; o < code->outputs; o++) {
            double *row = output_row(r, k, o), *from = r->places[code_place_outputs(code) + o];
            size_t stride = (o < r->values ? r->values : r->derivatives) * n;
            if (row && row != from) scatter_output(from, instances, n, stride, row);
        }
    }
}

static void evaluate(request *r, void *scratch) {
    r->layout = layout_of(r->code, r->n, r->view != NULL);
    r->copies = lay_out(r->code, r->layout, scratch, &r->places);
    (r->layout.mode == BLOCK_WIDE ? evaluate_wide : evaluate_gathered)(r);
}

static void evaluate_from(const bound_program *bound, const uint32_t *variables, size_t first, size_t count, size_t n,
                          const double *x, void *scratch, double *value, double *gradient) {
    const program *compiled = bound->compiled;
    request r = {.bound = bound,
                 .code = gradient ? choose_code(&compiled->gradient, &bound->gradient, count)
                                  : choose_code(&compiled->values, &bound->values, count),
                 .variables = variables,
                 .first = first,
                 .count = count,
                 .n = n,
                 .x = x,
                 .value = value,
                 .gradient = gradient,
                 .values = compiled->outputs,
                 .derivatives = compiled->slots};
    evaluate(&r, scratch);
}

void svmp_bound_evaluate(const bound_program *bound, const uint32_t *variables, size_t first, size_t count, size_t n,
                         const double *x, void *scratch, double *value, double *gradient) {
    evaluate_from(bound, variables + first * bound->compiled->slots, first, count, n, x, scratch, value, gradient);
}

void svmp_bound_evaluate_at(const bound_program *bound, const uint32_t *variables, size_t instance, size_t n,
                            const double *x, void *scratch, double *value) {
    evaluate_from(bound, variables, instance, 1, n, x, scratch, value, NULL);
}

/* A block of particles of one instance, however few: nothing is copied, and an instance can read the results of the
 * previous one.
 */
static block_layout layout_in_turn(const code_block *code) {
    return (block_layout){BLOCK_WIDE, block_lanes(code->registers + code->inputs + code->outputs), code->registers + 1};
}

static size_t turn_bytes(const code_block *code) {
    const block_layout layout = layout_in_turn(code);
    return code_places(code) * sizeof(double *) + layout.buffers * layout.lanes * sizeof(double);
}

size_t svmp_bound_turn_scratch(const bound_program *bound) {
    const size_t plain = turn_bytes(&bound->compiled->values), shared = turn_bytes(&bound->values);
    return plain > shared ? plain : shared;
}

/* Advances from instance k - 1 to k, whose columns and values follow those of k - 1. Returns whether it has the same
 * shared values. */
static bool place_next(const request *r, size_t k, size_t l) {
    const code_block *code = r->code;
    const uint32_t *variables = r->variables + k * code->inputs, *common = code->common;
    const uint32_t *end = common + code->common_count;
    double **columns = r->places + code_place_columns(code), **inputs = r->places + code_place_inputs(code);
    bool same = true;
    for (size_t h = 0; h < code->columns; h++) columns[h]++;
    for (uint32_t j = 0; j < code->inputs; j++) {
        const uint32_t before = variables[(ptrdiff_t)j - (ptrdiff_t)code->inputs];
        if (common < end && *common == j) {
            common++;
            same = same && variables[j] == before;
        }
        if (variables[j] != before) inputs[j] = (double *)(uintptr_t)(r->x + variables[j] * r->n + l); /* read only */
    }
    for (size_t o = 0; o < code->outputs; o++) r->places[code_place_outputs(code) + o] += r->values * r->n;
    return same;
}

void svmp_bound_evaluate_in_turn(const bound_program *bound, const uint32_t *variables, size_t first, size_t count,
                                 size_t n, const double *x, void *scratch, double *value) {
    const code_block *code = choose_code(&bound->compiled->values, &bound->values, count);
    request r = {.bound = bound,
                 .code = code,
                 .variables = variables + first * bound->compiled->slots,
                 .first = first,
                 .count = count,
                 .n = n,
                 .x = x,
                 .value = value,
                 .values = bound->compiled->outputs,
                 .layout = layout_in_turn(code)};
    r.copies = lay_out(code, r.layout, scratch, &r.places);
    for (size_t l = 0; l < n; l += r.layout.lanes) {
        const size_t lanes = n - l < r.layout.lanes ? n - l : r.layout.lanes;
        place_instance(&r, 0, l);
        for (size_t o = 0; o < code->outputs; o++) r.places[code_place_outputs(code) + o] = value + o * n + l;
        for (size_t k = 0; k < count; k++) {
            const bool same = k > 0 && place_next(&r, k, l);
            for (const code_choice *c = code->choices; c < code->choices + code->choice_count; c++)
                r.places[c->place] = variant_of(&r, c, k);
            run(code, same ? code->shared : 0, code->count, BLOCK_WIDE, r.places, lanes);
        }
    }
}

void svmp_bound_evaluate_view(const bound_program *bound, const program_partial *partial, const uint32_t *variables,
                              const instance_view *view, size_t n, void *scratch, double *value, double *gradient) {
    const program *compiled = bound->compiled;
    const code_block *code = !gradient  ? choose_code(&compiled->values, &bound->values, view->count)
                             : !partial ? choose_code(&compiled->gradient, &bound->gradient, view->count)
                             : value    ? choose_code(&partial->both, &partial->shared_both, view->count)
                                        : choose_code(&partial->gradient, &partial->shared_gradient, view->count);
    const size_t values = partial && gradient && !value ? 0 : compiled->outputs;
    request r = {.bound = bound,
                 .code = code,
                 .variables = variables,
                 .view = view,
                 .count = view->count,
                 .n = n,
                 .x = view->x,
                 .value = value,
                 .gradient = gradient,
                 .values = values,
                 .derivatives = code->outputs - values};
    evaluate(&r, scratch);
}
