/* What the Stein discrepancy needs of every variable (stein/discrepancy.h has the formulas), in double precision: a
 * team each. Compiled for the device and, by the tests, as plain C. */
#ifndef SVMP_CUDA_STEIN_KAPPA_H
#define SVMP_CUDA_STEIN_KAPPA_H

#include "cuda/thread_bodies.h"

/* Thread i*n + l: the first n particles of a row that has more. */
BODY void body_first(const first_args *a, size_t thread) {
    const size_t i = over(thread, a->n), l = thread - i * a->n;
    a->to[thread] = a->from[i * a->stride + l];
}

/* Variable i, before the terms of the kernel. */
BODY void body_survey(const survey_args *a, size_t i) {
    const size_t n = a->n;
    const double *x = a->x + i * n, *s = a->score + i * n, offset = row_mean_offset(x, n);
    svmp_stein_measure made = {{0, 0, 0}, {0, 0, 0, 0}, NAN};
    EACH(l, n) {
        const double z = (x[l] - x[0]) - offset;
        made.moments.score += s[l];
        made.moments.square += s[l] * s[l];
        made.moments.product += s[l] * z;
        made.moments.variance += z * z;
    }
    made.moments.score = team_sum(made.moments.score);
    made.moments.square = team_sum(made.moments.square);
    made.moments.product = team_sum(made.moments.product);
    made.moments.variance = team_sum(made.moments.variance);
    a->measured[i] = made;
}

/* A member as its term uses it. */
typedef struct kappa_variable {
    const double *x, *s;
    double unit;   /* of the scores s */
    double repels; /* 1; 0 if k does not depend on it because all particles are equal */
} kappa_variable;

/* kappa = k s s' + r (1 + u (s - s')) - c u^2 of two particles at a squared distance d. */
BODY double kappa_of(int shape, double ratio, double d, const kappa_variable *i, size_t l, size_t m) {
    const double s = i->unit * i->s[l], t = i->unit * i->s[m], u = i->x[l] - i->x[m];
    if (!(ratio > 0)) return d == 0 ? s * t : 0;
    const double k = shape == SVMP_SHAPE_RBF ? exp(-ratio * d) : 1 / sqrt(1 + ratio * d), square = k * k;
    const double r = shape == SVMP_SHAPE_RBF ? 2 * ratio * k : ratio * square * k;
    const double c = shape == SVMP_SHAPE_RBF ? 4 * ratio * ratio * k : 3 * ratio * ratio * square * square * k;
    return k * (s * t) + r * (i->repels + u * (s - t)) - c * (u * u);
}

/* The centred kappa is kappa_lm - a_l - a_m + a, with a_l the mean of a row and a that of all:
 *
 *     sum_lm centred^2 = sum_lm kappa^2 - 2n sum_l a_l^2 + n^2 a^2,  of which the diagonal is taken out again:
 *     sum_l (kappa_ll - 2 a_l + a)^2 = sum_l e_l^2 + 2 a sum_l e_l + n a^2,  e_l = kappa_ll - 2 a_l. */
BODY svmp_stein_sums radial_sums(const pair_args *p, size_t u, const kappa_variable *i) {
    const size_t n = p->n;
    const double *distance = (const double *)p->matrix + u * n * n, h = p->scale[u], count = (double)n;
    const double ratio = h > 0 ? 1 / h : 0, r0 = i->repels * (p->shape == SVMP_SHAPE_RBF ? 2 : 1) * ratio;
    double pairs = 0, diagonal = 0, squares = 0, rows = 0, rest = 0, rest_squares = 0;
    EACH(l, n) {
        const double s = i->unit * i->s[l], own = s * s + r0;
        double sum = own, row_squares = own * own;
        for (size_t m = 0; m < n; m++) {
            const double kappa = m == l ? 0 : kappa_of(p->shape, ratio, distance[m * n + l], i, l, m);
            sum += kappa;
            row_squares += kappa * kappa;
        }
        const double e = own - 2 * sum / count;
        pairs += sum;
        diagonal += own;
        squares += row_squares;
        rows += sum * sum;
        rest += e;
        rest_squares += e * e;
    }
    svmp_stein_sums sums = {team_sum(pairs), team_sum(diagonal), 0};
    const double mean = sums.pairs / (count * count);
    squares = team_sum(squares) + sums.pairs * mean - 2 * team_sum(rows) / count;
    squares -= team_sum(rest_squares) + 2 * mean * team_sum(rest) + count * mean * mean;
    sums.spread = n > 1 && squares > 0 ? sqrt(squares / (count * (count - 1))) : 0;
    return sums;
}

/* along = sum_j (sum_l s z_j)^2 and squares = sum_lj (s z_j)^2, from products of particles or row by row. */
BODY svmp_stein_sums linear_sums(const pair_args *p, size_t u, const kappa_variable *i) {
    const size_t n = p->n;
    const double *s = i->s, *products = p->matrix ? (const double *)p->matrix + u * n * n : 0;
    const double v = products ? p->scale[u] : unit_scale(p, u), repelled = (double)n * i->repels;
    double along = 0, squares = 0, sum = 0, square = 0, own = 0;
    for (size_t e = p->begin[u]; v > 0 && !products && e < p->end[u]; e++) {
        const double *z = (const double *)p->z + p->domain[e] * n;
        double slope = 0, of_row = 0;
        EACH(l, n) {
            const double product = i->unit * s[l] * z[l];
            slope += product;
            of_row += product * product;
        }
        slope = team_sum(slope);
        along += slope * slope;
        squares += team_sum(of_row);
    }
    if (products) {
        EACH(l, n) {
            double row = 0;
            for (size_t m = 0; m < n; m++) row += products[m * n + l] * (i->unit * s[m]);
            along += i->unit * s[l] * row;
            squares += i->unit * s[l] * (i->unit * s[l]) * products[l * n + l];
        }
        along = team_sum(along), squares = team_sum(squares);
    }
    EACH(l, n) {
        const double score = i->unit * s[l];
        sum += score;
        square += score * score;
        own += score * i->x[l];
    }
    sum = team_sum(sum), own = team_sum(own);
    svmp_stein_sums sums = {sum * sum, team_sum(square), 0};
    if (v > 0) {
        sums.pairs += (along + (double)n * (2 * own + repelled)) / v;
        sums.diagonal += (squares + 2 * own + repelled) / v;
    }
    const double trace = n > 1 ? (sums.diagonal - sums.pairs / (double)n) / (double)(n - 1) : 0;
    sums.spread = trace > 0 ? trace : 0;
    return sums;
}

/* Member e of a batch whose matrices have distances, or products. */
BODY void body_kappa(const kappa_args *a, size_t e) {
    const pair_args *p = &a->pair;
    const size_t i = p->variable[e], u = p->unit_of[e] - p->first;
    const double sd = a->sd ? a->sd[i] : 0, in_units = !p->in_sd && sd > 0 ? sd * sd : 1, weight = p->weight * in_units;
    const kappa_variable here = {(const double *)p->z + i * p->n, p->score + i * p->n, p->in_sd && sd > 0 ? sd : 1,
                                 p->in_sd && !(sd > 0) ? 0.0 : 1.0};
    const int linear = p->shape == SVMP_SHAPE_LINEAR;
    const svmp_stein_sums sums = linear ? linear_sums(p, u, &here) : radial_sums(p, u, &here);
    svmp_stein_measure made = a->measured[i];
    team_wait(); /* all have read it */
    made.sums.pairs += weight * sums.pairs;
    made.sums.diagonal += weight * sums.diagonal;
    made.sums.spread += weight * sums.spread;
    if (!linear && isnan(made.bandwidth)) made.bandwidth = p->scale[u];
    a->measured[i] = made;
}

#endif
