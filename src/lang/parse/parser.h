/* The parser: declarations that its files share. */
#ifndef SVMP_LANG_PARSE_PARSER_H
#define SVMP_LANG_PARSE_PARSER_H

#include "lang/parse/lexer.h"
#include "lang/parse/syntax_tree.h"

typedef struct model_parser {
    diagnostics *diagnostics;
    ast_model *model;
    token *tokens;
    const token *next;
    int depth; /* of rules within rules */
} model_parser;

/* The next token, if it is of that kind, is taken. */
static inline int svmp_parse_accept(model_parser *parser, token_kind kind) {
    if (parser->next->kind != kind) return 0;
    parser->next++;
    return 1;
}

/* Takes a token of that kind, or notes "... is expected WHERE, not ...". */
svmp_status svmp_parse_expect(model_parser *parser, token_kind kind, const char *where);

/* Notes "WHAT is expected, not ..." at the next token. */
svmp_status svmp_parse_unexpected(model_parser *parser, const char *what);

/* The number of the name that a token spells. */
svmp_status svmp_parse_symbol(model_parser *parser, name_table *names, const token *spelled, uint32_t *symbol);

svmp_status svmp_parse_expression(model_parser *parser, ast_expression **expression);
svmp_status svmp_parse_variable(model_parser *parser, ast_expression **variable);

/* expressions := expression { "," expression } ")", after "(". */
svmp_status svmp_parse_arguments(model_parser *parser, size_t *count, ast_expression ***arguments);

/* Notes that a text is no model at all but a Stan program, say, with what to do. */
svmp_status svmp_parse_foreign(diagnostics *noted);

/* Arguments become one, their sum. */
svmp_status svmp_parse_add(model_parser *parser, uint32_t offset, size_t *count, ast_expression **arguments);

#endif
