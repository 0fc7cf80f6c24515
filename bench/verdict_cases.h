/* Models with a known truth, and wrong answers about them, for bench_verdict. */
#ifndef SVMP_BENCH_VERDICT_CASES_H
#define SVMP_BENCH_VERDICT_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "method/method.h"
#include "run/option_table.h"
#include "verify/verdict_inside.h"

typedef struct target {
    const char *name, *text;
    int nuts; /* has data: the truth is a long run of NUTS; 2: Gaussian, with exact draws */
} target;

/* Mixtures cannot be drawn from a prior; they are drawn here. */
static const target tuned[] = {
    {"normal 1", "model { x ~ dnorm(2, 4) }", 0},
    {"normal 20", "model { for (i in 1:20) { x[i] ~ dnorm(i, pow(10, i / 5 - 2)) } }", 0},
    {"chain 30, r = 0.9", "model { x[1] ~ dnorm(0, 1)\n for (i in 2:30) { x[i] ~ dnorm(0.9 * x[i-1], 1 / 0.19) } }", 0},
    {"pair, r = 0.99", "model { a ~ dnorm(0, 1)\n b ~ dnorm(0.99 * a, 1 / 0.0199) }", 0},
    {"student 10", "model { for (i in 1:10) { x[i] ~ dt(0, 1, 5) } }", 0},
    {"gamma, beta 10", "model { for (i in 1:5) { g[i] ~ dgamma(2, 0.1)\n b[i] ~ dbeta(2, 5) } }", 0},
    {"hierarchical 22", "model { mu ~ dnorm(0, 1)\n tau ~ dgamma(3, 3)\n for (i in 1:20) { x[i] ~ dnorm(mu, tau) } }",
     0},
    {"hub 201", "model { mu ~ dnorm(0, 1)\n for (i in 1:200) { x[i] ~ dnorm(mu, 1) } }", 0},
    {"funnel 10", "model { v ~ dnorm(0, 1 / 9)\n for (i in 1:9) { x[i] ~ dnorm(0, exp(-v)) } }", 0},
    {"banana 2", "model { a ~ dnorm(0, 1)\n b ~ dnorm(a^2, 4) }", 0},
    {"chain 1000, r = 0.5", "model { x[1] ~ dnorm(0, 1)\n for (i in 2:1000) { x[i] ~ dnorm(0.5 * x[i-1], 1 / 0.75) } }",
     0},
    {"two modes, 3 sd apart",
     "model { x ~ dflat()\n factor(log(0.5 * exp(-(x - 1.5)^2 / 2) + 0.5 * exp(-(x + 1.5)^2 / 2))) }", 0},
    {"two modes, 8 sd apart",
     "model { x ~ dflat()\n factor(log(0.5 * exp(-(x - 4)^2 / 2) + 0.5 * exp(-(x + 4)^2 / 2))) }", 0},
};

/* No threshold was tuned on these, but tests were corrected after their first results (docs/diagnostics.md). Data are
 * numbers in the text, which read_target fills in. */
static const target held[] = {
    {"lognormal 15", "model { for (i in 1:15) { x[i] ~ dlnorm(i / 5, 1) } }", 0},
    {"AR(2) 60, near a unit root",
     "model { x[1] ~ dnorm(0, 0.05)\n x[2] ~ dnorm(0.9 * x[1], 0.1)\n"
     "for (t in 3:60) { x[t] ~ dnorm(1.5 * x[t-1] - 0.54 * x[t-2], 1) } }",
     0},
    {"three levels 31",
     "model { m ~ dnorm(10, 0.04)\n for (j in 1:5) { g[j] ~ dnorm(m, 1)\n"
     "for (k in 1:5) { y[j,k] ~ dnorm(g[j], 4) } } }",
     0},
    {"volatility 40",
     "model { h[1] ~ dnorm(0, 1)\n y[1] ~ dnorm(0, exp(-h[1]))\n"
     "for (t in 2:20) { h[t] ~ dnorm(0.9 * h[t-1], 5)\n y[t] ~ dnorm(0, exp(-h[t])) } }",
     0},
    {"student 2 freedoms, 8", "model { for (i in 1:8) { x[i] ~ dt(0, 1, 2) } }", 0},
    {"weibull 7", "model { a ~ dgamma(9, 4)\n for (i in 1:6) { x[i] ~ dweib(a, 1) } }", 0},
    {"rates 5", "model { a ~ dgamma(4, 2)\n b ~ dgamma(4, 1)\n for (i in 1:3) { p[i] ~ dbeta(a + 1, b + 1) } }", 0},
    {"lattice 100",
     "model { x[1,1] ~ dnorm(0, 1)\n for (i in 2:10) { x[i,1] ~ dnorm(0.8 * x[i-1,1], 1)\n"
     "x[1,i] ~ dnorm(0.8 * x[1,i-1], 1) }\n for (i in 2:10) { for (j in 2:10) {"
     " x[i,j] ~ dnorm(0.45 * x[i-1,j] + 0.45 * x[i,j-1], 1) } } }",
     0},
    {"ridge 2", "model { a ~ dnorm(0, 4)\n b ~ dnorm(exp(-a), 16) }", 0},
    {"walk 300", "model { x[1] ~ dnorm(0, 1)\n for (t in 2:300) { x[t] ~ dnorm(x[t-1], 100) } }", 0},
    {"uniforms 8", "model { for (i in 1:8) { u[i] ~ dunif(0, i) } }", 0},
    {"logistic regression 5", "logistic", 1},
    {"collinear regression 3", "collinear", 2},
    {"counts with effects 12", "counts", 1},
};

/* Written after the last change of the tests, and run once. */
static const target fresh[] = {
    {"logistic law 12", "model { for (i in 1:12) { x[i] ~ dlogis(i, 2) } }", 0},
    {"double exponential 6", "model { for (i in 1:6) { x[i] ~ ddexp(0, i) } }", 0},
    {"student 3 freedoms, 5", "model { for (i in 1:5) { x[i] ~ dt(1, 4, 3) } }", 0},
    {"chi squares 9", "model { for (i in 1:9) { x[i] ~ dchisqr(i + 2) } }", 0},
    {"tree 63", "model { x[1] ~ dnorm(0, 1)\n for (i in 2:63) { x[i] ~ dnorm(0.8 * x[trunc(i / 2)], 2) } }", 0},
    {"star with scales 21", "model { s ~ dlnorm(0, 10)\n for (i in 1:20) { x[i] ~ dnorm(3, 1 / s^2) } }", 0},
    {"seasonal chain 80",
     "model { for (i in 1:4) { x[i] ~ dnorm(0, 1) }\n for (i in 5:80) { x[i] ~ dnorm(0.7 * x[i-4], 1) } }", 0},
    {"exponential rates 11", "model { r ~ dgamma(8, 2)\n for (i in 1:10) { x[i] ~ dexp(r) } }", 0},
    {"quadratic trend 6",
     "model { a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n for (i in 1:4) { y[i] ~ dnorm(a + b * i / 2, 9) } }", 0},
    {"cubes 3", "model { a ~ dnorm(0, 1)\n b ~ dnorm(a^3 / 4, 4)\n c ~ dnorm(b / 2, 1) }", 0},
    {"pairs of beta 8", "model { for (i in 1:4) { p[i] ~ dbeta(4, 2)\n q[i] ~ dbeta(2 + 6 * p[i], 3) } }", 0},
};

/* ---- wrong answers ----------------------------------------------------------------------------------------------- */

typedef struct sample {
    size_t n, variables;
    double *x, *mean, *sd; /* of many exact draws */
    uint64_t seed;
} sample;

static double noise(const sample *s, size_t i, size_t l) {
    return svmp_random_normal((random_stream){.seed = s->seed, .a = 1, .b = i, .purpose = RANDOM_TEST}, l);
}

/* About the true mean. */
static void scale(sample *s, double by, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        for (size_t l = 0; l < s->n; l++) {
            double *x = &s->x[i * s->n + l];
            *x = s->mean[i] + by * (*x - s->mean[i]);
        }
}

static void scale_all(sample *s, double by) { scale(s, by, 0, s->variables); }
static void scale_one(sample *s, double by) { scale(s, by, 0, 1); }
static void freeze_last(sample *s, double by) { scale(s, by, s->variables - 1, s->variables); }

static void shift(sample *s, double by, size_t last) {
    for (size_t i = 0; i < last; i++)
        for (size_t l = 0; l < s->n; l++) s->x[i * s->n + l] += by * s->sd[i];
}

static void shift_all(sample *s, double by) { shift(s, by, s->variables); }
static void shift_one(sample *s, double by) { shift(s, by, 1); }

/* Keeps marginals and destroys correlations: variable i takes its particles from i places further on. */
static void decouple(sample *s, double by) {
    double *row = malloc(s->n * sizeof *row);
    (void)by;
    for (size_t i = 0; row && i < s->variables; i++) {
        for (size_t l = 0; l < s->n; l++) row[l] = s->x[i * s->n + (l + 7 * i) % s->n];
        memcpy(s->x + i * s->n, row, s->n * sizeof *row);
    }
    free(row);
}

/* Some particles far away. */
static void throw_out(sample *s, double by) {
    for (size_t l = 0; l < s->n / 20; l++)
        for (size_t i = 0; i < s->variables; i++) s->x[i * s->n + l] += by * s->sd[i];
}

/* All particles are copies of the first, with a little noise. */
static void gather_in(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = s->n; l-- > 0;) s->x[i * s->n + l] = s->x[i * s->n] + by * s->sd[i] * noise(s, i, l);
}

/* Frozen at a start around 0 in arbitrary units. */
static void start_only(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = 0; l < s->n; l++) s->x[i * s->n + l] = by * noise(s, i, l);
}

/* The lower tail of the first variable is cut off by reflection. */
static void cut_neck(sample *s, double by) {
    const double from = s->mean[0] + by * s->sd[0];
    for (size_t l = 0; l < s->n; l++)
        if (s->x[l] < from) s->x[l] = 2 * from - s->x[l];
}

/* Half of the particles too wide, half too narrow, so that the sd is right. */
static void reshape(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = 0; l < s->n; l++) {
            double *x = &s->x[i * s->n + l];
            *x = s->mean[i] + (l % 2 ? by : sqrt(2 - by * by)) * (*x - s->mean[i]);
        }
}

/* Replaces each value of a variable by that of another shape with the same rank, mean and sd: two clusters, a uniform
 * distribution, an exponential. */
static int compare_reals(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double shape_of(int shape, double u) {
    if (shape == 0) return u < 0.5 ? -0.98 + 0.4 * (u - 0.25) : 0.98 + 0.4 * (u - 0.75); /* two clusters */
    if (shape == 1) return sqrt(3) * (2 * u - 1);
    return -log(1 - u) - 1;
}

static void take_shape(sample *s, size_t last, int shape) {
    double *sorted = malloc(s->n * sizeof *sorted);
    for (size_t i = 0; sorted && i < last; i++) {
        double *x = s->x + i * s->n;
        memcpy(sorted, x, s->n * sizeof *x);
        qsort(sorted, s->n, sizeof *sorted, compare_reals);
        for (size_t l = 0; l < s->n; l++) {
            size_t rank = 0;
            while (sorted[rank] < x[l]) rank++;
            x[l] = s->mean[i] + s->sd[i] * shape_of(shape, ((double)rank + 0.5) / (double)s->n);
        }
    }
    free(sorted);
}

static void shape_one(sample *s, double by) { take_shape(s, 1, (int)by); }
static void shape_all(sample *s, double by) { take_shape(s, s->variables, (int)by); }

/* Shrinks the common component of all variables, in units of their sds; each keeps its sd. */
static void shrink_common(sample *s, double by) {
    for (size_t l = 0; l < s->n; l++) {
        double common = 0;
        for (size_t i = 0; i < s->variables; i++)
            common += (s->x[i * s->n + l] - s->mean[i]) / s->sd[i] / (double)s->variables;
        for (size_t i = 0; i < s->variables; i++) s->x[i * s->n + l] -= (1 - by) * common * s->sd[i];
    }
    for (size_t i = 0; i < s->variables; i++) {
        double square = 0, *x = s->x + i * s->n;
        for (size_t l = 0; l < s->n; l++) square += (x[l] - s->mean[i]) * (x[l] - s->mean[i]) / (double)s->n;
        for (size_t l = 0; l < s->n; l++) x[l] = s->mean[i] + (x[l] - s->mean[i]) * s->sd[i] / sqrt(square);
    }
}

/* Replaces a share of the particles by copies of the first. */
static void copy_first(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = 0; l < (size_t)(by * (double)s->n); l++) s->x[i * s->n + l] = s->x[i * s->n];
}

typedef struct wrong {
    const char *name;
    void (*make)(sample *s, double by);
    double by;
    int must;         /* worse than 0.3 sd or 25 % */
    const char *only; /* part of the names of models to which it applies, or NULL; "!...": models without this part */
} wrong;

static const wrong wrongs[] = {
    {"all collapsed by 10 %", scale_all, 0.9, 0, NULL},
    {"all collapsed by 20 %", scale_all, 0.8, 0, NULL},
    {"all collapsed by 50 %", scale_all, 0.5, 1, NULL},
    {"all too wide by 50 %", scale_all, 1.5, 1, NULL},
    {"one collapsed by 50 %", scale_one, 0.5, 1, NULL},
    {"one frozen", freeze_last, 0, 1, NULL},
    {"all shifted by 0.2 sd", shift_all, 0.2, 0, NULL},
    {"all shifted by 0.5 sd", shift_all, 0.5, 1, NULL},
    {"one shifted by 1 sd", shift_one, 1, 1, NULL},
    {"5 % of particles 8 sd away", throw_out, 8, 1, NULL},
    {"all at one point", gather_in, 0.05, 1, NULL},
    {"frozen at N(0, 10)", start_only, 10, 1, NULL},
    {"half 1.35, half 0.42 sd", reshape, 1.35, 0, NULL},
    {"correlations lost", decouple, 0, 1, "pair"},
    {"correlations lost", decouple, 0, 1, "chain"},
    {"correlations lost", decouple, 0, 1, "hierarchical"},
    {"correlations lost", decouple, 0, 1, "hub"},
    {"correlations lost", decouple, 0, 1, "banana"},
    {"correlations lost", decouple, 0, 1, "funnel"},
    {"neck missing below -0.3 sd", cut_neck, -0.3, 1, "funnel"},
    {"lower half missing", cut_neck, 0, 1, NULL},
    {"correlations lost", decouple, 0, 1, "walk"},
    {"correlations lost", decouple, 0, 1, "AR(2)"},
    {"correlations lost", decouple, 0, 1, "lattice"},
    {"correlations lost", decouple, 0, 1, "collinear"},
    {"correlations lost", decouple, 0, 1, "three levels"},
    {"correlations lost", decouple, 0, 1, "ridge"},
    {"one: two heaps, same mean, sd", shape_one, 0, 1, NULL},
    {"one: no tails, same mean, sd", shape_one, 1, 0, NULL},
    {"all: two heaps, same mean, sd", shape_all, 0, 1, NULL},
    {"all: no tails, same mean, sd", shape_all, 1, 0, NULL},
    {"all: exponential, same mean, sd", shape_all, 2, 1, NULL},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "hub"},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "walk"},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "lattice"},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "three levels"},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "pair"},
    {"common part halved, sds kept", shrink_common, 0.5, 1, "chain 30"},
    {"half of the particles one copy", copy_first, 0.5, 1, NULL},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

#endif
