#include "method/transport/averages.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"

enum { FEWEST = 5 }; /* particles needed to estimate a slope */

struct averages {
    svmp_context *context;
    size_t variables, n;
    int threads;
    size_t count, windows;          /* iterations of the open window; windows that were closed */
    double *centre;                 /* of each variable: subtracted in the sums, so that they lose no digits */
    double *sum, *square;           /* variables * n: over the window, of x - centre and of its square, */
    double *first_identity, *cross; /* of w, and of w times x - centre */
    average *rows;
    const double *diagonal; /* of D; NULL if there is none */
};

svmp_status svmp_averages_create(svmp_context *context, size_t variables, size_t n, int threads, averages **made) {
    svmp_status status;
    averages *a = NULL;
    SVMP_TRY(SVMP_NEW(context, a, 1));
    *a = (averages){.context = context, .variables = variables, .n = n, .threads = threads};
    SVMP_CHECK(SVMP_NEW(context, a->centre, variables));
    SVMP_CHECK(SVMP_NEW(context, a->rows, variables));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->sum));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->square));
    SVMP_CHECK(svmp_allocate(context, variables, n * sizeof(double), (void **)&a->first_identity));
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
    svmp_release(a->context, a->sum);
    svmp_release(a->context, a->square);
    svmp_release(a->context, a->first_identity);
    svmp_release(a->context, a->cross);
    svmp_release(a->context, a);
}

typedef struct state {
    averages *a;
    const double *x, *w;
} state;

static void add_variable(void *work, size_t i) {
    const state *now = work;
    averages *a = now->a;
    const size_t n = a->n;
    const double *row = now->x + i * n, *force = now->w ? now->w + i * n : NULL;
    double *sum = a->sum + i * n, *square = a->square + i * n, *first_identity = a->first_identity + i * n,
           *cross = a->cross + i * n;
    if (a->count == 0) {
        a->centre[i] = svmp_sum(n, row) / (double)n;
        memset(sum, 0, n * sizeof *sum);
        memset(square, 0, n * sizeof *square);
        memset(first_identity, 0, n * sizeof *first_identity);
        memset(cross, 0, n * sizeof *cross);
    }
    for (size_t l = 0; l < n; l++) {
        const double away = row[l] - a->centre[i];
        sum[l] += away;
        square[l] += away * away;
    }
    for (size_t l = 0; force && l < n; l++) {
        first_identity[l] += force[l];
        cross[l] += force[l] * (row[l] - a->centre[i]);
    }
}

void svmp_averages_add(averages *a, const double *x, const double *w) {
    const int threads = svmp_threads_for(a->threads, 6 * (double)a->variables * (double)a->n);
    svmp_parallel_for(threads, a->variables, 0, add_variable, &(state){a, x, w});
    a->count++;
}

/* The mean of a row, and the sum of squares about it. */
static double mean_of(size_t n, const double *row, double *squares) {
    const double mean = svmp_sum(n, row) / (double)n;
    *squares = 0;
    for (size_t l = 0; l < n; l++) *squares += (row[l] - mean) * (row[l] - mean);
    return mean;
}

/* With few particles, standard errors are uncertain: converts an error so that a Gaussian difference is as improbable
 * as Student's t with that many degrees of freedom (Wallace: z^2 = f log(1 + t^2/f), nearly). */
static double widen(double error, double difference, double freedom) {
    const double t = fabs(difference) / error;
    return t > 0 && isfinite(t) && freedom > 0 ? fabs(difference) / sqrt(freedom * log1p(t * t / freedom)) : error;
}

typedef struct estimate {
    double value, error;
} estimate;

static estimate plain_mean(size_t n, const double *own) {
    double squares;
    const double mean = mean_of(n, own, &squares);
    return (estimate){mean, sqrt(squares / ((double)n - 1) / (double)n)};
}

/* The intercept, at control = 0, of the regression of the own values on the controls, and its standard error; or the
 * mean of the own values if its error is smaller. */
static estimate controlled(size_t n, const double *own, const double *control) {
    double width, products = 0, rest = 0;
    const estimate plain = plain_mean(n, own);
    const double mean = plain.value, at = mean_of(n, control, &width), count = (double)n;
    for (size_t l = 0; l < n; l++) products += (own[l] - mean) * (control[l] - at);
    const double slope = products / width;
    for (size_t l = 0; l < n; l++) {
        const double off = own[l] - mean - slope * (control[l] - at);
        rest += off * off;
    }
    const estimate found = {mean - slope * at, sqrt(rest / (count - 2) * (1 / count + at * at / width))};
    return n >= FEWEST && found.error < plain.error ? found : plain;
}

/* With T iterations and n particles, away = x - centre:
 *
 *     own_l  = 1/T sum of away over the window              the particle's own mean
 *     mean   = 1/n sum of own_l                             its standard error: sd of own_l / sqrt(n)
 *     push_l = 1/T sum of w                                 the control of own_l, by which the mean becomes c
 *     wide_l = 1/T sum of (away - c)^2                      the particle's own variance about c
 *     sd^2   = 1/n sum of wide_l                            its standard error: sd of wide_l / sqrt(n)
 *     pull_l = 1/T sum of w (away - c) + D_ii               the control of wide_l
 *
 * Overwrites the sums: a new window begins. */
static average close_row(averages *a, size_t i) {
    const size_t n = a->n;
    const double iterations = (double)a->count, freedom = (double)n - 1, diagonal = a->diagonal ? a->diagonal[i] : 0;
    double *own = a->sum + i * n, *wide = a->square + i * n, *first_identity = a->first_identity + i * n,
           *second_identity = a->cross + i * n;
    for (size_t l = 0; l < n; l++) own[l] /= iterations, first_identity[l] /= iterations;
    const estimate plain = plain_mean(n, own), mean = diagonal > 0 ? controlled(n, own, first_identity) : plain;
    const double c = mean.value;
    for (size_t l = 0; l < n; l++) {
        wide[l] = fmax(0, wide[l] / iterations - 2 * c * own[l] + c * c);
        second_identity[l] = second_identity[l] / iterations - c * first_identity[l] + diagonal;
    }
    const estimate spread = plain_mean(n, wide), better = diagonal > 0 ? controlled(n, wide, second_identity) : spread,
                   variance = better.value > 0 ? better : spread;
    const double sd = sqrt(variance.value);
    average row = {.mean = a->centre[i] + c, .sd = sd, .drift = NAN, .drift_error = NAN};
    row.mean_error = mean.error;
    row.sd_error = variance.error / (2 * sd);
    row.plain = a->centre[i] + plain.value;
    row.plain_error = plain.error;
    row.plain_sd_error = spread.error / (2 * sqrt(spread.value));
    row.between_share = plain.error * plain.error * (double)n / spread.value;
    if (diagonal > 0) {
        const estimate first = plain_mean(n, first_identity), second = plain_mean(n, second_identity);
        row.first_identity = first.value * sd / diagonal;
        row.first_identity_error = widen(first.error * sd / diagonal, row.first_identity, freedom);
        row.second_identity = second.value / diagonal;
        row.second_identity_error = widen(second.error / diagonal, row.second_identity, freedom);
    }
    if (a->windows > 0) {
        row.drift = row.plain - a->rows[i].plain;
        row.drift_error = widen(hypot(row.plain_error, a->rows[i].plain_error), row.drift, 2 * freedom);
    }
    return row;
}

void svmp_averages_control(averages *a, const double *diagonal) { a->diagonal = diagonal; }

void svmp_averages_close(averages *a) {
    for (size_t i = 0; i < a->variables; i++) a->rows[i] = close_row(a, i);
    a->count = 0;
    a->windows++;
}

const average *svmp_averages_rows(const averages *a) { return a->windows > 0 ? a->rows : NULL; }

svmp_status svmp_averages_state(averages *a, archive *to) {
    const size_t numbers = a->variables * a->n, columns = sizeof *a->rows / sizeof(double);
    SVMP_TRY(svmp_archive_count(to, "window", &a->count));
    SVMP_TRY(svmp_archive_count(to, "windows", &a->windows));
    SVMP_TRY(svmp_archive_reals(to, "centre", a->variables, a->centre));
    SVMP_TRY(svmp_archive_reals(to, "window sum", numbers, a->sum));
    SVMP_TRY(svmp_archive_reals(to, "window square", numbers, a->square));
    SVMP_TRY(svmp_archive_reals(to, "window push", numbers, a->first_identity));
    SVMP_TRY(svmp_archive_reals(to, "window cross", numbers, a->cross));
    return svmp_archive_reals(to, "averages", a->variables * columns, &a->rows->mean);
}
