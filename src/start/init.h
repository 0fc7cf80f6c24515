/* Where the particles start: "normal:SD", "uniform:A,B", "prior", "map" or "gaussian", numbers keyed by (seed,
 * variable, particle).
 */
#ifndef SVMP_START_INIT_H
#define SVMP_START_INIT_H

#include "backend/backend.h"

typedef struct init {
    enum init_kind { INIT_NORMAL, INIT_UNIFORM, INIT_PRIOR, INIT_MAP, INIT_GAUSSIAN } kind;
    double sd, from, to;
} init;

svmp_status svmp_init_parse(svmp_context *context, const char *text, init *parsed);

/* Fills the backend's particles, and projects them onto the boxes. */
svmp_status svmp_init_draw(const init *start, backend *b);

/* For particles x of the backend that somebody else has filled: projects them onto the boxes, and fails, naming the
 * variable and the particle, unless all of them are finite. */
svmp_status svmp_init_settle(const backend *b, double *x);

/* Draws particle l of x, the backend's, anew; `attempt` 1, 2, ... gives other numbers than svmp_init_draw. */
void svmp_init_draw_again(const init *start, const backend *b, double *x, size_t l, size_t attempt);

#endif
