#include "method/transport/averages.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"

enum { FEWEST = 5 }; /* particles needed to estimate a slope */

enum { TOGETHER = 1 << 15 }; /* numbers of rows that are estimated together, unless one has more */

/* Of each variable and particle, over the iterations of a block. */
typedef struct block {
    size_t count;                   /* iterations */
    double *sum, *square;           /* of x - centre and of its square */
    double *first_identity, *cross; /* of w, and of w times x - centre */
} block;

enum { OLDER, NEWER, OPEN, BLOCKS };

/* What is estimated from: sums over blocks, divided by their iterations. */
enum { MEAN_SUM, MEAN_SQUARE, MEAN_FIRST_IDENTITY, MEAN_CROSS, MEAN_CLOSED /* of x */, MEAN_OPEN, MEANS };

struct averages {
    svmp_context *context;
    size_t variables, n, estimates; /* the number of estimates so far */
    int threads;
    block blocks[BLOCKS];
    double *centre; /* of each variable: subtracted in the sums of all blocks, so that they lose no digits */
    peer_columns columns;
    size_t together;      /* variables whose rows are estimated together, */
    double *sums, *whole; /* MEANS rows of each: of these particles, and of all */
    average *rows;
    const double *diagonal; /* of D; NULL if there is none */
};

static svmp_status create_block(const averages *a, block *b) {
    double **const sums[] = {&b->sum, &b->square, &b->first_identity, &b->cross};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        SVMP_TRY(svmp_allocate(a->context, a->variables, a->n * sizeof(double), (void **)sums[k]));
    return SVMP_OK;
}

static void free_block(const averages *a, const block *b) {
    double *const sums[] = {b->sum, b->square, b->first_identity, b->cross};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) svmp_release(a->context, sums[k]);
}

svmp_status svmp_averages_create(svmp_context *context, size_t variables, const peer_columns *columns, int threads,
                                 averages **made) {
    svmp_status status;
    averages *a = NULL;
    SVMP_TRY(SVMP_NEW(context, a, 1));
    *a = (averages){.context = context,
                    .variables = variables,
                    .n = columns->count,
                    .columns = *columns,
                    .threads = threads,
                    .together = TOGETHER / (MEANS * columns->whole) + 1};
    SVMP_CHECK(SVMP_NEW(context, a->centre, variables));
    SVMP_CHECK(SVMP_NEW(context, a->rows, variables));
    SVMP_CHECK(SVMP_NEW(context, a->sums, MEANS * a->together * a->n));
    SVMP_CHECK(SVMP_NEW(context, a->whole, MEANS * a->together * columns->whole));
    for (size_t k = 0; k < BLOCKS; k++) SVMP_CHECK(create_block(a, &a->blocks[k]));
    *made = a;
    return SVMP_OK;
done:
    svmp_averages_free(a);
    return status;
}

void svmp_averages_free(averages *a) {
    if (a == NULL) return;
    for (size_t k = 0; k < BLOCKS; k++) free_block(a, &a->blocks[k]);
    svmp_release(a->context, a->centre);
    svmp_release(a->context, a->rows);
    svmp_release(a->context, a->sums);
    svmp_release(a->context, a->whole);
    svmp_release(a->context, a);
}

static size_t iterations_of_closed(const averages *a) { return a->blocks[OLDER].count + a->blocks[NEWER].count; }

typedef struct state {
    averages *a;
    const double *x, *w;
} state;

static void add_variable(void *work, size_t i) {
    const state *now = work;
    averages *a = now->a;
    const block *open = &a->blocks[OPEN];
    const size_t n = a->n;
    const double *row = now->x + i * n, *force = now->w ? now->w + i * n : NULL;
    double *sum = open->sum + i * n, *square = open->square + i * n, *first_identity = open->first_identity + i * n,
           *cross = open->cross + i * n;
    if (open->count == 0) {
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

static size_t count_together(const averages *a, size_t first) {
    return a->variables - first < a->together ? a->variables - first : a->together;
}

static void find_centres(const averages *a, const double *x) {
    const size_t n = a->columns.whole;
    for (size_t first = 0, count; first < a->variables; first += count) {
        count = count_together(a, first);
        svmp_shared_gather(&a->columns, count, x + first * a->n, a->whole);
        for (size_t k = 0; k < count; k++) a->centre[first + k] = svmp_sum(n, a->whole + k * n) / (double)n;
    }
}

void svmp_averages_add(averages *a, const double *x, const double *w) {
    const int threads = svmp_threads_for(a->threads, 6 * (double)a->variables * (double)a->n);
    if (a->blocks[OPEN].count == 0 && iterations_of_closed(a) == 0) find_centres(a, x);
    svmp_parallel_for(threads, a->variables, 0, add_variable, &(state){a, x, w});
    a->blocks[OPEN].count++;
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

static void add_blocks(const averages *a, size_t i, size_t first, size_t last, double *means, size_t rows) {
    const size_t n = a->n;
    double iterations = 0;
    memset(means, 0, rows * n * sizeof *means);
    for (size_t k = first; k <= last; k++) {
        const block *b = &a->blocks[k];
        const double *const sums[] = {b->sum, b->square, b->first_identity, b->cross};
        if (b->count == 0) continue;
        iterations += (double)b->count;
        for (size_t r = 0; r < rows; r++)
            for (size_t l = 0; l < n; l++) means[r * n + l] += sums[r][i * n + l];
    }
    for (size_t e = 0; iterations > 0 && e < rows * n; e++) means[e] /= iterations;
}

/* Rows MEAN_SUM ... of a variable, for the particles of this process. */
static void find_means(const averages *a, size_t i, double *means) {
    add_blocks(a, i, OLDER, OPEN, means + MEAN_SUM * a->n, 4);
    add_blocks(a, i, OLDER, NEWER, means + MEAN_CLOSED * a->n, 1);
    add_blocks(a, i, OPEN, OPEN, means + MEAN_OPEN * a->n, 1);
}

/* Between the closed blocks and the open one. */
static estimate drift_of(const averages *a, const double *means) {
    const size_t n = a->columns.whole;
    if (iterations_of_closed(a) == 0) return (estimate){NAN, NAN};
    const estimate closed = plain_mean(n, means + MEAN_CLOSED * n), open = plain_mean(n, means + MEAN_OPEN * n);
    const double drift = open.value - closed.value, freedom = (double)n - 1;
    return (estimate){drift, widen(hypot(open.error, closed.error), drift, 2 * freedom)};
}

/* With T iterations and n particles, away = x - centre:
 *
 *     own_l  = 1/T sum of away                              the particle's own mean
 *     mean   = 1/n sum of own_l                             its standard error: sd of own_l / sqrt(n)
 *     first_l = 1/T sum of w                                the control of own_l, by which the mean becomes c
 *     wide_l = 1/T sum of (away - c)^2                      the particle's own variance about c
 *     sd^2   = 1/n sum of wide_l                            its standard error: sd of wide_l / sqrt(n)
 *     second_l = 1/T sum of w (away - c) + D_ii             the control of wide_l */
static average estimate_row(const averages *a, size_t i, double *means) {
    const size_t n = a->columns.whole;
    const double freedom = (double)n - 1, diagonal = a->diagonal ? a->diagonal[i] : 0;
    const estimate drift = drift_of(a, means);
    double *own = means + MEAN_SUM * n, *wide = means + MEAN_SQUARE * n, *second_identity = means + MEAN_CROSS * n;
    const double *first_identity = means + MEAN_FIRST_IDENTITY * n;
    const estimate plain = plain_mean(n, own), mean = diagonal > 0 ? controlled(n, own, first_identity) : plain;
    const double c = mean.value;
    for (size_t l = 0; l < n; l++) {
        wide[l] = fmax(0, wide[l] - 2 * c * own[l] + c * c);
        second_identity[l] += diagonal - c * first_identity[l];
    }
    const estimate spread = plain_mean(n, wide), better = diagonal > 0 ? controlled(n, wide, second_identity) : spread,
                   variance = better.value > 0 ? better : spread;
    const double sd = sqrt(variance.value);
    average row = {.mean = a->centre[i] + c, .sd = sd, .drift = drift.value, .drift_error = drift.error};
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
    return row;
}

void svmp_averages_control(averages *a, const double *diagonal) { a->diagonal = diagonal; }

void svmp_averages_estimate(averages *a) {
    const size_t n = a->columns.whole;
    for (size_t first = 0, count; first < a->variables; first += count) {
        count = count_together(a, first);
        for (size_t k = 0; k < count; k++) find_means(a, first + k, a->sums + MEANS * k * a->n);
        svmp_shared_gather(&a->columns, MEANS * count, a->sums, a->whole);
        for (size_t k = 0; k < count; k++) a->rows[first + k] = estimate_row(a, first + k, a->whole + MEANS * k * n);
    }
    a->estimates++;
}

void svmp_averages_close(averages *a) {
    block *const b = a->blocks, oldest = b[OLDER];
    b[OLDER] = b[NEWER];
    b[NEWER] = b[OPEN];
    b[OPEN] = oldest;
    b[OPEN].count = 0;
}

void svmp_averages_clear(averages *a) {
    for (size_t k = 0; k < BLOCKS; k++) a->blocks[k].count = 0;
}

const average *svmp_averages_rows(const averages *a) { return a->estimates > 0 ? a->rows : NULL; }

svmp_status svmp_averages_state(averages *a, archive *to) {
    const size_t variables = a->variables, columns = sizeof *a->rows / sizeof(double);
    SVMP_TRY(svmp_archive_count(to, "estimates", &a->estimates));
    SVMP_TRY(svmp_archive_reals(to, "centre", a->variables, a->centre));
    for (size_t k = 0; k < BLOCKS; k++) {
        block *b = &a->blocks[k];
        SVMP_TRY(svmp_archive_count(to, "block", &b->count));
        SVMP_TRY(svmp_shared_archive(&a->columns, to, "block sum", variables, b->sum));
        SVMP_TRY(svmp_shared_archive(&a->columns, to, "block square", variables, b->square));
        SVMP_TRY(svmp_shared_archive(&a->columns, to, "block first identity", variables, b->first_identity));
        SVMP_TRY(svmp_shared_archive(&a->columns, to, "block cross", variables, b->cross));
    }
    return svmp_archive_reals(to, "averages", a->variables * columns, &a->rows->mean);
}
