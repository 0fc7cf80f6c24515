#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NUMBER = 1000 };

int svmp_number_try_enter(number_locale *locale) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return 0;
    *locale = (number_locale){plain, uselocale(plain)};
    return 1;
}

svmp_status svmp_number_enter(svmp_context *context, number_locale *locale) {
    if (svmp_number_try_enter(locale)) return SVMP_OK;
    return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: cannot create a locale.");
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

static const char *digits(const char *text) {
    while (*text >= '0' && *text <= '9') text++;
    return text;
}

/* The end of the number at `text` by its grammar: digits [. digits] [e [+-] digits]. */
static const char *number_end(const char *text) {
    const char *end = digits(text);
    size_t count = (size_t)(end - text);
    if (*end == '.') {
        const char *fraction = digits(end + 1);
        count += (size_t)(fraction - end - 1);
        end = fraction;
    }
    if (count == 0) return NULL;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (digits(exponent) > exponent) end = digits(exponent);
    }
    return end;
}

const char *svmp_number_read(const char *text, double *number) {
    const char *end = number_end(text);
    if (end == NULL || end - text > LONGEST_NUMBER) return NULL;
    char copy[LONGEST_NUMBER + 1]; /* strtod might read on: 0x10 */
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = 0;
    *number = strtod(copy, NULL);
    return end;
}

number_kind svmp_number_parse(const char *start, const char *end, double *value) {
    const size_t length = (size_t)(end - start);
    if (length == 0 || length > LONGEST_NUMBER) return NUMBER_NONE;
    if (names_not_finite(start, length)) return NUMBER_NOT_FINITE;
    char copy[LONGEST_NUMBER + 1]; /* what follows may look like more of it: "1..2" */
    memcpy(copy, start, length);
    copy[length] = 0;
    double read;
    int sign = *start == '-' || *start == '+';
    if (svmp_number_read(copy + sign, &read) != copy + length) return NUMBER_NONE;
    if (!isfinite(read)) return NUMBER_NOT_FINITE;
    *value = *start == '-' ? -read : read;
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

int svmp_number_parse_whole(const char *start, const char *end, size_t *value) {
    double real;
    if (svmp_number_parse_size(start, end, value)) return 1;
    if (svmp_number_parse(start, end, &real) != NUMBER_FINITE) return 0;
    if (!(real >= 0 && real <= 0x1p53) || real != floor(real)) return 0;
    *value = (size_t)real;
    return 1;
}
