#include "table_overview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays from names ------------------------------------------------------------------------------------------- */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* The length of a name without its indices: 1 of "x.3.4". */
static size_t stem_length(const char *name) {
    size_t length = strlen(name);
    for (;;) {
        size_t at = length;
        while (at > 0 && is_digit(name[at - 1])) at--;
        if (at == length || at < 2 || name[at - 1] != '.') return length;
        length = at - 1;
    }
}

int is_element(const char *name) { return name[stem_length(name)] != '\0'; }

int scalars_first(const svmp_particles *particles, size_t count, size_t *which) {
    size_t *elements = calloc(count + 1, sizeof *elements), scalars = 0, others = 0;
    if (elements == NULL) return 0;
    for (size_t k = 0; k < count; k++) {
        if (is_element(svmp_particles_name(particles, which[k])))
            elements[others++] = which[k];
        else
            which[scalars++] = which[k];
    }
    memcpy(which + scalars, elements, others * sizeof *which);
    free(elements);
    return 1;
}

typedef struct stem {
    const char *name;
    size_t length, variable;
} stem;

/* By stem and number of dimensions, which keeps x.1 and x.1.1 apart, then in the order of the variables. */
static size_t dimensions_of(const stem *s) {
    size_t count = 0;
    for (const char *c = s->name + s->length; *c; c++) count += *c == '.';
    return count;
}

static int compare_stems(const stem *a, const stem *b) {
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int difference = memcmp(a->name, b->name, shorter);
    if (difference) return difference;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    const size_t left = dimensions_of(a), right = dimensions_of(b);
    return (left > right) - (left < right);
}

static int by_stem(const void *a, const void *b) {
    const stem *x = a, *y = b;
    const int difference = compare_stems(x, y);
    return difference ? difference : (x->variable > y->variable) - (x->variable < y->variable);
}

static int by_first(const void *a, const void *b) {
    const size_t x = ((const overview_array *)a)->first, y = ((const overview_array *)b)->first;
    return (x > y) - (x < y);
}

/* Widens the box of indices to that of one more name. */
static void take_indices(overview_array *array, const stem *s) {
    const char *at = s->name + s->length;
    size_t k = 0;
    for (; *at == '.' && k < OVERVIEW_INDICES; k++) {
        char *end;
        const size_t index = strtoul(at + 1, &end, 10);
        if (array->count == 0 || index < array->low[k]) array->low[k] = index;
        if (array->count == 0 || index > array->high[k]) array->high[k] = index;
        at = end;
    }
    array->rank = k;
    array->count++;
}

int overview_make(const svmp_particles *particles, overview *made) {
    const size_t variables = svmp_particles_variables(particles);
    stem *stems = calloc(variables + 1, sizeof *stems);
    size_t *order = calloc(2 * variables + 1, sizeof *order), *to = order ? order + variables : NULL;
    overview_array *arrays = calloc(variables + 1, sizeof *arrays);
    if (stems == NULL || order == NULL || arrays == NULL) {
        free(stems);
        free(order);
        free(arrays);
        return 0;
    }
    *made = (overview){arrays, 0, order};
    for (size_t i = 0; i < variables; i++) {
        const char *name = svmp_particles_name(particles, i);
        stems[i] = (stem){name, stem_length(name), i};
    }
    qsort(stems, variables, sizeof *stems, by_stem);
    for (size_t k = 0; k < variables; k++) {
        if (k == 0 || compare_stems(&stems[k - 1], &stems[k]) != 0)
            arrays[made->count++] = (overview_array){stems[k].name, stems[k].length, .first = stems[k].variable};
        to[k] = stems[k].variable;
        take_indices(&arrays[made->count - 1], &stems[k]);
    }
    /* the arrays as their first variables come, and their variables with them */
    for (size_t a = 0, at = 0; a < made->count; at += arrays[a++].count) arrays[a].high[OVERVIEW_INDICES - 1] = at;
    qsort(arrays, made->count, sizeof *arrays, by_first);
    for (size_t a = 0, at = 0; a < made->count; at += arrays[a++].count) {
        memcpy(order + at, to + arrays[a].high[OVERVIEW_INDICES - 1], arrays[a].count * sizeof *order);
        arrays[a].first = at;
    }
    free(stems);
    return 1;
}

void overview_free(overview *o) {
    free(o->arrays);
    free(o->order);
    *o = (overview){0};
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static int is_small(const overview_array *array) { return array->count <= OVERVIEW_SMALL; }

size_t overview_scalars(const overview *o, size_t most, size_t *rows, size_t *more) {
    size_t count = 0;
    *more = 0;
    for (size_t a = 0; a < o->count; a++)
        for (size_t k = 0; is_small(&o->arrays[a]) && k < o->arrays[a].count; k++) {
            if (count < most)
                rows[count++] = o->order[o->arrays[a].first + k];
            else
                ++*more;
        }
    return count;
}

/* "x.3.4" of the node "x[3,4]". */
static void spell_variable(const char *node, char *name, size_t size) {
    size_t length = 0;
    for (; *node && length + 1 < size; node++)
        if (*node != ']') name[length++] = (char)(*node == '[' || *node == ',' ? '.' : *node);
    name[length] = '\0';
}

static size_t worst_nodes(const svmp_particles *particles, const convergence *c, size_t rows[OVERVIEW_WORST]) {
    size_t count = 0;
    for (size_t k = 0; k < c->worst_count && count < OVERVIEW_WORST; k++) {
        char name[NODE_NAME];
        size_t i = 0;
        spell_variable(c->worst[k].name, name, sizeof name);
        while (i < svmp_particles_variables(particles) && strcmp(svmp_particles_name(particles, i), name) != 0) i++;
        if (i < svmp_particles_variables(particles)) rows[count++] = i;
    }
    return count;
}

size_t overview_worst(const svmp_particles *particles, const svmp_mixing *mixing, const convergence *c,
                      size_t rows[OVERVIEW_WORST]) {
    size_t count = 0;
    if (mixing == NULL) return c->known ? worst_nodes(particles, c, rows) : 0;
    for (size_t i = 0; i < svmp_particles_variables(particles); i++) {
        if (isnan(mixing[i].r_hat)) continue;
        size_t at = count < OVERVIEW_WORST ? count : OVERVIEW_WORST;
        while (at > 0 && mixing[i].r_hat > mixing[rows[at - 1]].r_hat) at--;
        if (at == OVERVIEW_WORST) continue;
        if (count < OVERVIEW_WORST) count++;
        memmove(rows + at + 1, rows + at, (count - at - 1) * sizeof *rows);
        rows[at] = i;
    }
    return count;
}

/* "x[1:300,1:300]", and "(4 of 34)" where the box of indices has more. */
static void spell_array(const overview_array *array, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%.*s", (int)(array->length < 200 ? array->length : 200), array->name);
    double box = 1;
    for (size_t k = 0; k < array->rank && length < size; k++) {
        const char *before = k ? "," : "[", *behind = k + 1 < array->rank ? "" : "]";
        length += (size_t)snprintf(text + length, size - length, "%s%zu:%zu%s", before, array->low[k], array->high[k],
                                   behind);
        box *= (double)(array->high[k] - array->low[k] + 1);
    }
    if (array->rank && box != (double)array->count && length < size)
        snprintf(text + length, size - length, " (%zu of %.0f)", array->count, box);
}

/* The smallest and the largest of a number over an array; NaN: there is none. */
typedef struct range {
    double low, high;
} range;

static void widen(range *r, double value) {
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

void overview_print_arrays(const overview *o, const svmp_moments *moments, const svmp_mixing *mixing) {
    enum { TEXT = 512 };
    char text[TEXT];
    int width = (int)strlen("array");
    for (size_t a = 0; a < o->count; a++) {
        if (is_small(&o->arrays[a])) continue;
        spell_array(&o->arrays[a], text, sizeof text);
        if ((int)strlen(text) > width) width = (int)strlen(text);
    }
    printf("%-*s  %11s %11s %11s %11s %11s", width, "array", "elements", "mean from", "to", "sd from", "to");
    if (mixing) printf(" %11s %11s", "R-hat up to", "ESS from");
    putchar('\n');
    for (size_t a = 0; a < o->count; a++) {
        const overview_array *array = &o->arrays[a];
        range mean = {NAN, NAN}, sd = mean, r_hat = mean, draws = mean;
        if (is_small(array)) continue;
        for (size_t k = array->first; k < array->first + array->count; k++) {
            const size_t i = o->order[k];
            widen(&mean, moments[i].mean);
            widen(&sd, moments[i].sd);
            if (mixing) widen(&r_hat, mixing[i].r_hat);
            if (mixing) widen(&draws, fmin(mixing[i].bulk_draws, mixing[i].tail_draws));
        }
        spell_array(array, text, sizeof text);
        printf("%-*s  %11zu %11.4g %11.4g %11.4g %11.4g", width, text, array->count, mean.low, mean.high, sd.low,
               sd.high);
        if (mixing) printf(r_hat.high < 100 ? " %11.3f %11.0f" : " %11.3g %11.0f", r_hat.high, draws.low);
        putchar('\n');
    }
}
