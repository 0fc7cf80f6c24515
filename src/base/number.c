#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NUMBER = 1000 };

svmp_status svmp_number_enter(svmp_context *context, number_locale *locale) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: no locale could be made.");
    *locale = (number_locale){plain, uselocale(plain)};
    return SVMP_OK;
}

void svmp_number_leave(number_locale *locale) {
    if (locale->plain == (locale_t)0) return;
    uselocale(locale->before);
    freelocale(locale->plain);
    *locale = (number_locale){(locale_t)0, (locale_t)0};
}

static int names_not_finite(const char *start, size_t length) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    if (length > 0 && (*start == '-' || *start == '+')) start++, length--;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (length == strlen(words[k]) && strncasecmp(start, words[k], length) == 0) return 1;
    return 0;
}

number_kind svmp_number_parse(const char *start, const char *end, double *value) {
    size_t length = (size_t)(end - start);
    if (length == 0 || length > LONGEST_NUMBER) return NUMBER_NONE;
    if (names_not_finite(start, length)) return NUMBER_NOT_FINITE;
    /* strtod also takes blanks, line ends and hexadecimal numbers: only plain decimals may reach it */
    if (strspn(start, "0123456789+-.eE") < length) return NUMBER_NONE;
    char copy[LONGEST_NUMBER + 1], *stop;
    if (strchr("0123456789+-.eE", *end) && *end != '\0') { /* what follows must not be read as part of it: "1..2" */
        memcpy(copy, start, length);
        copy[length] = '\0';
        start = copy;
        end = copy + length;
    }
    double read = strtod(start, &stop);
    if (stop != end) return NUMBER_NONE;
    if (!isfinite(read)) return NUMBER_NOT_FINITE;
    *value = read;
    return NUMBER_FINITE;
}

int svmp_number_parse_size(const char *start, const char *end, size_t *value) {
    if (start == end) return 0;
    size_t read = 0;
    for (; start < end; start++) {
        if (*start < '0' || *start > '9') return 0;
        size_t digit = (size_t)(*start - '0');
        if (read > (SIZE_MAX - digit) / 10) return 0;
        read = 10 * read + digit;
    }
    *value = read;
    return 1;
}

size_t svmp_number_format(double value, char text[NUMBER_TEXT]) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value) break;
    }
    return (size_t)length;
}
