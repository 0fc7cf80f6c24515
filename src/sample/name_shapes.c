#include "sample/name_shapes.h"

#include <stdlib.h>
#include <string.h>

/* A parsed name: the base, and the indices after it. */
typedef struct parsed_name {
    const char *name;
    size_t variable, length; /* of the base */
    size_t dimensions, index[SHAPE_DIMENSIONS];
} parsed_name;

/* A positive integer without leading zeros that is exactly [start, end); 0: something else. */
static size_t read_index(const char *start, const char *end) {
    size_t value = 0;
    if (start == end || *start == '0' || end - start > 9) return 0;
    for (; start < end; start++) {
        if (*start < '0' || *start > '9') return 0;
        value = 10 * value + (size_t)(*start - '0');
    }
    return value;
}

/* base { "." index } */
static parsed_name parse(const char *name, size_t variable) {
    parsed_name made = {.name = name, .variable = variable, .length = strlen(name)};
    size_t reversed[SHAPE_DIMENSIONS];
    while (made.dimensions < SHAPE_DIMENSIONS) {
        size_t dot = made.length;
        while (dot > 0 && name[dot - 1] != '.') dot--;
        const size_t index = dot > 1 ? read_index(name + dot, name + made.length) : 0;
        if (index == 0) break;
        reversed[made.dimensions++] = index;
        made.length = dot - 1;
    }
    for (size_t k = 0; k < made.dimensions; k++) made.index[k] = reversed[made.dimensions - 1 - k];
    return made;
}

static int order_of_bases(const void *a, const void *b) {
    const parsed_name *left = a, *right = b;
    const size_t shorter = left->length < right->length ? left->length : right->length;
    const int order = memcmp(left->name, right->name, shorter);
    if (order) return order;
    if (left->length != right->length) return left->length < right->length ? -1 : 1;
    return (left->variable > right->variable) - (left->variable < right->variable);
}

static int order_of_first(const void *a, const void *b) {
    const size_t left = *((const shaped_array *)a)->variable, right = *((const shaped_array *)b)->variable;
    return (left > right) - (left < right);
}

static size_t place_of(const shaped_array *array, const parsed_name *name) {
    size_t place = 0;
    for (size_t k = 0; k < array->dimensions; k++) place = place * array->extent[k] + name->index[k] - array->first[k];
    return place;
}

/* `count` variables of one base as an array; returns 0 if it is incomplete. */
static int fill(const parsed_name *names, size_t count, shaped_array *array) {
    size_t last[SHAPE_DIMENSIONS] = {0}, product = 1;
    *array = (shaped_array){names->name, names->length, names->dimensions, {0}, {0}, count, array->variable};
    memcpy(array->first, names->index, sizeof array->first);
    for (size_t m = 0; m < count; m++) {
        if (names[m].dimensions != array->dimensions) return 0;
        for (size_t k = 0; k < array->dimensions; k++)
            if (names[m].index[k] > last[k])
                last[k] = names[m].index[k];
            else if (names[m].index[k] < array->first[k])
                array->first[k] = names[m].index[k];
    }
    for (size_t k = 0; k < array->dimensions; k++) {
        array->extent[k] = last[k] - array->first[k] + 1;
        if (array->extent[k] > count / product) return 0;
        product *= array->extent[k];
    }
    if (product != count) return 0;
    for (size_t m = 0; m < count; m++) array->variable[m] = SIZE_MAX;
    for (size_t m = 0; m < count; m++) {
        size_t *at = &array->variable[place_of(array, &names[m])];
        if (*at != SIZE_MAX) return 0;
        *at = names[m].variable;
    }
    return 1;
}

/* The base of `name` followed by ".0". */
static int order_of_zero(const void *key, const void *element) {
    const parsed_name *name = key, *other = element;
    const size_t length = name->length + 2, shorter = length < other->length ? length : other->length;
    for (size_t k = 0; k < shorter; k++) {
        const char c = k < name->length ? name->name[k] : ".0"[k - name->length];
        if (c != other->name[k]) return (unsigned char)c < (unsigned char)other->name[k] ? -1 : 1;
    }
    return (length > other->length) - (length < other->length);
}

/* Whether there is a b.0 besides b.1, b.2 ...: it is not an element of an array, and neither are they then. */
static int counts_from_zero(const parsed_name *names, size_t variables, const parsed_name *name) {
    return name->dimensions == 1 && bsearch(name, names, variables, sizeof *names, order_of_zero) != NULL;
}

static void stand_alone(const parsed_name *names, size_t count, size_t *workspace, shape *made) {
    for (size_t m = 0; m < count; m++) {
        workspace[m] = names[m].variable;
        made->arrays[made->count++] = (shaped_array){
            .name = names[m].name, .length = strlen(names[m].name), .count = 1, .variable = workspace + m};
    }
}

svmp_status svmp_shape_of(const svmp_particles *particles, shape *made) {
    svmp_context *context = particles->context;
    const size_t variables = particles->variables;
    parsed_name *names = NULL;
    shape building = {0};
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, names, variables));
    SVMP_CHECK(SVMP_NEW(context, building.arrays, variables));
    SVMP_CHECK(SVMP_NEW(context, building.order, variables));
    for (size_t i = 0; i < variables; i++) names[i] = parse(svmp_particles_name(particles, i), i);
    qsort(names, variables, sizeof *names, order_of_bases);
    for (size_t first = 0, last; first < variables; first = last) {
        for (last = first + 1; last < variables && names[last].length == names[first].length &&
                               memcmp(names[last].name, names[first].name, names[first].length) == 0;)
            last++;
        shaped_array *array = &building.arrays[building.count];
        array->variable = building.order + first;
        if (!counts_from_zero(names, variables, names + first) && fill(names + first, last - first, array))
            building.count++;
        else
            stand_alone(names + first, last - first, building.order + first, &building);
    }
    qsort(building.arrays, building.count, sizeof *building.arrays, order_of_first);
    *made = building;
    building = (shape){0};
done:
    svmp_shape_free(context, &building);
    svmp_release(context, names);
    return status;
}

void svmp_shape_free(svmp_context *context, shape *made) {
    svmp_release_all(context, made->arrays, made->order);
    *made = (shape){0};
}

void svmp_shape_stan_order(const shape *made, size_t *order) {
    for (size_t a = 0; a < made->count; a++) {
        const shaped_array *array = &made->arrays[a];
        for (size_t m = 0; m < array->count; m++) {
            size_t place = 0, left = m, stride = array->count;
            for (size_t k = 0; k < array->dimensions; k++) {
                stride /= array->extent[k];
                place += left % array->extent[k] * stride;
                left /= array->extent[k];
            }
            *order++ = array->variable[place];
        }
    }
}

void svmp_shape_name(const shaped_array *array, size_t place, char *buffer, size_t size) {
    size_t index[SHAPE_DIMENSIONS] = {0}, length;
    for (size_t k = array->dimensions; k-- > 0; place /= array->extent[k])
        index[k] = place % array->extent[k] + array->first[k];
    length = (size_t)snprintf(buffer, size, "%.*s", (int)array->length, array->name);
    for (size_t k = 0; k < array->dimensions && length < size; k++)
        length += (size_t)snprintf(buffer + length, size - length, ".%zu", index[k]);
}
