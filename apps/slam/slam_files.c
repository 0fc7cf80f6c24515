#include "slam/slam_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "front/output_check.h"
#include "front/program_context.h"
#include "svmp_slam.h"

enum { POINTS_MOST = 10000000, NAME_MOST = 64, SHOWN = 10 };

static const double unclear = 6; /* a margin of log densities below which two positions are not distinguished */

int check_name(const option_set *set, const char *option) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    const char *name = options_value(set, option);
    const size_t length = strlen(name);
    if (length && length <= NAME_MOST && strchr(letters, *name) && strspn(name, others) == length) return 0;
    return report_error(EXIT_WRONG,
                        "The option '--%s' must be a letter followed by letters, digits, '.' or '_', at most %d "
                        "characters in all, not '%s'.",
                        option, NAME_MOST, name);
}

/* The files, and what is found. */
typedef struct slam_files {
    csv odometry, ranges, anchors;
    svmp_odometry data;
    double *steps, *known, *range, *path, *map; /* steps: ahead, left, turn */
    size_t *pose, *landmark;
    svmp_path_fit fit;
    svmp_landmark_fit *each;
} slam_files;

static int read_three(const option_set *set, const char *option, int positive, double value[3]) {
    const char *text = options_value(set, option);
    const char *at = text;
    for (int k = 0; k < 3; k++) {
        char *end;
        value[k] = strtod(at, &end);
        if (end == at || !isfinite(value[k]) || (positive && !(value[k] > 0)) || *end != (k < 2 ? ',' : '\0'))
            return report_error(EXIT_WRONG, "The option '--%s' must be three %snumbers separated by commas, not '%s'.",
                                option, positive ? "positive " : "", text);
        at = end + 1;
    }
    return 0;
}

static int read_number(const csv *t, const char *path, size_t row, size_t column, const char *what, size_t most,
                       size_t *number) {
    double value;
    const int status = csv_number(t, path, row, column, &value);
    if (status) return status;
    if (value < 1 || value > (double)most || value != floor(value))
        return report_error(EXIT_WRONG, "%s:%zu: '%s' is not a %s number from 1 to %zu.", path, row + 2,
                            csv_cell(t, row, column), what, most);
    *number = (size_t)value - 1;
    return 0;
}

static int has_column(const csv *t, const char *name) {
    for (size_t k = 0; k < t->columns; k++)
        if (strcmp(t->cells[k], name) == 0) return 1;
    return 0;
}

/* A file without the column left has no sideways moves. */
static int read_odometry(slam_files *x, const char *path) {
    static const char *const ahead[] = {"ahead", NULL}, *const left[] = {"left", NULL}, *const turn[] = {"turn", NULL};
    size_t column[3] = {0};
    int status = csv_read(path, &x->odometry);
    if (status == 0) status = csv_column(&x->odometry, path, ahead, &column[0]);
    if (status == 0) status = csv_column(&x->odometry, path, turn, &column[2]);
    if (status) return status;
    const int sideways = has_column(&x->odometry, "left");
    const size_t steps = x->odometry.rows;
    if (sideways) status = csv_column(&x->odometry, path, left, &column[1]);
    if (status == 0 && (x->steps = calloc(3 * steps + 1, sizeof *x->steps)) == NULL)
        status = report_error(EXIT_FAILED, "Out of memory.");
    for (size_t t = 0; t < steps; t++)
        for (size_t k = 0; k < 3 && status == 0; k++)
            if (k != 1 || sideways) status = csv_number(&x->odometry, path, t, column[k], &x->steps[k * steps + t]);
    if (status) return status;
    x->data.poses = steps + 1;
    x->data.ahead = x->steps;
    x->data.left = x->steps + steps;
    x->data.turn = x->steps + 2 * steps;
    return 0;
}

static int read_distances(slam_files *x, const char *path) {
    static const char *const pose[] = {"pose", "from", NULL}, *const landmark[] = {"landmark", "to", NULL},
                             *const range[] = {"r", "range", NULL};
    size_t a = 0, b = 0, c = 0;
    int status = csv_read(path, &x->ranges);
    if (status == 0) status = csv_column(&x->ranges, path, pose, &a);
    if (status == 0) status = csv_column(&x->ranges, path, landmark, &b);
    if (status == 0) status = csv_column(&x->ranges, path, range, &c);
    if (status) return status;
    const size_t rows = x->ranges.rows;
    x->pose = calloc(rows + 1, sizeof *x->pose);
    x->landmark = calloc(rows + 1, sizeof *x->landmark);
    x->range = calloc(rows + 1, sizeof *x->range);
    if (x->pose == NULL || x->landmark == NULL || x->range == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t e = 0; e < rows && status == 0; e++) {
        status = read_number(&x->ranges, path, e, a, "pose", x->data.poses, &x->pose[e]);
        if (status == 0) status = read_number(&x->ranges, path, e, b, "landmark", POINTS_MOST, &x->landmark[e]);
        if (status == 0) status = csv_number(&x->ranges, path, e, c, &x->range[e]);
        if (status == 0 && x->range[e] < 0)
            status = report_error(EXIT_WRONG, "%s:%zu: a range must not be negative, as %s is.", path, e + 2,
                                  csv_cell(&x->ranges, e, c));
        if (x->landmark[e] >= x->data.landmarks) x->data.landmarks = x->landmark[e] + 1;
    }
    x->data.count = rows;
    x->data.pose = x->pose;
    x->data.landmark = x->landmark;
    x->data.range = x->range;
    return status;
}

/* The landmarks that were surveyed. */
static int read_known(slam_files *x, const char *path) {
    x->known = malloc((2 * x->data.landmarks + 1) * sizeof *x->known);
    if (x->known == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t k = 0; k < 2 * x->data.landmarks; k++) x->known[k] = NAN;
    x->data.known = x->known;
    if (path == NULL) return 0;
    int status = csv_read(path, &x->anchors);
    if (status) return status;
    if (x->anchors.columns != 3)
        return report_error(EXIT_WRONG, "'%s' has %zu columns; expected a landmark number and 2 coordinates.", path,
                            x->anchors.columns);
    for (size_t row = 0; row < x->anchors.rows && status == 0; row++) {
        size_t k = 0;
        status = read_number(&x->anchors, path, row, 0, "landmark", x->data.landmarks, &k);
        if (status == 0 && !isnan(x->known[2 * k]))
            status = report_error(EXIT_WRONG, "%s:%zu: landmark %zu is given twice.", path, row + 2, k + 1);
        for (size_t c = 0; c < 2 && status == 0; c++)
            status = csv_number(&x->anchors, path, row, c + 1, &x->known[2 * k + c]);
    }
    return status;
}

static int read_files(slam_files *x, const option_set *set) {
    double sds[3];
    int status = 0;
    if (options_given(set, "noise") == NULL)
        status = report_error(EXIT_WRONG, "With --odometry the noise is needed: --noise RANGE,MOVE,TURN.");
    if (status == 0) status = read_three(set, "noise", 1, sds);
    if (status == 0) status = read_three(set, "first", 0, x->data.first);
    if (status == 0) status = read_odometry(x, options_given(set, "odometry"));
    if (status == 0) status = read_distances(x, set->operands[0]);
    if (status == 0) status = read_known(x, set->operand_count > 1 ? set->operands[1] : NULL);
    if (status) return status;
    x->data.range_sd = sds[0], x->data.move_sd = sds[1], x->data.turn_sd = sds[2];
    x->path = calloc(3 * x->data.poses, sizeof *x->path);
    x->map = calloc(2 * x->data.landmarks + 1, sizeof *x->map);
    x->each = calloc(x->data.landmarks + 1, sizeof *x->each);
    return x->path && x->map && x->each ? 0 : report_error(EXIT_FAILED, "Out of memory.");
}

/* What is known is null: it is data of the model, not an unknown with a start. */
static void print_pair(FILE *to, const double *pair, int known, size_t k) {
    if (known)
        fprintf(to, "%s[null, null]", k ? ",\n" : "");
    else
        fprintf(to, "%s[%.17g, %.17g]", k ? ",\n" : "", pair[0], pair[1]);
}

static int write_start(const slam_files *x, const option_set *set) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_written(&text, &size);
    if (to == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    fprintf(to, "{\"%s\": [", options_value(set, "name"));
    for (size_t t = 0; t < x->data.poses; t++) print_pair(to, x->path + 3 * t, t == 0, t);
    fprintf(to, "],\n\"%s\": [null", options_value(set, "heading"));
    for (size_t t = 1; t < x->data.poses; t++) fprintf(to, ",\n%.17g", x->path[3 * t + 2]);
    fprintf(to, "],\n\"%s\": [", options_value(set, "map"));
    for (size_t k = 0; k < x->data.landmarks; k++) print_pair(to, x->map + 2 * k, !isnan(x->known[2 * k]), k);
    fprintf(to, "]}\n");
    if (!close_written(to, &text)) return report_error(EXIT_FAILED, "Out of memory.");
    const int status = write_output(options_value(set, "output"), text, size, options_given(set, "force") != NULL);
    free(text);
    return status;
}

/* What may be wrong with it is said, not hidden. */
static void print_doubts(const slam_files *x) {
    size_t shown = 0, unsure = 0, strange = 0;
    for (size_t k = 0; k < x->data.landmarks; k++) {
        const svmp_landmark_fit *fit = &x->each[k];
        const double *at = x->map + 2 * k;
        if (fit->margin < unclear && shown < SHOWN) {
            shown++;
            if (isnan(fit->other[0]))
                printf("warning: landmark %zu is not determined by its %zu range%s.\n", k + 1, fit->ranges,
                       fit->ranges == 1 ? "" : "s");
            else
                printf("warning: landmark %zu may be at (%.4g, %.4g) or at (%.4g, %.4g): its %zu ranges fit both "
                       "(log density %.2g lower).\n",
                       k + 1, at[0], at[1], fit->other[0], fit->other[1], fit->ranges, fit->margin);
        }
        unsure += fit->margin < unclear;
        strange += 2 * fit->outliers > fit->ranges;
    }
    if (unsure > shown) printf("warning: %zu more landmarks have two possible positions.\n", unsure - shown);
    if (strange)
        printf("warning: most ranges of %zu landmark%s do not fit the map; the map is probably wrong there.\n", strange,
               strange == 1 ? "" : "s");
    if (x->fit.steps)
        printf("warning: %zu step%s of the odometry %s more than 4 sd off, the first from pose %zu; the path may be "
               "folded "
               "there.\n",
               x->fit.steps, x->fit.steps == 1 ? "" : "s", x->fit.steps == 1 ? "is" : "are", x->fit.first_step + 1);
    if (x->fit.moves > 1 || x->fit.turns > 1) /* the fit follows the noise, so that less than 1 is left */
        printf("warning: the odometry is worse than --noise says, or the map is wrong.\n");
    if (x->fit.ranges > 1.5) printf("warning: the ranges are worse than --noise says, or the map is wrong.\n");
}

static void print_found(const slam_files *x) {
    char share[32];
    const double part = x->data.count ? (double)x->fit.outliers / (double)x->data.count : 0;
    printf(
        "%zu poses and %zu landmarks, %zu of them known, from %zu ranges, %zu (%s) of which are more than 4 sd off\n",
        x->data.poses, x->data.landmarks, x->anchors.rows, x->data.count, x->fit.outliers, percentage(part, share));
    printf("root mean square residuals, in sd: moves %.2f, turns %.2f, other ranges %.2f\n", x->fit.moves, x->fit.turns,
           x->fit.ranges);
    print_doubts(x);
}

static int check_request(const option_set *set) {
    static const char *const names[] = {"name", "heading", "map"}, *const others[] = {"particles", "spread", "seed"};
    const char *output = options_given(set, "output");
    for (size_t k = 0; k < 3; k++) {
        const int status = check_name(set, names[k]);
        if (status) return status;
        if (options_given(set, others[k]))
            return report_error(EXIT_WRONG, "With --odometry the result is one point: --%s has no meaning.", others[k]);
    }
    if (output == NULL) return report_error(EXIT_WRONG, "An output file is needed: -o FILE.json.");
    if (strlen(output) < 5 || strcmp(output + strlen(output) - 5, ".json") != 0)
        return report_error(EXIT_WRONG, "With --odometry the output file '%s' must end in .json.", output);
    const int status = check_output(output, OUTPUT_ANY, options_given(set, "force") != NULL);
    return status ? status : refuse_input(set, output);
}

int localise_slam(const option_set *set, svmp_context *context) {
    slam_files x = {0};
    int status = check_request(set);
    if (status == 0) status = read_files(&x, set);
    if (status == 0) {
        const svmp_status found = svmp_localise_path(context, &x.data, x.path, x.map, &x.fit, x.each);
        if (found != SVMP_OK) status = failed(context, found);
    }
    if (status == 0) status = write_start(&x, set);
    if (status == 0) print_found(&x);
    csv_free(&x.odometry);
    csv_free(&x.ranges);
    csv_free(&x.anchors);
    void *const all[] = {x.steps, x.known, x.range, x.path, x.map, x.pose, x.landmark, x.each};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    return status;
}
