#include "lang/parse/parsed_text.h"

#include <string.h>

#include "base/number.h"

static svmp_status parse(svmp_text *made) {
    number_locale locale = {0};
    diagnostics *noted = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_number_enter(made->context, &locale));
    SVMP_CHECK(svmp_diagnostics_create(made->context, &made->source, &noted));
    SVMP_CHECK(svmp_parse_text(noted, &made->ast));
    SVMP_CHECK(svmp_diagnostics_report(noted));
    made->names = made->ast.names.count;
    made->functions = made->ast.functions.count;
    made->declarations = made->ast.declarations;
    for (ast_statement *s = made->ast.model; s; s = s->next) made->last = s;
done:
    svmp_diagnostics_free(noted);
    svmp_number_leave(&locale);
    return status;
}

svmp_status svmp_text_make(svmp_context *context, text_source *source, svmp_text **made) {
    svmp_text *text = NULL;
    svmp_status status = SVMP_NEW(context, text, 1);
    if (status != SVMP_OK) {
        svmp_source_free(context, source);
        return status;
    }
    text->context = context;
    text->source = *source;
    *source = (text_source){0};
    status = parse(text);
    if (status == SVMP_OK)
        *made = text;
    else
        svmp_text_free(text);
    return status;
}

void svmp_text_free(svmp_text *text) {
    if (text == NULL) return;
    svmp_ast_free(text->context, &text->ast);
    svmp_source_free(text->context, &text->source);
    svmp_release(text->context, text);
}

void svmp_text_restore(svmp_text *text) {
    ast_model *ast = &text->ast;
    svmp_names_truncate(text->context, &ast->names, text->names);
    svmp_names_truncate(text->context, &ast->functions, text->functions);
    ast->declarations = text->declarations;
    ast->replicates = NULL;
    if (text->last)
        text->last->next = NULL;
    else
        ast->model = NULL;
}

svmp_status svmp_text_parse(svmp_context *context, const char *name, const char *text, svmp_text **parsed) {
    text_source source;
    if (context == NULL) return SVMP_BAD_CALL;
    if (text == NULL || parsed == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_text_parse: the %s is NULL.", text ? "result" : "model text");
    SVMP_TRY(svmp_source_copy(context, name ? name : "<text>", text, strlen(text), &source));
    return svmp_text_make(context, &source, parsed);
}
