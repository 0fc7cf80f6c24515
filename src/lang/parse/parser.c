/* Parses statements. A rule that fails records an error; parsing then continues at the next statement, so that one pass
 * finds several errors. */
#include "lang/parse/parser.h"

#include <string.h>

#include "base/name_distance.h"

svmp_status svmp_parse_unexpected(model_parser *parser, const char *what) {
    const token *next = parser->next;
    const char *text = parser->diagnostics->source->text + next->offset;
    if (next->kind == TOKEN_NAME || next->kind == TOKEN_NUMBER || next->kind == TOKEN_SPECIAL)
        return svmp_diagnose(parser->diagnostics, next->offset, "expected %s, not '%.*s'", what,
                             (int)(next->length < 40 ? next->length : 40), text);
    return svmp_diagnose(parser->diagnostics, next->offset, "expected %s, not %s", what, svmp_token_text(next->kind));
}

svmp_status svmp_parse_expect(model_parser *parser, token_kind kind, const char *where) {
    if (svmp_parse_accept(parser, kind)) return SVMP_OK;
    char what[120];
    snprintf(what, sizeof what, "%s %s", svmp_token_text(kind), where);
    return svmp_parse_unexpected(parser, what);
}

svmp_status svmp_parse_symbol(model_parser *parser, name_table *names, const token *spelled, uint32_t *symbol) {
    return svmp_names_add(parser->diagnostics->context, names, parser->diagnostics->source->text + spelled->offset,
                          spelled->length, symbol);
}

/* Whether a token spells this. */
static int spells(const model_parser *parser, const token *spelled, const char *text) {
    return spelled->length == strlen(text) &&
           memcmp(parser->diagnostics->source->text + spelled->offset, text, spelled->length) == 0;
}

/* ---- relations ------------------------------------------------------------------------------ */

/* bounds := ("T" | "I") "(" [expression] "," [expression] ")" */
static svmp_status parse_bounds(model_parser *parser, ast_statement *statement) {
    if (parser->next->kind != TOKEN_NAME || parser->next[1].kind != TOKEN_OPEN) return SVMP_OK;
    if (spells(parser, parser->next, "T"))
        statement->bounds = AST_TRUNCATED;
    else if (spells(parser, parser->next, "I"))
        statement->bounds = AST_INTERVAL;
    else if (spells(parser, parser->next, "C") && parser->next[2].kind != TOKEN_NAME)
        return svmp_diagnose(parser->diagnostics, parser->next->offset,
                             "C(,) is not supported: use dinterval() to censor, T(,) to truncate");
    else
        return SVMP_OK;
    statement->bounds_offset = parser->next->offset;
    parser->next += 2;
    if (parser->next->kind != TOKEN_COMMA) SVMP_TRY(svmp_parse_expression(parser, &statement->lower));
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_COMMA, "between the bounds"));
    if (parser->next->kind != TOKEN_CLOSE) SVMP_TRY(svmp_parse_expression(parser, &statement->upper));
    return svmp_parse_expect(parser, TOKEN_CLOSE, "after the bounds");
}

/* stochastic := variable "~" NAME "(" [expressions] ")" [bounds] */
static svmp_status parse_stochastic(model_parser *parser, ast_statement *statement) {
    const token *name = parser->next;
    statement->kind = AST_STOCHASTIC;
    if (name->kind != TOKEN_NAME) return svmp_parse_unexpected(parser, "a distribution");
    parser->next++;
    statement->function_offset = name->offset;
    SVMP_TRY(svmp_parse_symbol(parser, &parser->model->functions, name, &statement->function));
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_OPEN, "after the distribution"));
    SVMP_TRY(svmp_parse_arguments(parser, &statement->argument_count, &statement->arguments));
    if (spells(parser, name, "dsum"))
        SVMP_TRY(svmp_parse_add(parser, (uint32_t)name->offset, &statement->argument_count, statement->arguments));
    return parse_bounds(parser, statement);
}

static svmp_status parse_right_side(model_parser *parser, ast_statement *statement) {
    statement->argument_count = 1;
    SVMP_TRY(ARENA_NEW(&parser->model->arena, statement->arguments, 1));
    return svmp_parse_expression(parser, statement->arguments);
}

static int accept_assignment(model_parser *parser) {
    return svmp_parse_accept(parser, TOKEN_ARROW) || svmp_parse_accept(parser, TOKEN_ASSIGN);
}

/* "T[0,]" behind a distribution, which is no node of that name. */
static int is_bounds_in_brackets(const model_parser *parser, const token *first) {
    return (spells(parser, first, "T") || spells(parser, first, "I")) && first[1].kind == TOKEN_OPEN_BRACKET &&
           first > parser->tokens && first[-1].kind == TOKEN_CLOSE;
}

/* relation := stochastic | variable ("<-" | "=") expression */
static svmp_status parse_relation(model_parser *parser, ast_statement *statement) {
    const token *first = parser->next;
    SVMP_TRY(svmp_parse_variable(parser, &statement->left));
    if (svmp_parse_accept(parser, TOKEN_TILDE)) return parse_stochastic(parser, statement);
    statement->kind = AST_DETERMINISTIC;
    if (accept_assignment(parser)) return parse_right_side(parser, statement);
    if (is_bounds_in_brackets(parser, first))
        return svmp_diagnose(parser->diagnostics, first->offset,
                             "write the bounds of a distribution in parentheses: %c(lower, upper)",
                             parser->diagnostics->source->text[first->offset]);
    return svmp_parse_unexpected(parser, "'~' or '<-' after the node");
}

/* linked := NAME "(" variable ")" ("<-" | "=") expression */
static svmp_status parse_linked(model_parser *parser, ast_statement *statement) {
    const token *link = parser->next;
    parser->next += 2;
    statement->kind = AST_DETERMINISTIC;
    statement->function_offset = link->offset;
    SVMP_TRY(svmp_parse_symbol(parser, &parser->model->functions, link, &statement->function));
    SVMP_TRY(svmp_parse_variable(parser, &statement->left));
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_CLOSE, "after the node"));
    if (parser->next->kind == TOKEN_TILDE)
        return svmp_diagnose(parser->diagnostics, parser->next->offset,
                             "a link can only be used with '<-'; with '~' write the node itself");
    if (!accept_assignment(parser)) return svmp_parse_unexpected(parser, "'<-' after the link");
    return parse_right_side(parser, statement);
}

/* factor := "factor" "(" expression ")" */
static svmp_status parse_factor(model_parser *parser, ast_statement *statement) {
    statement->kind = AST_FACTOR;
    parser->next += 2;
    SVMP_TRY(parse_right_side(parser, statement));
    return svmp_parse_expect(parser, TOKEN_CLOSE, "after the factor");
}

/* ---- loops and blocks ----------------------------------------------------------------------- */

static svmp_status parse_block(model_parser *parser, ast_statement **first);

/* loop := "for" "(" NAME "in" expression ")" block */
static svmp_status parse_header(model_parser *parser, ast_statement *statement) {
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_OPEN, "after 'for'"));
    const token *counter = parser->next;
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_NAME, "for the counter"));
    SVMP_TRY(svmp_parse_symbol(parser, &parser->model->names, counter, &statement->counter));
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_IN, "after the counter"));
    SVMP_TRY(svmp_parse_expression(parser, &statement->range));
    return svmp_parse_expect(parser, TOKEN_CLOSE, "after the range");
}

static svmp_status parse_for(model_parser *parser, ast_statement *statement) {
    statement->kind = AST_FOR;
    parser->next++;
    int depth = parser->depth;
    svmp_status header = parse_header(parser, statement);
    if (header != SVMP_OK && header != SVMP_BAD_INPUT) return header;
    parser->depth = depth;
    /* After a bad header the body still has errors of its own to show. */
    if (header != SVMP_OK)
        while (parser->next->kind != TOKEN_OPEN_BRACE && parser->next->kind != TOKEN_CLOSE_BRACE &&
               parser->next->kind != TOKEN_END)
            parser->next++;
    if (header != SVMP_OK && parser->next->kind != TOKEN_OPEN_BRACE) return header;
    SVMP_TRY(parse_block(parser, &statement->body));
    return header;
}

/* statement := loop | factor | linked | relation */
static svmp_status parse_statement(model_parser *parser, ast_statement *statement) {
    const token *first = parser->next;
    statement->offset = first->offset;
    statement->function = NAMES_NONE;
    if (first->kind == TOKEN_FOR) return parse_for(parser, statement);
    if (first->kind != TOKEN_NAME) return svmp_parse_unexpected(parser, "a statement");
    if (first[1].kind != TOKEN_OPEN) return parse_relation(parser, statement);
    if (spells(parser, first, "if"))
        return svmp_diagnose(parser->diagnostics, first->offset,
                             "'if' is not supported; use ifelse(condition, a, b) to choose between values");
    return spells(parser, first, "factor") ? parse_factor(parser, statement) : parse_linked(parser, statement);
}

static int begins_line(const model_parser *parser, const token *spelled) {
    const char *text = parser->diagnostics->source->text;
    for (size_t k = spelled->offset; k > 0 && text[k - 1] != '\n'; k--)
        if (text[k - 1] != ' ' && text[k - 1] != '\t') return 0;
    return 1;
}

/* Skips to where the next statement may begin: after ';', at '}', or at a name or 'for' that begins a line. */
static void recover(model_parser *parser, const token *failed) {
    int braces = 0;
    if (parser->next == failed && failed->kind != TOKEN_CLOSE_BRACE && failed->kind != TOKEN_END) parser->next++;
    for (; parser->next->kind != TOKEN_END; parser->next++) {
        token_kind kind = parser->next->kind;
        if (kind == TOKEN_OPEN_BRACE) braces++;
        if (kind == TOKEN_CLOSE_BRACE && braces-- == 0) return;
        if (braces > 0) continue;
        if (kind == TOKEN_SEMICOLON) return;
        if ((kind == TOKEN_NAME || kind == TOKEN_FOR) && begins_line(parser, parser->next)) return;
    }
}

/* { statement | ";" }, up to a token that `ends` them, or the end of the text. */
static svmp_status parse_statements(model_parser *parser, token_kind ends, ast_statement **first) {
    const int depth = parser->depth;
    while (parser->next->kind != ends && parser->next->kind != TOKEN_END) {
        if (svmp_parse_accept(parser, TOKEN_SEMICOLON)) continue;
        const token *begin = parser->next;
        ast_statement *statement;
        SVMP_TRY(ARENA_NEW(&parser->model->arena, statement, 1));
        svmp_status status = parse_statement(parser, statement);
        parser->depth = depth;
        if (status == SVMP_OK) {
            *first = statement;
            first = &statement->next;
        } else if (status == SVMP_BAD_INPUT && !svmp_diagnostics_full(parser->diagnostics)) {
            recover(parser, begin);
            if (parser->next == begin) parser->next++; /* a '}' that closes nothing */
        } else {
            return status;
        }
    }
    return SVMP_OK;
}

/* block := "{" { statement | ";" } "}" */
static svmp_status parse_block(model_parser *parser, ast_statement **first) {
    SVMP_TRY(svmp_parse_expect(parser, TOKEN_OPEN_BRACE, "before the statements"));
    const token *open = parser->next - 1;
    if (parser->depth >= AST_MOST_LOOPS)
        return svmp_diagnose(parser->diagnostics, open->offset, "loops are nested more than %d deep", AST_MOST_LOOPS);
    parser->depth++;
    SVMP_TRY(parse_statements(parser, TOKEN_CLOSE_BRACE, first));
    if (!svmp_parse_accept(parser, TOKEN_CLOSE_BRACE)) {
        /* After another error, an open comment say, this one need not be of its own making. */
        if (parser->diagnostics->count > 0) return SVMP_BAD_INPUT;
        return svmp_diagnose(parser->diagnostics, open->offset, "'{' is not closed");
    }
    parser->depth--;
    return SVMP_OK;
}

/* declarations := "var" variable { "," variable } [";"] */
static svmp_status parse_declarations(model_parser *parser) {
    ast_declaration **last = &parser->model->declarations;
    while (*last) last = &(*last)->next;
    do {
        SVMP_TRY(ARENA_NEW(&parser->model->arena, *last, 1));
        ast_declaration *declaration = *last;
        svmp_status status = svmp_parse_variable(parser, &declaration->variable);
        if (status != SVMP_OK) {
            *last = NULL;
            return status;
        }
        last = &declaration->next;
    } while (svmp_parse_accept(parser, TOKEN_COMMA));
    svmp_parse_accept(parser, TOKEN_SEMICOLON);
    return SVMP_OK;
}

static svmp_status parse_named_block(model_parser *parser, ast_statement **statements, int *seen) {
    const token *keyword = parser->next++;
    if ((*seen)++)
        return svmp_diagnose(parser->diagnostics, keyword->offset, "there is more than one block %s",
                             svmp_token_text(keyword->kind));
    return parse_block(parser, statements);
}

static svmp_status not_a_block(model_parser *parser) {
    static const char *const words[] = {"model", "data", "var"};
    const token *next = parser->next;
    char spelled[40] = "";
    if (next->kind == TOKEN_NAME && next->length < sizeof spelled)
        memcpy(spelled, parser->diagnostics->source->text + next->offset, next->length);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (svmp_name_distance(spelled, strlen(spelled), words[k]) > 0)
            return svmp_diagnose(parser->diagnostics, next->offset,
                                 "expected 'model', 'data' or 'var', not '%s'; did you mean '%s'?", spelled, words[k]);
    return svmp_parse_unexpected(parser, "'model', 'data' or 'var'");
}

/* file := { declarations | "data" block | "model" block } */
static svmp_status parse_file(model_parser *parser) {
    int models = 0, datas = 0;
    while (parser->next->kind != TOKEN_END) {
        parser->depth = 0;
        switch (parser->next->kind) {
        case TOKEN_VAR:
            parser->next++;
            SVMP_TRY(parse_declarations(parser));
            break;
        case TOKEN_DATA: SVMP_TRY(parse_named_block(parser, &parser->model->data, &datas)); break;
        case TOKEN_MODEL:
            SVMP_TRY(parse_named_block(parser, &parser->model->model, &models));
            parser->model->model_end = parser->next[-1].offset;
            break;
        default: return not_a_block(parser);
        }
    }
    if (models == 0) return svmp_parse_unexpected(parser, "a block 'model { }'");
    return SVMP_OK;
}

svmp_status svmp_parse_text(diagnostics *noted, ast_model *model) {
    model_parser parser = {.diagnostics = noted, .model = model};
    model->arena.context = noted->context;
    svmp_status status = svmp_parse_foreign(noted);
    if (status != SVMP_OK) return status == SVMP_BAD_INPUT ? SVMP_OK : status;
    SVMP_TRY(svmp_lex(noted, &parser.tokens));
    parser.next = parser.tokens;
    status = parse_file(&parser);
    svmp_release(noted->context, parser.tokens);
    return status == SVMP_BAD_INPUT ? SVMP_OK : status;
}

svmp_status svmp_parse_added(diagnostics *noted, ast_model *model) {
    model_parser parser = {.diagnostics = noted, .model = model};
    ast_statement **end = &model->model;
    SVMP_TRY(svmp_lex(noted, &parser.tokens));
    parser.next = parser.tokens;
    svmp_status status = parse_statements(&parser, TOKEN_END, &model->added);
    svmp_release(noted->context, parser.tokens);
    while (*end) end = &(*end)->next;
    *end = model->added;
    return status == SVMP_BAD_INPUT ? SVMP_OK : status;
}

void svmp_ast_free(svmp_context *context, ast_model *model) {
    svmp_names_free(context, &model->names);
    svmp_names_free(context, &model->functions);
    svmp_arena_free(&model->arena);
}
