/* Models whose blankets are wide: a ring of nodes, each depending on `reach` nodes on either side. Curved: through a
 * sine, so that scores are programs; otherwise all factors are Gaussian. */
#ifndef SVMP_TESTS_GPU_WIDE_H
#define SVMP_TESTS_GPU_WIDE_H

#include "bench/bench.h"

typedef struct wide_model {
    size_t nodes, variables, reach; /* variables of a node; blankets of variables * (1 + 2 reach) rows */
    int curved;
} wide_model;

static inline svmp_model *read_wide(const wide_model *w) {
    const char *format = "model { for (i in 1:%zu) { x[i,1:%zu] ~ dflat()\n"
                         "for (d in 1:%zu) { z[i,d] ~ dnorm(x[i,d], 1 + 0.3 * d) } }\n"
                         "for (e in 1:length(from)) { r[e] ~ dnorm(%s(x[from[e],at[e]] - x[to[e],at[e]]), 2) } }";
    const size_t each = w->variables, edges = w->nodes * w->reach * each, shape[] = {w->nodes, each};
    double *numbers = malloc((4 * edges + w->nodes * each) * sizeof *numbers);
    double *from = numbers, *to = from + edges, *at = to + edges, *r = at + edges, *z = r + edges;
    size_t e = 0;
    char text[1000];
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    for (size_t i = 0; i < w->nodes; i++)
        for (size_t k = 1; k <= w->reach; k++)
            for (size_t d = 0; d < each; d++, e++) {
                from[e] = (double)i + 1;
                to[e] = (double)((i + k) % w->nodes) + 1;
                at[e] = (double)d + 1;
                r[e] = sin(0.7 * (double)e);
            }
    for (size_t k = 0; k < w->nodes * each; k++) z[k] = cos(1.3 * (double)k);
    must(svmp_data_create(context, &data));
    must(svmp_data_add(data, "from", 1, &edges, from));
    must(svmp_data_add(data, "to", 1, &edges, to));
    must(svmp_data_add(data, "at", 1, &edges, at));
    must(svmp_data_add(data, "r", 1, &edges, r));
    must(svmp_data_add(data, "z", 2, shape, z));
    snprintf(text, sizeof text, format, w->nodes, each, each, w->curved ? "sin" : "");
    must(svmp_model_read_text(context, NULL, text, data, NULL, &model));
    svmp_data_free(data);
    free(numbers);
    return model;
}

#endif
