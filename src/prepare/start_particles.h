/* The start of the particles: "normal:SD", "uniform:A,B", "prior", "map", "gaussian" or "gaussian:FILE". Random numbers
 * are keyed by (seed, variable, particle). */
#ifndef SVMP_PREPARE_START_PARTICLES_H
#define SVMP_PREPARE_START_PARTICLES_H

#include "model/model.h"

typedef struct init {
    enum init_kind { INIT_NORMAL, INIT_UNIFORM, INIT_PRIOR, INIT_MAP, INIT_GAUSSIAN } kind;
    double sd, from, to;
    const char *path; /* of the point from which the Gaussian is sought, part of the text; NULL: there is none */
    double *point;    /* that point, which the run reads */
} init;

/* How start k is written, "normal:SD"; NULL beyond the last one. */
const char *svmp_init_name(size_t k);

svmp_status svmp_init_parse(svmp_context *context, const char *text, init *parsed);

/* Whose particles x, x[i*n + l], are filled. */
typedef struct init_target {
    const svmp_model *model;
    uint64_t seed;
    size_t n;
    int threads;
    svmp_status (*share)(void *user); /* in a part of a model: the rows of x go to the neighbours, and theirs come */
    void *user;
} init_target;

/* Fills x, and projects it onto the boxes. */
svmp_status svmp_init_draw(const init *start, const init_target *target, double *x);

/* Completes a start whose particles x were filled by the caller: projects them onto the boxes, and fails, naming the
 * variable and the particle, if one is not finite. */
svmp_status svmp_init_finish(const svmp_model *model, size_t n, double *x);

/* Fails: the start of this name is only for whole models. */
svmp_status svmp_start_needs_whole(svmp_context *context, const char *name);

/* Redraws particle l of x; `attempt` 1, 2, ... gives other numbers than svmp_init_draw. */
void svmp_init_draw_again(const init *start, const init_target *target, double *x, size_t l, size_t attempt);

#endif
