#include "lang/parse/lexer.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

enum { LONGEST_NAME = 64 };

typedef struct model_lexer {
    diagnostics *diagnostics;
    const char *text;
    size_t length, at;
    token *tokens;
    size_t count, capacity;
} model_lexer;

const char *svmp_token_text(token_kind kind) {
    static const char *const texts[] = {
#define TOKEN_ROW(name, text) text,
        TOKEN_LIST(TOKEN_ROW)
#undef TOKEN_ROW
    };
    return texts[kind];
}

/* Longer spellings stand before the shorter ones they begin with. */
static const struct {
    const char *text;
    token_kind kind;
} spellings[] = {
    {"<-", TOKEN_ARROW},      {"<=", TOKEN_LESS_EQUAL},  {">=", TOKEN_GREATER_EQUAL},
    {"==", TOKEN_EQUAL},      {"!=", TOKEN_NOT_EQUAL},   {"&&", TOKEN_AND},
    {"||", TOKEN_OR},         {"=", TOKEN_ASSIGN},       {"~", TOKEN_TILDE},
    {"(", TOKEN_OPEN},        {")", TOKEN_CLOSE},        {"{", TOKEN_OPEN_BRACE},
    {"}", TOKEN_CLOSE_BRACE}, {"[", TOKEN_OPEN_BRACKET}, {"]", TOKEN_CLOSE_BRACKET},
    {",", TOKEN_COMMA},       {";", TOKEN_SEMICOLON},    {"+", TOKEN_PLUS},
    {"-", TOKEN_MINUS},       {"*", TOKEN_TIMES},        {"/", TOKEN_OVER},
    {"^", TOKEN_POWER},       {":", TOKEN_COLON},        {"<", TOKEN_LESS},
    {">", TOKEN_GREATER},     {"!", TOKEN_NOT},
};

static const struct {
    const char *text;
    token_kind kind;
} keywords[] = {
    {"model", TOKEN_MODEL}, {"data", TOKEN_DATA}, {"var", TOKEN_VAR}, {"for", TOKEN_FOR}, {"in", TOKEN_IN},
};

static svmp_status add(model_lexer *lexer, token_kind kind, size_t length, double number) {
    SVMP_TRY(SVMP_GROW(lexer->diagnostics->context, lexer->tokens, lexer->capacity, lexer->count + 1));
    lexer->tokens[lexer->count++] = (token){kind, (uint32_t)lexer->at, (uint32_t)length, number};
    lexer->at += length;
    return SVMP_OK;
}

static int name_byte(char byte) { return isalnum((unsigned char)byte) || byte == '.' || byte == '_'; }

static void skip_comment(model_lexer *lexer) {
    size_t start = lexer->at;
    if (lexer->text[start] == '#') {
        while (lexer->at < lexer->length && lexer->text[lexer->at] != '\n') lexer->at++;
        return;
    }
    lexer->at += 2;
    while (lexer->at < lexer->length && strncmp(lexer->text + lexer->at, "*/", 2) != 0) lexer->at++;
    if (lexer->at >= lexer->length)
        svmp_diagnose(lexer->diagnostics, start, "the comment is not closed");
    else
        lexer->at += 2;
}

static svmp_status lex_name(model_lexer *lexer) {
    size_t length = 1;
    while (name_byte(lexer->text[lexer->at + length])) length++;
    if (length > LONGEST_NAME)
        svmp_diagnose(lexer->diagnostics, lexer->at, "a name can have at most %d characters", LONGEST_NAME);
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++)
        if (strlen(keywords[k].text) == length && memcmp(keywords[k].text, lexer->text + lexer->at, length) == 0)
            return add(lexer, keywords[k].kind, length, 0);
    return add(lexer, TOKEN_NAME, length, 0);
}

static svmp_status lex_number(model_lexer *lexer) {
    const char *start = lexer->text + lexer->at;
    double number = 0;
    const char *end = svmp_number_read(start, &number);
    size_t length = end ? (size_t)(end - start) : 1;
    if (end == NULL) {
        while (name_byte(start[length])) length++;
        svmp_diagnose(lexer->diagnostics, lexer->at, "this is not a number");
    } else if (isinf(number)) {
        svmp_diagnose(lexer->diagnostics, lexer->at, "the number is too large");
    } else if (*end == 'L' && !name_byte(end[1])) {
        length++;
    } else if (name_byte(*end)) {
        while (name_byte(start[length])) length++;
        svmp_diagnose(lexer->diagnostics, lexer->at, "'%.*s' is neither a number nor a name",
                      (int)(length < 40 ? length : 40), start);
    }
    return add(lexer, TOKEN_NUMBER, length, number);
}

/* %op% */
static svmp_status lex_special(model_lexer *lexer) {
    size_t length = 1;
    const char *start = lexer->text + lexer->at;
    while (start[length] != '%' && start[length] != 0 && start[length] != '\n') length++;
    if (start[length] == '%') return add(lexer, TOKEN_SPECIAL, length + 1, 0);
    svmp_diagnose(lexer->diagnostics, lexer->at, "expected an operator such as %%*%%");
    lexer->at++;
    return SVMP_OK;
}

static svmp_status lex_spelling(model_lexer *lexer) {
    const char *start = lexer->text + lexer->at;
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
        if (strncmp(start, spellings[k].text, strlen(spellings[k].text)) == 0)
            return add(lexer, spellings[k].kind, strlen(spellings[k].text), 0);
    unsigned char byte = (unsigned char)*start;
    if (byte >= 32 && byte < 127)
        svmp_diagnose(lexer->diagnostics, lexer->at, "unexpected character '%c'", *start);
    else
        svmp_diagnose(lexer->diagnostics, lexer->at, "unexpected byte 0x%02X", byte);
    while (lexer->at < lexer->length && (unsigned char)lexer->text[lexer->at] >= 127) lexer->at++;
    if (lexer->text + lexer->at == start) lexer->at++;
    return SVMP_OK;
}

static svmp_status lex_next(model_lexer *lexer) {
    const char *next = lexer->text + lexer->at;
    if (isspace((unsigned char)*next)) {
        lexer->at++;
        return SVMP_OK;
    }
    if (*next == '#' || strncmp(next, "/*", 2) == 0) {
        skip_comment(lexer);
        return SVMP_OK;
    }
    if (isdigit((unsigned char)*next) || (*next == '.' && isdigit((unsigned char)next[1]))) return lex_number(lexer);
    if (isalpha((unsigned char)*next)) return lex_name(lexer);
    if (*next == '%') return lex_special(lexer);
    return lex_spelling(lexer);
}

svmp_status svmp_lex(diagnostics *noted, token **tokens) {
    const text_source *source = noted->source;
    model_lexer lexer = {.diagnostics = noted, .text = source->text, .length = source->length, .at = source->added};
    svmp_status status = SVMP_OK;
    if (lexer.length >= INT32_MAX)
        return svmp_fail(noted->context, SVMP_BAD_INPUT, "%s: error: the model is larger than 2 GiB.", source->path);
    while (lexer.at < lexer.length) SVMP_CHECK(lex_next(&lexer));
    SVMP_CHECK(add(&lexer, TOKEN_END, 0, 0));
    *tokens = lexer.tokens;
    return SVMP_OK;
done:
    svmp_release(noted->context, lexer.tokens);
    return status;
}
