/* The syntax tree of a model text. It is allocated in one arena; every node has its offset in the text. */
#ifndef SVMP_LANG_PARSE_SYNTAX_TREE_H
#define SVMP_LANG_PARSE_SYNTAX_TREE_H

#include "base/arena.h"
#include "base/name_table.h"
#include "lang/parse/text_diagnostics.h"

enum { AST_DEEPEST = 1000, AST_MOST_LOOPS = 64 };

typedef struct ast_expression ast_expression;
typedef struct ast_statement ast_statement;

typedef enum ast_expression_kind {
    AST_NUMBER,   /* number */
    AST_VARIABLE, /* symbol[operands]; an operand may be AST_EMPTY; no operands: the whole array */
    AST_EMPTY,    /* nothing between two commas of an index list */
    AST_CALL,     /* symbol(operands); operators are calls too, of functions like "+" and "!" */
} ast_expression_kind;

struct ast_expression {
    ast_expression_kind kind;
    uint32_t offset;
    uint32_t symbol; /* of names in the model; of functions for a call */
    uint32_t height; /* of the tree below, this node included */
    int indexed;     /* a variable with brackets */
    double number;
    size_t count;
    ast_expression **operands;
    const struct language_function *function; /* of a call, found by the checker */
    int counter;                              /* of a variable, set by the checker: which enclosing loop, or -1 */
    int varies;                               /* set by the checker: some loop's counter stands in it */
    uint32_t place; /* of a call that does not vary, set by the checker: which of these it is (ast_model.calls) */
};

typedef enum ast_statement_kind { AST_FOR, AST_STOCHASTIC, AST_DETERMINISTIC, AST_FACTOR } ast_statement_kind;

typedef enum ast_bounds { AST_UNBOUNDED, AST_TRUNCATED, AST_INTERVAL } ast_bounds; /* nothing, T(,), I(,) */

struct ast_statement {
    ast_statement_kind kind;
    uint32_t offset;
    ast_statement *next;

    /* for */
    uint32_t counter; /* symbol */
    ast_expression *range;
    ast_statement *body;

    /* relations */
    ast_expression *left; /* a variable */
    uint32_t function;    /* symbol of the distribution, or of the link, or NAMES_NONE */
    uint32_t function_offset;
    size_t argument_count;
    ast_expression **arguments; /* the distribution's; or one, the right-hand side or the factor */
    ast_bounds bounds;
    ast_expression *lower, *upper; /* or NULL */
    uint32_t bounds_offset;

    /* set by the checker */
    ast_statement *parent; /* the loop around it, or NULL */
    int depth;             /* how many loops are around it */
    const struct distribution *distribution;
    uint32_t place; /* its number among all statements */
};

typedef struct ast_declaration {
    ast_expression *variable; /* name[extents] */
    struct ast_declaration *next;
} ast_declaration;

typedef struct ast_model {
    memory_arena arena;
    name_table names;     /* of variables */
    name_table functions; /* of functions, distributions and operators */
    ast_declaration *declarations;
    ast_statement *data, *model; /* first statements, or NULL */
    ast_statement *added;        /* the first of those that were added to the text, which end `model`, or NULL */
    ast_statement *replicates;   /* the first of those that replicates.c has added to `model`, or NULL */
    size_t model_end;            /* offset of the '}' that ends model { } */
    uint32_t statements, calls;  /* how many statements there are, and calls that do not vary; set by the checker */
} ast_model;

/* Parses the source of `noted`; what is wrong is noted there and parsing goes on after it. Fails only without
 * memory (or for a source that is far too long). The model is the caller's to free either way, once it was zeroed. */
svmp_status svmp_parse_text(diagnostics *noted, ast_model *model);

/* The same for statements that were added to the source. */
svmp_status svmp_parse_added(diagnostics *noted, ast_model *model);
void svmp_ast_free(svmp_context *context, ast_model *model);

#endif
