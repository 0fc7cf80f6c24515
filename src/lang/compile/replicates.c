/* Posterior predictions: for every observed array, y.rep is drawn from what y was observed from. A statement y[i] ~
 * d(...) is followed by y.rep[i] ~ d(...), a leaf. */
#include "lang/compile/compile_passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether the list, commas between its names, has this one. */
static bool is_listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

static bool is_defined(const ast_statement *first, uint32_t symbol) {
    for (const ast_statement *s = first; s; s = s->next)
        if ((s->left && s->left->symbol == symbol) || (s->kind == AST_FOR && is_defined(s->body, symbol))) return true;
    return false;
}

static bool has_values(const data_array *data) {
    for (size_t k = 0; k < data->count; k++)
        if (!isnan(data->values[k])) return true;
    return false;
}

/* The copy has the dimensions of the data. */
static svmp_status declare(ast_model *ast, const ast_expression *left, const data_array *data) {
    ast_declaration *made;
    ast_expression *variable;
    for (ast_declaration *other = ast->declarations; other; other = other->next)
        if (other->variable->symbol == left->symbol) return SVMP_OK;
    SVMP_TRY(ARENA_NEW(&ast->arena, made, 1));
    SVMP_TRY(ARENA_NEW(&ast->arena, variable, 1));
    SVMP_TRY(ARENA_NEW(&ast->arena, variable->operands, data->rank));
    variable->kind = AST_VARIABLE;
    variable->offset = left->offset;
    variable->symbol = left->symbol;
    variable->height = 2;
    variable->indexed = 1;
    variable->counter = -1;
    variable->count = data->rank;
    for (size_t k = 0; k < data->rank; k++) {
        SVMP_TRY(ARENA_NEW(&ast->arena, variable->operands[k], 1));
        *variable->operands[k] = (ast_expression){.kind = AST_NUMBER,
                                                  .offset = left->offset,
                                                  .height = 1,
                                                  .counter = -1,
                                                  .number = (double)data->dimensions[k]};
    }
    *made = (ast_declaration){variable, ast->declarations};
    ast->declarations = made;
    return SVMP_OK;
}

/* y.rep ~ ... of y ~ ..., if that observes something that can be drawn. */
static svmp_status copy_relation(ast_model *ast, const data_set *all, const ast_statement *statement,
                                 ast_statement **made) {
    const char *name = ast->names.text[statement->left->symbol];
    const data_array *data = svmp_data_find(all, name);
    const distribution *family = svmp_distribution_find(ast->functions.text[statement->function]);
    char called[200];
    ast_statement *copy;
    uint32_t symbol;
    if (data && !has_values(data)) return SVMP_OK;
    if (data == NULL && !is_defined(ast->data, statement->left->symbol)) return SVMP_OK;
    if (family == NULL || family->draw == NULL || !family->proper || family->support == SUPPORT_INTERVAL_INDEX)
        return SVMP_OK;
    const int length = snprintf(called, sizeof called, "%s%s", name, REPLICATE_SUFFIX);
    if (length < 0 || (size_t)length >= sizeof called) return SVMP_OK;
    SVMP_TRY(svmp_names_add(ast->arena.context, &ast->names, called, (size_t)length, &symbol));
    SVMP_TRY(ARENA_NEW(&ast->arena, copy, 1));
    *copy = *statement;
    SVMP_TRY(ARENA_NEW(&ast->arena, copy->left, 1));
    *copy->left = *statement->left;
    copy->left->symbol = symbol;
    *made = copy;
    return data ? declare(ast, copy->left, data) : SVMP_OK;
}

/* The copies of a list of statements, in loops like theirs; NULL: there are none. */
static svmp_status copy_all(ast_model *ast, const data_set *data, const ast_statement *first, ast_statement **copies) {
    *copies = NULL;
    for (const ast_statement *s = first; s; s = s->next) {
        ast_statement *made = NULL, *body;
        if (s->kind == AST_STOCHASTIC) SVMP_TRY(copy_relation(ast, data, s, &made));
        if (s->kind == AST_FOR) {
            SVMP_TRY(copy_all(ast, data, s->body, &body));
            if (body) SVMP_TRY(ARENA_NEW(&ast->arena, made, 1));
            if (body) *made = *s;
            if (body) made->body = body;
        }
        if (made == NULL) continue;
        made->next = NULL;
        *copies = made;
        copies = &made->next;
    }
    return SVMP_OK;
}

/* At the end of model { }, so that they come last in tables, too. */
svmp_status svmp_replicate(ast_model *ast, const data_set *data, const char *monitors) {
    ast_statement **end = &ast->model;
    if (!is_listed(monitors, "posterior_predictive")) return SVMP_OK;
    SVMP_TRY(copy_all(ast, data, ast->model, &ast->replicates));
    while (*end) end = &(*end)->next;
    *end = ast->replicates;
    return SVMP_OK;
}
