/* Categories: arrays of text become codes, 1 for the first level. Levels are in the order of their bytes, behind those
 * that were set before. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data_set.h"

const name_table *svmp_data_levels(const data_set *data, const char *name) {
    const uint32_t number = svmp_names_find(&data->level_names, name, strlen(name));
    return number == NAMES_NONE ? NULL : &data->levels[number];
}

/* The levels of a name, which may be none yet. */
static svmp_status levels_of(data_set *data, const char *name, size_t length, name_table **levels) {
    uint32_t number;
    SVMP_TRY(SVMP_GROW(data->context, data->levels, data->level_capacity, data->level_names.count + 1));
    const size_t before = data->level_names.count;
    SVMP_TRY(svmp_names_add(data->context, &data->level_names, name, length, &number));
    if (number == before) data->levels[number] = (name_table){0};
    *levels = &data->levels[number];
    return SVMP_OK;
}

static int is_missing(const char *text) { return text == NULL || *text == 0 || strcmp(text, "NA") == 0; }

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static svmp_status add_new(data_set *data, size_t count, const char *const *values, name_table *levels) {
    const char **sorted = NULL;
    size_t fresh = 0;
    svmp_status status = SVMP_OK;
    SVMP_TRY(SVMP_NEW(data->context, sorted, count));
    for (size_t i = 0; i < count; i++)
        if (!is_missing(values[i]) && svmp_names_find(levels, values[i], strlen(values[i])) == NAMES_NONE)
            sorted[fresh++] = values[i];
    if (fresh > 0) qsort(sorted, fresh, sizeof *sorted, by_bytes);
    for (size_t i = 0; i < fresh && status == SVMP_OK; i++)
        status = svmp_names_add(data->context, levels, sorted[i], strlen(sorted[i]), &(uint32_t){0});
    svmp_release(data->context, sorted);
    return status;
}

svmp_status svmp_data_encode(data_set *data, const char *name, size_t length, size_t count, const char *const *values,
                             double *codes) {
    name_table *levels;
    SVMP_TRY(levels_of(data, name, length, &levels));
    SVMP_TRY(add_new(data, count, values, levels));
    for (size_t i = 0; i < count; i++)
        codes[i] = is_missing(values[i]) ? NAN : 1 + (double)svmp_names_find(levels, values[i], strlen(values[i]));
    return SVMP_OK;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

svmp_status svmp_data_set_levels(svmp_data *data, const char *name, size_t count, const char *const *levels) {
    name_table *made;
    if (data == NULL) return SVMP_BAD_CALL;
    if (name == NULL || (count > 0 && levels == NULL))
        return svmp_fail(data->context, SVMP_BAD_CALL, "svmp_data_set_levels: the %s missing.",
                         name ? "levels are" : "name is");
    if (svmp_data_find(data, name))
        return svmp_fail(data->context, SVMP_BAD_CALL, "The levels of '%.100s' must be set before its values.", name);
    SVMP_TRY(levels_of(data, name, strlen(name), &made));
    for (size_t k = 0; k < count; k++) {
        if (is_missing(levels[k]))
            return svmp_fail(data->context, SVMP_BAD_CALL, "Level %zu of '%.100s' is empty.", k + 1, name);
        SVMP_TRY(svmp_names_add(data->context, made, levels[k], strlen(levels[k]), &(uint32_t){0}));
    }
    return SVMP_OK;
}

svmp_status svmp_data_add_text(svmp_data *data, const char *name, size_t count, const char *const *values) {
    double *codes = NULL;
    if (data == NULL) return SVMP_BAD_CALL;
    if (name == NULL || (count > 0 && values == NULL))
        return svmp_fail(data->context, SVMP_BAD_CALL, "svmp_data_add_text: the %s missing.",
                         name ? "values are" : "name is");
    SVMP_TRY(SVMP_NEW(data->context, codes, count));
    svmp_status status = svmp_data_encode(data, name, strlen(name), count, values, codes);
    if (status == SVMP_OK) status = svmp_data_add(data, name, 1, &count, codes);
    svmp_release(data->context, codes);
    return status;
}

const char *svmp_data_level(const svmp_data *data, const char *name, size_t level) {
    const name_table *levels = data && name ? svmp_data_levels(data, name) : NULL;
    return levels && level < levels->count ? levels->text[level] : NULL;
}
