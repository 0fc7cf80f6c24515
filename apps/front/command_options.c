#include "command_options.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_distance.h"
#include "error_output.h"
#include "output_check.h"

/* The row of a name of `length` characters, or `count`. */
static size_t find_name(const option_set *set, const char *name, size_t length) {
    size_t k = 0;
    while (k < set->count && (strlen(set->rows[k].name) != length || strncmp(set->rows[k].name, name, length) != 0))
        k++;
    return k;
}

static size_t find_letter(const option_set *set, char letter) {
    size_t k = 0;
    while (k < set->count && set->rows[k].letter != letter) k++;
    return k;
}

void options_add(option_set *set, size_t count, const option_row *rows) {
    for (size_t r = 0; r < count; r++) {
        size_t k = find_name(set, rows[r].name, strlen(rows[r].name));
        assert(k < OPTIONS_MOST);
        set->rows[k] = rows[r];
        if (set->rows[k].standard == NULL) set->rows[k].standard = "";
        if (k == set->count) set->count++;
    }
}

void options_add_run(option_set *set, size_t count, const char *const *names) {
    svmp_option option;
    for (size_t k = 0; svmp_option_at(k, &option); k++) {
        int wanted = names == NULL;
        for (size_t n = 0; names && n < count; n++) wanted |= strcmp(names[n], option.name) == 0;
        if (!wanted) continue;
        const char *help = svmp_option_help(option.name, set->help[k], OPTION_HELP);
        options_add(set, 1,
                    &(option_row){option.name, option.letter, option.argument, option.standard, help, option.group});
    }
}

static int unknown_name(const option_set *set, const char *name, size_t length) {
    const char *names[OPTIONS_MOST];
    for (size_t k = 0; k < set->count; k++) names[k] = set->rows[k].name;
    const char *near = svmp_name_suggest(name, length, set->count, names);
    if (near) return report_error(EXIT_WRONG, "Unknown option '--%.*s'; did you mean '--%s'?", (int)length, name, near);
    return report_error(EXIT_WRONG, "Unknown option '--%.*s'; see '%s --help'.", (int)length, name, set->command);
}

/* --particles FILE is --particles-file FILE. */
static size_t find_file_option(const option_set *set, size_t k, const char *value) {
    char name[64];
    snprintf(name, sizeof name, "%s-file", set->rows[k].name);
    const size_t file = find_name(set, name, strlen(name));
    return file < set->count && has_ending(value, ".csv .nc") ? file : k;
}

static int store(option_set *set, size_t k, const char *value) {
    k = find_file_option(set, k, value);
    if (set->values[k]) return report_error(EXIT_WRONG, "The option '--%s' is given twice.", set->rows[k].name);
    set->values[k] = value;
    return 0;
}

/* Gives the option a value: `attached`, or the next argument, which is then used up. */
static int store_value(option_set *set, size_t k, const char *attached, int *at, int count, char **arguments) {
    if (attached) return store(set, k, attached);
    if (*at + 1 == count)
        return report_error(EXIT_WRONG, "The option '--%s' needs a value: --%s %s.", set->rows[k].name,
                            set->rows[k].name, set->rows[k].argument);
    return store(set, k, arguments[++*at]);
}

static int parse_name(option_set *set, const char *name, int *at, int count, char **arguments) {
    size_t length = strcspn(name, "=");
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    size_t k = find_name(set, name, length);
    if (k == set->count) return unknown_name(set, name, length);
    if (set->rows[k].argument) return store_value(set, k, attached, at, count, arguments);
    if (attached) return report_error(EXIT_WRONG, "The option '--%s' takes no value.", set->rows[k].name);
    return store(set, k, "");
}

static int parse_letters(option_set *set, const char *letters, int *at, int count, char **arguments) {
    for (const char *letter = letters; *letter; letter++) {
        size_t k = find_letter(set, *letter);
        if (k == set->count)
            return report_error(EXIT_WRONG, "Unknown option '-%c'; see '%s --help'.", *letter, set->command);
        if (set->rows[k].argument) return store_value(set, k, letter[1] ? letter + 1 : NULL, at, count, arguments);
        int wrong = store(set, k, "");
        if (wrong) return wrong;
    }
    return 0;
}

int options_parse(option_set *set, int count, char **arguments) {
    int operands_only = 0;
    set->operands = arguments;
    for (int at = 0; at < count; at++) {
        char *argument = arguments[at];
        int wrong = 0;
        if (operands_only || argument[0] != '-' || argument[1] == '\0')
            set->operands[set->operand_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            operands_only = 1;
        else if (argument[1] == '-')
            wrong = parse_name(set, argument + 2, &at, count, arguments);
        else
            wrong = parse_letters(set, argument + 1, &at, count, arguments);
        if (wrong) return wrong;
    }
    return 0;
}

int options_check_operands(const option_set *set, size_t least, size_t most, const char *operands) {
    if (set->operand_count >= least && set->operand_count <= most) return 0;
    if (set->operand_count > most)
        return report_error(EXIT_WRONG, "Unexpected argument '%s'. Usage: %s %s.", set->operands[most], set->command,
                            operands);
    return report_error(EXIT_WRONG, "Missing argument. Usage: %s %s.", set->command, operands);
}

const char *options_given(const option_set *set, const char *name) {
    size_t k = find_name(set, name, strlen(name));
    return k < set->count ? set->values[k] : NULL;
}

const char *options_value(const option_set *set, const char *name) {
    size_t k = find_name(set, name, strlen(name));
    if (k == set->count) return NULL;
    return set->values[k] ? set->values[k] : set->rows[k].standard;
}

int read_count(const char *option, const char *text, size_t least, size_t most, size_t *value) {
    char *end;
    errno = 0;
    const int begins = (*text >= '0' && *text <= '9') || *text == '.';
    unsigned long long count = strtoull(text, &end, 10);
    if (begins && *end) { /* 1e3 */
        const double real = strtod(text, &end);
        const int whole = real <= 0x1p53 && real == floor(real) && strpbrk(text, "xX") == NULL;
        count = whole ? (unsigned long long)real : ULLONG_MAX;
    }
    if (!begins || *end || errno || count < least || count > most)
        return report_error(EXIT_WRONG, "The option '--%s' must be a whole number from %zu to %zu, not '%s'.", option,
                            least, most, text);
    *value = (size_t)count;
    return 0;
}

int read_real(const char *option, const char *text, double least, double most, double *value) {
    char *end;
    const double read = strtod(text, &end);
    if (end == text || *end || !(read >= least && read <= most))
        return report_error(EXIT_WRONG, "The option '--%s' must be a number from %g to %g, not '%s'.", option, least,
                            most, text);
    *value = read;
    return 0;
}
