#include "method/transport/transport_failure.h"

#include <math.h>

#include "base/row_sums.h"

static const double of_a_gaussian =
    3; /* kurtosis of a Gaussian: among many variables, few particles have less in some by chance */

typedef struct shape {
    double sd, kurtosis;
} shape;

static shape shape_of(size_t n, const double *x) {
    const double mean = svmp_sum(n, x) / (double)n;
    double squares = 0, fourths = 0;
    for (size_t l = 0; l < n; l++) {
        const double square = (x[l] - mean) * (x[l] - mean);
        squares += square;
        fourths += square * square;
    }
    return (shape){sqrt(squares / (double)(n - 1)), (double)n * fourths / (squares * squares)};
}

int svmp_transport_failed(const average *rows, size_t variables, size_t n, const double *x, const double *before,
                          double most) {
    for (size_t i = 0; i < variables; i++) {
        const shape transported = shape_of(n, x + i * n), moved = shape_of(n, before + i * n);
        if (transported.kurtosis > 1 + 1.5 * fmax(moved.kurtosis, of_a_gaussian)) return 1;
        if (transported.sd > most * rows[i].sd || most * transported.sd < rows[i].sd) return 1;
    }
    return 0;
}
