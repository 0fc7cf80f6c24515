/* The format of a text, from its first words, for files whose names do not determine it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data/data_set.h"

/* Skips blanks, and comments of R (#) and of JAGS (# and / * * /). */
static const char *skip(const char *at, const char *end) {
    while (at < end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at == '#') {
            while (at < end && *at != '\n') at++;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
            for (at += 2; end - at > 1 && !(at[0] == '*' && at[1] == '/');) at++;
            at = end - at > 1 ? at + 2 : end;
        } else {
            break;
        }
    }
    return at;
}

static int in_name(char byte) { return isalnum((unsigned char)byte) || byte == '.' || byte == '_'; }

static int is_word(const char *word, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(word, wanted, length) == 0;
}

static int is_assigned(const char *at, const char *end) {
    return at < end && (*at == '=' || (end - at > 1 && at[0] == '<' && at[1] == '-'));
}

static data_kind kind_by_words(const char *text, size_t length) {
    const char *end = text + length, *word = skip(text, end), *after = word;
    if (word == end) return DATA_OTHER;
    if (*word == '{') return DATA_JSON;
    if (*word == '"' || *word == '\'' || *word == '`') {
        for (after++; after < end && *after != *word;) after++;
        return after < end && is_assigned(skip(after + 1, end), end) ? DATA_DUMP : DATA_OTHER;
    }
    while (after < end && in_name(*after)) after++;
    const size_t letters = (size_t)(after - word);
    if (letters == 0 || isdigit((unsigned char)*word)) return DATA_OTHER;
    after = skip(after, end);
    const char follows = after < end ? *after : '\0';
    if (is_assigned(after, end) ||
        ((is_word(word, letters, "list") || is_word(word, letters, "structure")) && follows == '('))
        return DATA_DUMP;
    if ((is_word(word, letters, "model") || is_word(word, letters, "data")) && follows == '{') return DATA_MODEL;
    if ((is_word(word, letters, "var") || is_word(word, letters, "model")) && isalpha((unsigned char)follows))
        return DATA_MODEL;
    return follows == '[' ? DATA_DUMP : DATA_OTHER; /* y[] x[]: the head of a table */
}

/* Whether there is a '~' outside comments and strings. */
static int has_tilde(const char *at, const char *end) {
    while ((at = skip(at, end)) < end && *at != '~') {
        const char byte = *at++;
        if (byte != '"' && byte != '\'' && byte != '`') continue;
        while (at < end && *at != byte) at += *at == '\\' && end - at > 1 ? 2 : 1;
        if (at < end) at++;
    }
    return at < end;
}

/* Data have no '~': this is a model without a block, or a model within R code. */
data_kind svmp_data_kind(const char *text, size_t length) {
    const data_kind kind = kind_by_words(text, length);
    return kind == DATA_MODEL || !has_tilde(text, text + length) ? kind : DATA_OTHER;
}

/* Moves the position of a file past a byte order mark, blanks and comments of any length. */
static void skip_front(FILE *file) {
    char mark[3];
    if (fread(mark, 1, 3, file) != 3 || memcmp(mark, "\xEF\xBB\xBF", 3) != 0) rewind(file);
    for (;;) {
        const long at = ftell(file);
        int byte = getc(file), before = 0;
        if (byte == '#') {
            while (byte != EOF && byte != '\n') byte = getc(file);
        } else if (byte == '/' && getc(file) == '*') {
            for (byte = getc(file); byte != EOF && !(before == '*' && byte == '/'); byte = getc(file)) before = byte;
        } else if (!isspace(byte)) { /* EOF, too */
            if (at >= 0) fseek(file, at, SEEK_SET);
            return;
        }
    }
}

data_kind svmp_data_kind_of_file(const char *path) {
    char text[4096];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return DATA_OTHER; /* a pipe can be read only once */
    FILE *file = fopen(path, "rb");
    if (file == NULL) return DATA_OTHER;
    skip_front(file);
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    return svmp_data_kind(text, length);
}
