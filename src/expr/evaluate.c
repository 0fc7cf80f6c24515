/* Binding and running. A block's working set is meant to stay in the first cache; a lane's bits depend on its own
 * numbers alone, because every kernel is the same arithmetic lane by lane. */
#include "expr/code.h"

/* From this many particles on a block is particles of one instance, read and written in place; below, it gathers
 * instances. Measured with bench/expr.c. */
enum { WIDE_PARTICLES = 16 };

struct bound_program {
    const program *compiled;
    size_t instances;
    double *columns; /* columns*instances: column h of instance k at h*instances + k */
};

/* Lanes of a block that needs `buffers` numbers a lane: 24 KiB of them where 128 lanes fit in that, 512 KiB where 16
 * do; never less than 8. */
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
    size_t buffers; /* numbers a lane: registers, then copies of inputs, columns and outputs */
} block_layout;

static block_layout layout_of(const code_block *code, size_t n) {
    size_t copies = code->inputs + code->outputs + (n > 1 ? code->columns : 0);
    block_layout wide = {BLOCK_WIDE, block_lanes(code->registers + code->inputs + code->outputs), code->registers + 1};
    block_layout gathered = {BLOCK_GATHERED, block_lanes(code->registers + copies), code->registers + copies};
    return n >= WIDE_PARTICLES || n > gathered.lanes ? wide : gathered;
}

static size_t scratch_bytes(const code_block *code, size_t n) {
    block_layout layout = layout_of(code, n);
    return code_places(code) * sizeof(double *) + layout.buffers * layout.lanes * sizeof(double);
}

size_t svmp_bound_scratch(const bound_program *bound, size_t n) {
    size_t values = scratch_bytes(&bound->compiled->values, n), gradient = scratch_bytes(&bound->compiled->gradient, n);
    return values > gradient ? values : gradient;
}

/* The places that are the same for all blocks; returns what follows the registers. Numbers come first in the scratch,
 * pointers behind them. */
static double *lay_out(const code_block *code, block_layout layout, void *scratch, double ***places) {
    double *registers = scratch, **made = (double **)(void *)(registers + layout.buffers * layout.lanes);
    for (size_t r = 0; r < code->registers; r++) made[r] = registers + r * layout.lanes;
    for (size_t k = 0; k < code->literal_count; k++) made[code_place_literals(code) + k] = &code->literals[k];
    *places = made;
    return registers + code->registers * layout.lanes;
}

static void run(const code_block *code, block_mode mode, double *const *places, size_t lanes) {
    for (size_t k = 0; k < code->count; k++) {
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
            places[code_place_columns(code) + p] = (double *)(uintptr_t)(columns[p] + first); /* only ever read */
        for (size_t h = 0; h < code->outputs; h++)
            places[code_place_outputs(code) + h] = made->columns + h * instances + first;
        run(code, BLOCK_GATHERED, places, instances - first < layout.lanes ? instances - first : layout.lanes);
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
    svmp_release(context, bound->columns);
    svmp_release(context, bound);
}

/* ---- lanes ------------------------------------------------------------------------------------- */

/* What one call evaluates. */
typedef struct request {
    const bound_program *bound;
    const code_block *code;
    const uint32_t *variables;
    size_t first, count, n;
    const double *x;
    double *value, *gradient;
    block_layout layout;
    double **places;
    double *copies; /* what follows the registers */
} request;

/* Where output o of instance `first + k` goes: a row of n numbers, or NULL where nobody wants it. */
static double *output_row(const request *r, size_t k, size_t o) {
    size_t outputs = r->bound->compiled->outputs, slots = r->bound->compiled->slots;
    if (o < outputs) return r->value ? r->value + (k * outputs + o) * r->n : NULL;
    return r->gradient + (k * slots + o - outputs) * r->n;
}

/* A block is particles of one instance; nothing is copied. */
static void evaluate_wide(const request *r) {
    const code_block *code = r->code;
    size_t slots = code->inputs, instances = r->bound->instances, n = r->n;
    for (size_t k = 0; k < r->count; k++) {
        size_t instance = r->first + k;
        for (size_t h = 0; h < code->columns; h++)
            r->places[code_place_columns(code) + h] = r->bound->columns + h * instances + instance;
        for (size_t l = 0; l < n; l += r->layout.lanes) {
            size_t lanes = n - l < r->layout.lanes ? n - l : r->layout.lanes;
            for (size_t j = 0; j < slots; j++)
                r->places[code_place_inputs(code) + j] =
                    (double *)(uintptr_t)(r->x + r->variables[instance * slots + j] * n + l); /* only ever read */
            for (size_t o = 0; o < code->outputs; o++) {
                double *row = output_row(r, k, o);
                r->places[code_place_outputs(code) + o] = row ? row + l : r->copies;
            }
            run(code, BLOCK_WIDE, r->places, lanes);
        }
    }
}

/* A few numbers: a call to memcpy would cost more. */
static inline void copy_row(double *to, const double *from, size_t n) {
    for (size_t l = 0; l < n; l++) to[l] = from[l];
}

static void gather_input(const request *r, size_t k, size_t instances, size_t slot, double *copy) {
    const uint32_t *variables = r->variables + (r->first + k) * r->code->inputs + slot;
    size_t n = r->n, stride = r->code->inputs;
    if (n == 1)
        for (size_t i = 0; i < instances; i++) copy[i] = r->x[variables[i * stride]];
    else
        for (size_t i = 0; i < instances; i++) copy_row(copy + i * n, r->x + variables[i * stride] * n, n);
}

static void repeat_column(const double *column, size_t instances, size_t n, double *copy) {
    for (size_t i = 0; i < instances; i++)
        for (size_t l = 0; l < n; l++) copy[i * n + l] = column[i];
}

/* Instance i's row of an output goes `stride` numbers behind that of instance i - 1. */
static void scatter_output(const double *copy, size_t instances, size_t n, size_t stride, double *row) {
    if (n == 1)
        for (size_t i = 0; i < instances; i++) row[i * stride] = copy[i];
    else
        for (size_t i = 0; i < instances; i++) copy_row(row + i * stride, copy + i * n, n);
}

/* A block is all particles of many instances: inputs are gathered, outputs scattered; for n = 1 columns are read in
 * place, and so are outputs written that stand alone. */
static void evaluate_gathered(const request *r) {
    const code_block *code = r->code;
    size_t n = r->n, lanes = r->layout.lanes, per_block = lanes / n, outputs = r->bound->compiled->outputs;
    double *inputs = r->copies, *results = inputs + code->inputs * lanes, *columns = results + code->outputs * lanes;
    for (size_t k = 0; k < r->count; k += per_block) {
        size_t instances = r->count - k < per_block ? r->count - k : per_block;
        for (size_t j = 0; j < code->inputs; j++) {
            r->places[code_place_inputs(code) + j] = inputs + j * lanes;
            gather_input(r, k, instances, j, inputs + j * lanes);
        }
        for (size_t h = 0; h < code->columns; h++) {
            double *column = r->bound->columns + h * r->bound->instances + r->first + k;
            if (n > 1) repeat_column(column, instances, n, columns + h * lanes);
            r->places[code_place_columns(code) + h] = n > 1 ? columns + h * lanes : column;
        }
        for (size_t o = 0; o < code->outputs; o++) {
            double *row = output_row(r, k, o);
            bool alone = o < outputs ? outputs == 1 : code->inputs == 1;
            r->places[code_place_outputs(code) + o] = alone && row ? row : results + o * lanes;
        }
        run(code, BLOCK_GATHERED, r->places, instances * n);
        for (size_t o = 0; o < code->outputs; o++) {
            double *row = output_row(r, k, o), *from = r->places[code_place_outputs(code) + o];
            size_t stride = (o < outputs ? outputs : code->inputs) * n;
            if (row && row != from) scatter_output(from, instances, n, stride, row);
        }
    }
}

void svmp_bound_evaluate(const bound_program *bound, const uint32_t *variables, size_t first, size_t count, size_t n,
                         const double *x, void *scratch, double *value, double *gradient) {
    const program *compiled = bound->compiled;
    request r = {.bound = bound,
                 .code = gradient ? &compiled->gradient : &compiled->values,
                 .variables = variables,
                 .first = first,
                 .count = count,
                 .n = n,
                 .x = x,
                 .value = value,
                 .gradient = gradient};
    r.layout = layout_of(r.code, n);
    r.copies = lay_out(r.code, r.layout, scratch, &r.places);
    (r.layout.mode == BLOCK_WIDE ? evaluate_wide : evaluate_gathered)(&r);
}
