#include "row_changes.h"

#include <stdint.h>
#include <string.h>

static size_t bitmap_of(size_t rows) { return (rows + 7) / 8; }

size_t changes_most(size_t rows, size_t length) { return bitmap_of(rows) + rows * length * 8; }

static void put_number(double value, unsigned char *to) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    for (int k = 0; k < 8; k++) to[k] = (unsigned char)(word >> 8 * k);
}

static double take_number(const unsigned char *from) {
    uint64_t word = 0;
    double value;
    for (int k = 0; k < 8; k++) word |= (uint64_t)from[k] << 8 * k;
    memcpy(&value, &word, sizeof value);
    return value;
}

size_t changes_write(size_t rows, size_t length, const double *now, double *before, unsigned char *message) {
    unsigned char *to = message + bitmap_of(rows);
    memset(message, 0, bitmap_of(rows));
    for (size_t r = 0; r < rows; r++) {
        const double *row = now + r * length;
        if (memcmp(row, before + r * length, length * sizeof *row) == 0) continue;
        message[r / 8] |= (unsigned char)(1u << r % 8);
        for (size_t l = 0; l < length; l++, to += 8) put_number(row[l], to);
        memcpy(before + r * length, row, length * sizeof *row);
    }
    return (size_t)(to - message);
}

int changes_apply(size_t rows, size_t length, size_t size, const unsigned char *message, double *rows_now) {
    size_t changed = 0;
    if (size < bitmap_of(rows)) return 0;
    for (size_t r = 0; r < rows; r++) changed += message[r / 8] >> r % 8 & 1;
    if (size != bitmap_of(rows) + changed * length * 8) return 0;
    const unsigned char *from = message + bitmap_of(rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t l = 0; (message[r / 8] >> r % 8 & 1) && l < length; l++, from += 8)
            rows_now[r * length + l] = take_number(from);
    return 1;
}
