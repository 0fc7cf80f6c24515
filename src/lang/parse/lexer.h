/* The lexer: text to tokens. */
#ifndef SVMP_LANG_PARSE_LEXER_H
#define SVMP_LANG_PARSE_LEXER_H

#include "lang/parse/text_diagnostics.h"

/* Every token with the text that names it in a message; the keywords are spelled so. */
#define TOKEN_LIST(X)                                                                                                  \
    X(END, "the end of the file")                                                                                      \
    X(NAME, "a name")                                                                                                  \
    X(NUMBER, "a number")                                                                                              \
    X(MODEL, "'model'")                                                                                                \
    X(DATA, "'data'")                                                                                                  \
    X(VAR, "'var'")                                                                                                    \
    X(FOR, "'for'")                                                                                                    \
    X(IN, "'in'")                                                                                                      \
    X(ARROW, "'<-'")                                                                                                   \
    X(ASSIGN, "'='")                                                                                                   \
    X(TILDE, "'~'")                                                                                                    \
    X(OPEN, "'('")                                                                                                     \
    X(CLOSE, "')'")                                                                                                    \
    X(OPEN_BRACE, "'{'")                                                                                               \
    X(CLOSE_BRACE, "'}'")                                                                                              \
    X(OPEN_BRACKET, "'['")                                                                                             \
    X(CLOSE_BRACKET, "']'")                                                                                            \
    X(COMMA, "','")                                                                                                    \
    X(SEMICOLON, "';'")                                                                                                \
    X(PLUS, "'+'")                                                                                                     \
    X(MINUS, "'-'")                                                                                                    \
    X(TIMES, "'*'")                                                                                                    \
    X(OVER, "'/'")                                                                                                     \
    X(POWER, "'^'")                                                                                                    \
    X(SPECIAL, "an operator between percent signs")                                                                    \
    X(COLON, "':'")                                                                                                    \
    X(LESS, "'<'")                                                                                                     \
    X(LESS_EQUAL, "'<='")                                                                                              \
    X(GREATER, "'>'")                                                                                                  \
    X(GREATER_EQUAL, "'>='")                                                                                           \
    X(EQUAL, "'=='")                                                                                                   \
    X(NOT_EQUAL, "'!='")                                                                                               \
    X(AND, "'&&'")                                                                                                     \
    X(OR, "'||'")                                                                                                      \
    X(NOT, "'!'")

typedef enum token_kind {
#define TOKEN_ROW(name, text) TOKEN_##name,
    TOKEN_LIST(TOKEN_ROW)
#undef TOKEN_ROW
} token_kind;

typedef struct token {
    token_kind kind;
    uint32_t offset, length;
    double number; /* of TOKEN_NUMBER */
} token;

const char *svmp_token_text(token_kind kind);

/* All tokens of the source, or of the statements that were added to it, the last one TOKEN_END. Bytes that begin no
 * token are noted as errors and left out. The tokens belong to the caller. Fails only without memory, or for a source
 * of 2 GiB and more. */
svmp_status svmp_lex(diagnostics *noted, token **tokens);

#endif
