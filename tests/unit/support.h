/* Shared by the unit tests: cmocka's headers in their required order, contexts, small models. */
#ifndef SVMP_TEST_SUPPORT_H
#define SVMP_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/context.h"
#include "run/option_table.h"
#include "svmp_tools.h"

#define assert_ok(call) assert_int_equal((call), SVMP_OK)

/* |a - b| <= tolerance * max(1, |b|), and shows the numbers if it fails. */
#define assert_near(a, b, tolerance) test_assert_near((a), (b), (tolerance), __FILE__, __LINE__)
void test_assert_near(double a, double b, double tolerance, const char *file, int line);

/* A context with `threads` threads that prints no errors; tests read svmp_context_error. */
svmp_context *test_context(int threads);

/* A context whose `left`-th allocation from now and all later ones fail. */
typedef struct scarce_memory {
    long left;
} scarce_memory;

svmp_context *scarce_context(scarce_memory *memory);

/* The default options, with the method graphical. */
run_options graphical_options(void);

/* The k-th uniform number on (-1, 1) of the test's random stream. */
double test_random(uint64_t stream, uint64_t k);

/* A Gaussian model on a random graph of `nodes` nodes of one or two variables (one when `scalar`), each pair joined
 * with the given probability; diagonally dominant, so positive definite. */
svmp_model *test_random_gaussian(svmp_context *context, size_t nodes, double probability, int scalar, uint64_t stream);

/* The paper's Gaussian grid: side * side nodes, each joined to its four neighbours. */
svmp_model *test_grid(svmp_context *context, size_t side, uint64_t stream);

/* The dense precision (d*d) and linear term (d) of a Gaussian model. */
void test_dense(const svmp_model *model, double *precision, double *linear);

/* Replaces a d*d positive definite matrix by its inverse. */
void test_invert(size_t d, double *matrix);

#endif
