/* Which names of model { } lead to which: an edge goes from a name on the left of a statement to each name that stands
 * on its right. */
#include "lang/compile/compile_passes.h"

typedef struct name_edges {
    uint32_t *start, *to; /* of each symbol, to[start[symbol]] ... to[start[symbol + 1] - 1] */
    bool formulas;        /* of '<-' alone */
} name_edges;

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static bool is_name(const ast_expression *expression) {
    return expression->kind == AST_VARIABLE && expression->counter < 0;
}

/* How many names stand in an expression; where `to` is not NULL, which ones. */
static uint32_t list_names(const ast_expression *expression, uint32_t *to) {
    if (expression == NULL) return 0;
    uint32_t count = is_name(expression);
    if (count > 0 && to) to[0] = expression->symbol;
    for (size_t k = 0; k < expression->count; k++) count += list_names(expression->operands[k], to ? to + count : NULL);
    return count;
}

static uint32_t list_right(const ast_statement *statement, uint32_t *to) {
    uint32_t count = 0;
    for (size_t k = 0; k < statement->argument_count; k++)
        count += list_names(statement->arguments[k], to ? to + count : NULL);
    count += list_names(statement->lower, to ? to + count : NULL);
    return count + list_names(statement->upper, to ? to + count : NULL);
}

/* Counts the edges in start[symbol + 2]; or, once that is summed up, puts them from start[symbol + 1] on. */
static void add_edges(const ast_statement *first, name_edges *edges) {
    for (const ast_statement *s = first; s; s = s->next) {
        if (s->kind == AST_FOR) add_edges(s->body, edges);
        if (s->left == NULL || (edges->formulas && s->kind != AST_DETERMINISTIC)) continue;
        if (edges->to)
            edges->start[s->left->symbol + 1] += list_right(s, edges->to + edges->start[s->left->symbol + 1]);
        else
            edges->start[s->left->symbol + 2] += list_right(s, NULL);
    }
}

static svmp_status make_edges(const model_lowering *lowering, name_edges *edges) {
    const size_t names = lowering->ast->names.count;
    SVMP_TRY(SVMP_NEW(lowering->context, edges->start, names + 2));
    add_edges(lowering->ast->model, edges);
    for (size_t k = 1; k < names + 2; k++) edges->start[k] += edges->start[k - 1];
    SVMP_TRY(SVMP_NEW(lowering->context, edges->to, edges->start[names + 1]));
    add_edges(lowering->ast->model, edges);
    return SVMP_OK;
}

/* ---- names that lead to each other ------------------------------------------------------------------------------ */

/* Tarjan's search for strongly connected components. */
typedef struct component_search {
    const name_edges *edges;
    uint32_t *order, *low; /* by symbol: 1 + when it was reached; the earliest that it leads to. 0: not reached */
    uint32_t *next;        /* by symbol: its next edge */
    uint32_t *path, *open; /* stacks: symbols on the way, and those without a component yet */
    uint32_t depth, waiting, reached;
    uint32_t *component; /* numbered in an order in which edges lead to smaller numbers; NOTHING: not yet */
    uint32_t components;
} component_search;

static void enter(component_search *s, uint32_t symbol) {
    s->order[symbol] = s->low[symbol] = ++s->reached;
    s->next[symbol] = s->edges->start[symbol];
    s->path[s->depth++] = s->open[s->waiting++] = symbol;
}

static void leave(component_search *s) {
    const uint32_t symbol = s->path[--s->depth];
    if (s->depth > 0) {
        const uint32_t above = s->path[s->depth - 1];
        if (s->low[symbol] < s->low[above]) s->low[above] = s->low[symbol];
    }
    if (s->low[symbol] < s->order[symbol]) return;
    while (s->component[symbol] == NOTHING) s->component[s->open[--s->waiting]] = s->components;
    s->components++;
}

static void search_from(component_search *s, uint32_t symbol) {
    enter(s, symbol);
    while (s->depth > 0) {
        const uint32_t now = s->path[s->depth - 1];
        if (s->next[now] == s->edges->start[now + 1]) {
            leave(s);
            continue;
        }
        const uint32_t to = s->edges->to[s->next[now]++];
        if (s->order[to] == 0)
            enter(s, to);
        else if (s->component[to] == NOTHING && s->order[to] < s->low[now])
            s->low[now] = s->order[to];
    }
}

static svmp_status find_components(const model_lowering *lowering, const name_edges *edges, uint32_t *component) {
    const size_t names = lowering->ast->names.count;
    component_search s = {.edges = edges, .component = component};
    uint32_t **arrays[] = {&s.order, &s.low, &s.next, &s.path, &s.open};
    svmp_status status = SVMP_OK;
    for (size_t k = 0; status == SVMP_OK && k < sizeof arrays / sizeof *arrays; k++)
        status = SVMP_NEW(lowering->context, *arrays[k], names);
    for (uint32_t k = 0; k < names; k++) component[k] = NOTHING;
    for (uint32_t k = 0; status == SVMP_OK && k < names; k++)
        if (s.order[k] == 0) search_from(&s, k);
    svmp_release_all(lowering->context, s.order, s.low, s.next, s.path, s.open);
    return status;
}

/* ---- formulas --------------------------------------------------------------------------------------------------- */

static void mark_discrete(const ast_statement *first, bool *discrete) {
    for (const ast_statement *s = first; s; s = s->next) {
        if (s->kind == AST_FOR) mark_discrete(s->body, discrete);
        if (s->kind == AST_STOCHASTIC && s->distribution->discrete) discrete[s->left->symbol] = true;
    }
}

static bool has_unknown(const model_lowering *lowering, const model_array *array) {
    for (size_t k = 0; array->first != SIZE_MAX && k < array->count; k++)
        if (lowering->elements[array->first + k].state != ELEMENT_KNOWN) return true;
    return false;
}

/* Names to which a discrete distribution gives values, not all of them from the data. */
static void find_discrete(const model_lowering *lowering, bool *discrete) {
    mark_discrete(lowering->ast->model, discrete);
    for (size_t k = 0; k < lowering->ast->names.count; k++)
        discrete[k] = discrete[k] && has_unknown(lowering, &lowering->arrays[k]);
}

/* Names whose formulas read a discrete one are discrete, too: they come after it in the order of the components. */
static svmp_status pass_on(const model_lowering *lowering, const name_edges *edges, const uint32_t *component,
                           name_graph *names) {
    const size_t count = lowering->ast->names.count;
    uint32_t *start, *member = NULL;
    SVMP_TRY(SVMP_NEW(lowering->context, start, count + 1));
    svmp_status status = SVMP_NEW(lowering->context, member, count);
    for (size_t k = 0; status == SVMP_OK && k < count; k++) start[component[k] + 1]++;
    for (size_t k = 0; k < count; k++) start[k + 1] += start[k];
    for (uint32_t k = 0; status == SVMP_OK && k < count; k++) member[start[component[k]]++] = k;
    for (size_t first = 0, end; status == SVMP_OK && first < count; first = end) {
        bool discrete = false, cycle = false;
        end = start[component[member[first]]];
        for (size_t k = first; k < end; k++) {
            const uint32_t name = member[k];
            discrete = discrete || names->discrete[name];
            for (uint32_t e = edges->start[name]; e < edges->start[name + 1]; e++) {
                discrete = discrete || names->discrete[edges->to[e]];
                cycle = cycle || component[edges->to[e]] == component[name];
            }
        }
        for (size_t k = first; k < end; k++) {
            names->discrete[member[k]] = discrete;
            names->recursive[member[k]] = cycle;
        }
    }
    svmp_release_all(lowering->context, start, member);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static svmp_status make_graph(const model_lowering *lowering, name_edges *all, name_edges *formulas,
                              uint32_t **component, name_graph *names) {
    svmp_context *context = lowering->context;
    const size_t count = lowering->ast->names.count;
    SVMP_TRY(SVMP_NEW(context, names->component, count));
    SVMP_TRY(SVMP_NEW(context, names->recursive, count));
    SVMP_TRY(SVMP_NEW(context, names->discrete, count));
    SVMP_TRY(SVMP_NEW(context, *component, count));
    SVMP_TRY(make_edges(lowering, all));
    SVMP_TRY(find_components(lowering, all, names->component));
    find_discrete(lowering, names->discrete);
    SVMP_TRY(make_edges(lowering, formulas));
    SVMP_TRY(find_components(lowering, formulas, *component));
    return pass_on(lowering, formulas, *component, names);
}

svmp_status svmp_names_graph(model_lowering *lowering) {
    name_edges all = {0}, formulas = {.formulas = true};
    uint32_t *component = NULL;
    const svmp_status status = make_graph(lowering, &all, &formulas, &component, &lowering->names);
    svmp_release_all(lowering->context, all.start, all.to, formulas.start, formulas.to, component);
    return status;
}

static bool reads_component(const model_lowering *lowering, const ast_expression *expression, uint32_t component) {
    if (expression == NULL) return false;
    bool reads = is_name(expression) && lowering->names.component[expression->symbol] == component;
    for (size_t k = 0; k < expression->count && !reads; k++)
        reads = reads_component(lowering, expression->operands[k], component);
    return reads;
}

bool svmp_leads_to_itself(const model_lowering *lowering, const ast_statement *statement) {
    const uint32_t component = lowering->names.component[statement->left->symbol];
    bool reads = reads_component(lowering, statement->lower, component) ||
                 reads_component(lowering, statement->upper, component);
    for (size_t k = 0; k < statement->argument_count && !reads; k++)
        reads = reads_component(lowering, statement->arguments[k], component);
    return reads;
}

bool svmp_reads_discrete(const model_lowering *lowering, const ast_expression *expression) {
    if (expression == NULL) return false;
    bool reads = is_name(expression) && lowering->names.discrete[expression->symbol];
    for (size_t k = 0; k < expression->count && !reads; k++)
        reads = svmp_reads_discrete(lowering, expression->operands[k]);
    return reads;
}

/* ---- names that others depend on -------------------------------------------------------------------------------- */

static bool mark_names(const model_lowering *lowering, const ast_expression *expression, uint32_t left, bool *read) {
    if (expression == NULL) return false;
    bool fresh = false;
    const uint32_t *component = lowering->names.component;
    if (is_name(expression) && !read[expression->symbol] &&
        (left == NOTHING || component[left] != component[expression->symbol]))
        fresh = read[expression->symbol] = true;
    for (size_t k = 0; k < expression->count; k++) fresh |= mark_names(lowering, expression->operands[k], left, read);
    return fresh;
}

/* Whether something was marked that was not before. */
static bool mark_all(const model_lowering *lowering, const ast_statement *first, bool *read) {
    bool fresh = false;
    for (const ast_statement *s = first; s && s != lowering->ast->replicates; s = s->next) {
        const uint32_t left = s->left ? s->left->symbol : NOTHING;
        if (s->kind == AST_FOR) fresh |= mark_all(lowering, s->body, read);
        if (s->kind == AST_FOR || (s->kind == AST_DETERMINISTIC && !read[left])) continue;
        for (size_t k = 0; k < s->argument_count; k++) fresh |= mark_names(lowering, s->arguments[k], left, read);
        fresh |= mark_names(lowering, s->lower, left, read);
        fresh |= mark_names(lowering, s->upper, left, read);
    }
    return fresh;
}

void svmp_names_read(const model_lowering *lowering, bool *read) {
    while (mark_all(lowering, lowering->ast->model, read)) continue;
}
