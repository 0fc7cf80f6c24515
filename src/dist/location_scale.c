#include <math.h>
#include <string.h>

#include "dist/distributions.h"

const location_scale *svmp_distribution_location_scale(const distribution *family) {
    static const location_scale rows[] = {
        {"dnorm", "dnorm", -0.5}, {"dlnorm", "dnorm", -0.5}, {"dt", "dt", -0.5},
        {"dlogis", "dlogis", -1}, {"ddexp", "ddexp", -1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, family->name) == 0) return &rows[k];
    return NULL;
}

double svmp_location_scale_slope(const distribution *family, const double *arguments, double u) {
    const double tau = arguments[1], distance = u - arguments[0];
    if (strcmp(family->name, "dt") == 0) {
        const double k = arguments[2];
        return -(k + 1) * tau * distance / (k + tau * distance * distance);
    }
    if (strcmp(family->name, "dlogis") == 0) return -tau * tanh(0.5 * tau * distance);
    if (strcmp(family->name, "ddexp") == 0) return distance > 0 ? -tau : tau;
    return -tau * distance;
}

double svmp_location_scale_curvature(const distribution *family, const double *arguments, double u) {
    const double tau = arguments[1], distance = u - arguments[0];
    if (strcmp(family->name, "dt") == 0) {
        const double k = arguments[2], square = tau * distance * distance;
        return (k + 1) * tau * (k - square) / ((k + square) * (k + square));
    }
    if (strcmp(family->name, "dlogis") == 0) {
        const double half = cosh(0.5 * tau * distance);
        return 0.5 * tau * tau / (half * half);
    }
    return strcmp(family->name, "ddexp") == 0 ? 0 : tau;
}

double svmp_location_scale_information(const distribution *family, const double *arguments) {
    const double tau = arguments[1];
    if (strcmp(family->name, "dt") == 0) return tau * (arguments[2] + 1) / (arguments[2] + 3);
    if (strcmp(family->name, "dlogis") == 0) return tau * tau / 3;
    return strcmp(family->name, "ddexp") == 0 ? tau * tau : tau;
}
