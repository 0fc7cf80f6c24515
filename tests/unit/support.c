#include "support.h"

#include <math.h>
#include <stdio.h>

void test_assert_near(double a, double b, double tolerance, const char *file, int line) {
    double scale = fabs(b) > 1 ? fabs(b) : 1;
    if (fabs(a - b) <= tolerance * scale) return;
    print_error("%.17g is not within %g of %.17g\n", a, tolerance, b);
    _fail(file, line);
}

svmp_context *test_context(int threads) {
    svmp_context_options options = svmp_context_options_default();
    options.threads = threads;
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(&options, &context));
    return context;
}
