#include "sample/files/stan_csv_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sample/name_shapes.h"

/* The columns under one name: an array, or a single variable. */
typedef struct column_group {
    const shaped_array *array;
    size_t variable;   /* of a single variable; SIZE_MAX: the whole array */
    size_t first;      /* the first of its variables, by which groups are ordered */
    const char *model; /* its name, without indices, */
    char *file;        /* its name in the file, */
    int altered;       /* whether that differs */
} column_group;

typedef struct column_builder {
    svmp_context *context;
    memory_arena *memory;  /* of the result */
    svmp_particles *names; /* of the variables, followed by the known elements */
    double *known;         /* the values of the known elements */
    size_t variables;
    shape arrays;
    column_group *groups;
    size_t count;
    name_table called, taken; /* names of variables, if any element is known; names in the file */
} column_builder;

/* ---- what is known ---- */

static size_t elements(const struct extra_array *o) {
    size_t count = 1;
    for (size_t k = 0; k < o->rank; k++) count *= o->dimensions[k];
    return count;
}

/* The number of known elements of an array; 0 if there are too many. */
static size_t known_elements(const struct extra_array *o) {
    const size_t count = elements(o);
    size_t known = 0;
    for (size_t m = 0; m < count; m++) known += !isnan(o->values[m]);
    const size_t unknown = count - known;
    return known > COLUMNS_KNOWN_MOST && known > unknown ? 0 : known;
}

size_t svmp_columns_known_size(const extra_arrays *known) {
    char text[NUMBER_TEXT];
    size_t size = 0;
    for (size_t a = 0; a < known->count; a++) {
        const struct extra_array *o = &known->list[a];
        const size_t count = known_elements(o) ? elements(o) : 0;
        for (size_t m = 0; m < count; m++)
            if (!isnan(o->values[m])) size += svmp_number_format(o->values[m], text) + 1;
    }
    return size;
}

/* Appends a name unless a variable has it: a monitored variable may be constant. */
static svmp_status add_known(column_builder *b, const struct extra_array *o, size_t *at) {
    shaped_array array = {.name = o->name, .length = strlen(o->name), .dimensions = o->rank};
    char name[1024];
    for (size_t k = 0; k < o->rank; k++) array.first[k] = 1, array.extent[k] = o->dimensions[k];
    for (size_t m = 0; m < elements(o); m++) {
        if (isnan(o->values[m])) continue;
        svmp_shape_name(&array, m, name, sizeof name);
        if (svmp_names_find(&b->called, name, strlen(name)) != NAMES_NONE) continue;
        b->known[*at - b->variables] = o->values[m];
        SVMP_TRY(svmp_particles_set_name(b->names, (*at)++, name));
    }
    return SVMP_OK;
}

/* Gathers the names of everything that may get a column. */
static svmp_status gather_names(column_builder *b, const svmp_particles *titles, const extra_arrays *known) {
    size_t count = 0, at = b->variables = titles->variables;
    for (size_t a = 0; a < known->count; a++) count += known_elements(&known->list[a]);
    SVMP_TRY(SVMP_NEW(b->context, b->known, count));
    SVMP_TRY(svmp_particles_create(b->context, at + count, 1, NULL, &b->names));
    for (size_t i = 0; i < at; i++) {
        const char *name = svmp_particles_name(titles, i);
        uint32_t ignored;
        SVMP_TRY(svmp_particles_set_name(b->names, i, name));
        if (count > 0) SVMP_TRY(svmp_names_add(b->context, &b->called, name, strlen(name), &ignored));
    }
    for (size_t a = 0; a < known->count; a++)
        if (known_elements(&known->list[a])) SVMP_TRY(add_known(b, &known->list[a], &at));
    b->names->variables = at;
    return svmp_shape_of(b->names, &b->arrays);
}

/* ---- groups, and what they are called in the file ---- */

/* Whether Stan's tools take this name, with or without indices, for an array or a scalar. */
static int begins_at_one(const shaped_array *array) {
    for (size_t k = 0; k < array->dimensions; k++)
        if (array->first[k] != 1) return 0;
    return 1;
}

/* The first of its variables; past the last variable if all elements are known. */
static size_t first_variable(const shaped_array *array) {
    size_t first = SIZE_MAX;
    for (size_t m = 0; m < array->count; m++)
        if (array->variable[m] < first) first = array->variable[m];
    return first;
}

static svmp_status copy_name(column_builder *b, const char *name, size_t length, char **copy) {
    SVMP_TRY(ARENA_NEW(b->memory, *copy, length + 1));
    memcpy(*copy, name, length);
    return SVMP_OK;
}

static svmp_status add_group(column_builder *b, column_group made, const char *name, size_t length) {
    char *model;
    SVMP_TRY(copy_name(b, name, length, &model));
    SVMP_TRY(copy_name(b, name, length, &made.file));
    made.model = model;
    for (char *c = made.file; *c; c++)
        if (*c == '.') *c = '_', made.altered = 1;
    b->groups[b->count++] = made;
    return SVMP_OK;
}

static int order_of_groups(const void *a, const void *b) {
    const column_group *left = a, *right = b;
    return (left->first > right->first) - (left->first < right->first);
}

static svmp_status make_groups(column_builder *b) {
    SVMP_TRY(SVMP_NEW(b->context, b->groups, b->names->variables));
    for (size_t a = 0; a < b->arrays.count; a++) {
        const shaped_array *array = &b->arrays.arrays[a];
        const size_t first = first_variable(array);
        if (begins_at_one(array)) {
            if (first < b->variables)
                SVMP_TRY(add_group(b, (column_group){.array = array, .variable = SIZE_MAX, .first = first}, array->name,
                                   array->length));
            continue;
        }
        for (size_t m = 0; m < array->count; m++) {
            const size_t i = array->variable[m];
            const char *name = svmp_particles_name(b->names, i);
            if (i < b->variables)
                SVMP_TRY(add_group(b, (column_group){.array = array, .variable = i, .first = i}, name, strlen(name)));
        }
    }
    if (b->count > 0) qsort(b->groups, b->count, sizeof *b->groups, order_of_groups);
    return SVMP_OK;
}

/* A name without its dots may be taken already: then a number is appended. */
static svmp_status make_name_unique(column_builder *b, column_group *g) {
    const size_t size = strlen(g->file) + 24;
    uint32_t ignored;
    char *name;
    SVMP_TRY(ARENA_NEW(b->memory, name, size));
    snprintf(name, size, "%s", g->file);
    for (size_t number = 2; svmp_name_is_internal(name) || svmp_names_find(&b->taken, name, strlen(name)) != NAMES_NONE;
         number++)
        snprintf(name, size, "%s_%zu", g->file, number);
    g->file = name;
    return svmp_names_add(b->context, &b->taken, name, strlen(name), &ignored);
}

static svmp_status make_names_unique(column_builder *b) {
    uint32_t ignored;
    for (size_t k = 0; k < b->count; k++)
        if (!b->groups[k].altered)
            SVMP_TRY(svmp_names_add(b->context, &b->taken, b->groups[k].file, strlen(b->groups[k].file), &ignored));
    for (size_t k = 0; k < b->count; k++)
        if (b->groups[k].altered) SVMP_TRY(make_name_unique(b, &b->groups[k]));
    return SVMP_OK;
}

/* ---- the columns ---- */

static svmp_status add_column(const column_builder *b, const column_group *g, size_t i, csv_columns *made) {
    const char *indices = g->variable == SIZE_MAX ? svmp_particles_name(b->names, i) + g->array->length : "";
    const size_t size = strlen(g->file) + strlen(indices) + 1;
    char *name;
    SVMP_TRY(ARENA_NEW(b->memory, name, size));
    snprintf(name, size, "%s%s", g->file, indices);
    made->list[made->count++] =
        i < b->variables ? (csv_column){name, i, 0} : (csv_column){name, SIZE_MAX, b->known[i - b->variables]};
    return SVMP_OK;
}

/* All groups, each with the first index running fastest. */
static svmp_status add_columns(const column_builder *b, size_t *order, csv_columns *made) {
    SVMP_TRY(ARENA_NEW(b->memory, made->list, b->names->variables));
    SVMP_TRY(ARENA_NEW(b->memory, made->renamed, b->count));
    for (size_t k = 0; k < b->count; k++) {
        const column_group *g = &b->groups[k];
        if (g->altered) made->renamed[made->renamed_count++] = (struct renamed){g->file, g->model};
        if (g->variable != SIZE_MAX)
            *order = g->variable;
        else
            svmp_shape_stan_order(&(shape){.arrays = (shaped_array *)g->array, .count = 1}, order);
        const size_t count = g->variable != SIZE_MAX ? 1 : g->array->count;
        for (size_t m = 0; m < count; m++) SVMP_TRY(add_column(b, g, order[m], made));
    }
    return SVMP_OK;
}

svmp_status svmp_columns_of(const svmp_particles *titles, const extra_arrays *known, csv_columns *made) {
    *made = (csv_columns){.memory.context = titles->context};
    column_builder b = {.context = titles->context, .memory = &made->memory};
    size_t *order = NULL;
    svmp_status status;
    SVMP_CHECK(gather_names(&b, titles, known));
    SVMP_CHECK(make_groups(&b));
    SVMP_CHECK(make_names_unique(&b));
    SVMP_CHECK(SVMP_NEW(b.context, order, b.names->variables));
    SVMP_CHECK(add_columns(&b, order, made));
done:
    svmp_release_all(b.context, order, b.groups, b.known);
    svmp_names_free(b.context, &b.called);
    svmp_names_free(b.context, &b.taken);
    svmp_shape_free(b.context, &b.arrays);
    svmp_particles_free(b.names);
    return status;
}

void svmp_columns_free(csv_columns *made) {
    if (made->memory.context) svmp_arena_free(&made->memory);
    *made = (csv_columns){0};
}
