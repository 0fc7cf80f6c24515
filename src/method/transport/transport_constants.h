/* The constants of the method transport: what each means, and where it was measured (docs/accuracy.md). */
#ifndef SVMP_METHOD_TRANSPORT_TRANSPORT_CONSTANTS_H
#define SVMP_METHOD_TRANSPORT_TRANSPORT_CONSTANTS_H

/* Iterations. */
enum {
    EARLY_INSPECTION = 25, /* the first inspection of the averages, for runs that are too short for others */
    ADAPTATION = 75,       /* steps adapt; these iterations do not count in averages that can end the moves */
    BLOCK_ITERATIONS = 25, /* each of the first two blocks of averages */
    FIRST_INSPECTION = ADAPTATION + 2 * BLOCK_ITERATIONS, /* the first that can end the moves; a quarter more for
                                                             each of the next */
    MARGINAL_FROM = 300,                                  /* chains that have not mixed by then get marginal moves, */
    MARGINAL_EACH = 5,                                    /* one in so many iterations */
    LOOKBACK = 3,         /* inspections back, which is half of the iterations: progress is measured from there */
    TRANSPORT_STEPS = 100 /* of Stein's transport */
};

/* Ratio of the convergence to that of LOOKBACK inspections before, where 1/sqrt(2) is expected: no progress. */
static const double no_progress = 0.9;

/* Standard errors in units of the sd: the default of the option precision; and good enough if more iterations do not
 * help, or there are none left. */
static const double usual_precision = 0.015, fair_mean_error = 0.05, fair_sd_error = 0.07;

static const double small_drift = 0.05;   /* in units of the sd, between blocks of averages */
static const double small_identity = 0.1; /* a residual of Stein's identities that does not matter */
static const double mixed = 0.5;          /* chains have mixed if average.between_share is below this */

static const double far_below_median = 15; /* log density below the median: a factor e^-15 */
static const double narrow_mode = 1.0 / 3; /* sd in a mode over that of all: it would be distorted like a gap */
static const double heavy_kurtosis = 4.5; /* from which on natural values are compared before and after matching, and */
static const double harmless = 0.03;      /* sd: by which matching may move a mean or a quantile on the natural scale */
static const double off = 1.2, far_off = 1.5; /* ratio of an sd to its average: after and before matching */

/* Stein's transport: the rate falls from the first to that times the second; no variable moves farther than the third,
 * root mean square in sds. */
static const double first_rate = 0.3, rate_falls_to = 0.05, most_displacement = 0.1;

#endif
