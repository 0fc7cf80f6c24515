#include "method/transport/covariance.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "base/threads.h"

/* With this many particles per variable the covariance is well conditioned. More variables would cost more than their
 * score. */
enum { PARTICLES_EACH = 5, MOST = 64 };

static const double well_known = 0.1; /* an error of an sd, relative */

/* Over the iterations of a block, of x - centre, and of the products of two of them, below the diagonal. Every process
 * has all sums and some rows of the products, and zeros for the others. */
typedef struct block {
    size_t count; /* iterations */
    double *sum, *product;
} block;

enum { OLDER, NEWER, OPEN, BLOCKS };

struct covariance {
    svmp_context *context;
    peer_columns columns;
    size_t variables, n; /* n: all particles */
    int threads;
    size_t estimates; /* the number of estimates so far */
    block blocks[BLOCKS];
    double *centre;                /* of each variable: subtracted in the sums of all blocks */
    double *correlation;           /* of the last estimate */
    double *own, *wanted, *column; /* workspace: two matrices, and a particle, */
    double *gathered;              /* and the particles of all processes; NULL: there is one process */
};

svmp_status svmp_covariance_create(svmp_context *context, size_t variables, const peer_columns *columns, int threads,
                                   covariance **made) {
    const size_t n = columns->whole;
    svmp_status status;
    covariance *c = NULL;
    *made = NULL;
    if (variables < 2 || variables > MOST || n / PARTICLES_EACH < variables) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, c, 1));
    *c = (covariance){.context = context, .columns = *columns, .variables = variables, .n = n, .threads = threads};
    if (columns->peers->count > 1) SVMP_CHECK(SVMP_NEW(context, c->gathered, variables * n));
    SVMP_CHECK(SVMP_NEW(context, c->centre, variables));
    for (size_t k = 0; k < BLOCKS; k++) {
        SVMP_CHECK(SVMP_NEW(context, c->blocks[k].sum, variables));
        SVMP_CHECK(SVMP_NEW(context, c->blocks[k].product, variables * variables));
    }
    SVMP_CHECK(SVMP_NEW(context, c->correlation, variables * variables));
    SVMP_CHECK(SVMP_NEW(context, c->own, variables * variables));
    SVMP_CHECK(SVMP_NEW(context, c->wanted, variables * variables));
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
    for (size_t k = 0; k < BLOCKS; k++) {
        svmp_release(c->context, c->blocks[k].sum);
        svmp_release(c->context, c->blocks[k].product);
    }
    svmp_release(c->context, c->correlation);
    svmp_release(c->context, c->own);
    svmp_release(c->context, c->wanted);
    svmp_release(c->context, c->column);
    svmp_release(c->context, c->gathered);
    svmp_release(c->context, c);
}

/* The sum of (x_l - a) (y_l - b). */
static double products(size_t n, const double *x, double a, const double *y, double b) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += (x[l] - a) * (y[l] - b);
    return sum;
}

/* Rows are dealt out in turn: later ones are longer. */
static int is_own_row(const covariance *c, size_t i) { return i % c->columns.peers->count == c->columns.peers->rank; }

/* The products of all processes. No row belongs to two of them, so that the sum of its bits is the row. */
static void add_rows(const covariance *c, double *product) {
    const svmp_peers *peers = c->columns.peers;
    _Static_assert(sizeof *product == sizeof(int64_t), "the bits of a number are those of an integer");
    if (peers->count > 1) peers->sum(peers, c->variables * c->variables, (int64_t *)(void *)product);
}

typedef struct state {
    covariance *c;
    const double *x;
} state;

static void add_variable(void *work, size_t i) {
    const state *now = work;
    const covariance *c = now->c;
    const block *open = &c->blocks[OPEN];
    const size_t d = c->variables, n = c->n;
    const double *x = now->x;
    for (size_t l = 0; l < n; l++) open->sum[i] += x[i * n + l] - c->centre[i];
    for (size_t j = 0; is_own_row(c, i) && j <= i; j++)
        open->product[i * d + j] += products(n, x + i * n, c->centre[i], x + j * n, c->centre[j]);
}

void svmp_covariance_add(covariance *c, const double *x) {
    if (c == NULL) return;
    const size_t d = c->variables, n = c->n;
    block *open = &c->blocks[OPEN];
    if (c->gathered) {
        svmp_shared_gather(&c->columns, d, x, c->gathered);
        x = c->gathered;
    }
    if (open->count == 0) {
        const int first = c->blocks[OLDER].count + c->blocks[NEWER].count == 0;
        for (size_t i = 0; first && i < d; i++) c->centre[i] = svmp_sum(n, x + i * n) / (double)n;
        memset(open->sum, 0, d * sizeof *open->sum);
        memset(open->product, 0, d * d * sizeof *open->product);
    }
    open->count++;
    const double work = (double)n * (double)d * (double)d;
    svmp_parallel_for(svmp_threads_for(c->threads, work), d, 1, add_variable, &(state){c, x});
}

void svmp_covariance_estimate(covariance *c) {
    if (c == NULL) return;
    const size_t d = c->variables;
    double all = 0, *sum = c->column, *product = c->own;
    memset(sum, 0, d * sizeof *sum);
    memset(product, 0, d * d * sizeof *product);
    for (size_t k = 0; k < BLOCKS; k++) {
        const block *b = &c->blocks[k];
        if (b->count == 0) continue;
        all += (double)b->count * (double)c->n;
        for (size_t i = 0; i < d; i++) sum[i] += b->sum[i];
        for (size_t i = 0; i < d * d; i++) product[i] += b->product[i];
    }
    add_rows(c, product);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) product[i * d + j] -= sum[i] * sum[j] / all;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            c->correlation[i * d + j] = product[i * d + j] / (sqrt(product[i * d + i]) * sqrt(product[j * d + j]));
    c->estimates++;
}

void svmp_covariance_close(covariance *c) {
    if (c == NULL) return;
    block *const b = c->blocks, oldest = b[OLDER];
    b[OLDER] = b[NEWER];
    b[NEWER] = b[OPEN];
    b[OPEN] = oldest;
    b[OPEN].count = 0;
}

void svmp_covariance_clear(covariance *c) {
    for (size_t k = 0; c && k < BLOCKS; k++) c->blocks[k].count = 0;
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

void svmp_covariance_match(covariance *c, const average *to, size_t n, double *x) {
    if (c == NULL || c->estimates == 0 || !are_known(to, c->variables)) return;
    const size_t d = c->variables;
    double *own = c->own, *wanted = c->wanted;
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

static svmp_status archive_products(const covariance *c, archive *to, block *b) {
    const size_t d = c->variables;
    memcpy(c->own, b->product, d * d * sizeof *c->own);
    if (!to->loading) add_rows(c, c->own);
    SVMP_TRY(svmp_archive_reals(to, "covariance product", d * d, c->own));
    for (size_t e = 0; to->loading && e < d * d; e++) b->product[e] = is_own_row(c, e / d) ? c->own[e] : 0;
    return SVMP_OK;
}

svmp_status svmp_covariance_state(covariance *c, archive *to) {
    if (c == NULL) return SVMP_OK;
    const size_t d = c->variables;
    SVMP_TRY(svmp_archive_count(to, "covariance estimates", &c->estimates));
    SVMP_TRY(svmp_archive_reals(to, "covariance centre", d, c->centre));
    for (size_t k = 0; k < BLOCKS; k++) {
        block *b = &c->blocks[k];
        SVMP_TRY(svmp_archive_count(to, "covariance block", &b->count));
        SVMP_TRY(svmp_archive_reals(to, "covariance sum", d, b->sum));
        SVMP_TRY(archive_products(c, to, b));
    }
    return svmp_archive_reals(to, "correlation", d * d, c->correlation);
}
