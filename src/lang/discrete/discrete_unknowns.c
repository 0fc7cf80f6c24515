/* Discrete unknowns: their values, what reads them, and which of them belong together. */
#include "lang/discrete/discrete_unknowns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile/factor_builder.h"

/* ---- values ----------------------------------------------------------------------------------- */

static svmp_status not_finite(model_lowering *lowering, size_t offset, const char *advice) {
    const ast_statement *statement = lowering->statement;
    char text[ELEMENT_TEXT];
    svmp_discrete_refuse(lowering);
    return svmp_lowering_error(
        lowering, statement->left->offset, "'%s'%s%s is discrete, not observed, and cannot be summed out: %s",
        svmp_element_text(lowering, statement->left->symbol, offset, text), statement->distribution ? " ~ " : "",
        statement->distribution ? statement->distribution->name : "", advice);
}

static model_item argument(const model_lowering *lowering, const value *evaluated, size_t part) {
    return lowering->items[evaluated->first + (evaluated->count == 1 ? 0 : part)];
}

/* The least and the largest value by the distribution alone; NaN: it depends on unknowns. */
static void support_ends(const model_lowering *lowering, const evaluated_distribution *evaluated, size_t part,
                         double *least, double *most) {
    const ast_statement *statement = lowering->statement;
    model_item item[3] = {{0}};
    *least = 0;
    *most = INFINITY;
    for (size_t k = 0; k < 3 && k < evaluated->count; k++) item[k] = argument(lowering, &evaluated->arguments[k], part);
    switch (statement->distribution->support) {
    case SUPPORT_BINARY: *most = 1; break;
    case SUPPORT_COUNT_TO: {
        const model_item size = item[statement->distribution->arguments - 1];
        *most = svmp_item_known(size) ? size.number : NAN;
        break;
    }
    case SUPPORT_COMPOSITION: *most = svmp_item_known(item[1]) ? item[1].number : NAN; break;
    case SUPPORT_ORDERED:
        *least = 1;
        *most = (double)evaluated->arguments[1].count + 1;
        break;
    case SUPPORT_CATEGORY:
        *least = 1;
        *most = (double)evaluated->arguments[0].count;
        break;
    case SUPPORT_INTERVAL_INDEX: *most = (double)evaluated->arguments[1].count; break;
    case SUPPORT_HYPERGEOMETRIC:
        *most = NAN;
        if (!svmp_item_known(item[0]) || !svmp_item_known(item[1]) || !svmp_item_known(item[2])) break;
        *least = fmax(0, item[2].number - item[1].number);
        *most = fmin(item[0].number, item[2].number);
        break;
    default: break;
    }
}

/* Where a count with known arguments has its last value but for a probability of 1e-15: doubled until it is there. */
static svmp_status last_value(model_lowering *lowering, const evaluated_distribution *evaluated, size_t part,
                              double *last) {
    const distribution *family = lowering->statement->distribution;
    program_builder *b = lowering->calculator;
    expr items[DISTRIBUTION_ARGUMENTS];
    expr_array arguments[DISTRIBUTION_ARGUMENTS];
    double beyond = 0;
    svmp_builder_reset(b);
    for (size_t k = 0; k < evaluated->count; k++) {
        items[k] = svmp_expr_literal(b, argument(lowering, &evaluated->arguments[k], part).number);
        arguments[k] = (expr_array){1, 1, &items[k]};
    }
    for (*last = 8; *last <= DISCRETE_MOST_STATES; *last *= 2) {
        expr survival = family->log_survival(b, svmp_expr_literal(b, *last), arguments);
        if (svmp_expr_is_literal(b, survival, &beyond) && beyond < -34.5) break;
    }
    return svmp_builder_status(b);
}

/* Where the sum over a count without a largest value ends: at a value with no probability left where its arguments are
 * known; elsewhere far above what is observed of it. The run looks at the probability of the last value. */
static svmp_status find_end(model_lowering *lowering, const evaluated_distribution *evaluated, uint32_t which,
                            size_t part, double *most) {
    bool known = lowering->statement->distribution->log_survival != NULL && isinf(*most);
    for (size_t k = 0; k < evaluated->count; k++)
        known = known && svmp_item_known(argument(lowering, &evaluated->arguments[k], part));
    if (known) return last_value(lowering, evaluated, part, most);
    const double own = floor(fmax(lowering->instances[which].largest, 0));
    const double all = floor(fmax(svmp_state_of(lowering, lowering->statement)->largest, 0));
    const bool coupled = svmp_discrete_touches(lowering, lowering->statement);
    if (lowering->choices->short_sums) {
        *most = DISCRETE_BRIEF_LEAST + DISCRETE_BRIEF_TIMES * own;
        if (!coupled) *most = fmax(*most, fmin(DISCRETE_BRIEF_LEAST + DISCRETE_BRIEF_TIMES * all, DISCRETE_BRIEF_MOST));
        return SVMP_OK;
    }
    *most = DISCRETE_OPEN_LEAST + DISCRETE_OPEN_TIMES * own;
    if (!coupled) *most = fmax(*most, fmin(DISCRETE_FREE_LEAST + DISCRETE_FREE_TIMES * all, DISCRETE_FREE_MOST));
    return SVMP_OK;
}

/* The state that the choices fix. */
static void fix_state(const model_lowering *lowering, discrete_unknown *found) {
    const uint32_t *fixed = lowering->choices->fixed;
    if (fixed == NULL || fixed[lowering->discrete_count] == 0) return;
    found->least += fixed[lowering->discrete_count] - 1;
    found->states = 1;
    found->open = false;
}

static svmp_status find_values(model_lowering *lowering, uint32_t which, size_t offset, size_t part,
                               discrete_unknown *found) {
    evaluated_distribution evaluated = {0};
    double least, most;
    SVMP_TRY(svmp_expand_distribution(lowering, &evaluated));
    support_ends(lowering, &evaluated, part, &least, &most);
    if (!svmp_item_known(evaluated.lower) || !svmp_item_known(evaluated.upper))
        return not_finite(lowering, offset, "its bounds depend on unknowns; they must be data");
    const size_t element = lowering->arrays[lowering->statement->left->symbol].first + offset;
    double upper = floor(evaluated.upper.number);
    if (lowering->cut_upper) upper = fmin(upper, floor(lowering->cut_upper[element]));
    if (lowering->statement->distribution->support == SUPPORT_SUM)
        return not_finite(lowering, offset, "write the sum with '<-', or provide it in the data");
    const uint32_t *ends = lowering->choices->ends;
    found->open = isinf(upper) && !isfinite(most);
    if (found->open && ends && ends[lowering->discrete_count] > 0) {
        most = ends[lowering->discrete_count];
    } else if (found->open) {
        SVMP_TRY(find_end(lowering, &evaluated, which, part, &most));
        most += fmax(0, ceil(evaluated.lower.number)); /* T(a,) */
    }
    if (isnan(most)) most = INFINITY;
    least = fmax(least, ceil(evaluated.lower.number));
    most = fmin(most, upper);
    if (most < least) return not_finite(lowering, offset, "there is no value within its bounds");
    if (most - least + 1 > DISCRETE_MOST_STATES)
        return not_finite(lowering, offset,
                          "it has too many values; truncate it with T(,), or approximate it by a normal "
                          "distribution: dnorm(mean, 1 / variance) T(0,)");
    found->least = least;
    found->states = (uint32_t)(most - least) + 1;
    fix_state(lowering, found);
    return SVMP_OK;
}

static svmp_status append(model_lowering *lowering, discrete_unknown made) {
    SVMP_TRY(
        SVMP_GROW(lowering->context, lowering->discrete, lowering->discrete_capacity, lowering->discrete_count + 1));
    const size_t element = lowering->arrays[made.symbol].first + made.offset;
    lowering->elements[element].state = ELEMENT_DISCRETE;
    lowering->elements[element].output = made.component = (uint32_t)lowering->discrete_count;
    lowering->discrete[lowering->discrete_count++] = made;
    return SVMP_OK;
}

svmp_status svmp_discrete_add(model_lowering *lowering, uint32_t which, size_t offset, size_t part) {
    const size_t items = lowering->item_count;
    const uint32_t symbol = lowering->statement->left->symbol;
    discrete_unknown made = {.instance = which, .symbol = symbol, .offset = (uint32_t)offset, .reader = NOTHING};
    SVMP_TRY(find_values(lowering, which, offset, part, &made));
    lowering->item_count = items;
    return append(lowering, made);
}

svmp_status svmp_discrete_be_total(model_lowering *lowering, uint32_t unknown, uint32_t which, size_t offset,
                                   double least, double most, bool open) {
    const uint32_t *ends = lowering->choices->ends, *fixed = lowering->choices->fixed;
    const double own = floor(fmax(lowering->instances[which].largest, 0));
    discrete_unknown *total = &lowering->discrete[unknown];
    double end = lowering->choices->short_sums ? DISCRETE_BRIEF_LEAST + DISCRETE_BRIEF_TIMES * own
                                               : DISCRETE_OPEN_LEAST + DISCRETE_OPEN_TIMES * own;
    if (ends && ends[unknown] > 0) end = ends[unknown];
    if (open) most = fmin(most, fmax(end, least));
    if (most - least + 1 > DISCRETE_MOST_STATES)
        return not_finite(lowering, offset, "it is a sum with too many values; bound its terms with T(,)");
    lowering->elements[lowering->arrays[total->symbol].first + total->offset].state = ELEMENT_REMAINDER;
    *total = (discrete_unknown){.instance = which,
                                .symbol = lowering->statement->left->symbol,
                                .offset = (uint32_t)offset,
                                .reader = NOTHING,
                                .component = unknown,
                                .least = least,
                                .states = (uint32_t)(most - least) + 1,
                                .open = open,
                                .total = true};
    if (fixed && fixed[unknown] > 0) {
        total->least += fixed[unknown] - 1;
        total->states = 1;
        total->open = false;
    }
    model_element *element = &lowering->elements[lowering->arrays[total->symbol].first + offset];
    element->state = ELEMENT_DISCRETE;
    element->output = unknown;
    return SVMP_OK;
}

/* Behind the variables and those of the leaves. */
static uint32_t input_of(const model_lowering *lowering, uint32_t which) {
    return (uint32_t)(lowering->result->variables + lowering->result->leaf_variables + which);
}

/* ---- combinations ----------------------------------------------------------------------------- */

svmp_status svmp_discrete_read(model_lowering *lowering, uint32_t which, model_item *result) {
    discrete_unknown *read = &lowering->discrete[which];
    if (lowering->drawn) { /* by then each has a value in every particle, behind the variables */
        expr input;
        SVMP_TRY(svmp_input(lowering, input_of(lowering, which), &input));
        *result = svmp_item_expression(input);
        return SVMP_OK;
    }
    if (!read->in_scope) {
        SVMP_TRY(SVMP_GROW(lowering->context, lowering->scope, lowering->scope_capacity, lowering->scope_count + 1));
        lowering->scope[lowering->scope_count++] = which;
        read->in_scope = true;
        read->state = 0;
    }
    *result = svmp_item_literal(read->least + read->state); /* part of the structure: the same in all instances */
    return SVMP_OK;
}

void svmp_scope_clear(model_lowering *lowering) {
    for (size_t k = 0; k < lowering->scope_count; k++) lowering->discrete[lowering->scope[k]].in_scope = false;
    lowering->scope_count = 0;
}

bool svmp_scope_next(model_lowering *lowering) {
    lowering->stamp++; /* what was computed holds for the last combination alone */
    for (; lowering->scope_count > 0; lowering->scope_count--) {
        discrete_unknown *last = &lowering->discrete[lowering->scope[lowering->scope_count - 1]];
        if (++last->state < last->states) return true;
        last->in_scope = false;
    }
    return false;
}

/* How many combinations there are of the unknowns read so far. */
static double scope_size(const model_lowering *lowering) {
    double size = 1;
    for (size_t k = 0; k < lowering->scope_count; k++) size *= lowering->discrete[lowering->scope[k]].states;
    return size;
}

/* ---- factors ---------------------------------------------------------------------------------- */

const char *svmp_discrete_advice(const discrete_unknown *unknown) {
    return unknown->open ? "; or approximate large counts by normal distributions: dnorm(mean, 1 / variance) T(0,)"
                         : "";
}

void svmp_discrete_refuse(const model_lowering *lowering) { lowering->report->sum_refused = true; }

/* `count` statements that read these unknowns, this one included. */
static svmp_status too_many(model_lowering *lowering, size_t count) {
    svmp_discrete_refuse(lowering);
    char names[200] = "", text[ELEMENT_TEXT], statements[80] = "";
    size_t length = 0, k = 0;
    for (; k < lowering->scope_count && k < 4; k++) {
        const discrete_unknown *one = &lowering->discrete[lowering->scope[k]];
        svmp_element_text(lowering, one->symbol, one->offset, text);
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.40s", k ? ", " : "", text);
        if (length >= sizeof names) break;
    }
    const char *advice = "";
    for (size_t j = 0; j < lowering->scope_count && !*advice; j++)
        advice = svmp_discrete_advice(&lowering->discrete[lowering->scope[j]]);
    const double size = scope_size(lowering);
    if (count > 1) snprintf(statements, sizeof statements, " in %zu or more statements", count);
    return svmp_lowering_error(lowering, lowering->statement->offset,
                               "this depends on the discrete unknowns %s%s, which have %.3g combinations of values%s; "
                               "at most %u can be summed; provide some of them in the data, or split the statement%s",
                               names, k < lowering->scope_count ? " ..." : "", size, statements,
                               count > 1 ? DISCRETE_MOST_READ : DISCRETE_MOST_ENTRIES, advice);
}

/* Refuses what would take too long, before it is begun: a table that is too large, or too many of them that have an
 * unknown in common. */
static svmp_status check_cost(model_lowering *lowering, uint32_t instance) {
    const double size = scope_size(lowering);
    const double most = lowering->choices->small_tables ? DISCRETE_STRICT_ENTRIES : DISCRETE_MOST_ENTRIES;
    const size_t values = lowering->statement->kind == AST_FACTOR ? 1 : lowering->instances[instance].values;
    if (size > most) return too_many(lowering, 1);
    for (size_t k = 0; k < lowering->scope_count; k++) {
        discrete_unknown *one = &lowering->discrete[lowering->scope[k]];
        if (one->reader == instance) continue; /* counted */
        one->reader = instance;
        one->readers++;
        if (instance != one->instance) one->dependents += values;
        one->read += size;
        if (one->read > DISCRETE_MOST_READ && size > DISCRETE_FEW) return too_many(lowering, one->readers);
    }
    return SVMP_OK;
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The unknowns of the present combination that the factor has not read before. */
static svmp_status note_scope(model_lowering *lowering, discrete_factor *factor) {
    for (size_t k = 0; k < lowering->scope_count; k++) {
        bool noted = false;
        for (size_t j = 0; j < factor->count && !noted; j++)
            noted = lowering->factor_scopes[factor->first + j] == lowering->scope[k];
        if (noted) continue;
        const size_t end = factor->first + factor->count;
        SVMP_TRY(SVMP_GROW(lowering->context, lowering->factor_scopes, lowering->factor_scope_capacity, end + 1));
        lowering->factor_scopes[end] = lowering->scope[k];
        factor->count++;
        lowering->factor_scope_count = end + 1;
    }
    return SVMP_OK;
}

svmp_status svmp_discrete_note(model_lowering *lowering, uint32_t instance) {
    discrete_factor factor = {.instance = instance, .first = lowering->factor_scope_count};
    expr ignored;
    bool more;
    do {
        SVMP_TRY(note_scope(lowering, &factor));
        SVMP_TRY(check_cost(lowering, instance));
        more = svmp_scope_next(lowering);
        if (!more) break;
        svmp_builder_reset(lowering->builder);
        lowering->slot_epoch = lowering->stamp;
        lowering->slot_count = lowering->parameter_count = 0;
        SVMP_TRY(svmp_factor_entry(lowering, instance, &ignored));
    } while (more);
    qsort(lowering->factor_scopes + factor.first, factor.count, sizeof *lowering->factor_scopes, ascending);
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->discrete_factors, lowering->discrete_factor_capacity,
                       lowering->discrete_factor_count + 1));
    lowering->discrete_factors[lowering->discrete_factor_count++] = factor;
    return SVMP_OK;
}

/* ---- coordinates ------------------------------------------------------------------------------ */

bool svmp_discrete_touches(const model_lowering *lowering, const ast_statement *statement) {
    for (size_t k = 0; k < statement->argument_count; k++)
        if (svmp_reads_discrete(lowering, statement->arguments[k])) return true;
    return false;
}

/* The natural value of such a node would be no function of what particles move in. */
svmp_status svmp_discrete_check_bounds(model_lowering *lowering, const ast_statement *statement) {
    const distribution_support support = statement->distribution->support;
    const ast_expression *bounds[4] = {statement->lower, statement->upper};
    bool touches = false;
    if (support == SUPPORT_INTERVAL) bounds[2] = statement->arguments[0];
    if (support == SUPPORT_INTERVAL || support == SUPPORT_ABOVE) bounds[3] = statement->arguments[1];
    for (size_t k = 0; k < 4; k++) touches = touches || svmp_reads_discrete(lowering, bounds[k]);
    if (!touches) return SVMP_OK;
    return svmp_lowering_error(
        lowering, statement->left->offset,
        "the bounds of this unknown depend on a discrete one: write it as low + (high - low) * u "
        "with u ~ dunif(0, 1), or add the remaining terms of its density with factor()");
}

/* ---- names ------------------------------------------------------------------------------------ */

svmp_status svmp_discrete_finish(model_lowering *lowering) {
    lowered_summed *summed = &lowering->result->summed;
    lowering->result->discrete_count = lowering->discrete_count;
    SVMP_TRY(SVMP_NEW(lowering->context, summed->unknowns, lowering->discrete_count));
    for (; summed->count < lowering->discrete_count; summed->count++) {
        const discrete_unknown *from = &lowering->discrete[summed->count];
        lowered_discrete *to = &summed->unknowns[summed->count];
        *to = (lowered_discrete){
            .least = from->least, .states = from->states, .open = from->open, .read = from->dependents};
        SVMP_TRY(svmp_output_name(lowering, from->symbol, from->offset, &to->name));
    }
    return SVMP_OK;
}

/* ---- components ------------------------------------------------------------------------------- */

static uint32_t find(discrete_unknown *unknowns, uint32_t k) {
    while (unknowns[k].component != k) k = unknowns[k].component = unknowns[unknowns[k].component].component;
    return k;
}

/* The least of its unknowns names a component. */
static void join(discrete_unknown *unknowns, uint32_t a, uint32_t b) {
    a = find(unknowns, a);
    b = find(unknowns, b);
    if (a < b)
        unknowns[b].component = a;
    else
        unknowns[a].component = b;
}

svmp_status svmp_discrete_list(model_lowering *lowering, component_lists *lists) {
    const size_t count = lowering->discrete_count, factors = lowering->discrete_factor_count;
    SVMP_TRY(SVMP_NEW(lowering->context, lists->unknown_start, count + 2));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->factor_start, count + 2));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->unknowns, count));
    SVMP_TRY(SVMP_NEW(lowering->context, lists->factors, factors));
    uint32_t *of_unknowns = lists->unknown_start + 1, *of_factors = lists->factor_start + 1;
    for (size_t k = 0; k < count; k++) lists->unknown_start[find(lowering->discrete, (uint32_t)k) + 2]++;
    for (size_t k = 0; k < factors; k++) {
        const uint32_t first = lowering->factor_scopes[lowering->discrete_factors[k].first];
        lists->factor_start[find(lowering->discrete, first) + 2]++;
    }
    for (size_t k = 1; k <= count; k++) {
        of_unknowns[k] += of_unknowns[k - 1];
        of_factors[k] += of_factors[k - 1];
    }
    for (size_t k = 0; k < count; k++)
        lists->unknowns[of_unknowns[find(lowering->discrete, (uint32_t)k)]++] = (uint32_t)k;
    for (size_t k = 0; k < factors; k++) {
        const uint32_t first = lowering->factor_scopes[lowering->discrete_factors[k].first];
        lists->factors[of_factors[find(lowering->discrete, first)]++] = lowering->discrete_factors[k];
    }
    return SVMP_OK;
}

void svmp_discrete_lists_free(svmp_context *context, component_lists *lists) {
    svmp_release(context, lists->unknown_start);
    svmp_release(context, lists->unknowns);
    svmp_release(context, lists->factor_start);
    svmp_release(context, lists->factors);
}

static svmp_status sum_components(model_lowering *lowering, const component_lists *lists) {
    for (size_t c = 0; c < lowering->discrete_count; c++) {
        const size_t unknowns = lists->unknown_start[c + 1] - lists->unknown_start[c];
        if (unknowns == 0) continue;
        SVMP_TRY(svmp_begin_instance(lowering));
        svmp_status status = svmp_eliminate(lowering, lists->factor_start[c + 1] - lists->factor_start[c],
                                            lists->factors + lists->factor_start[c], unknowns,
                                            lists->unknowns + lists->unknown_start[c]);
        svmp_scope_clear(lowering);
        SVMP_TRY(svmp_go_on(lowering, status));
    }
    return SVMP_OK;
}

svmp_status svmp_discrete_sum(model_lowering *lowering) {
    component_lists lists = {0};
    if (lowering->discrete_count == 0) return SVMP_OK;
    for (size_t f = 0; f < lowering->discrete_factor_count; f++) {
        const discrete_factor *factor = &lowering->discrete_factors[f];
        for (size_t k = 1; k < factor->count; k++)
            join(lowering->discrete, lowering->factor_scopes[factor->first],
                 lowering->factor_scopes[factor->first + k]);
    }
    svmp_status status = svmp_discrete_list(lowering, &lists);
    lowering->symbolic = true;
    svmp_builder_share_logs(lowering->builder, true);
    if (status == SVMP_OK) status = sum_components(lowering, &lists);
    svmp_builder_share_logs(lowering->builder, false);
    lowering->symbolic = false;
    svmp_discrete_lists_free(lowering->context, &lists);
    return status;
}

void svmp_discrete_free(model_lowering *lowering) {
    svmp_release(lowering->context, lowering->discrete);
    svmp_release(lowering->context, lowering->scope);
    svmp_release(lowering->context, lowering->factor_scopes);
    svmp_release(lowering->context, lowering->discrete_factors);
    svmp_release(lowering->context, lowering->parameter_stamp);
}
