/* A model text as parsed, without data: svmp_text of svmp.h. */
#ifndef SVMP_LANG_PARSE_PARSED_TEXT_H
#define SVMP_LANG_PARSE_PARSED_TEXT_H

#include "lang/parse/syntax_tree.h"

struct svmp_text {
    svmp_context *context;
    text_source source;
    ast_model ast;
    ast_model parsed;    /* a copy of `ast` before anything was added, which owns nothing, */
    ast_statement *last; /* and the last statement of model { }; NULL: none */
};

/* Parses a source, which the text takes over, also on failure. Reports all errors. */
svmp_status svmp_text_make(svmp_context *context, text_source *source, svmp_text **made);

/* Adds statements to model { }. */
svmp_status svmp_text_add(svmp_text *text, const char *statements);

/* Frees the statements, declarations and names that were added to the tree for other data. */
void svmp_text_restore(svmp_text *text);

#endif
