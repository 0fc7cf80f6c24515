#include "prepare/sign_ascent.h"

#include <math.h>

#include "prepare/prepare_constants.h"

/* The next point of a variable whose last step was `*step`, with its sign. If the density is not finite, it goes back
 * half way. */
static double move(double x, double score, int finite, double *step) {
    if (!finite) {
        const double back = x - 0.5 * *step;
        *step *= 0.5;
        return back;
    }
    const double size = fabs(*step) * (score * *step > 0 ? sign_step_grows : sign_step_shrinks);
    *step = score > 0 ? size : score < 0 ? -size : 0.5 * *step;
    return score == 0 ? x : x + *step;
}

svmp_status svmp_sign_ascent(evaluator *evaluate, size_t order, size_t n, double *x, double *step, double *score,
                             double *log_density, size_t *best) {
    for (size_t k = 0; k < order * n; k++) step[k] = first_sign_step;
    for (int t = 0; t < SIGN_STEPS; t++) {
        SVMP_TRY(svmp_evaluate(evaluate, x, log_density, score));
        for (size_t i = 0; i < order; i++)
            for (size_t l = 0; l < n; l++) {
                const size_t k = i * n + l;
                const int finite = isfinite(log_density[l]) && isfinite(score[k]);
                x[k] = move(x[k], score[k], finite, &step[k]);
            }
    }
    SVMP_TRY(svmp_evaluate(evaluate, x, log_density, score));
    *best = SIZE_MAX;
    for (size_t l = 0; l < n; l++)
        if (isfinite(log_density[l]) && (*best == SIZE_MAX || log_density[l] > log_density[*best])) *best = l;
    return SVMP_OK;
}
