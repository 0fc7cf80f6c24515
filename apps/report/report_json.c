#include "report_json.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void json_text(FILE *file, const char *text, size_t length) {
    fputc('"', file);
    for (size_t k = 0; k < length; k++) {
        const unsigned char c = (unsigned char)text[k];
        if (c < ' ' || c == 127 || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\')
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

void json_string(FILE *file, const char *text) { json_text(file, text, strlen(text)); }

/* As short as it may be: what has few digits is written with few. */
void json_number(FILE *file, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    if (!isfinite(value))
        fputs("null", file);
    else if (strtod(text, NULL) == value)
        fputs(text, file);
    else
        fprintf(file, "%.17g", value);
}

/* Four characters for three bytes; `count` of them are there, 1 to 3. */
static void put_triple(FILE *file, const unsigned char *byte, size_t count) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits =
        (uint32_t)byte[0] << 16 | (uint32_t)(count > 1 ? byte[1] : 0) << 8 | (uint32_t)(count > 2 ? byte[2] : 0);
    fputc(digit[bits >> 18], file);
    fputc(digit[bits >> 12 & 63], file);
    fputc(count > 1 ? digit[bits >> 6 & 63] : '=', file);
    fputc(count > 2 ? digit[bits & 63] : '=', file);
}

void json_floats(FILE *file, const float *values, size_t count) {
    unsigned char waiting[3];
    size_t held = 0;
    fputc('"', file);
    for (size_t k = 0; k < 4 * count; k++) {
        uint32_t bits;
        memcpy(&bits, &values[k / 4], sizeof bits);
        waiting[held++] = (unsigned char)(bits >> 8 * (k % 4));
        if (held == 3) {
            put_triple(file, waiting, held);
            held = 0;
        }
    }
    if (held) put_triple(file, waiting, held);
    fputc('"', file);
}
