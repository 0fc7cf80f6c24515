/* Numbers as text, the same in every locale. */
#ifndef SVMP_BASE_NUMBER_H
#define SVMP_BASE_NUMBER_H

#include <locale.h>

#include "base/context.h"

/* Between enter and leave the calling thread reads and prints numbers in the "C" locale. */
typedef struct number_locale {
    locale_t plain, before;
} number_locale;

svmp_status svmp_number_enter(svmp_context *context, number_locale *locale);
int svmp_number_try_enter(number_locale *locale); /* the same without a context; 0: there is no memory */
void svmp_number_leave(number_locale *locale);    /* accepts an all-zero value: never entered */

/* Reads an unsigned decimal number such as 12, .5, 1.5e-3, of at most 1,000 characters, between enter and leave.
 * Returns the first byte after it, or NULL if there is no number. `text` must end with a 0. A number that is too large
 * is infinite. */
const char *svmp_number_read(const char *text, double *number);

typedef enum number_kind { NUMBER_FINITE, NUMBER_NOT_FINITE, NUMBER_NONE } number_kind;

/* Reads the decimal number, with or without a sign, that fills [start, end); `end` must point into a terminated text.
 */
number_kind svmp_number_parse(const char *start, const char *end, double *value);

/* Reads the digits that fill [start, end); returns 0 if there is anything else or the number does not fit. */
int svmp_number_parse_size(const char *start, const char *end, size_t *value);

/* The same, but also accepts whole numbers such as 1e3. Between enter and leave. */
int svmp_number_parse_whole(const char *start, const char *end, size_t *value);

/* The shortest of 15, 16 and 17 digits that reads back to the same bits; returns the length. */
enum { NUMBER_TEXT = 32 };
size_t svmp_number_format(double value, char text[NUMBER_TEXT]);

#endif
