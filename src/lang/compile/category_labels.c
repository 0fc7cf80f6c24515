/* Labels of indices: where text in the data subscripts an array, u[g[i]], its levels are the labels of that dimension,
 * and of others that the same loop counter subscripts, u[j] ~ dnorm(v[j], 1). */
#include "lang/compile/compile_passes.h"

#include <string.h>

/* The labels of a dimension; NULL: it has none. */
static const lowered_labels *find_labels(const lowered_model *result, const char *array, size_t dimension) {
    for (size_t k = 0; k < result->label_count; k++)
        if (result->labels[k].dimension == dimension && strcmp(result->labels[k].array, array) == 0)
            return &result->labels[k];
    return NULL;
}

static svmp_status add_labels(model_lowering *lowering, uint32_t array, size_t dimension, const char *text) {
    svmp_context *context = lowering->context;
    lowered_model *result = lowering->result;
    const name_table *levels = svmp_data_levels(lowering->data, text);
    if (levels == NULL || find_labels(result, lowering->ast->names.text[array], dimension)) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(context, result->labels, result->label_capacity, result->label_count + 1));
    lowered_labels *made = &result->labels[result->label_count++];
    *made = (lowered_labels){.dimension = dimension};
    SVMP_TRY(svmp_duplicate(context, lowering->ast->names.text[array], &made->array));
    SVMP_TRY(svmp_duplicate(context, text, &made->text));
    for (uint32_t number = 0, k = 0; k < levels->count; k++)
        SVMP_TRY(svmp_names_add(context, &made->levels, levels->text[k], strlen(levels->text[k]), &number));
    return SVMP_OK;
}

/* For each enclosing loop, the text whose levels its counter numbers; NULL if it numbers none. */
typedef struct label_search {
    model_lowering *lowering;
    const char *counted[AST_MOST_LOOPS];
} label_search;

static svmp_status visit(label_search *search, const ast_expression *expression) {
    const name_table *names = &search->lowering->ast->names;
    if (expression == NULL) return SVMP_OK;
    for (size_t k = 0; k < expression->count; k++) {
        const ast_expression *operand = expression->operands[k];
        SVMP_TRY(visit(search, operand));
        if (expression->kind != AST_VARIABLE || operand->kind != AST_VARIABLE) continue;
        const char **counted = operand->counter >= 0 ? &search->counted[operand->counter] : NULL;
        const lowered_labels *known = find_labels(search->lowering->result, names->text[expression->symbol], k);
        if (counted && known && *counted == NULL) *counted = known->text;
        const char *text = counted ? *counted : names->text[operand->symbol];
        if (text) SVMP_TRY(add_labels(search->lowering, expression->symbol, k, text));
    }
    return SVMP_OK;
}

static svmp_status visit_all(label_search *search, const ast_statement *statement) {
    for (; statement; statement = statement->next) {
        if (statement->kind == AST_FOR) search->counted[statement->depth] = NULL;
        SVMP_TRY(visit_all(search, statement->body));
        SVMP_TRY(visit(search, statement->left));
        for (size_t k = 0; k < statement->argument_count; k++) SVMP_TRY(visit(search, statement->arguments[k]));
    }
    return SVMP_OK;
}

/* Again, until nothing is added: what a statement labels, an earlier one may need. */
svmp_status svmp_label_arrays(model_lowering *lowering) {
    if (lowering->data->level_names.count == 0) return SVMP_OK;
    for (size_t before = SIZE_MAX; before != lowering->result->label_count;) {
        label_search search = {.lowering = lowering};
        before = lowering->result->label_count;
        SVMP_TRY(visit_all(&search, lowering->ast->model));
    }
    return SVMP_OK;
}
