/* The names in a registry, for help texts and errors. */
#ifndef SVMP_BASE_NAME_LIST_H
#define SVMP_BASE_NAME_LIST_H

#include <stddef.h>

/* Name k, counted from 0, or NULL beyond the last one. Words in capitals stand for values: "normal:SD". */
typedef const char *(*name_list)(size_t k);

/* "a, b or c", where `conjunction` is "or", and "a, b, c" where it is NULL; truncated to fit `size`. Returns `buffer`.
 */
const char *svmp_list_names(name_list names, const char *conjunction, char *buffer, size_t size);

#endif
