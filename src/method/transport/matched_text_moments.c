#include "method/transport/matched_text_moments.h"

#include <math.h>

#include "base/row_sums.h"

/* Matches a variable on the scale of the text, u = o + w x, by x <- a + b x, which shifts each particle in units of its
 * own width. u has the target mean M and sd S for
 *
 *     a = (M - mean o - b mean(w x)) / mean w,
 *     u = c + b d,   c = o + w (M - mean o)/mean w,   d = w (x - mean(w x)/mean w),
 *     var c + 2 b cov(c, d) + b^2 var d = S^2.
 *
 * b is the larger of the two solutions, if it is positive. */
void svmp_match_text_moments(size_t n, const average *to, const text_row *row, double *x) {
    const double *o = row->origin, *w = row->width, each = 1 / (double)n;
    if (!(to->sd > 0)) return;
    const double width = each * svmp_sum(n, w), origin = each * svmp_sum(n, o), product = each * svmp_dot(n, w, x);
    const double shift = (to->mean - origin) / width, centre = product / width;
    double cc = 0, cd = 0, dd = 0;
    for (size_t l = 0; l < n; l++) {
        const double c = o[l] + w[l] * shift - to->mean, d = w[l] * (x[l] - centre); /* with mean 0 */
        cc += c * c;
        cd += c * d;
        dd += d * d;
    }
    const double root = cd * cd + dd * (to->sd * to->sd * (double)(n - 1) - cc), b = (sqrt(root) - cd) / dd;
    if (!(root >= 0 && b > 0 && isfinite(b))) return;
    for (size_t l = 0; l < n; l++) x[l] = shift + b * (x[l] - centre);
}
