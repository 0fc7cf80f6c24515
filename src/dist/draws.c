/* Drawing from the distributions: inverse distribution functions where they are simple, known constructions elsewhere.
 */
#include <math.h>

#include "dist/densities.h"
#include "maths/special.h"

#define ARGUMENT(k) (arguments[k].items[0])
#define DRAWS(identifier)                                                                                              \
    void svmp_##identifier##_draw(UNUSED random_source *source, UNUSED size_t rows,                                    \
                                  UNUSED const number_array *arguments, UNUSED double *workspace, double *value)
/* Draws of scalar distributions: one expression each. */
#define DRAWS_ONE(identifier, expression)                                                                              \
    DRAWS(identifier) { *value = (expression); }

static double uniform(random_source *source) {
    const double u = ((double)svmp_random_below(source->stream, source->used, UINT64_C(1) << 52) + 0.5) * 0x1p-52;
    const uint64_t used = source->used++;
    if (source->place_count == 0) return u;
    const size_t k = used < source->place_count ? (size_t)used : source->place_count - 1;
    const uint64_t stratum = svmp_stratum(source->strata, source->stream, used, source->places[k]);
    return fmin(((double)stratum + u) / (double)(source->strata.size * source->strata.groups), 1 - 0x1p-53);
}

static double normal(random_source *source) { return svmp_normal_quantile(uniform(source)); }
static double exponential(random_source *source) { return -log(uniform(source)); }

/* gamma(r, 1) by Marsaglia and Tsang (2000); for r < 1 from r + 1, times u^(1/r). */
static double standard_gamma(random_source *source, double r) {
    if (!(r > 0) || isinf(r)) return NAN;
    if (r < 1) {
        double boosted = standard_gamma(source, r + 1);
        return boosted * pow(uniform(source), 1 / r);
    }
    double d = r - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double z = normal(source), v = 1 + c * z;
        if (v <= 0) continue;
        v = v * v * v;
        if (log(uniform(source)) < 0.5 * z * z + d - d * v + d * log(v)) return d * v;
    }
}

/* ---- continuous ------------------------------------------------------------------------------------ */

DRAWS_ONE(dnorm, ARGUMENT(0) + normal(source) / sqrt(ARGUMENT(1)))
DRAWS_ONE(dlnorm, exp(ARGUMENT(0) + normal(source) / sqrt(ARGUMENT(1))))
DRAWS_ONE(dunif, ARGUMENT(0) + (ARGUMENT(1) - ARGUMENT(0)) * uniform(source))
DRAWS_ONE(dexp, exponential(source) / ARGUMENT(0))
DRAWS_ONE(dweib, pow(exponential(source) / ARGUMENT(1), 1 / ARGUMENT(0)))
DRAWS_ONE(dpar, ARGUMENT(1) * exp(exponential(source) / ARGUMENT(0)))
DRAWS_ONE(dhalfcauchy, ARGUMENT(0) * tan(1.5707963267948966192 * uniform(source)))
DRAWS_ONE(dgamma, standard_gamma(source, ARGUMENT(0)) / ARGUMENT(1))
DRAWS_ONE(dchisqr, 2 * standard_gamma(source, 0.5 * ARGUMENT(0)))
DRAWS_ONE(dinvgamma, ARGUMENT(1) / standard_gamma(source, ARGUMENT(0)))
DRAWS_ONE(dgen_gamma, pow(standard_gamma(source, ARGUMENT(0)), 1 / ARGUMENT(2)) / ARGUMENT(1))

/* 1/(s t)^2 */
DRAWS(dscaled_gamma) {
    const double k = ARGUMENT(1), z = normal(source), chi = 2 * standard_gamma(source, 0.5 * k) / k;
    *value = chi / (z * z * ARGUMENT(0) * ARGUMENT(0));
}

static size_t category(random_source *source, size_t count, const double *weights) {
    double total = 0, sum = 0;
    for (size_t k = 0; k < count; k++) total += weights[k];
    const double u = uniform(source) * total;
    for (size_t k = 0; k + 1 < count; k++)
        if (u < (sum += weights[k])) return k;
    return count - 1;
}

DRAWS(dnormmix) {
    const size_t k = category(source, arguments[2].rows, arguments[2].items);
    *value = arguments[0].items[k] + normal(source) / sqrt(arguments[1].items[k]);
}

/* One more than the number of cut points below the latent value. */
static double ordered(double latent, number_array cuts) {
    double below = 1;
    for (size_t k = 0; k < cuts.rows; k++) below += cuts.items[k] < latent;
    return below;
}
DRAWS(dordered_logit) {
    const double u = uniform(source);
    *value = ordered(ARGUMENT(0) + log(u) - log1p(-u), arguments[1]);
}
DRAWS(dordered_probit) { *value = ordered(ARGUMENT(0) + normal(source), arguments[1]); }

DRAWS(dlogis) {
    double u = uniform(source);
    *value = ARGUMENT(0) + (log(u) - log1p(-u)) / ARGUMENT(1);
}

DRAWS(ddexp) {
    double size = exponential(source) / ARGUMENT(1);
    *value = ARGUMENT(0) + (uniform(source) < 0.5 ? -size : size);
}

DRAWS(dt) {
    double z = normal(source), half = 0.5 * ARGUMENT(2);
    *value = ARGUMENT(0) + z / sqrt(ARGUMENT(1) * standard_gamma(source, half) / half);
}

DRAWS(dnt) {
    double z = normal(source), half = 0.5 * ARGUMENT(2);
    *value = (ARGUMENT(0) + z / sqrt(ARGUMENT(1))) / sqrt(standard_gamma(source, half) / half);
}

DRAWS(dbeta) {
    double first = standard_gamma(source, ARGUMENT(0)), second = standard_gamma(source, ARGUMENT(1));
    *value = first / (first + second);
}

DRAWS(df) {
    double first = standard_gamma(source, 0.5 * ARGUMENT(0)), second = standard_gamma(source, 0.5 * ARGUMENT(1));
    *value = first / ARGUMENT(0) / (second / ARGUMENT(1));
}

/* ---- vectors and matrices --------------------------------------------------------------------------- */

bool svmp_dense_cholesky(size_t p, const double *a, double *factor) {
    bool positive = true;
    for (size_t j = 0; j < p; j++)
        for (size_t i = j; i < p; i++) {
            double sum = a[i + p * j];
            for (size_t k = 0; k < j; k++) sum -= factor[i + p * k] * factor[j + p * k];
            if (i == j) positive = positive && sum > 0;
            factor[i + p * j] = i == j ? sqrt(sum) : sum / factor[j + p * j];
        }
    return positive;
}

/* x with L' x = x, in place. */
static void solve_transposed(size_t p, const double *factor, double *x) {
    for (size_t i = p; i-- > 0;) {
        for (size_t k = i + 1; k < p; k++) x[i] -= factor[k + p * i] * x[k];
        x[i] /= factor[i + p * i];
    }
}

/* mu + L'^-1 z: its covariance is (L L')^-1. */
DRAWS(dmnorm) {
    svmp_dense_cholesky(rows, arguments[1].items, workspace);
    for (size_t k = 0; k < rows; k++) value[k] = normal(source);
    solve_transposed(rows, workspace, value);
    for (size_t k = 0; k < rows; k++) value[k] += arguments[0].items[k];
}

/* mu + L z: its covariance is L L'. */
DRAWS(dmnorm_vcov) {
    double *z = workspace + rows * rows;
    svmp_dense_cholesky(rows, arguments[1].items, workspace);
    for (size_t k = 0; k < rows; k++) z[k] = normal(source);
    for (size_t i = 0; i < rows; i++) {
        value[i] = arguments[0].items[i];
        for (size_t k = 0; k <= i; k++) value[i] += workspace[i + rows * k] * z[k];
    }
}

/* A normal vector divided by the root of a chi-square over its degrees of freedom. */
DRAWS(dmt) {
    const double k = arguments[2].items[0];
    svmp_dmnorm_draw(source, rows, arguments, workspace, value);
    const double root = sqrt(2 * standard_gamma(source, 0.5 * k) / k);
    for (size_t i = 0; i < rows; i++) value[i] = arguments[0].items[i] + (value[i] - arguments[0].items[i]) / root;
}

DRAWS(ddirch) {
    double sum = 0;
    for (size_t k = 0; k < rows; k++) sum += value[k] = standard_gamma(source, arguments[0].items[k]);
    for (size_t k = 0; k < rows; k++) value[k] /= sum;
}

/* Bartlett: with R = L L' and a lower triangular A, normals below the diagonal and roots of chi-squares (k, k - 1, ...)
 * on it, B = L'^-1 A gives B B' of mean k R^-1. */
DRAWS(dwish) {
    size_t p = rows;
    double *column = workspace + p * p;
    svmp_dense_cholesky(p, arguments[0].items, workspace);
    for (size_t k = 0; k < p * p; k++) value[k] = 0;
    for (size_t j = 0; j < p; j++) { /* B B' is the sum of the columns' outer products */
        for (size_t i = 0; i < p; i++) column[i] = i > j ? normal(source) : 0;
        column[j] = sqrt(2 * standard_gamma(source, 0.5 * (ARGUMENT(1) - (double)j)));
        solve_transposed(p, workspace, column);
        for (size_t c = 0; c < p; c++)
            for (size_t i = 0; i < p; i++) value[i + p * c] += column[i] * column[c];
    }
}

/* ---- discrete: by inversion, adding up probabilities ------------------------------------------------- */

/* The number of n uniform numbers that are below p. For large n, the median order statistic has a beta distribution:
 * the numbers on one side of it are counted at once, those on the other are again uniform (Ahrens and Dieter 1974). */
static double binomial(random_source *source, double p, double n) {
    double successes = 0;
    if (!(p >= 0 && p <= 1) || isinf(n)) return NAN;
    while (n > 30) {
        double middle = floor(n / 2) + 1; /* the rank */
        double below = standard_gamma(source, middle), above = standard_gamma(source, n + 1 - middle);
        double place = below / (below + above);
        if (place <= p) {
            successes += middle;
            n -= middle;
            p = (p - place) / (1 - place);
        } else {
            n = middle - 1;
            p /= place;
        }
    }
    for (double k = 0; k < n; k++) successes += uniform(source) < p;
    return successes;
}

/* The number of events of rate lambda in one unit of time; large rates are reduced by the gamma waiting time of a late
 * event (Ahrens and Dieter 1974). */
static double poisson(random_source *source, double lambda) {
    double events = 0;
    if (!(lambda >= 0) || isinf(lambda)) return NAN;
    while (lambda > 30) {
        double middle = floor(lambda * 7 / 8), time = standard_gamma(source, middle);
        if (time > lambda) return events + binomial(source, lambda / time, middle - 1); /* fewer than `middle` */
        events += middle;
        lambda -= time;
    }
    for (double time = exponential(source); time < lambda; time += exponential(source)) events++;
    return events;
}

DRAWS_ONE(dbern, uniform(source) < ARGUMENT(0))
DRAWS_ONE(dbin, binomial(source, ARGUMENT(0), ARGUMENT(1)))
DRAWS(dbetabin) {
    const double p = standard_gamma(source, ARGUMENT(0)), q = standard_gamma(source, ARGUMENT(1));
    *value = binomial(source, p / (p + q), ARGUMENT(2));
}
DRAWS_ONE(dpois, poisson(source, ARGUMENT(0)))

/* chi^2 with 2 n more degrees of freedom, n Poisson */
DRAWS(dnchisqr) {
    const double n = poisson(source, 0.5 * ARGUMENT(1));
    *value = 2 * standard_gamma(source, 0.5 * ARGUMENT(0) + n);
}

/* Poisson of a gamma(r) rate times (1 - p)/p. */
DRAWS(dnegbin) {
    double rate = standard_gamma(source, ARGUMENT(1));
    *value = poisson(source, rate * (1 - ARGUMENT(0)) / ARGUMENT(0));
}

DRAWS_ONE(dcat, (double)category(source, arguments[0].rows, arguments[0].items) + 1)

/* A sequence of binomials of the remaining trials. */
DRAWS(dmulti) {
    double sum = 0, left = ARGUMENT(1);
    for (size_t k = 0; k < rows; k++) sum += arguments[0].items[k];
    for (size_t k = 0; k < rows; k++) {
        double weight = arguments[0].items[k];
        value[k] = k + 1 == rows ? left : binomial(source, weight / sum, left);
        left -= value[k];
        sum -= weight;
    }
}

DRAWS(dinterval) {
    *value = 0;
    for (size_t k = 0; k < arguments[1].rows; k++) *value += arguments[1].items[k] < ARGUMENT(0);
}

DRAWS_ONE(dsum, ARGUMENT(0))

DRAWS(dround) {
    const double unit = pow(10, -ARGUMENT(1));
    *value = floor(ARGUMENT(0) / unit + 0.5) * unit;
}

/* ---- the call ---------------------------------------------------------------------------------------- */

svmp_status svmp_distribution_draw(svmp_context *context, const distribution *family, random_source source, size_t rows,
                                   size_t columns, const number_array *arguments, double lower, double upper,
                                   bool *drawn, double *value) {
    enum { TRIES = 10000 };
    *drawn = false;
    if (family->draw == NULL) return SVMP_OK;
    if (family->rank == RANK_SCALAR) {
        double x = 0, workspace[2];
        for (int k = 0; k < TRIES && !*drawn && !isnan(x); k++) {
            family->draw(&source, 1, arguments, workspace, &x);
            *drawn = x >= lower && x <= upper;
            if (*drawn) *value = x;
        }
        return SVMP_OK;
    }
    (void)columns;
    double *workspace;
    SVMP_TRY(SVMP_NEW(context, workspace, rows * rows + rows));
    family->draw(&source, rows, arguments, workspace, value);
    svmp_release(context, workspace);
    *drawn = true;
    return SVMP_OK;
}
