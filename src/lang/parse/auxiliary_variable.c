/* The statements of a continuous unknown for texts that have none: all their unknowns are discrete, and there would be
 * nothing for particles to move in. */
#include "lang/compile/compile_passes.h"

#include <string.h>

static const char name[] = AUXILIARY_NAME;

static svmp_status make(ast_model *ast, ast_expression_kind kind, size_t count, ast_expression **made) {
    SVMP_TRY(ARENA_NEW(&ast->arena, *made, 1));
    **made = (ast_expression){.kind = kind, .offset = (uint32_t)ast->model_end, .count = count, .counter = -1};
    return ARENA_NEW(&ast->arena, (*made)->operands, count);
}

static svmp_status make_number(ast_model *ast, double number, ast_expression **made) {
    SVMP_TRY(make(ast, AST_NUMBER, 0, made));
    (*made)->number = number;
    (*made)->height = 1;
    return SVMP_OK;
}

static svmp_status make_variable(ast_model *ast, ast_expression **made) {
    SVMP_TRY(make(ast, AST_VARIABLE, 0, made));
    (*made)->height = 1;
    return svmp_names_add(ast->arena.context, &ast->names, name, strlen(name), &(*made)->symbol);
}

static svmp_status make_call(ast_model *ast, const char *function, ast_expression *a, ast_expression *b,
                             ast_expression **made) {
    SVMP_TRY(make(ast, AST_CALL, b ? 2 : 1, made));
    (*made)->operands[0] = a;
    if (b) (*made)->operands[1] = b;
    (*made)->height = 1 + (b && b->height > a->height ? b->height : a->height);
    return svmp_names_add(ast->arena.context, &ast->functions, function, strlen(function), &(*made)->symbol);
}

static svmp_status make_statement(ast_model *ast, ast_statement_kind kind, ast_statement **made) {
    SVMP_TRY(ARENA_NEW(&ast->arena, *made, 1));
    (*made)->kind = kind;
    (*made)->offset = (*made)->function_offset = (uint32_t)ast->model_end;
    (*made)->function = NAMES_NONE;
    return SVMP_OK;
}

/* auxiliary.number ~ dflat() */
static svmp_status make_unknown(ast_model *ast, ast_statement **made) {
    SVMP_TRY(make_statement(ast, AST_STOCHASTIC, made));
    SVMP_TRY(make_variable(ast, &(*made)->left));
    return svmp_names_add(ast->arena.context, &ast->functions, "dflat", 5, &(*made)->function);
}

/* factor(-0.5 * auxiliary.number^2) */
static svmp_status make_density(ast_model *ast, ast_statement **made) {
    ast_expression *half, *variable, *two;
    SVMP_TRY(make_statement(ast, AST_FACTOR, made));
    SVMP_TRY(make_number(ast, 0.5, &half));
    SVMP_TRY(make_call(ast, "-", half, NULL, &half));
    SVMP_TRY(make_variable(ast, &variable));
    SVMP_TRY(make_number(ast, 2, &two));
    SVMP_TRY(make_call(ast, "^", variable, two, &variable));
    SVMP_TRY(ARENA_NEW(&ast->arena, (*made)->arguments, 1));
    (*made)->argument_count = 1;
    return make_call(ast, "*", half, variable, (*made)->arguments);
}

svmp_status svmp_add_auxiliary(ast_model *ast) {
    ast_statement *unknown, *density, **end = &ast->model;
    SVMP_TRY(make_unknown(ast, &unknown));
    SVMP_TRY(make_density(ast, &density));
    while (*end && *end != ast->replicates) end = &(*end)->next;
    *end = unknown;
    unknown->next = density;
    density->next = ast->replicates;
    return SVMP_OK;
}
