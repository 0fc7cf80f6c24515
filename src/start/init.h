/* Where the particles start: "normal:SD", "uniform:A,B", "prior" or "map", numbers keyed by (seed, variable, particle).
 */
#ifndef SVMP_START_INIT_H
#define SVMP_START_INIT_H

#include "backend/backend.h"

typedef struct init {
    enum init_kind { INIT_NORMAL, INIT_UNIFORM, INIT_PRIOR, INIT_MAP } kind;
    double sd, from, to;
} init;

/* How start k is written, "normal:SD"; NULL beyond the last one. */
const char *svmp_init_name(size_t k);

svmp_status svmp_init_parse(svmp_context *context, const char *text, init *parsed);

/* Fills b->x, and projects it onto the boxes. */
svmp_status svmp_init_draw(const init *start, backend *b);

/* Fails, naming the variable and the particle, unless all of b->x is finite. */
svmp_status svmp_init_check(const backend *b);

/* Draws particle l of b->x anew; `attempt` 1, 2, ... gives other numbers than svmp_init_draw. */
void svmp_init_draw_again(const init *start, backend *b, size_t l, size_t attempt);

/* Projects b->x onto the boxes. */
void svmp_init_project(backend *b);

#endif
