/* The time that `svmp summary` takes for a variable of a sampler: R-hat, effective sample size and standard errors, for
 * chains that mix within a few draws and for chains that hardly mix. For comparison, the sum of products at one lag:
 * computed one by one, chains that hardly mix would need thousands of them.
 *
 *     bench_chains [--quick]
 */
#include <math.h>

#include "base/random.h"
#include "base/row_sums.h"
#include "bench.h"
#include "sample/r_hat_and_ess.h"

enum { CHAINS = 4, LAG = 100 };

/* x_t = rho x_t-1 + sqrt(1 - rho^2) noise */
static void autoregressive(size_t draws, double rho, double *x) {
    svmp_random_normals((random_stream){.seed = 1, .purpose = RANDOM_TEST}, CHAINS * draws, x);
    for (size_t k = 0; k < CHAINS * draws; k++)
        if (k % draws > 0) x[k] = rho * x[k - 1] + sqrt(1 - rho * rho) * x[k];
}

static double best_of(int rounds, chain_workspace *workspace, const double *x, svmp_mixing *mixing) {
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        const double started = thread_seconds();
        *mixing = svmp_chains_mixing(workspace, x);
        best = fmin(best, thread_seconds() - started);
    }
    return best;
}

static double a_lag(int rounds, size_t draws, const double *x) {
    double best = 1e300;
    volatile double sum = 0;
    for (int round = 0; round < rounds; round++) {
        const double started = thread_seconds();
        for (size_t m = 0; m < 2 * CHAINS; m++)
            sum += svmp_dot(draws / 2 - LAG, x + m * (draws / 2), x + m * (draws / 2) + LAG);
        best = fmin(best, thread_seconds() - started);
    }
    return best;
}

int main(int count, char **arguments) {
    const size_t lengths[] = {1000, 10000, 100000, 300000};
    const double rhos[] = {0.5, 0.999, 0.9999};
    start_context(1);
    printf("%d chains        rho    bulk ESS   ms a variable   ms a lag by itself\n", CHAINS);
    for (size_t k = 0; k < (is_quick(count, arguments) ? 1 : sizeof lengths / sizeof *lengths); k++) {
        const size_t draws = lengths[k];
        const int rounds = draws > 50000 ? 3 : 20;
        double *x = malloc(CHAINS * draws * sizeof *x);
        chain_workspace workspace;
        if (x == NULL) return 1;
        must(svmp_chain_workspace_create(context, CHAINS, draws, 1, &workspace));
        for (size_t r = 0; r < sizeof rhos / sizeof *rhos; r++) {
            svmp_mixing mixing;
            autoregressive(draws, rhos[r], x);
            const double spent = best_of(rounds, &workspace, x, &mixing);
            printf("%6zu draws %9g %11.0f %15.3g %20.2g\n", draws, rhos[r], mixing.bulk_draws, 1e3 * spent,
                   1e3 * a_lag(20 * rounds, draws, x));
        }
        svmp_chain_workspace_free(context, &workspace);
        free(x);
    }
    svmp_context_free(context);
    return 0;
}
