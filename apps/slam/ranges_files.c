#include "slam/slam_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/netcdf_subprocess.h"
#include "front/output_check.h"
#include "front/program_context.h"
#include "svmp_slam.h"

enum { POINTS_MOST = 5000 }; /* every pair of points has a distance, and the time is of their cube */

/* The ranges and known points of the files, and where the points may be. */
typedef struct scene {
    csv ranges, anchors;
    size_t points, dimension;
    size_t *from, *to;
    double *range, *known, *found;
} scene;

/* A point's number, from 1 on. */
static int read_point(const csv *t, const char *path, size_t row, size_t column, size_t *point) {
    double value;
    const int status = csv_number(t, path, row, column, &value);
    if (status) return status;
    if (value < 1 || value > POINTS_MOST || value != floor(value))
        return report_error(EXIT_WRONG, "%s:%zu: '%s' is not a point number from 1 to %d.", path, row + 2,
                            csv_cell(t, row, column), POINTS_MOST);
    *point = (size_t)value - 1;
    return 0;
}

static void count_point(scene *s, size_t point) { s->points = point >= s->points ? point + 1 : s->points; }

static int read_ranges(scene *s, const char *path) {
    static const char *const from[] = {"from", NULL}, *const to[] = {"to", NULL}, *const range[] = {"r", "range", NULL};
    size_t a = 0, b = 0, c = 0;
    int status = csv_read(path, &s->ranges);
    if (status == 0) status = csv_column(&s->ranges, path, from, &a);
    if (status == 0) status = csv_column(&s->ranges, path, to, &b);
    if (status == 0) status = csv_column(&s->ranges, path, range, &c);
    if (status) return status;
    s->from = calloc(s->ranges.rows, sizeof *s->from);
    s->to = calloc(s->ranges.rows, sizeof *s->to);
    s->range = calloc(s->ranges.rows, sizeof *s->range);
    if (s->from == NULL || s->to == NULL || s->range == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t r = 0; r < s->ranges.rows && status == 0; r++) {
        status = read_point(&s->ranges, path, r, a, &s->from[r]);
        if (status == 0) status = read_point(&s->ranges, path, r, b, &s->to[r]);
        if (status == 0) status = csv_number(&s->ranges, path, r, c, &s->range[r]);
        if (status == 0 && s->range[r] <= 0)
            status = report_error(EXIT_WRONG, "%s:%zu: a range must be positive, not %s.", path, r + 2,
                                  csv_cell(&s->ranges, r, c));
        if (status == 0 && s->from[r] == s->to[r])
            status = report_error(EXIT_WRONG, "%s:%zu: this range goes from point %zu to itself.", path, r + 2,
                                  s->from[r] + 1);
        count_point(s, s->from[r]);
        count_point(s, s->to[r]);
    }
    return status;
}

/* The first column is the point, the others are its coordinates. */
static int read_anchors(scene *s, const char *path) {
    int status = csv_read(path, &s->anchors);
    if (status) return status;
    s->dimension = s->anchors.columns - 1;
    if (s->dimension < 1 || s->dimension > 3)
        return report_error(EXIT_WRONG, "'%s' has %zu columns; expected a point number and 1 to 3 coordinates.", path,
                            s->anchors.columns);
    for (size_t r = 0; r < s->anchors.rows && status == 0; r++) {
        size_t point = 0;
        status = read_point(&s->anchors, path, r, 0, &point);
        count_point(s, point);
    }
    if (status) return status;
    s->known = malloc(2 * s->points * s->dimension * sizeof *s->known);
    if (s->known == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    s->found = s->known + s->points * s->dimension;
    for (size_t k = 0; k < s->points * s->dimension; k++) s->known[k] = NAN;
    for (size_t r = 0; r < s->anchors.rows && status == 0; r++) {
        size_t point = 0;
        status = read_point(&s->anchors, path, r, 0, &point);
        double *place = s->known + point * s->dimension;
        if (status == 0 && !isnan(*place))
            status = report_error(EXIT_WRONG, "%s:%zu: point %zu is given twice.", path, r + 2, point + 1);
        for (size_t k = 0; k < s->dimension && status == 0; k++)
            status = csv_number(&s->anchors, path, r, k + 1, &place[k]);
    }
    return status;
}

/* Every point has a range. A known point without a range is reported first: its number is probably mistyped, and leaves
 * gaps below it. */
static int check_points(const scene *s, const char *ranges, const char *anchors) {
    unsigned char *measured = calloc(s->points, 1);
    int status = 0;
    if (measured == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t r = 0; r < s->ranges.rows; r++) measured[s->from[r]] = measured[s->to[r]] = 1;
    for (size_t r = 0; r < s->anchors.rows && status == 0; r++) {
        size_t point = 0;
        status = read_point(&s->anchors, anchors, r, 0, &point);
        if (status == 0 && !measured[point])
            status =
                report_error(EXIT_WRONG, "%s:%zu: point %zu has no range in '%s'.", anchors, r + 2, point + 1, ranges);
    }
    for (size_t point = 0; point < s->points && status == 0; point++)
        if (!measured[point])
            status = report_error(EXIT_WRONG, "'%s' numbers its points up to %zu, but point %zu has no range.", ranges,
                                  s->points, point + 1);
    free(measured);
    return status;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double usual_spread(const scene *s) {
    qsort(s->range, s->ranges.rows, sizeof *s->range, compare_numbers);
    return s->range[s->ranges.rows / 2] / 20;
}

/* Standard normals from a generator that is good enough for a spread: splitmix64, Box and Muller. */
static double normal(uint64_t *state) {
    double unit[2];
    for (int k = 0; k < 2; k++) {
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        unit[k] = ((double)((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
    }
    return sqrt(-2 * log(unit[0])) * cos(6.283185307179586 * unit[1]);
}

static svmp_status make_particles(svmp_context *context, const scene *s, const char *name, size_t n, double spread,
                                  uint64_t seed, svmp_particles **particles) {
    size_t unknown = 0, variable = 0;
    for (size_t k = 0; k < s->points * s->dimension; k++) unknown += isnan(s->known[k]);
    svmp_status status = svmp_particles_create(context, unknown, n, NULL, particles);
    for (size_t k = 0; k < s->points * s->dimension && status == SVMP_OK; k++) {
        char full[128];
        if (!isnan(s->known[k])) continue;
        snprintf(full, sizeof full, "%.64s.%zu.%zu", name, k / s->dimension + 1, k % s->dimension + 1);
        status = svmp_particles_set_name(*particles, variable, full);
        for (size_t l = 0; l < n; l++)
            svmp_particles_values(*particles)[variable * n + l] = s->found[k] + spread * normal(&seed);
        variable++;
    }
    return status;
}

static int locate(const option_set *set, svmp_context *context, scene *s) {
    const char *output = options_given(set, "output");
    const int force = options_given(set, "force") != NULL;
    size_t n = 0, seed = 0;
    double spread = 0;
    static const char *const slams[] = {"noise", "first", "heading", "map"};
    int status = check_name(set, "name");
    for (size_t k = 0; k < 4 && status == 0; k++)
        if (options_given(set, slams[k]))
            status = report_error(EXIT_WRONG, "The option '--%s' needs --odometry.", slams[k]);
    if (status == 0 && set->operand_count < 2)
        status = report_error(EXIT_WRONG, "The known points are needed: svmp localise RANGES ANCHORS -o FILE.");
    if (status == 0) status = read_count("particles", options_value(set, "particles"), 0, 10000000, &n);
    if (status == 0) status = read_count("seed", options_value(set, "seed"), 0, SIZE_MAX / 16, &seed);
    if (status == 0) status = read_real("spread", options_value(set, "spread"), 0, 1e100, &spread);
    if (status == 0 && n == 0) status = report_error(EXIT_WRONG, "At least one particle is needed.");
    if (status == 0) status = read_ranges(s, set->operands[0]);
    if (status == 0) status = read_anchors(s, set->operands[1]);
    if (status == 0) status = check_points(s, set->operands[0], set->operands[1]);
    if (status == 0 && output == NULL) status = report_error(EXIT_WRONG, "An output file is needed: -o FILE.");
    if (status == 0) status = check_output(output, OUTPUT_PARTICLES, force);
    if (status == 0) status = refuse_input(set, output);
    if (status) return status;
    const svmp_ranges ranges = {s->points, s->dimension, s->known, s->ranges.rows, s->from, s->to, s->range};
    svmp_particles *particles = NULL;
    char *written = NULL;
    svmp_status done = svmp_localise(context, &ranges, s->found);
    if (spread == 0) spread = usual_spread(s);
    if (done == SVMP_OK) done = make_particles(context, s, options_value(set, "name"), n, spread, seed, &particles);
    if (done == SVMP_OK) status = netcdf_write_in_subprocess(context, particles, output, NULL, force, &written);
    free(written);
    if (done == SVMP_OK && status == 0)
        printf("%zu particles of %zu points, %zu of them known, from %zu ranges; spread %.3g\n", n, s->points,
               s->anchors.rows, s->ranges.rows, spread);
    svmp_particles_free(particles);
    return done == SVMP_OK ? status : failed(context, done);
}

int locate_points(const option_set *set, svmp_context *context) {
    scene s = {0};
    const int status = locate(set, context, &s);
    csv_free(&s.ranges);
    csv_free(&s.anchors);
    free(s.from);
    free(s.to);
    free(s.range);
    free(s.known);
    return status;
}
