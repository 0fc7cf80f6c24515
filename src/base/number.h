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
void svmp_number_leave(number_locale *locale); /* takes one that is all zeros: never entered */

/* Reads an unsigned decimal number, 12, .5, 1.5e-3, of at most 1,000 characters, between enter and leave. Returns the
 * first byte after it, or NULL when none stands there. `text` ends with a 0. One that is too large is infinite. */
const char *svmp_number_read(const char *text, double *number);

typedef enum number_kind { NUMBER_FINITE, NUMBER_NOT_FINITE, NUMBER_NONE } number_kind;

/* Reads the decimal number, with a sign or without, that is exactly [start, end); `end` must point into ended text. */
number_kind svmp_number_parse(const char *start, const char *end, double *value);

/* Reads the digits that are exactly [start, end); 0 when there is anything else or the number does not fit. */
int svmp_number_parse_size(const char *start, const char *end, size_t *value);

/* The same, or a number like 1e3 that is whole. Between enter and leave. */
int svmp_number_parse_whole(const char *start, const char *end, size_t *value);

/* The shortest of 15, 16 and 17 digits that reads back to the same bits; returns the length. */
enum { NUMBER_TEXT = 32 };
size_t svmp_number_format(double value, char text[NUMBER_TEXT]);

#endif
