#include "expr/hessian.h"

#include <string.h>

#include "base/row_sums.h"
#include "expr/instructions.h"

/* Each pair gets its own expression if that takes at most this many visits of nodes and this many outputs. */
enum { MOST_VISITS = 1 << 21, MOST_OUTPUTS = 4096, TOGETHER = 1 << 14 };

/* With at most this many slots all pairs are included, even those that are always 0. */
enum { WHOLE_SLOTS = 64 };

struct hessian {
    svmp_context *context;
    size_t slots, pairs;
    uint32_t *row, *column;
    program *compiled;
    bound_program *bound; /* outputs: the pairs; or, of 2*slots inputs x and v, the items of H v */
    bool products;
};

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static svmp_status allocate_pairs(hessian *h, size_t pairs) {
    SVMP_TRY(SVMP_NEW(h->context, h->row, pairs));
    return SVMP_NEW(h->context, h->column, pairs);
}

/* entries: the lower triangle, row by row. */
static svmp_status differentiate_rows(hessian *h, program_builder *builder, const expr *gradient, expr *row,
                                      expr *entries) {
    for (size_t a = 0; a < h->slots; a++) {
        SVMP_TRY(svmp_builder_differentiate(builder, gradient[a], h->slots, row));
        for (size_t b = 0; b <= a; b++) {
            double value;
            if (h->slots > WHOLE_SLOTS && svmp_expr_is_literal(builder, row[b], &value) && value == 0) continue;
            h->row[h->pairs] = (uint32_t)a;
            h->column[h->pairs] = (uint32_t)b;
            entries[h->pairs++] = row[b];
        }
    }
    return SVMP_OK;
}

static svmp_status make_entries(hessian *h, program_builder *builder, const expr *gradient, size_t columns) {
    const size_t most = h->slots * (h->slots + 1) / 2;
    svmp_status status;
    expr *entries = NULL, *row = NULL;
    SVMP_CHECK(allocate_pairs(h, most));
    SVMP_CHECK(SVMP_NEW(h->context, entries, most));
    SVMP_CHECK(SVMP_NEW(h->context, row, h->slots));
    SVMP_CHECK(differentiate_rows(h, builder, gradient, row, entries));
    SVMP_CHECK(svmp_program_finish_values(builder, h->pairs, entries, h->slots, columns, &h->compiled));
done:
    svmp_release_all(h->context, entries, row);
    return status;
}

/* H v = the gradient of g'v, with v in the slots after those of x. */
static svmp_status make_products(hessian *h, program_builder *builder, const expr *gradient, size_t columns) {
    svmp_status status;
    expr *product = NULL, sum = svmp_expr_literal(builder, 0);
    h->products = true;
    SVMP_CHECK(allocate_pairs(h, h->slots * (h->slots + 1) / 2));
    SVMP_CHECK(SVMP_NEW(h->context, product, 2 * h->slots));
    for (size_t a = 0; a < h->slots; a++)
        sum = svmp_expr_add(
            builder, sum, svmp_expr_multiply(builder, gradient[a], svmp_expr_input(builder, (uint32_t)(h->slots + a))));
    SVMP_CHECK(svmp_builder_differentiate(builder, sum, 2 * h->slots, product));
    for (size_t b = 0; b < h->slots; b++)
        for (size_t a = b; a < h->slots; a++) {
            h->row[h->pairs] = (uint32_t)a;
            h->column[h->pairs++] = (uint32_t)b;
        }
    SVMP_CHECK(svmp_program_finish_values(builder, h->slots, product, 2 * h->slots, columns, &h->compiled));
done:
    svmp_release(h->context, product);
    return status;
}

static svmp_status make(hessian *h, const bound_program *bound) {
    const program *whole = bound->compiled;
    svmp_status status;
    program_builder *builder = NULL;
    expr *gradient = NULL;
    const double **columns = NULL;
    SVMP_CHECK(svmp_builder_create(h->context, &builder));
    SVMP_CHECK(SVMP_NEW(h->context, gradient, h->slots));
    SVMP_CHECK(SVMP_NEW(h->context, columns, whole->columns));
    expr value = svmp_recipe_build(&whole->recipe, builder);
    SVMP_CHECK(svmp_builder_status(builder));
    SVMP_CHECK(svmp_builder_differentiate(builder, value, h->slots, gradient));
    const bool small =
        h->slots * (h->slots + 1) / 2 <= MOST_OUTPUTS && svmp_builder_size(builder) <= MOST_VISITS / (h->slots + 1);
    SVMP_CHECK((small ? make_entries : make_products)(h, builder, gradient, whole->columns));
    for (size_t c = 0; c < whole->columns; c++) columns[c] = bound->columns + c * bound->instances;
    SVMP_CHECK(svmp_program_bind(h->compiled, bound->instances, columns, &h->bound));
    if (small) SVMP_CHECK(svmp_bound_share_as(h->bound, bound));
done:
    svmp_release_all(h->context, gradient, columns);
    svmp_builder_free(builder);
    return status;
}

svmp_status svmp_hessian_create(const bound_program *bound, hessian **made) {
    svmp_context *context = bound->compiled->context;
    hessian *h = NULL;
    if (!bound->compiled->differentiated)
        return svmp_fail(context, SVMP_BAD_CALL, "A program without derivatives has no second derivatives.");
    SVMP_TRY(SVMP_NEW(context, h, 1));
    *h = (hessian){.context = context, .slots = bound->compiled->slots};
    svmp_status status = make(h, bound);
    if (status == SVMP_OK)
        *made = h;
    else
        svmp_hessian_free(h);
    return status;
}

void svmp_hessian_free(hessian *h) {
    if (h == NULL) return;
    svmp_bound_free(h->bound);
    svmp_program_free(h->compiled);
    svmp_release_all(h->context, h->row, h->column, h);
}

size_t svmp_hessian_pairs(const hessian *h, const uint32_t **row, const uint32_t **column) {
    *row = h->row;
    *column = h->column;
    return h->pairs;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static size_t instances_per_block(const hessian *h, size_t n) {
    const size_t numbers = (h->pairs + 1) * n;
    return numbers < TOGETHER ? TOGETHER / numbers : 1;
}

/* The numbers at the start of the scratch memory: entries of some instances; or an instance's x, a row of zeros, a row
 * of ones, and a product. */
static size_t numbers_before(const hessian *h, size_t n) {
    return h->products ? (2 * h->slots + 2) * n : instances_per_block(h, n) * h->pairs * n;
}

size_t svmp_hessian_scratch(const hessian *h, size_t n) {
    const size_t variables = h->products ? 2 * h->slots * sizeof(uint32_t) : 0;
    return numbers_before(h, n) * sizeof(double) + svmp_bound_scratch(h->bound, n) + variables;
}

static void mean_entries(const hessian *h, const uint32_t *variables, size_t first, size_t count, size_t n,
                         const double *x, double *scratch, double *mean) {
    const size_t most = instances_per_block(h, n);
    void *rest = scratch + numbers_before(h, n);
    for (size_t k = 0; k < count; k += most) {
        const size_t together = count - k < most ? count - k : most;
        svmp_bound_evaluate(h->bound, variables, first + k, together, n, x, rest, scratch, NULL);
        for (size_t p = 0; p < together * h->pairs; p++)
            mean[k * h->pairs + p] = svmp_sum(n, scratch + p * n) / (double)n;
    }
}

/* Column by column: v is the unit vector of slot b. */
static void mean_products(const hessian *h, const uint32_t *variables, size_t first, size_t count, size_t n,
                          const double *x, double *scratch, double *mean) {
    const size_t slots = h->slots, zeros = slots, ones = slots + 1;
    double *own = scratch, *product = own + (slots + 2) * n;
    void *rest = scratch + numbers_before(h, n);
    uint32_t *renamed = (uint32_t *)(void *)((char *)rest + svmp_bound_scratch(h->bound, n));
    for (size_t l = 0; l < n; l++) own[zeros * n + l] = 0, own[ones * n + l] = 1;
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j < slots; j++) {
            memcpy(own + j * n, x + variables[(first + k) * slots + j] * n, n * sizeof *own);
            renamed[j] = (uint32_t)j;
            renamed[slots + j] = (uint32_t)zeros;
        }
        for (size_t b = 0; b < slots; b++) {
            renamed[slots + b] = (uint32_t)ones;
            svmp_bound_evaluate_at(h->bound, renamed, first + k, n, own, rest, product);
            renamed[slots + b] = (uint32_t)zeros;
            for (size_t a = b; a < slots; a++) *mean++ = svmp_sum(n, product + a * n) / (double)n;
        }
    }
}

void svmp_hessian_mean(const hessian *h, const uint32_t *variables, size_t first, size_t count, size_t n,
                       const double *x, void *scratch, double *mean) {
    (h->products ? mean_products : mean_entries)(h, variables, first, count, n, x, scratch, mean);
}
