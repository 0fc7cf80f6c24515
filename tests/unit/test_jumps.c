/* Stein's identities fail for a discontinuous density: the form of the program shows in which variables it jumps, and a
 * change point is found by moves that do not use the score. */
#include <math.h>

#include "expr/program.h"
#include "model/density_discontinuities.h"
#include "unit/support.h"

/* f = x0 step(x1 - 2) + max(x2, 0) + |x3| + ifelse(x4^2 > 1, x5, x0): it jumps in x1 and x4, and has kinks in others.
 */
static void test_slots(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_builder *b = NULL;
    program *p = NULL;
    bool slots[6], any;
    assert_ok(svmp_builder_create(context, &b));
    expr x[6], zero = svmp_expr_literal(b, 0);
    for (uint32_t k = 0; k < 6; k++) x[k] = svmp_expr_input(b, k);
    expr step = svmp_expr_step(b, svmp_expr_subtract(b, x[1], svmp_expr_literal(b, 2)));
    expr smooth = svmp_expr_add(b, svmp_expr_max(b, x[2], zero), svmp_expr_abs(b, x[3]));
    expr above = svmp_expr_greater(b, svmp_expr_square(b, x[4]), svmp_expr_literal(b, 1));
    expr f = svmp_expr_add(b, svmp_expr_multiply(b, x[0], step), smooth);
    f = svmp_expr_add(b, f, svmp_expr_ifelse(b, above, x[5], x[0]));
    assert_ok(svmp_program_finish(b, f, 6, 0, &p));
    assert_ok(svmp_program_discontinuities(p, slots, &any));
    assert_true(any);
    for (size_t k = 0; k < 6; k++) assert_int_equal(slots[k], k == 1 || k == 4);
    svmp_program_free(p);
    assert_ok(svmp_program_finish(b, svmp_expr_exp(b, smooth), 6, 0, &p));
    assert_ok(svmp_program_discontinuities(p, slots, &any));
    assert_false(any);
    svmp_program_free(p);
    svmp_builder_free(b);
    svmp_context_free(context);
}

/* Branches within formulas of distributions agree at their boundary: truncation on both sides, distribution functions
 * and their tails. A comparison in the model text need not.
 */
static void test_formulas_do_not_jump(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int jumps;
    } cases[] = {
        {"data { y <- 0.4 } model { m ~ dnorm(0, 1); y ~ dnorm(m, 1) T(-3, 3) }", 0},
        {"data { y <- 1 } model { m ~ dnorm(0, 1); y ~ dbern(pnorm(0.3, m, 2)) }", 0},
        {"data { y <- 1 } model { m ~ dnorm(0, 1); y ~ dbern(pt(m, 0, 1, 3)) }", 0},
        {"data { y <- 0.4 } model { m ~ dgamma(2, 1); y ~ dgamma(m, 2) }", 0},
        {"data { y <- 1 } model { m ~ dnorm(0, 1); y ~ dbern(pnorm(m, 0, 2)) }", 0},
        {"data { y <- 1 } model { m ~ dnorm(0, 1); y ~ dbern(pexp(m + 3, 2)) }", 0},
        {"data { y <- 0.4 } model { m ~ dnorm(0, 1); y ~ dnorm(m > 1, 1) }", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = NULL;
        bool *jumps = NULL;
        assert_ok(svmp_model_read_text(context, NULL, cases[k].text, NULL, NULL, &model));
        assert_ok(svmp_model_discontinuities(model, &jumps));
        assert_int_equal(jumps != NULL && jumps[0], cases[k].jumps);
        svmp_release(context, jumps);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slots), cmocka_unit_test(test_formulas_do_not_jump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
