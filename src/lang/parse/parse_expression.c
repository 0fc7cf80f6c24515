/* Expressions, by precedence from the loosest to the tightest, as JAGS has them:
 *     ||   &&   !   comparisons   + -   * /   %op%   :   unary minus   ^
 */
#include "lang/parse/parser.h"

#include <string.h>

enum { DEEPEST_RULE = 2000, RULES_PER_EXPRESSION = 10 };

static svmp_status make(model_parser *parser, ast_expression_kind kind, uint32_t offset, size_t count,
                        ast_expression *const *operands, ast_expression **made) {
    ast_expression *node;
    SVMP_TRY(ARENA_NEW(&parser->model->arena, node, 1));
    *node = (ast_expression){.kind = kind, .offset = offset, .count = count, .height = 1, .counter = -1};
    if (count > 0) {
        SVMP_TRY(ARENA_NEW(&parser->model->arena, node->operands, count));
        memcpy(node->operands, operands, count * sizeof *operands);
    }
    for (size_t k = 0; k < count; k++)
        if (operands[k] && operands[k]->height >= node->height) node->height = operands[k]->height + 1;
    if (node->height > AST_DEEPEST)
        return svmp_diagnose(parser->diagnostics, offset, "the expression is nested more than %d deep", AST_DEEPEST);
    *made = node;
    return SVMP_OK;
}

/* An operation is a call of a function with its spelling. */
static svmp_status make_operator(model_parser *parser, const token *operation, size_t count,
                                 ast_expression *const *operands, ast_expression **made) {
    SVMP_TRY(make(parser, AST_CALL, operation->offset, count, operands, made));
    return svmp_parse_symbol(parser, &parser->model->functions, operation, &(*made)->symbol);
}

typedef svmp_status (*rule)(model_parser *parser, ast_expression **expression);

static int is_one_of(const model_parser *parser, const token_kind *kinds) {
    for (; *kinds != TOKEN_END; kinds++)
        if (parser->next->kind == *kinds) return 1;
    return 0;
}

/* tighter { operation tighter }, from left to right; at most one operation when `chain` is 0. */
static svmp_status left_to_right(model_parser *parser, rule tighter, const token_kind *operators, int chain,
                                 ast_expression **expression) {
    ast_expression *sides[2] = {NULL, NULL};
    SVMP_TRY(tighter(parser, &sides[0]));
    while (is_one_of(parser, operators)) {
        const token *operation = parser->next++;
        SVMP_TRY(tighter(parser, &sides[1]));
        SVMP_TRY(make_operator(parser, operation, 2, sides, &sides[0]));
        if (!chain && is_one_of(parser, operators))
            return svmp_diagnose(parser->diagnostics, parser->next->offset,
                                 "these operators cannot be chained; use parentheses");
    }
    *expression = sides[0];
    return SVMP_OK;
}

typedef struct expression_list {
    ast_expression **items;
    size_t count, capacity;
} expression_list;

static svmp_status append(model_parser *parser, expression_list *list, ast_expression *item) {
    SVMP_TRY(SVMP_GROW(parser->diagnostics->context, list->items, list->capacity, list->count + 1));
    list->items[list->count++] = item;
    return SVMP_OK;
}

/* indices := [expression] { "," [expression] } "]" */
static svmp_status parse_indices(model_parser *parser, expression_list *list) {
    do {
        ast_expression *index = NULL;
        if (parser->next->kind == TOKEN_COMMA || parser->next->kind == TOKEN_CLOSE_BRACKET)
            SVMP_TRY(make(parser, AST_EMPTY, parser->next->offset, 0, NULL, &index));
        else
            SVMP_TRY(svmp_parse_expression(parser, &index));
        SVMP_TRY(append(parser, list, index));
    } while (svmp_parse_accept(parser, TOKEN_COMMA));
    return svmp_parse_expect(parser, TOKEN_CLOSE_BRACKET, "after the indices");
}

/* variable := NAME [ "[" indices ] */
svmp_status svmp_parse_variable(model_parser *parser, ast_expression **variable) {
    const token *name = parser->next;
    expression_list list = {0};
    svmp_status status = SVMP_OK;
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_NAME, "here"));
    int indexed = svmp_parse_accept(parser, TOKEN_OPEN_BRACKET);
    if (indexed) SVMP_CHECK(parse_indices(parser, &list));
    SVMP_CHECK(make(parser, AST_VARIABLE, name->offset, list.count, list.items, variable));
    (*variable)->indexed = indexed;
    SVMP_CHECK(svmp_parse_symbol(parser, &parser->model->names, name, &(*variable)->symbol));
done:
    svmp_release(parser->diagnostics->context, list.items);
    return status;
}

svmp_status svmp_parse_arguments(model_parser *parser, size_t *count, ast_expression ***arguments) {
    expression_list list = {0};
    svmp_status status = SVMP_OK;
    *count = 0;
    *arguments = NULL;
    if (svmp_parse_accept(parser, TOKEN_CLOSE)) return SVMP_OK;
    do {
        ast_expression *argument = NULL;
        SVMP_CHECK(svmp_parse_expression(parser, &argument));
        SVMP_CHECK(append(parser, &list, argument));
    } while (svmp_parse_accept(parser, TOKEN_COMMA));
    if (parser->next->kind == TOKEN_ASSIGN)
        SVMP_CHECK(
            svmp_diagnose(parser->diagnostics, parser->next->offset, "arguments cannot be named; write them in order"));
    SVMP_CHECK(svmp_parse_expect(parser, TOKEN_CLOSE, "after the arguments"));
    SVMP_CHECK(ARENA_NEW(&parser->model->arena, *arguments, list.count));
    memcpy(*arguments, list.items, list.count * sizeof *list.items);
    *count = list.count;
done:
    svmp_release(parser->diagnostics->context, list.items);
    return status;
}

/* One expression in place of several, for dsum(a, b, ...), which has any number of arguments. */
svmp_status svmp_parse_add(model_parser *parser, uint32_t offset, size_t *count, ast_expression **arguments) {
    for (size_t k = 1; k < *count; k++) {
        ast_expression *operands[2] = {arguments[0], arguments[k]};
        SVMP_TRY(make(parser, AST_CALL, offset, 2, operands, &arguments[0]));
        SVMP_TRY(
            svmp_names_add(parser->diagnostics->context, &parser->model->functions, "+", 1, &arguments[0]->symbol));
    }
    if (*count > 1) *count = 1;
    return SVMP_OK;
}

/* call := NAME "(" [expressions] ")" */
static svmp_status parse_call(model_parser *parser, ast_expression **expression) {
    const token *name = parser->next;
    size_t count = 0;
    ast_expression **arguments = NULL;
    parser->next += 2;
    SVMP_TRY(svmp_parse_arguments(parser, &count, &arguments));
    SVMP_TRY(make(parser, AST_CALL, name->offset, count, arguments, expression));
    return svmp_parse_symbol(parser, &parser->model->functions, name, &(*expression)->symbol);
}

/* primary := NUMBER | call | variable | "(" expression ")" */
static svmp_status parse_primary(model_parser *parser, ast_expression **expression) {
    const token *first = parser->next;
    switch (first->kind) {
    case TOKEN_NUMBER:
        parser->next++;
        SVMP_TRY(make(parser, AST_NUMBER, first->offset, 0, NULL, expression));
        (*expression)->number = first->number;
        return SVMP_OK;
    case TOKEN_NAME:
        return first[1].kind == TOKEN_OPEN ? parse_call(parser, expression) : svmp_parse_variable(parser, expression);
    case TOKEN_OPEN:
        parser->next++;
        SVMP_TRY(svmp_parse_expression(parser, expression));
        return svmp_parse_expect(parser, TOKEN_CLOSE, "to close the parenthesis");
    default: return svmp_parse_unexpected(parser, "an expression");
    }
}

static svmp_status parse_negation(model_parser *parser, ast_expression **expression);

/* power := primary [ "^" negation ], so that a^b^c is a^(b^c), and 2^-1 has its meaning */
static svmp_status parse_power(model_parser *parser, ast_expression **expression) {
    ast_expression *sides[2] = {NULL, NULL};
    SVMP_TRY(parse_primary(parser, &sides[0]));
    const token *operation = parser->next;
    if (!svmp_parse_accept(parser, TOKEN_POWER)) {
        *expression = sides[0];
        return SVMP_OK;
    }
    SVMP_TRY(parse_negation(parser, &sides[1]));
    return make_operator(parser, operation, 2, sides, expression);
}

static svmp_status too_deep(model_parser *parser) {
    return svmp_diagnose(parser->diagnostics, parser->next->offset, "the expression is nested too deeply");
}

/* negation := ("-" | "+") negation | power, so that -x^2 is -(x^2) */
static svmp_status parse_negation(model_parser *parser, ast_expression **expression) {
    const token *operation = parser->next;
    if (++parser->depth > DEEPEST_RULE) return too_deep(parser);
    svmp_status status;
    if (svmp_parse_accept(parser, TOKEN_PLUS)) {
        status = parse_negation(parser, expression);
    } else if (svmp_parse_accept(parser, TOKEN_MINUS)) {
        ast_expression *operand = NULL;
        status = parse_negation(parser, &operand);
        if (status == SVMP_OK) status = make_operator(parser, operation, 1, &operand, expression);
    } else {
        status = parse_power(parser, expression);
    }
    parser->depth--;
    return status;
}

/* range := negation [ ":" negation ] */
static svmp_status parse_range(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_COLON, TOKEN_END};
    return left_to_right(parser, parse_negation, operators, 0, expression);
}

/* special := range { %op% range } */
static svmp_status parse_special(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_SPECIAL, TOKEN_END};
    return left_to_right(parser, parse_range, operators, 1, expression);
}

/* term := special { ("*" | "/") special } */
static svmp_status parse_term(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_TIMES, TOKEN_OVER, TOKEN_END};
    return left_to_right(parser, parse_special, operators, 1, expression);
}

/* sum := term { ("+" | "-") term } */
static svmp_status parse_sum(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_PLUS, TOKEN_MINUS, TOKEN_END};
    return left_to_right(parser, parse_term, operators, 1, expression);
}

/* comparison := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ] */
static svmp_status parse_comparison(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_LESS,  TOKEN_LESS_EQUAL, TOKEN_GREATER, TOKEN_GREATER_EQUAL,
                                           TOKEN_EQUAL, TOKEN_NOT_EQUAL,  TOKEN_END};
    return left_to_right(parser, parse_sum, operators, 0, expression);
}

/* not := { "!" } comparison */
static svmp_status parse_not(model_parser *parser, ast_expression **expression) {
    const token *operation = parser->next;
    if (!svmp_parse_accept(parser, TOKEN_NOT)) return parse_comparison(parser, expression);
    if (++parser->depth > DEEPEST_RULE) return too_deep(parser);
    ast_expression *operand = NULL;
    SVMP_TRY(parse_not(parser, &operand));
    parser->depth--;
    return make_operator(parser, operation, 1, &operand, expression);
}

/* and := not { "&&" not } */
static svmp_status parse_and(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_AND, TOKEN_END};
    return left_to_right(parser, parse_not, operators, 1, expression);
}

/* expression := and { "||" and } */
svmp_status svmp_parse_expression(model_parser *parser, ast_expression **expression) {
    static const token_kind operators[] = {TOKEN_OR, TOKEN_END};
    parser->depth += RULES_PER_EXPRESSION;
    if (parser->depth > DEEPEST_RULE) return too_deep(parser);
    SVMP_TRY(left_to_right(parser, parse_and, operators, 1, expression));
    parser->depth -= RULES_PER_EXPRESSION;
    return SVMP_OK;
}
