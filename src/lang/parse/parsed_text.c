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
    made->parsed = made->ast;
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

svmp_status svmp_text_add(svmp_text *text, const char *statements) {
    diagnostics *noted = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_source_add(text->context, &text->source, statements));
    SVMP_CHECK(svmp_diagnostics_create(text->context, &text->source, &noted));
    SVMP_CHECK(svmp_parse_added(noted, &text->ast));
    status = svmp_diagnostics_report(noted);
done:
    svmp_diagnostics_free(noted);
    return status;
}

void svmp_text_restore(svmp_text *text) {
    ast_model restored = text->parsed;
    svmp_names_truncate(text->context, &text->ast.names, text->parsed.names.count);
    svmp_names_truncate(text->context, &text->ast.functions, text->parsed.functions.count);
    svmp_arena_rewind(&text->ast.arena, &text->parsed.arena);
    restored.arena = text->ast.arena;
    restored.names = text->ast.names;
    restored.functions = text->ast.functions;
    text->ast = restored;
    svmp_source_truncate(&text->source);
    if (text->last) text->last->next = NULL;
}

svmp_status svmp_text_parse(svmp_context *context, const char *name, const char *text, svmp_text **parsed) {
    text_source source;
    if (context == NULL) return SVMP_BAD_CALL;
    if (text == NULL || parsed == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_text_parse: the %s is NULL.", text ? "result" : "model text");
    SVMP_TRY(svmp_source_copy(context, name ? name : "<text>", text, strlen(text), &source));
    return svmp_text_make(context, &source, parsed);
}
