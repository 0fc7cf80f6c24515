/* Cholesky factors of large sparse matrices: the factorisation of svmp compared with CHOLMOD's two, simplicial and
 * supernodal with the BLAS of the system. Prints CPU seconds of one thread for each side of a square grid (neighbours
 * within `reach`, default 1, which makes 4 of them):
 *
 *     bench_cholesky [SIDE ...] [--reach R] [--quick] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "maths/sparse_factor.h"
#include "svmp.h"

#ifdef SVMP_HAVE_CHOLMOD
#include <cholmod.h>

enum { TIMES = 5 };

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void must(int done) {
    if (!done) exit((perror("bench_cholesky"), 1));
}

/* -1 between neighbours, and a dominant diagonal. */
static double *make_grid(svmp_context *context, size_t side, size_t reach, sparsity *pattern) {
    const size_t order = side * side, most = order * (2 * reach + 1) * (2 * reach + 1);
    sparse_place *places = malloc(most * sizeof *places);
    size_t count = 0;
    must(places != NULL);
    for (size_t j = 0; j < order; j++)
        for (size_t down = 0; down <= reach && j / side + down < side; down++)
            for (size_t across = 0; across <= 2 * reach; across++) {
                const size_t column = j % side + across;
                if (column < reach || column - reach >= side) continue;
                const size_t i = (j / side + down) * side + column - reach;
                if (i > j && (reach > 1 || down == 0 || column - reach == j % side))
                    places[count++] = (sparse_place){(uint32_t)i, (uint32_t)j};
            }
    must(svmp_sparsity_create(context, order, count, places, NULL, pattern) == SVMP_OK);
    free(places);
    double *A = malloc(pattern->entries * sizeof *A);
    must(A != NULL);
    for (size_t j = 0; j < order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            A[e] = pattern->row[e] == j ? 0.1 + 2.0 * (double)(reach * reach + reach) * (reach > 1 ? 2 : 1) : -1;
    return A;
}

static void print(const char *name, double analysis, double factor, double entries) {
    printf("  %-44s %10.3f %12.4f %12.0f\n", name, analysis, factor, entries);
}

static void time_ours(svmp_context *context, const sparsity *pattern, const double *A) {
    factorisation *f = NULL;
    size_t bad;
    const double start = seconds();
    must(svmp_factorisation_create(context, pattern, &f) == SVMP_OK);
    const double middle = seconds();
    for (int k = 0; k < TIMES; k++) must(svmp_factorise(f, A, &bad) == SVMP_OK && bad == SIZE_MAX);
    print("svmp", middle - start, (seconds() - middle) / TIMES, (double)svmp_factorisation_entries(f));
    svmp_factorisation_free(f);
}

static void time_cholmod(const sparsity *pattern, const double *A, int supernodal) {
    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = supernodal ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common.final_ll = 1;
    cholmod_sparse *a =
        cholmod_l_allocate_sparse(pattern->order, pattern->order, pattern->entries, 1, 1, -1, CHOLMOD_REAL, &common);
    must(a != NULL);
    for (size_t j = 0; j <= pattern->order; j++) ((SuiteSparse_long *)a->p)[j] = (SuiteSparse_long)pattern->start[j];
    for (size_t e = 0; e < pattern->entries; e++) ((SuiteSparse_long *)a->i)[e] = pattern->row[e];
    memcpy(a->x, A, pattern->entries * sizeof *A);
    const double start = seconds();
    cholmod_factor *L = cholmod_l_analyze(a, &common);
    const double middle = seconds();
    for (int k = 0; k < TIMES; k++) must(cholmod_l_factorize(a, L, &common));
    print(supernodal ? "CHOLMOD, supernodal, the BLAS of the system" : "CHOLMOD, simplicial", middle - start,
          (seconds() - middle) / TIMES, common.lnz);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&a, &common);
    cholmod_l_finish(&common);
}

int main(int count, char **arguments) {
    size_t sides[16] = {100, 300}, number = 0, reach = 1;
    for (int k = 1; k < count; k++) {
        if (strcmp(arguments[k], "--quick") == 0)
            sides[number++] = 30;
        else if (strcmp(arguments[k], "--reach") == 0 && k + 1 < count)
            reach = strtoul(arguments[++k], NULL, 10);
        else if (number < 16)
            sides[number++] = strtoul(arguments[k], NULL, 10);
    }
    if (number == 0) number = 2; /* 100 and 300 */
    for (size_t k = 0; k < number; k++) {
        svmp_context *context;
        sparsity pattern = {0};
        must(svmp_context_create(NULL, &context) == SVMP_OK && svmp_context_set_threads(context, 1) == SVMP_OK);
        double *A = make_grid(context, sides[k], reach, &pattern);
        printf("%zu x %zu\n  %-44s %10s %12s %12s\n", sides[k], sides[k], "", "analysis", "factor", "entries of L");
        time_ours(context, &pattern, A);
        time_cholmod(&pattern, A, 0);
        time_cholmod(&pattern, A, 1);
        free(A);
        svmp_sparsity_free(context, &pattern);
        svmp_context_free(context);
    }
    return 0;
}

#else
int main(void) { return puts("skipped: this build has no CHOLMOD"), 0; }
#endif
