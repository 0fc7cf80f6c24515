#include "method/transport/covariance.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"

/* With this many particles per variable the covariance is well conditioned. More variables would cost more than their
 * score. */
enum { PARTICLES_EACH = 5, MOST = 64 };

static const double well_known = 0.1; /* an error of an sd, relative */

struct covariance {
    svmp_context *context;
    size_t variables, n;
    int threads;
    size_t count, windows; /* iterations of the open window; windows that were closed */
    double *centre;        /* of each variable: subtracted in the sums */
    double *sum, *product; /* over the window, of x - centre, and of the products of two of them, below the diagonal */
    double *correlation;   /* of the last window */
    double *own, *column;  /* workspace: a matrix, and a particle */
};

svmp_status svmp_covariance_create(svmp_context *context, size_t variables, size_t n, int threads, covariance **made) {
    svmp_status status;
    covariance *c = NULL;
    *made = NULL;
    if (variables < 2 || variables > MOST || n / PARTICLES_EACH < variables) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, c, 1));
    *c = (covariance){.context = context, .variables = variables, .n = n, .threads = threads};
    SVMP_CHECK(SVMP_NEW(context, c->centre, variables));
    SVMP_CHECK(SVMP_NEW(context, c->sum, variables));
    SVMP_CHECK(SVMP_NEW(context, c->product, variables * variables));
    SVMP_CHECK(SVMP_NEW(context, c->correlation, variables * variables));
    SVMP_CHECK(SVMP_NEW(context, c->own, variables * variables));
    SVMP_CHECK(SVMP_NEW(context, c->column, variables));
    *made = c;
    return SVMP_OK;
done:
    svmp_covariance_free(c);
    return status;
}

void svmp_covariance_free(covariance *c) {
    if (c == NULL) return;
    svmp_release(c->context, c->centre);
    svmp_release(c->context, c->sum);
    svmp_release(c->context, c->product);
    svmp_release(c->context, c->correlation);
    svmp_release(c->context, c->own);
    svmp_release(c->context, c->column);
    svmp_release(c->context, c);
}

/* The sum of (x_l - a) (y_l - b). */
static double products(size_t n, const double *x, double a, const double *y, double b) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += (x[l] - a) * (y[l] - b);
    return sum;
}

typedef struct state {
    covariance *c;
    const double *x;
} state;

static void add_variable(void *work, size_t i) {
    const state *now = work;
    covariance *c = now->c;
    const size_t d = c->variables, n = c->n;
    const double *x = now->x;
    for (size_t l = 0; l < n; l++) c->sum[i] += x[i * n + l] - c->centre[i];
    for (size_t j = 0; j <= i; j++)
        c->product[i * d + j] += products(n, x + i * n, c->centre[i], x + j * n, c->centre[j]);
}

void svmp_covariance_add(covariance *c, const double *x) {
    if (c == NULL) return;
    const size_t d = c->variables, n = c->n;
    if (c->count++ == 0) {
        for (size_t i = 0; i < d; i++) c->centre[i] = svmp_sum(n, x + i * n) / (double)n;
        memset(c->sum, 0, d * sizeof *c->sum);
        memset(c->product, 0, d * d * sizeof *c->product);
    }
    const double work = (double)n * (double)d * (double)d;
    svmp_parallel_for(svmp_threads_for(c->threads, work), d, 1, add_variable, &(state){c, x});
}

void svmp_covariance_close(covariance *c) {
    if (c == NULL) return;
    const size_t d = c->variables;
    const double all = (double)c->count * (double)c->n;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) c->product[i * d + j] -= c->sum[i] * c->sum[j] / all;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            c->correlation[i * d + j] =
                c->product[i * d + j] / (sqrt(c->product[i * d + i]) * sqrt(c->product[j * d + j]));
    c->count = 0;
    c->windows++;
}

/* Whether every average is accurate enough to transform all variables jointly. */
static int are_known(const average *to, size_t d) {
    for (size_t i = 0; i < d; i++)
        if (!(isfinite(to[i].mean) && to[i].sd > 0 && to[i].sd_error < well_known * to[i].sd)) return 0;
    return 1;
}

/* v <- L_C L_S^-1 v. */
static void turn(size_t d, const double *own, const double *wanted, double *v) {
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < i; k++) v[i] -= own[i * d + k] * v[k];
        v[i] /= own[i * d + i];
    }
    for (size_t i = d; i-- > 0;) {
        v[i] *= wanted[i * d + i];
        for (size_t k = 0; k < i; k++) v[i] += wanted[i * d + k] * v[k];
    }
}

void svmp_covariance_match(covariance *c, const average *to, double *x) {
    if (c == NULL || c->windows == 0 || !are_known(to, c->variables)) return;
    const size_t d = c->variables, n = c->n;
    double *own = c->own, *wanted = c->product; /* no window is open */
    for (size_t i = 0; i < d; i++) {
        const double mean = svmp_sum(n, x + i * n) / (double)n;
        for (size_t l = 0; l < n; l++) x[i * n + l] -= mean;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            own[i * d + j] = products(n, x + i * n, 0, x + j * n, 0) / ((double)n - 1);
            wanted[i * d + j] = c->correlation[i * d + j] * to[i].sd * to[j].sd;
        }
    const int definite = svmp_small_cholesky(d, own) && svmp_small_cholesky(d, wanted);
    for (size_t l = 0; l < n; l++) {
        for (size_t i = 0; i < d; i++) c->column[i] = x[i * n + l];
        if (definite) turn(d, own, wanted, c->column);
        for (size_t i = 0; i < d; i++) x[i * n + l] = to[i].mean + c->column[i];
    }
}

svmp_status svmp_covariance_state(covariance *c, archive *to) {
    if (c == NULL) return SVMP_OK;
    const size_t d = c->variables;
    SVMP_TRY(svmp_archive_count(to, "covariance window", &c->count));
    SVMP_TRY(svmp_archive_count(to, "covariance windows", &c->windows));
    SVMP_TRY(svmp_archive_reals(to, "covariance centre", d, c->centre));
    SVMP_TRY(svmp_archive_reals(to, "covariance sum", d, c->sum));
    SVMP_TRY(svmp_archive_reals(to, "covariance product", d * d, c->product));
    return svmp_archive_reals(to, "correlation", d * d, c->correlation);
}
