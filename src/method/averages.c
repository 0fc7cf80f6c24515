#include "method/averages.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "base/vector.h"

struct averages {
    svmp_context *context;
    size_t variables, n;
    int threads;
    size_t count, windows; /* iterations of the open window; windows that were closed */
    double *centre;        /* of each variable: what the sums are taken from, so that they lose no digits */
    double *sum, *square;  /* variables * n: over the window, of x - centre and of its square, */
    double *score, *cross; /* of the score, and of the score times x - centre */
    average *rows;
    double *misfit;      /* of each variable */
    const bool *without; /* Stein's identities; NULL: none is */
};

svmp_status svmp_averages_create(svmp_context *context, size_t variables, size_t n, int threads, averages **made) {
    svmp_status status;
    averages *a = NULL;
    SVMP_TRY(SVMP_NEW(context, a, 1));
    *a = (averages){.context = context, .variables = variables, .n = n, .threads = threads};
    SVMP_CHECK(SVMP_NEW(context, a->centre, variables));
    SVMP_CHECK(SVMP_NEW(context, a->rows, variables));
    SVMP_CHECK(SVMP_NEW(context, a->misfit, variables));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->sum));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->square));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->score));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->cross));
    *made = a;
    return SVMP_OK;
done:
    svmp_averages_free(a);
    return status;
}

void svmp_averages_free(averages *a) {
    if (a == NULL) return;
    svmp_release(a->context, a->centre);
    svmp_release(a->context, a->rows);
    svmp_release(a->context, a->misfit);
    svmp_release(a->context, a->sum);
    svmp_release(a->context, a->square);
    svmp_release(a->context, a->score);
    svmp_release(a->context, a->cross);
    svmp_release(a->context, a);
}

void svmp_averages_add(averages *a, const double *x, const double *score) {
    const size_t n = a->n;
#pragma omp parallel for num_threads(svmp_threads_for(a->threads, 6 * (double)a->variables * (double)n))
    for (size_t i = 0; i < a->variables; i++) {
        const double *row = x + i * n, *s = score ? score + i * n : NULL;
        double *sum = a->sum + i * n, *square = a->square + i * n, *scores = a->score + i * n,
               *cross = a->cross + i * n;
        if (a->count == 0) {
            a->centre[i] = svmp_sum(n, row) / (double)n;
            memset(sum, 0, n * sizeof *sum);
            memset(square, 0, n * sizeof *square);
            memset(scores, 0, n * sizeof *scores);
            memset(cross, 0, n * sizeof *cross);
        }
        for (size_t l = 0; l < n; l++) {
            const double away = row[l] - a->centre[i];
            sum[l] += away;
            square[l] += away * away;
        }
        for (size_t l = 0; s && l < n; l++) {
            scores[l] += s[l];
            cross[l] += s[l] * (row[l] - a->centre[i]);
        }
    }
    a->count++;
}

/* The mean of a row, and the sum of squares about it. */
static double mean_of(size_t n, const double *row, double *squares) {
    const double mean = svmp_sum(n, row) / (double)n;
    *squares = 0;
    for (size_t l = 0; l < n; l++) *squares += (row[l] - mean) * (row[l] - mean);
    return mean;
}

/* Few particles know their errors poorly: the error with which the difference is as rare for a Gaussian as it is for
 * Student's t of that freedom (Wallace: z^2 = f log(1 + t^2/f), nearly). */
static double widen(double error, double difference, double freedom) {
    const double t = fabs(difference) / error;
    return t > 0 && isfinite(t) && freedom > 0 ? fabs(difference) / sqrt(freedom * log1p(t * t / freedom)) : error;
}

/* With T iterations and n particles, away = x - centre:
 *
 *     own_l  = 1/T sum of away over the window              the particle's own mean
 *     mean   = 1/n sum of own_l                             its standard error: sd of own_l / sqrt(n)
 *     wide_l = 1/T sum of (away - mean)^2                   the particle's own variance about the mean of all
 *     sd^2   = 1/n sum of wide_l                            its standard error: sd of wide_l / sqrt(n)
 *     push   = sd/(nT) sum of s                             Stein: E[s] = 0
 *     pull   = 1 + 1/(nT) sum of s (away - mean)            Stein: E[s (x - mean)] = -1
 *
 * The sums are spoilt: a new window begins. */
static average close_row(averages *a, size_t i) {
    const size_t n = a->n;
    const double iterations = (double)a->count, root = sqrt((double)n), freedom = (double)n - 1;
    double *own = a->sum + i * n, *wide = a->square + i * n, between, spread;
    for (size_t l = 0; l < n; l++) own[l] /= iterations;
    const double mean = mean_of(n, own, &between);
    for (size_t l = 0; l < n; l++) wide[l] = fmax(0, wide[l] / iterations - 2 * mean * own[l] + mean * mean);
    const double variance = mean_of(n, wide, &spread), sd = sqrt(variance);
    double *push = a->score + i * n, *pull = a->cross + i * n, pushes, pulls;
    for (size_t l = 0; l < n; l++) {
        pull[l] = 1 + (pull[l] - mean * push[l]) / iterations;
        push[l] *= sd / iterations;
    }
    average row = {.mean = a->centre[i] + mean, .sd = sd, .drift = NAN, .drift_error = NAN};
    row.mean_error = sqrt(between / freedom) / root;
    row.sd_error = sqrt(spread / freedom) / root / (2 * sd);
    row.apart = between / freedom / variance;
    row.push = mean_of(n, push, &pushes);
    row.push_error = widen(sqrt(pushes / freedom) / root, row.push, freedom);
    row.pull = mean_of(n, pull, &pulls);
    row.pull_error = widen(sqrt(pulls / freedom) / root, row.pull, freedom);
    if (a->windows > 0) {
        row.drift = row.mean - a->rows[i].mean;
        row.drift_error = widen(hypot(row.mean_error, a->rows[i].mean_error), row.drift, 2 * freedom);
    }
    return row;
}

void svmp_averages_except(averages *a, const bool *without) { a->without = without; }

void svmp_averages_close(averages *a) {
    for (size_t i = 0; i < a->variables; i++) {
        average row = close_row(a, i);
        if (a->without && a->without[i]) row.push = row.pull = row.push_error = row.pull_error = 0;
        a->rows[i] = row;
    }
    a->count = 0;
    a->windows++;
}

double svmp_averages_misfit(averages *a, const double *x) {
    const size_t n = a->n;
    if (a->windows == 0) return 0;
#pragma omp parallel for num_threads(svmp_threads_for(a->threads, 6 * (double)a->variables * (double)n))
    for (size_t i = 0; i < a->variables; i++) {
        const average *to = &a->rows[i];
        double squares;
        const double mean = mean_of(n, x + i * n, &squares), off = (mean - to->mean) / to->sd,
                     wide = sqrt(squares / ((double)n - 1)) / to->sd - 1;
        a->misfit[i] = to->sd > 0 && n > 1 ? off * off + wide * wide : 0;
    }
    return svmp_sum(a->variables, a->misfit);
}

const average *svmp_averages_rows(const averages *a) { return a->windows > 0 ? a->rows : NULL; }

svmp_status svmp_averages_state(averages *a, archive *to) {
    const size_t numbers = a->variables * a->n, columns = sizeof *a->rows / sizeof(double);
    SVMP_TRY(svmp_archive_count(to, "window", &a->count));
    SVMP_TRY(svmp_archive_count(to, "windows", &a->windows));
    SVMP_TRY(svmp_archive_reals(to, "centre", a->variables, a->centre));
    SVMP_TRY(svmp_archive_reals(to, "window sum", numbers, a->sum));
    SVMP_TRY(svmp_archive_reals(to, "window square", numbers, a->square));
    SVMP_TRY(svmp_archive_reals(to, "window score", numbers, a->score));
    SVMP_TRY(svmp_archive_reals(to, "window cross", numbers, a->cross));
    return svmp_archive_reals(to, "averages", a->variables * columns, &a->rows->mean);
}
