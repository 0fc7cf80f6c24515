/* JSON that stands inside a <script> of a page: no text in it can end the element or begin a comment. */
#ifndef SVMP_REPORT_REPORT_JSON_H
#define SVMP_REPORT_REPORT_JSON_H

#include <stddef.h>
#include <stdio.h>

/* A string in quotation marks, the first `length` bytes of `text`; control characters and < > & are escaped. */
void json_text(FILE *file, const char *text, size_t length);
void json_string(FILE *file, const char *text);

/* A number that reads back to the same bits; null where it is not finite. */
void json_number(FILE *file, double value);

/* `count` numbers as 32-bit floats, little-endian, in base64: a string. */
void json_floats(FILE *file, const float *values, size_t count);

#endif
