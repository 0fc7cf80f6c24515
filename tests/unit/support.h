/* What the unit tests share: cmocka in its required order, a context that fails loudly, small models. */
#ifndef SVMP_TEST_SUPPORT_H
#define SVMP_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/context.h"
#include "svmp.h"

#define assert_ok(call) assert_int_equal((call), SVMP_OK)

/* |a - b| <= tolerance * max(1, |b|), with the numbers shown when it fails. */
#define assert_near(a, b, tolerance) test_assert_near((a), (b), (tolerance), __FILE__, __LINE__)
void test_assert_near(double a, double b, double tolerance, const char *file, int line);

/* A context with `threads` threads whose errors stay silent; the tests read svmp_context_error. */
svmp_context *test_context(int threads);

#endif
