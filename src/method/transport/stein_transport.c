#include "method/transport/stein_transport.h"

#include <math.h>

#include "base/row_sums.h"
#include "method/transport/transport_constants.h"

/* The largest displacement of a variable's particles, root mean square in units of their sd. */
static double largest_displacement(size_t variables, size_t n, const double *x, const double *by) {
    double largest = 0;
    for (size_t i = 0; i < variables; i++) {
        const double *row = x + i * n, *moved = by + i * n, mean = svmp_sum(n, row) / (double)n;
        double squares = 0;
        for (size_t l = 0; l < n; l++) squares += (row[l] - mean) * (row[l] - mean);
        const double share = sqrt(svmp_dot(n, moved, moved) / squares);
        largest = share > largest || isnan(share) ? share : largest;
    }
    return largest;
}

/* x <- x + rate A^-1 phi: in the metric of q correlated variables move together. The rate falls from 0.3 to 0.015,
 * which is stable if the correlation matrix of the variables that a node reads has no eigenvalue far above 60. */
svmp_status svmp_stein_transport(backend *b, gaussian *q, const kernel *k, size_t done, size_t steps, double *rate,
                                 int *finite) {
    const size_t variables = b->model->graph->variables;
    double *x, *phi;
    SVMP_TRY(b->kind->score(b));
    SVMP_TRY(b->kind->stein(b, k, done));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &phi));
    SVMP_TRY(svmp_gaussian_solve(q, b->n, phi));
    const double largest = largest_displacement(variables, b->n, x, phi), share = (double)done / (double)steps;
    *finite = isfinite(largest) != 0;
    if (!*finite) return SVMP_OK;
    *rate = fmin(first_rate * pow(rate_falls_to, share), most_displacement / largest);
    for (size_t e = 0; e < variables * b->n; e++) x[e] += *rate * phi[e];
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
