/* DIC, WAIC and LOO, from the deviance and the log likelihood of each observation. */
#include <math.h>
#include <string.h>

#include "sample/particles.h"

typedef struct spread_sum {
    size_t count;
    double mean, squares; /* the sum of squared differences from the mean, by Welford */
} spread_sum;

static void add(spread_sum *sum, double x) {
    const double before = x - sum->mean;
    sum->count++;
    sum->mean += before / (double)sum->count;
    sum->squares += before * (x - sum->mean);
}

static double variance(const spread_sum *sum) { return sum->count > 1 ? sum->squares / (double)(sum->count - 1) : NAN; }

/* log of the mean of exp(x), and the variance of x. */
static double log_mean_exp(const double *x, size_t count, spread_sum *moments) {
    double largest = x[0], sum = 0;
    for (size_t l = 1; l < count; l++) largest = x[l] > largest ? x[l] : largest;
    for (size_t l = 0; l < count; l++) {
        sum += exp(x[l] - largest);
        add(moments, x[l]);
    }
    return largest + log(sum / (double)count);
}

/* WAIC = -2 sum over the observations of log mean exp(log_lik) - var(log_lik), by Watanabe (2010). Returns the sum of
 * the first term. */
static double add_waic(const svmp_particles *particles, svmp_criteria *criteria) {
    const size_t count = particles->count;
    double effective = 0, fitted = 0;
    spread_sum terms = {0};
    for (size_t i = 0; i < particles->variables; i++) {
        if (strncmp(svmp_particles_name(particles, i), "log_lik.", 8) != 0) continue;
        spread_sum own = {0};
        const double fit = log_mean_exp(particles->values + i * count, count, &own);
        fitted += fit;
        effective += variance(&own);
        add(&terms, -2 * (fit - variance(&own)));
    }
    if (terms.count == 0) return NAN;
    const double observations = (double)terms.count;
    criteria->observations = terms.count;
    criteria->waic = observations * terms.mean;
    criteria->waic_error = sqrt(observations * variance(&terms));
    criteria->waic_parameters = effective;
    return fitted;
}

static svmp_status add_loo(const svmp_particles *particles, double fitted, svmp_criteria *criteria) {
    svmp_context *context = particles->context;
    const size_t count = criteria->observations;
    double *density = NULL, *shape = NULL;
    spread_sum terms = {0};
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, density, count));
    SVMP_CHECK(SVMP_NEW(context, shape, count));
    SVMP_CHECK(svmp_particles_loo(particles, density, shape));
    for (size_t k = 0; k < count; k++) {
        add(&terms, -2 * density[k]);
        criteria->loo_beyond += !(shape[k] <= svmp_loo_limit(particles->count));
    }
    criteria->loo = (double)count * terms.mean;
    criteria->loo_error = sqrt((double)count * variance(&terms));
    criteria->loo_parameters = fitted + 0.5 * criteria->loo;
done:
    svmp_release_all(context, density, shape);
    return status;
}

/* The standard error of m + v/2, m and v the mean and the variance of x: that of the mean of x + (x - m)^2/2. Draws of
 * chains depend on each other, and are taken in batches. */
static double dic_error(const svmp_particles *particles, const double *x, double m) {
    enum { BATCHES = 25 };
    const size_t count = particles->count, length = count / particles->chains,
                 batch = svmp_particles_are_chains(particles) && length >= 2 * BATCHES ? length / BATCHES : 1;
    spread_sum batches = {0};
    for (size_t first = 0; first < count; first += length)
        for (size_t l = 0; l + batch <= length; l += batch) {
            double sum = 0;
            for (size_t k = first + l; k < first + l + batch; k++) sum += x[k] + 0.5 * (x[k] - m) * (x[k] - m);
            add(&batches, sum / (double)batch);
        }
    return sqrt(variance(&batches) / (double)batches.count);
}

/* DIC = mean deviance + pD with pD = var(deviance)/2, by Gelman et al. (2003): as R2jags has it. */
static void add_dic(const svmp_particles *particles, svmp_criteria *criteria) {
    const size_t count = particles->count;
    size_t i = 0;
    while (i < particles->variables && strcmp(svmp_particles_name(particles, i), "deviance") != 0) i++;
    if (i == particles->variables) return;
    spread_sum own = {0};
    const double *deviance = particles->values + i * count;
    for (size_t l = 0; l < count; l++) add(&own, deviance[l]);
    criteria->dic = own.mean + 0.5 * variance(&own);
    criteria->dic_error = dic_error(particles, deviance, own.mean);
    criteria->deviance = own.mean;
    criteria->dic_parameters = 0.5 * variance(&own);
}

svmp_status svmp_particles_criteria(const svmp_particles *particles, svmp_criteria *criteria) {
    if (particles == NULL || criteria == NULL) return SVMP_BAD_CALL;
    *criteria = (svmp_criteria){.waic = NAN,
                                .waic_error = NAN,
                                .waic_parameters = NAN,
                                .dic = NAN,
                                .dic_error = NAN,
                                .deviance = NAN,
                                .dic_parameters = NAN,
                                .loo = NAN,
                                .loo_error = NAN,
                                .loo_parameters = NAN};
    if (particles->count < 2) return SVMP_OK;
    const double fitted = add_waic(particles, criteria);
    add_dic(particles, criteria);
    return criteria->observations > 0 ? add_loo(particles, fitted, criteria) : SVMP_OK;
}
