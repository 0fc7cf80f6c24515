#include <math.h>
#include <string.h>

#include "base/name_list.h"
#include "base/number.h"
#include "maths/order_statistics.h"
#include "stein/kernel.h"

static const char *const rule_names[] = {"median", "median-log", "median-zeros", "NUMBER"};

const char *svmp_bandwidth_name(size_t k) { return k < sizeof rule_names / sizeof *rule_names ? rule_names[k] : NULL; }

svmp_status svmp_bandwidth_parse(svmp_context *context, const char *text, bandwidth *parsed) {
    for (int rule = 0; rule < BANDWIDTH_FIXED; rule++)
        if (strcmp(text, rule_names[rule]) == 0) {
            *parsed = (bandwidth){.rule = (enum bandwidth_rule)rule};
            return SVMP_OK;
        }
    double fixed;
    char names[128];
    if (svmp_number_parse(text, text + strlen(text), &fixed) != NUMBER_FINITE || !(fixed > 0))
        return svmp_fail(context, SVMP_BAD_CALL, "Invalid bandwidth '%s': expected %s above 0.", text,
                         svmp_list_names(svmp_bandwidth_name, "or", names, sizeof names));
    *parsed = (bandwidth){BANDWIDTH_FIXED, fixed};
    return SVMP_OK;
}

int svmp_bandwidth_ranks(const bandwidth *b, size_t n, size_t *lower, size_t *upper) {
    if (n < 2 || b->rule == BANDWIDTH_FIXED) return 0;
    size_t pairs = n * (n - 1) / 2;
    *lower = (pairs - 1) / 2;
    *upper = pairs / 2;
    if (b->rule == BANDWIDTH_MEDIAN_ZEROS) {
        /* All n^2 of them, sorted: n zeros, then every pair twice. For n = 2 the lower middle is one of the zeros. */
        size_t below = (n * n - 1) / 2, above = n * n / 2;
        *lower = below < n ? SIZE_MAX : (below - n) / 2;
        *upper = (above - n) / 2;
    }
    return 1;
}

static double value_of(const bandwidth *b, size_t n, double lower, double upper) {
    if (b->rule == BANDWIDTH_FIXED) return b->fixed;
    if (n < 2) return 0;
    if (b->rule == BANDWIDTH_MEDIAN_ZEROS) return (lower + upper) / 2;
    double median = (sqrt(lower) + sqrt(upper)) / 2, h = median * median;
    return b->rule == BANDWIDTH_MEDIAN_LOG ? h / log((double)n) : h;
}

double svmp_bandwidth_value(const bandwidth *b, size_t n, double lower, double upper) {
    const double narrowest = 1e-300; /* for a smaller h, 2/h overflows: treat h as 0 */
    const double h = value_of(b, n, lower, upper);
    return h < narrowest ? 0 : h;
}

double svmp_bandwidth_choose(const bandwidth *b, size_t n, double *pairs) {
    size_t lower, upper;
    if (!svmp_bandwidth_ranks(b, n, &lower, &upper)) return svmp_bandwidth_value(b, n, 0, 0);
    double below, above;
    svmp_select_two(pairs, n * (n - 1) / 2, lower == SIZE_MAX ? upper : lower, upper, &below, &above);
    if (lower == SIZE_MAX) below = 0; /* a particle's distance to itself */
    return svmp_bandwidth_value(b, n, below, above);
}
