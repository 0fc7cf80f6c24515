/* Variable elimination. The log density of a component is the sum of its tables; an unknown is summed out by merging
 * the tables that have it into one over all their unknowns, and adding up its states: a table over the others is left.
 * The next one is always the one whose merged table is smallest. For a chain that is one end after the other, and the
 * expressions are those of the forward recursion. */
#include "lang/discrete/discrete_unknowns.h"

#include <math.h>
#include <string.h>

#include "expr/sums_of_squares.h"
#include "lang/compile/factor_builder.h"

/* A table over unknowns, by their number in the component, ascending; the first one's state runs fastest. */
typedef struct sum_table {
    uint32_t *scope;
    size_t rank, size;
    expr *entries;
} sum_table;

typedef struct sum_step {
    uint32_t unknown;
    size_t first_input, inputs; /* tables: elimination.inputs from there on */
    size_t size;                /* of the merged table */
    uint32_t output;            /* the table that is left */
} sum_step;

typedef struct elimination {
    model_lowering *lowering;
    const uint32_t *unknowns;
    size_t count;
    sum_table *tables; /* those of the factors, then those that are left by the steps */
    size_t table_count, factor_count;
    sum_step *steps;
    size_t step_count;
    uint32_t *inputs;
    size_t input_count;
    /* while the order is sought */
    uint32_t *head, *next, *entry; /* lists of tables by unknown: head -> next ..., the table of an entry */
    size_t entry_count, entry_capacity, next_capacity;
    double *cost;     /* by unknown: the size of its merged table; NaN: it was summed out */
    bool *marked;     /* by unknown, false between uses */
    bool *used;       /* by table */
    uint32_t *merged; /* room for a scope */
    /* while tables are merged */
    square_sums *squares;
    expr *terms; /* room for an entry of each table */
} elimination;

static const discrete_unknown *unknown_at(const elimination *e, uint32_t k) {
    return &e->lowering->discrete[e->unknowns[k]];
}

static size_t states_of(const elimination *e, uint32_t k) { return unknown_at(e, k)->states; }

/* ---- the order -------------------------------------------------------------------------------- */

static svmp_status link_table(elimination *e, uint32_t table) {
    svmp_context *context = e->lowering->context;
    for (size_t k = 0; k < e->tables[table].rank; k++) {
        const uint32_t unknown = e->tables[table].scope[k];
        SVMP_TRY(SVMP_GROW(context, e->next, e->next_capacity, e->entry_count + 1));
        SVMP_TRY(SVMP_GROW(context, e->entry, e->entry_capacity, e->entry_count + 1));
        e->entry[e->entry_count] = table;
        e->next[e->entry_count] = e->head[unknown];
        e->head[unknown] = (uint32_t)e->entry_count++;
    }
    return SVMP_OK;
}

/* The unknowns of all tables that have one: into e->merged, itself first, the others ascending. */
static size_t merge_scopes(elimination *e, uint32_t unknown) {
    size_t rank = 0;
    e->marked[unknown] = true;
    e->merged[rank++] = unknown;
    for (uint32_t k = e->head[unknown]; k != NOTHING; k = e->next[k]) {
        const sum_table *table = &e->tables[e->entry[k]];
        if (e->used[e->entry[k]]) continue;
        for (size_t j = 0; j < table->rank; j++) {
            const uint32_t other = table->scope[j];
            if (e->marked[other]) continue;
            size_t at = rank++;
            for (; at > 1 && e->merged[at - 1] > other; at--) e->merged[at] = e->merged[at - 1];
            e->merged[at] = other;
            e->marked[other] = true;
        }
    }
    for (size_t k = 0; k < rank; k++) e->marked[e->merged[k]] = false;
    return rank;
}

static double merged_size(elimination *e, uint32_t unknown) {
    const size_t rank = merge_scopes(e, unknown);
    double size = 1;
    for (size_t k = 0; k < rank; k++) size *= (double)states_of(e, e->merged[k]);
    return size;
}

static svmp_status too_large(elimination *e, uint32_t unknown, double size) {
    model_lowering *lowering = e->lowering;
    svmp_discrete_refuse(lowering);
    char names[300] = "", text[ELEMENT_TEXT];
    size_t length = 0;
    const size_t rank = merge_scopes(e, unknown), shown = rank < 6 ? rank : 6;
    for (size_t k = 1; k < shown; k++) {
        const discrete_unknown *other = unknown_at(e, e->merged[k]);
        svmp_element_text(lowering, other->symbol, other->offset, text);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.40s", k > 1 ? ", " : "", text);
    }
    if (shown < rank) snprintf(names + length, sizeof names - length, " and %zu more", rank - shown);
    place before = svmp_enter(lowering, unknown_at(e, unknown)->instance);
    svmp_element_text(lowering, unknown_at(e, unknown)->symbol, unknown_at(e, unknown)->offset, text);
    svmp_status status =
        svmp_lowering_error(lowering, lowering->statement->left->offset,
                            "summing out the discrete unknown '%s' couples %s and needs a table of %.3g entries; the "
                            "maximum is %u; provide some of the discrete unknowns in the data%s",
                            text, names, size, DISCRETE_MOST_ENTRIES, svmp_discrete_advice(unknown_at(e, unknown)));
    svmp_leave(lowering, before);
    return status;
}

/* `what`: terms or operations. */
static svmp_status too_much(const elimination *e, uint32_t unknown, unsigned most, const char *what) {
    model_lowering *lowering = e->lowering;
    svmp_discrete_refuse(lowering);
    const discrete_unknown *one = unknown_at(e, unknown);
    char text[ELEMENT_TEXT];
    place before = svmp_enter(lowering, one->instance);
    svmp_status status = svmp_lowering_error(
        lowering, lowering->statement->left->offset,
        "summing out '%s' and the discrete unknowns that it is coupled with takes more than %u %s; "
        "provide some of them in the data%s",
        svmp_element_text(lowering, one->symbol, one->offset, text), most, what, svmp_discrete_advice(one));
    svmp_leave(lowering, before);
    return status;
}

/* Builders get no larger. */
static svmp_status check_size(const elimination *e, uint32_t unknown) {
    if (svmp_builder_size(e->lowering->builder) <= LOWERING_MOST_EXPRESSIONS) return SVMP_OK;
    return too_much(e, unknown, LOWERING_MOST_EXPRESSIONS, "operations");
}

/* Plans the next step: the tables that have the unknown become one that has it no more. */
static svmp_status plan_step(elimination *e, uint32_t unknown) {
    svmp_context *context = e->lowering->context;
    sum_step *step = &e->steps[e->step_count++];
    const size_t rank = merge_scopes(e, unknown);
    sum_table *left = &e->tables[e->table_count];
    *step = (sum_step){.unknown = unknown, .first_input = e->input_count, .output = (uint32_t)e->table_count++};
    *left = (sum_table){.rank = rank - 1, .size = 1};
    SVMP_TRY(SVMP_NEW(context, left->scope, rank));
    memcpy(left->scope, e->merged + 1, (rank - 1) * sizeof *left->scope);
    for (size_t k = 1; k < rank; k++) left->size *= states_of(e, e->merged[k]);
    step->size = left->size * states_of(e, unknown);
    for (uint32_t k = e->head[unknown]; k != NOTHING; k = e->next[k]) {
        if (e->used[e->entry[k]]) continue;
        e->used[e->entry[k]] = true;
        e->inputs[e->input_count++] = e->entry[k];
        step->inputs++;
    }
    e->cost[unknown] = NAN;
    SVMP_TRY(link_table(e, step->output));
    for (size_t k = 0; k < left->rank; k++) e->cost[left->scope[k]] = merged_size(e, left->scope[k]);
    return SVMP_OK;
}

static svmp_status plan(elimination *e) {
    double terms = 0;
    for (uint32_t k = 0; k < e->count; k++) e->head[k] = NOTHING;
    for (uint32_t t = 0; t < e->factor_count; t++) SVMP_TRY(link_table(e, t));
    for (uint32_t k = 0; k < e->count; k++) e->cost[k] = merged_size(e, k);
    for (size_t turn = 0; turn < e->count; turn++) {
        uint32_t best = NOTHING;
        for (uint32_t k = 0; k < e->count; k++)
            if (!isnan(e->cost[k]) && (best == NOTHING || e->cost[k] < e->cost[best])) best = k;
        if (e->cost[best] > DISCRETE_MOST_ENTRIES) return too_large(e, best, e->cost[best]);
        terms += e->cost[best];
        if (terms > DISCRETE_MOST_TERMS) return too_much(e, best, DISCRETE_MOST_TERMS, "terms");
        SVMP_TRY(plan_step(e, best));
    }
    return SVMP_OK;
}

/* ---- tables of factors ------------------------------------------------------------------------ */

/* The scope of a factor in numbers of the component. */
static svmp_status begin_table(elimination *e, const discrete_factor *factor, const uint32_t *number,
                               sum_table *table) {
    *table = (sum_table){.rank = factor->count, .size = 1};
    SVMP_TRY(SVMP_NEW(e->lowering->context, table->scope, factor->count));
    for (size_t k = 0; k < factor->count; k++) {
        table->scope[k] = number[e->lowering->factor_scopes[factor->first + k] - e->unknowns[0]];
        table->size *= states_of(e, table->scope[k]);
    }
    return SVMP_OK;
}

/* The entry of the present combination; where an unknown was not read, of all its states. */
static void put(elimination *e, sum_table *table, expr entry, size_t at, size_t k, size_t stride) {
    if (k == table->rank) {
        table->entries[at] = entry;
        return;
    }
    const discrete_unknown *unknown = unknown_at(e, table->scope[k]);
    for (uint32_t s = 0; s < unknown->states; s++)
        if (!unknown->in_scope || unknown->state == s)
            put(e, table, entry, at + s * stride, k + 1, stride * unknown->states);
}

static bool is_zero(const program_builder *b, expr e) {
    double number;
    return svmp_expr_is_literal(b, e, &number) && number == -INFINITY;
}

static bool all_zero(const elimination *e, const sum_table *table) {
    for (size_t k = 0; k < table->size; k++)
        if (!is_zero(e->lowering->builder, table->entries[k])) return false;
    return true;
}

/* What the factor has against the last of its combinations, in which counts are largest. */
static svmp_status refuse_factor(elimination *e, uint32_t instance, size_t combinations) {
    model_lowering *lowering = e->lowering;
    svmp_discrete_refuse(lowering);
    expr ignored;
    svmp_scope_clear(lowering);
    for (size_t k = 1; k < combinations; k++) {
        SVMP_TRY(svmp_factor_entry(lowering, instance, &ignored));
        svmp_scope_next(lowering);
    }
    return svmp_factor_refuse(lowering, instance);
}

static svmp_status fill_table(elimination *e, uint32_t instance, sum_table *table) {
    model_lowering *lowering = e->lowering;
    size_t combinations = 0;
    SVMP_TRY(SVMP_NEW(lowering->context, table->entries, table->size));
    svmp_scope_clear(lowering);
    lowering->stamp++;
    lowering->filling = true;
    lowering->filling_first = lowering->filling_next = lowering->parameter_count;
    svmp_status status = SVMP_OK;
    do {
        expr entry;
        status = svmp_factor_entry(lowering, instance, &entry);
        if (status == SVMP_OK) status = check_size(e, table->scope[0]);
        if (status == SVMP_OK) put(e, table, entry, 0, 0, 1);
        combinations++;
    } while (status == SVMP_OK && svmp_scope_next(lowering));
    if (status == SVMP_OK && all_zero(e, table)) status = refuse_factor(e, instance, combinations);
    lowering->filling = false;
    return status;
}

/* ---- sums ------------------------------------------------------------------------------------- */

/* log of the product of what the step's tables have at a state of the unknown and the states of what is left. */
static expr multiply(elimination *e, const sum_step *step, const sum_table *left, size_t own, size_t at) {
    program_builder *b = e->lowering->builder;
    for (size_t i = 0; i < step->inputs; i++) {
        const sum_table *table = &e->tables[e->inputs[step->first_input + i]];
        size_t entry_at = 0, stride = 1;
        for (size_t k = 0; k < table->rank; k++) {
            size_t rest = at, state = own;
            for (size_t j = 0; table->scope[k] != step->unknown; j++) {
                const size_t states = states_of(e, left->scope[j]);
                state = rest % states;
                if (left->scope[j] == table->scope[k]) break;
                rest /= states;
            }
            entry_at += state * stride;
            stride *= states_of(e, table->scope[k]);
        }
        if (is_zero(b, table->entries[entry_at])) return table->entries[entry_at];
        e->terms[i] = table->entries[entry_at];
    }
    return svmp_squares_sum(e->squares, step->inputs, e->terms);
}

/* Each observation by itself is possible, but not all of those that depend on this unknown, and on earlier ones. */
static svmp_status refuse_unknown(const elimination *e, uint32_t unknown) {
    model_lowering *lowering = e->lowering;
    svmp_discrete_refuse(lowering);
    const discrete_unknown *one = unknown_at(e, unknown);
    char text[ELEMENT_TEXT];
    place before = svmp_enter(lowering, one->instance);
    svmp_status status = svmp_lowering_error(lowering, lowering->statement->left->offset,
                                             "no value of the discrete unknown '%s' is possible with these data; check "
                                             "its distribution and the observed nodes that depend on it",
                                             svmp_element_text(lowering, one->symbol, one->offset, text));
    svmp_leave(lowering, before);
    return status;
}

/* `products`: the merged table, the unknown's own state fastest. */
static svmp_status sum_out(elimination *e, const sum_step *step, expr *products) {
    model_lowering *lowering = e->lowering;
    program_builder *b = lowering->builder;
    sum_table *left = &e->tables[step->output];
    const size_t states = states_of(e, step->unknown);
    SVMP_TRY(SVMP_NEW(lowering->context, left->entries, left->size));
    for (size_t at = 0; at < left->size; at++) {
        for (size_t s = 0; s < states; s++) products[at * states + s] = multiply(e, step, left, s, at);
        left->entries[at] = svmp_expr_log_sum_exp(b, states, products + at * states);
        SVMP_TRY(check_size(e, step->unknown));
    }
    SVMP_TRY(svmp_builder_status(b));
    return all_zero(e, left) ? refuse_unknown(e, step->unknown) : SVMP_OK;
}

/* ---- results ---------------------------------------------------------------------------------- */

/* The step that merges what step k leaves. */
static uint32_t parent_of(const elimination *e, size_t k) {
    for (size_t other = k + 1; other < e->step_count; other++)
        for (size_t i = 0; i < e->steps[other].inputs; i++)
            if (e->inputs[e->steps[other].first_input + i] == e->steps[k].output) return (uint32_t)other;
    return UINT32_MAX;
}

static svmp_status keep_steps(elimination *e, lowered_component *component) {
    svmp_context *context = e->lowering->context;
    lowered_summed *summed = &e->lowering->result->summed;
    component->first = summed->step_count;
    component->steps = e->step_count;
    for (size_t k = 0; k < e->step_count; k++) {
        const sum_table *left = &e->tables[e->steps[k].output];
        SVMP_TRY(SVMP_GROW(context, summed->steps, summed->step_capacity, summed->step_count + 1));
        SVMP_TRY(SVMP_GROW(context, summed->given, summed->given_capacity, summed->given_count + left->rank));
        summed->steps[summed->step_count++] = (lowered_step){.unknown = e->unknowns[e->steps[k].unknown],
                                                             .given_count = (uint32_t)left->rank,
                                                             .given = summed->given_count,
                                                             .first = component->size,
                                                             .size = e->steps[k].size,
                                                             .parent = left->rank ? parent_of(e, k) : UINT32_MAX};
        for (size_t j = 0; j < left->rank; j++) summed->given[summed->given_count++] = e->unknowns[left->scope[j]];
        component->size += e->steps[k].size;
    }
    return SVMP_OK;
}

/* What the unknowns are drawn from: the merged tables less what was left of them, in logs. */
static svmp_status keep_conditionals(elimination *e, expr *products) {
    model_lowering *lowering = e->lowering;
    lowered_summed *summed = &lowering->result->summed;
    lowered_component component = {0};
    uint64_t words[1] = {lowering->statement->offset};
    bool fresh;
    if (lowering->graph) return SVMP_OK;
    SVMP_TRY(keep_steps(e, &component));
    for (size_t k = 0, at = 0; k < e->step_count; k++) {
        const size_t states = states_of(e, e->steps[k].unknown);
        for (size_t j = 0; j < e->steps[k].size; j++, at++)
            products[at] =
                svmp_expr_subtract(lowering->builder, products[at], e->tables[e->steps[k].output].entries[j / states]);
    }
    SVMP_TRY(
        svmp_pattern_find(lowering, PATTERN_DISCRETE, 1, words, component.size, products, &component.values, &fresh));
    factor_pattern *pattern = &lowering->patterns[component.values];
    component.instance = (uint32_t)pattern->instances;
    if (fresh)
        SVMP_TRY(svmp_program_finish_values(lowering->builder, component.size, products, pattern->slots,
                                            pattern->parameters, &pattern->program));
    SVMP_TRY(svmp_pattern_append(lowering, component.values));
    SVMP_TRY(SVMP_GROW(lowering->context, summed->components, summed->component_capacity, summed->component_count + 1));
    summed->components[summed->component_count++] = component;
    return SVMP_OK;
}

static expr total_of(const elimination *e) {
    expr total = svmp_expr_literal(e->lowering->builder, 0);
    for (size_t k = 0; k < e->step_count; k++)
        if (e->tables[e->steps[k].output].rank == 0)
            total = svmp_expr_add(e->lowering->builder, total, e->tables[e->steps[k].output].entries[0]);
    return total;
}

/* The factor that is left when all unknowns are summed out. */
static svmp_status add_sum(elimination *e) {
    model_lowering *lowering = e->lowering;
    const expr total = total_of(e);
    uint64_t words[2] = {lowering->statement->offset, e->count};
    uint32_t which;
    bool fresh;
    if (svmp_expr_level(lowering->builder, total) != LEVEL_INPUT) return svmp_builder_status(lowering->builder);
    SVMP_TRY(svmp_pattern_find(lowering, PATTERN_FACTOR, 2, words, 1, &total, &which, &fresh));
    if (fresh) SVMP_TRY(svmp_factor_finish(lowering, which, total));
    return svmp_pattern_append(lowering, which);
}

/* ---- all of it -------------------------------------------------------------------------------- */

static svmp_status allocate(elimination *e) {
    svmp_context *context = e->lowering->context;
    const size_t tables = e->factor_count + e->count;
    SVMP_TRY(SVMP_NEW(context, e->tables, tables));
    SVMP_TRY(SVMP_NEW(context, e->inputs, tables));
    SVMP_TRY(SVMP_NEW(context, e->used, tables));
    SVMP_TRY(SVMP_NEW(context, e->steps, e->count));
    SVMP_TRY(SVMP_NEW(context, e->head, e->count));
    SVMP_TRY(SVMP_NEW(context, e->cost, e->count));
    SVMP_TRY(SVMP_NEW(context, e->marked, e->count));
    SVMP_TRY(SVMP_NEW(context, e->terms, tables));
    SVMP_TRY(svmp_squares_create(e->lowering->builder, &e->squares));
    return SVMP_NEW(context, e->merged, e->count + 1);
}

static void release(elimination *e) {
    svmp_context *context = e->lowering->context;
    for (size_t k = 0; k < e->table_count; k++) {
        svmp_release(context, e->tables[k].scope);
        svmp_release(context, e->tables[k].entries);
    }
    svmp_squares_free(e->squares);
    void *owned[] = {e->tables, e->inputs, e->used, e->steps, e->head, e->cost,
                     e->marked, e->merged, e->next, e->entry, e->terms};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
}

/* number[global number - the first one's]: the unknown's number in the component. */
static svmp_status begin_tables(elimination *e, const discrete_factor *factors) {
    uint32_t *number;
    SVMP_TRY(SVMP_NEW(e->lowering->context, number, e->unknowns[e->count - 1] - e->unknowns[0] + 1));
    for (uint32_t k = 0; k < e->count; k++) number[e->unknowns[k] - e->unknowns[0]] = k;
    svmp_status status = SVMP_OK;
    for (; status == SVMP_OK && e->table_count < e->factor_count; e->table_count++)
        status = begin_table(e, &factors[e->table_count], number, &e->tables[e->table_count]);
    svmp_release(e->lowering->context, number);
    return status;
}

/* The table of a factor that counts as 1. */
static svmp_status fill_with_one(elimination *e, sum_table *table) {
    SVMP_TRY(SVMP_NEW(e->lowering->context, table->entries, table->size));
    for (size_t k = 0; k < table->size; k++) table->entries[k] = svmp_expr_literal(e->lowering->builder, 0);
    return SVMP_OK;
}

static svmp_status sum_all(elimination *e, const discrete_factor *factors, const bool *left_out, expr **products) {
    model_lowering *lowering = e->lowering;
    size_t size = 0;
    SVMP_TRY(allocate(e));
    SVMP_TRY(begin_tables(e, factors));
    SVMP_TRY(plan(e));
    for (size_t f = 0; f < e->factor_count; f++)
        SVMP_TRY(left_out && left_out[f] ? fill_with_one(e, &e->tables[f])
                                         : fill_table(e, factors[f].instance, &e->tables[f]));
    for (size_t k = 0; k < e->step_count; k++) size += e->steps[k].size;
    SVMP_TRY(SVMP_NEW(lowering->context, *products, size));
    expr *at = *products;
    for (size_t k = 0; k < e->step_count; k++) {
        SVMP_TRY(sum_out(e, &e->steps[k], at));
        at += e->steps[k].size;
    }
    return SVMP_OK;
}

svmp_status svmp_eliminate(model_lowering *lowering, size_t factor_count, const discrete_factor *factors,
                           size_t unknown_count, const uint32_t *unknowns) {
    elimination e = {.lowering = lowering, .unknowns = unknowns, .count = unknown_count, .factor_count = factor_count};
    expr *products = NULL;
    place before = svmp_enter(lowering, factors[0].instance);
    svmp_status status = sum_all(&e, factors, NULL, &products);
    if (status == SVMP_OK) status = add_sum(&e);
    if (status == SVMP_OK) status = keep_conditionals(&e, products);
    svmp_leave(lowering, before);
    svmp_release(lowering->context, products);
    release(&e);
    return status;
}

svmp_status svmp_eliminate_total(model_lowering *lowering, size_t factor_count, const discrete_factor *factors,
                                 const bool *left_out, size_t unknown_count, const uint32_t *unknowns, expr *total) {
    elimination e = {.lowering = lowering, .unknowns = unknowns, .count = unknown_count, .factor_count = factor_count};
    expr *products = NULL;
    place before = svmp_enter(lowering, factors[0].instance);
    const svmp_status status = sum_all(&e, factors, left_out, &products);
    if (status == SVMP_OK) *total = total_of(&e);
    svmp_leave(lowering, before);
    svmp_release(lowering->context, products);
    release(&e);
    return status;
}
