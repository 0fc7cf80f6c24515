/* Particles: a sample of named variables, used by the readers, the writers and the diagnostics. */
#ifndef SVMP_SAMPLE_PARTICLES_H
#define SVMP_SAMPLE_PARTICLES_H

#include <stdbool.h>

#include "base/context.h"
#include "base/name_rules.h"

enum { PARTICLES_DIMENSIONS = 8, SERIES_NAME = 63 /* the longest name */, PARTICLES_LONGEST_NAME = 1100 };

/* The comment of a CSV file that declares the number of rows, so that truncation is detected. */
#define PARTICLES_ROWS "rows below: "

/* Arrays of data that accompany particles, with NaN for missing elements; the last index runs fastest. */
typedef struct extra_arrays {
    struct extra_array {
        char *name;
        size_t rank, dimensions[PARTICLES_DIMENSIONS];
        double *values;
    } * list;
    size_t count, capacity;
} extra_arrays;

struct svmp_particles {
    svmp_context *context;
    size_t variables, count;
    size_t chains;        /* 1: one chain, or no chains */
    double *values;       /* values[i*count + l] */
    char (*standard)[24]; /* "x.1", "x.2", ... */
    char **given;         /* names set by the caller; NULL: the standard name */
    char *path;           /* of the file they were read from; NULL: none */
    char *comments;       /* of it; NULL: none */
    struct statistic {
        char *name;
        double *values; /* count of them */
    } * statistics;
    size_t statistic_count, statistic_capacity;
    struct series {
        char *name, *along;
        size_t count;
        double *values;
    } * series;
    size_t series_count, series_capacity;
    struct svmp_particles *compressed; /* the same answer as few particles; NULL: there are none */
    extra_arrays observed, known; /* of the model: observed values, and the known elements of arrays that are partly
                                   * unknown */

    /* For a part of a model: variable i is variable place[i] of `whole`. NULL: these are all variables. */
    const struct svmp_peers *peers; /* the processes that have the others */
    uint32_t *place;
    size_t whole;
};

/* svmp_particles_create of a part, which may be empty; copies `place`. NULL: all variables. */
svmp_status svmp_particles_create_part(svmp_context *context, const struct svmp_peers *peers, size_t whole, size_t own,
                                       const uint32_t *place, size_t count, const double *values,
                                       svmp_particles **particles);

/* Whether a variable of a file is wanted; `column` counts variables, from 0. */
typedef int (*particles_filter)(void *user_data, size_t column, const char *name);

/* Calls `keep` for every variable of a CSV file; reads only the header. */
svmp_status svmp_particles_read_names(svmp_context *context, const char *path, particles_filter keep, void *user_data);

/* Reads the variables of a CSV file that `keep` accepts, at least one, without statistics, series and comments. */
svmp_status svmp_particles_read_some(svmp_context *context, const char *path, particles_filter keep, void *user_data,
                                     svmp_particles **particles);

/* Removes the lines "name[along] = 1 2 3" from the comments and adds them as series. */
svmp_status svmp_series_take_comments(svmp_particles *particles);

/* Removes a statistic, if there is one of that name. */
void svmp_particles_drop_statistic(svmp_particles *particles, const char *name);

/* Adds a copy of the array's shape and name, with these values. */
svmp_status svmp_extra_add(svmp_context *context, extra_arrays *to, const svmp_array *array, const double *values);

/* Adds copies of the series and data of `from`, except statistics per chain (sample/sampler_totals.h). */
svmp_status svmp_particles_copy_extras(svmp_particles *particles, const svmp_particles *from);

/* The variables in the order of their names; svmp_release frees it. */
typedef struct named_variable {
    const char *name; /* the particles' own */
    size_t variable;
} named_variable;

svmp_status svmp_particles_by_name(const svmp_particles *particles, named_variable **sorted);

/* The same, to look names up. The names are the particles' own. */
typedef struct named_variables {
    named_variable *sorted;
    size_t count;
} named_variables;

/* Whether there is a variable of that name. An array of one element may be called x, or x.1. */
bool svmp_named_find(const named_variables *names, const char *name, size_t *variable);

/* Pairs the variables of two samples by their names: the k-th pair is a's variable (*a_place)[k] and b's (*b_place)[k],
 * in the order of the names. If the sets differ, it fails with a message that lists what `a_called` has and `b_called`
 * lacks, and vice versa. svmp_release, with a's context, frees both. */
svmp_status svmp_particles_match(const svmp_particles *a, const char *a_called, const svmp_particles *b,
                                 const char *b_called, size_t **a_place, size_t **b_place);

/* The first name that two variables share; NULL if all differ. */
svmp_status svmp_particles_repeated_name(const svmp_particles *particles, const char **name);

#endif
