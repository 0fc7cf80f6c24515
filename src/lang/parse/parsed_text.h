/* A model text as parsed, without data: svmp_text of svmp.h. */
#ifndef SVMP_LANG_PARSE_PARSED_TEXT_H
#define SVMP_LANG_PARSE_PARSED_TEXT_H

#include "lang/parse/syntax_tree.h"

struct svmp_text {
    svmp_context *context;
    text_source source;
    ast_model ast;
    size_t names, functions;       /* how many the text has, */
    ast_declaration *declarations; /* its first declaration, */
    ast_statement *last;           /* and the last statement of model { }; NULL: none */
};

/* Parses a source, which the text takes over, also on failure. Reports all errors. */
svmp_status svmp_text_make(svmp_context *context, text_source *source, svmp_text **made);

/* Forgets the statements, declarations and names that were added to the tree for other data. */
void svmp_text_restore(svmp_text *text);

#endif
