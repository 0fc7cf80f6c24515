#include "print_probabilities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS_SHOWN = 20, VALUES_SHOWN = 6 };

/* The name of the unknown of a series "probability.z.3" along "value.1.2", and its least value; NULL if the name is not
 * of this form. */
static const char *unknown_of(const svmp_series *series, double *least) {
    static const char front[] = "probability.", values[] = "value.";
    if (strncmp(series->name, front, sizeof front - 1) != 0) return NULL;
    if (strncmp(series->along, values, sizeof values - 1) != 0) return NULL;
    *least = strtol(series->along + sizeof values - 1, NULL, 10);
    return series->name + sizeof front - 1;
}

/* Of 0 and 1, the 1; of many values, the most probable ones, in their order. */
static void print_values(const svmp_series *series, double least) {
    size_t shown = 0, above = 0;
    double limit = 0;
    if (series->count == 2 && least == 0) {
        printf(" = 1: %.3g\n", series->values[1]);
        return;
    }
    for (size_t k = 0; series->count > VALUES_SHOWN && k < series->count; k++) {
        size_t larger = 0;
        for (size_t j = 0; j < series->count; j++) larger += series->values[j] > series->values[k];
        if (larger < VALUES_SHOWN && (above++ == 0 || series->values[k] < limit)) limit = series->values[k];
    }
    for (size_t k = 0; k < series->count && shown < VALUES_SHOWN; k++)
        if (series->values[k] >= limit && (series->values[k] > 0 || series->count <= VALUES_SHOWN))
            printf("%s%.0f: %.3g", shown++ ? ", " : " = ", least + (double)k, series->values[k]);
    printf(series->count > VALUES_SHOWN ? ", ...\n" : "\n");
}

static int is_chosen(const svmp_particles *particles, size_t count, const size_t *chosen, const char *name) {
    for (size_t k = 0; chosen && k < count; k++)
        if (strcmp(svmp_particles_name(particles, chosen[k]), name) == 0) return 1;
    return chosen == NULL;
}

void print_probabilities(const svmp_particles *particles, size_t count, const size_t *chosen) {
    const size_t most = chosen ? SIZE_MAX : UNKNOWNS_SHOWN;
    svmp_series series;
    size_t unknowns = 0;
    double least;
    int width = 0;
    for (size_t k = 0; svmp_particles_series(particles, k, &series); k++) {
        const char *name = unknown_of(&series, &least);
        if (name == NULL || !is_chosen(particles, count, chosen, name)) continue;
        if (unknowns++ < most && (int)strlen(name) > width) width = (int)strlen(name);
    }
    if (unknowns == 0) return;
    printf("\nProbabilities of the discrete unknowns:\n");
    for (size_t k = 0, shown = 0; svmp_particles_series(particles, k, &series) && shown < most; k++) {
        const char *name = unknown_of(&series, &least);
        if (name == NULL || !is_chosen(particles, count, chosen, name)) continue;
        printf("%-*s", width, name);
        print_values(&series, least);
        shown++;
    }
    if (unknowns > most)
        printf("and %zu more: with --monitor and -o in the run, svmp summary FILE --variables NAME shows them.\n",
               unknowns - most);
    printf("\n");
}
