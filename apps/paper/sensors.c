#include "sensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/memory_file.h"
#include "paper_measure.h"
#include "svmp_slam.h"

enum { PURPOSE_START = 77 };

int network_measure(network *net, dice *d, double reach, double sigma) {
    const size_t most = net->points * (net->points - 1) / 2;
    net->sigma = sigma;
    net->from = calloc(most, sizeof *net->from);
    net->to = calloc(most, sizeof *net->to);
    net->range = calloc(most, sizeof *net->range);
    if (net->from == NULL || net->to == NULL || net->range == NULL) return task_no_memory();
    for (size_t i = 0; i < net->points; i++)
        for (size_t j = i + 1; j < net->points; j++) {
            const double *a = net->position + 2 * i, *b = net->position + 2 * j;
            const double distance = hypot(a[0] - b[0], a[1] - b[1]);
            if (j < net->anchors || distance >= reach) continue;
            net->from[net->count] = i;
            net->to[net->count] = j;
            net->range[net->count++] = distance + sigma * dice_normal(d);
        }
    return 0;
}

void network_free(network *net) {
    free(net->position);
    free(net->from);
    free(net->to);
    free(net->range);
}

static void dump_ends(FILE *file, const char *name, size_t count, const size_t *ends) {
    fprintf(file, "%s <- c(", name);
    for (size_t e = 0; e < count; e++) fprintf(file, "%s%zu", e ? ", " : "", ends[e] + 1);
    fputs(")\n", file);
}

/* An R dump is column-major: all first coordinates, then all second ones. */
static char *network_data(const network *net, size_t *size) {
    char *text = NULL;
    FILE *file = open_written(&text, size);
    if (file == NULL) return NULL;
    fprintf(file, "S <- %zu\n", net->points);
    if (net->sigma > 0) fprintf(file, "sigma <- %.17g\n", net->sigma);
    fputs("x <- structure(c(", file);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < net->points; i++) {
            if (i || k) fputs(", ", file);
            if (i < net->anchors)
                fprintf(file, "%.17g", net->position[2 * i + k]);
            else
                fputs("NA", file);
        }
    fprintf(file, "), .Dim = c(%zu, 2))\n", net->points);
    dump_ends(file, "from", net->count, net->from);
    dump_ends(file, "to", net->count, net->to);
    if (net->logarithms) { /* places within 10 m of the anchors' middle, more or less */
        double centre[2] = {0, 0};
        for (size_t k = 0; k < 2 * net->anchors; k++) centre[k % 2] += net->position[k] / (double)net->anchors;
        dump_vector(file, "centre", 2, centre, 1);
        fputs("precision <- structure(c(0.01, 0, 0, 0.01), .Dim = c(2, 2))\nlogr <- c(", file);
        for (size_t e = 0; e < net->count; e++) fprintf(file, "%s%.17g", e ? ", " : "", log(net->range[e]));
        fputs(")\n", file);
    } else
        dump_vector(file, "r", net->count, net->range, 1);
    close_written(file, &text);
    return text;
}

int network_model(const task *t, const network *net, const char *name, svmp_model **model) {
    char path[PATH_SIZE];
    size_t size = 0;
    task_path(t, "problems", NULL, "R", path);
    char *text = network_data(net, &size);
    int status = text ? write_output(path, text, size, 1) : task_no_memory();
    free(text);
    return status ? status : task_model(t, name, path, model);
}

int network_particles(const task *t, const network *net, const double *position, size_t count, double sd,
                      svmp_particles **particles) {
    const size_t sensors = net->points - net->anchors;
    svmp_status status = svmp_particles_create(t->context, 2 * sensors, count, NULL, particles);
    if (status != SVMP_OK) return task_failed(t, status);
    double *x = svmp_particles_values(*particles);
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_START);
    for (size_t i = 0; i < 2 * sensors && status == SVMP_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "x.%zu.%zu", net->anchors + i / 2 + 1, i % 2 + 1);
        status = svmp_particles_set_name(*particles, i, name);
        for (size_t l = 0; l < count; l++)
            x[i * count + l] = position[2 * net->anchors + i] + (sd > 0 ? sd * dice_normal(&d) : 0);
    }
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

int network_start(const task *t, const network *net, size_t count, double sd, svmp_particles **particles) {
    double *known = malloc(2 * 2 * net->points * sizeof *known);
    if (known == NULL) return task_no_memory();
    double *found = known + 2 * net->points;
    for (size_t k = 0; k < 2 * net->points; k++) known[k] = k < 2 * net->anchors ? net->position[k] : NAN;
    const svmp_ranges ranges = {net->points, 2, known, net->count, net->from, net->to, net->range};
    const svmp_status located = svmp_localise(t->context, &ranges, found);
    const int status =
        located == SVMP_OK ? network_particles(t, net, found, count, sd, particles) : task_failed(t, located);
    free(known);
    return status;
}
