#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"

/* Together 6 MB of base64, which a browser takes in well under a second; at least PARTICLES_LEAST of each variable. */
enum { NUMBERS_MOST = 1200000, PARTICLES_LEAST = 100 };

static size_t how_many(size_t variables, size_t count, size_t requested) {
    size_t shown = requested;
    if (shown == 0) shown = NUMBERS_MOST / variables;
    if (requested == 0 && shown < PARTICLES_LEAST) shown = PARTICLES_LEAST;
    return shown < count ? shown : count;
}

/* x = centre + scale * float: what is near the centre keeps its digits, whatever the units and the tails. */
static void write_variable(FILE *file, const double *x, size_t count, size_t shown, double centre, float *floats) {
    double scale = 0;
    for (size_t k = 0; k < shown; k++) scale = fmax(scale, fabs(x[k * count / shown] - centre));
    if (!(scale <= DBL_MAX)) scale = DBL_MAX;
    for (size_t k = 0; k < shown; k++) {
        const double part = scale > 0 ? (x[k * count / shown] - centre) / scale : 0;
        floats[k] = (float)fmax(-1, fmin(1, part));
    }
    fputc('[', file);
    json_number(file, centre);
    fputc(',', file);
    json_number(file, scale);
    fputc(',', file);
    json_floats(file, floats, shown);
    fputc(']', file);
}

static int all_finite(const double *x, size_t count) {
    size_t k = 0;
    while (k < count && isfinite(x[k])) k++;
    return k == count;
}

int write_values(FILE *file, svmp_context *context, svmp_particles *particles, size_t requested) {
    const size_t variables = svmp_particles_variables(particles), count = svmp_particles_count(particles);
    const size_t shown = how_many(variables, count, requested);
    float *floats = calloc(shown, sizeof *floats);
    if (floats == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    fprintf(file, ",\n\"shown\":%zu,\"values\":[", shown);
    svmp_status status = SVMP_OK;
    for (size_t i = 0; i < variables && status == SVMP_OK; i++) {
        svmp_moments moments;
        status = svmp_particles_moments(particles, i, &moments);
        if (status != SVMP_OK) break;
        fputs(i ? ",\n" : "\n", file);
        write_variable(file, svmp_particles_values(particles) + i * count, count, shown, moments.q50, floats);
    }
    fputs("],\n\"log_density\":", file);
    const double *density = svmp_particles_statistic(particles, "lp__");
    if (density && all_finite(density, count))
        write_variable(file, density, count, shown, density[0], floats);
    else
        fputs("null", file);
    free(floats);
    return status == SVMP_OK ? 0 : failed(context, status);
}
