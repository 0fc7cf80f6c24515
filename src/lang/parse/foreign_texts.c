/* Recognises texts that are not models of this language: Stan programs, R code, statements without a block. */
#include <ctype.h>
#include <string.h>

#include "lang/parse/parser.h"

/* The end of a comment that begins at `at`: '#' or '//' to the end of the line, or an enclosed one; `at` if there is
 * none. */
static const char *skip_comment(const char *at) {
    if (*at == '#' || (at[0] == '/' && at[1] == '/')) return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*') return at;
    const char *end = strstr(at, "*/");
    return end ? end + 2 : at + strlen(at);
}

static const char *skip_space(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        const char *behind = skip_comment(at);
        if (behind == at) return at;
        at = behind;
    }
}

static int is_word(const char *at, size_t length, const char *word) {
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* The error for a word outside of all blocks; NULL if there is none, or the parser reports it better. */
static const char *wrong_word(const char *at, size_t length) {
    static const char stan[] =
        "this is a Stan program, but svmp reads the BUGS language; see \"Coming from Stan\" in docs/language.md";
    static const char r[] = "this is R code; put only the model into the file, as 'model { ... }'";
    static const char bare[] =
        "this statement is not in a block: enclose the statements in 'model { ... }', and check for an extra '}'";
    static const char list[] = "this is data, or initial values: put them into files of their own; the option 'init' "
                               "names that of initial values";
    const char *next = skip_space(at + length), *right;
    if (is_word(at, length, "list") && *next == '(') return list;
    if (is_word(at, length, "inits") && *next == '{') return list;
    if (is_word(at, length, "const")) return "constants are data: give them in a data file, or in a data { } block";
    if (is_word(at, length, "parameters") && *next == '{') return stan;
    if (is_word(at, length, "for") && *next == '(') return bare;
    if (is_word(at, length, "cat") && *next == '(') return r;
    if (is_word(at, length, "library") && *next == '(') return r;
    if (*next == '[' && strchr(next, ']')) next = skip_space(strchr(next, ']') + 1);
    if (*next == '~') return bare;
    if (*next == '=')
        right = skip_space(next + 1);
    else if (next[0] == '<' && next[1] == '-')
        right = skip_space(next + 2);
    else
        return NULL;
    return *right == '"' || *right == '\'' || strncmp(right, "function", 8) == 0 ? r : bare;
}

svmp_status svmp_parse_foreign(diagnostics *noted) {
    const char *text = noted->source->text, *at = skip_space(text);
    for (int braces = 0; *at && braces >= 0; at = skip_space(at)) {
        size_t length = 0;
        if (isalpha((unsigned char)*at))
            while (isalnum((unsigned char)at[length]) || at[length] == '.' || at[length] == '_') length++;
        const char *wrong = length > 0 && braces == 0 ? wrong_word(at, length) : NULL;
        if (wrong) return svmp_diagnose(noted, (size_t)(at - text), "%s", wrong);
        braces += (*at == '{') - (*at == '}');
        at += length > 0 ? length : 1;
    }
    return SVMP_OK;
}
