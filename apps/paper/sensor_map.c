#include "sensor_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fig4.h"
#include "front/error_output.h"
#include "plot.h"

enum { CELLS = 120, SENSORS_MOST = 256 };

typedef struct map {
    const paper *paper;
    const char *title, *name;
    const map_mark *marks;
    size_t mark_count;
    size_t strong;
    double low[2], high[2];
} map;

/* The density of a sensor's particles on a grid, relative to its maximum. */
static void smooth(const double *x, const double *y, size_t n, double width, const map *m, double *density) {
    double largest = 0;
    memset(density, 0, (size_t)CELLS * CELLS * sizeof *density);
    for (size_t i = 0; i < CELLS; i++)
        for (size_t j = 0; j < CELLS; j++) {
            const double a = m->low[0] + (m->high[0] - m->low[0]) * (double)i / (CELLS - 1);
            const double b = m->low[1] + (m->high[1] - m->low[1]) * (double)j / (CELLS - 1);
            double sum = 0;
            for (size_t l = 0; l < n; l++)
                sum += exp(-0.5 * ((x[l] - a) * (x[l] - a) + (y[l] - b) * (y[l] - b)) / (width * width));
            density[i * CELLS + j] = sum;
            largest = fmax(largest, sum);
        }
    for (size_t k = 0; k < (size_t)CELLS * CELLS; k++) density[k] /= largest;
}

/* The densities of points from ... to - 1, the largest one at each place: so that one that is spread out is seen too.
 */
static int write_grid(const map *m, svmp_particles *sample, double width, size_t from, size_t to, const char *part) {
    char path[PATH_SIZE];
    const size_t n = svmp_particles_count(sample), cells = (size_t)CELLS * CELLS;
    double *density = calloc(2 * cells, sizeof *density);
    if (density == NULL) return task_no_memory();
    double *all = density + cells;
    for (size_t i = 2 * from; i < 2 * to; i += 2) {
        const double *x = svmp_particles_values(sample) + i * n;
        smooth(x, x + n, n, width, m, density);
        for (size_t k = 0; k < cells; k++) all[k] = fmax(all[k], density[k]);
    }
    snprintf(path, sizeof path, "%s/plots/%s.%s", m->paper->options.folder, m->name, part);
    FILE *file = fopen(path, "w");
    for (size_t k = 0; file && k < cells; k++) {
        const double a = m->low[0] + (m->high[0] - m->low[0]) * (double)(k / CELLS) / (CELLS - 1);
        const double b = m->low[1] + (m->high[1] - m->low[1]) * (double)(k % CELLS) / (CELLS - 1);
        fprintf(file, "%.5g %.5g %.4g\n%s", a, b, all[k], k % CELLS == CELLS - 1 ? "\n" : "");
    }
    free(density);
    if (file == NULL || fclose(file) != 0) return report_error(EXIT_FAILED, "Cannot write '%s'.", path);
    return 0;
}

/* The file of a part of the map, in quotes. */
static void write_part(FILE *file, const map *m, const char *part) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/plots/%s.%s", m->paper->options.folder, m->name, part);
    quote(file, path);
}

static void write_contours(FILE *file, const map *m, const char *part, const char *lines) {
    fputs("set table ", file);
    write_part(file, m, lines);
    fputs("\nsplot ", file);
    write_part(file, m, part);
    fputs(" using 1:2:3 notitle\nunset table\n", file);
}

static void write_map(FILE *file, const void *user_data) {
    const map *m = user_data;
    fputs("set contour base\nunset surface\nset cntrparam levels discrete 0.1, 0.3, 0.5, 0.7, 0.9\n", file);
    write_contours(file, m, "weak", "weak.lines");
    if (m->strong) write_contours(file, m, "strong", "strong.lines");
    fputs("unset contour\n", file);
    fputs("$marks << EOD\n", file);
    for (size_t k = 0; k < m->mark_count; k++)
        fprintf(file, "%g %g %d %s\n", m->marks[k].x, m->marks[k].y, m->marks[k].point,
                m->marks[k].label ? m->marks[k].label : "");
    fprintf(file, "EOD\nset title '%s'\nset size ratio -1\nset xrange [%g:%g]\nset yrange [%g:%g]\nunset key\nplot ",
            m->title, m->low[0], m->high[0], m->low[1], m->high[1]);
    write_part(file, m, "weak.lines");
    fputs(" using 1:2 title 'weak' with lines lw 1 lc rgb '#90a8d0', ", file);
    if (m->strong) {
        write_part(file, m, "strong.lines");
        fputs(" using 1:2 title 'strong' with lines lw 1.5 lc rgb '#c02020', ", file);
    }
    fputs("$marks using 1:2:3 with points pt variable ps 1 lw 2 lc rgb '#000000', "
          "$marks using 1:2:(strcol(4)) with labels offset 1.2,0.6 tc rgb '#c02020' font ',11'\n",
          file);
}

int draw_map(const paper *p, const char *name, const char *title, svmp_particles *sample, double width, size_t strong,
             const map_mark *marks, size_t mark_count) {
    map m = {p, title, name, marks, mark_count, strong, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (size_t k = 0; k < mark_count; k++) {
        const double at[2] = {marks[k].x, marks[k].y};
        for (int c = 0; c < 2; c++) m.low[c] = fmin(m.low[c], at[c]), m.high[c] = fmax(m.high[c], at[c]);
    }
    for (int c = 0; c < 2; c++) {
        const double margin = 0.2 * fmax(m.high[0] - m.low[0], m.high[1] - m.low[1]);
        m.low[c] -= margin, m.high[c] += margin;
    }
    size_t points = 0;
    while (2 * points < svmp_particles_variables(sample) && svmp_particles_name(sample, 2 * points)[0] == 'x') points++;
    int status = write_grid(&m, sample, width, 0, points - strong, "weak");
    if (status == 0 && strong) status = write_grid(&m, sample, width, points - strong, points, "strong");
    return status ? status : draw_script(p, name, 360, 340, write_map, &m);
}

int draw_maps(const paper *p) {
    static const char *const methods[] = {"nuts", "graphical", "vanilla", "langevin", "dpmp", "tpmp", DEFAULT_METHOD};
    static const char *const titles[] = {"NUTS",  "SVGD (graphical)",   "SVGD (vanilla)", "Langevin", "D-PMP",
                                         "T-PMP", "default (transport)"};
    map_mark marks[32];
    const size_t count = fig4_marks(marks);
    svmp_context *context = NULL;
    int status = svmp_context_create(NULL, &context) == SVMP_OK ? 0 : task_no_memory();
    for (size_t k = 0; k < 7 && status == 0; k++) {
        char path[PATH_SIZE], name[64];
        svmp_particles *sample = NULL;
        snprintf(path, sizeof path, "%s/plots/fig4_001_%s.csv", p->options.folder, methods[k]);
        snprintf(name, sizeof name, "fig4_%s", methods[k]);
        if (!file_there(path)) continue;
        if (svmp_particles_read(context, path, &sample) != SVMP_OK)
            status = report_error(EXIT_FAILED, "%s", svmp_context_error(context));
        if (status == 0) status = draw_map(p, name, titles[k], sample, 0.03, 2, marks, count);
        svmp_particles_free(sample);
    }
    svmp_context_free(context);
    return status;
}
