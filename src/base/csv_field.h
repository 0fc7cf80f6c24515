/* The fields of a line of comma-separated values: of data, of particles, and of the tables that programs read, which
 * are linked with these functions, too: they need nothing else of the library. */
#ifndef SVMP_BASE_CSV_FIELD_H
#define SVMP_BASE_CSV_FIELD_H

/* Without the blanks and the quotation marks around it. Within quotation marks, commas belong to the field, and ""
 * stands for one quotation mark. */
typedef struct csv_field {
    const char *start, *end;
} csv_field;

/* Reads the field at `at` of a line that ends at `end`. Returns where its comma is, or `end`; NULL if a quotation mark
 * is not closed; anything else is what follows a closed one and should not. */
const char *svmp_csv_field(const char *at, const char *end, csv_field *field);

/* Replaces each "" by one quotation mark, in place; returns the new end. */
char *svmp_csv_unquote(char *start, const char *end);

#endif
