#include "real_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "sensor_map.h"

int draw_network(const paper *p, const char *name, const char *method, const network *net, svmp_particles *sample) {
    enum { CROSS = 2, DOT = 7 };
    char file[64];
    map_mark *marks = calloc(net->points, sizeof *marks);
    double low = INFINITY, high = -INFINITY;
    if (marks == NULL) return task_no_memory();
    for (size_t i = 0; i < net->points; i++) {
        marks[i] = (map_mark){net->position[2 * i], net->position[2 * i + 1], i < net->anchors ? CROSS : DOT, NULL};
        low = fmin(low, net->position[2 * i]), high = fmax(high, net->position[2 * i]);
    }
    snprintf(file, sizeof file, "real_%s_%s", name, strcmp(method, "NUTS") == 0 ? "nuts" : "graphical");
    const int status = draw_map(p, file, method, sample, (high - low) / 100, 0, marks, net->points);
    free(marks);
    return status;
}

typedef struct scatter {
    const crowd *people;
    const svmp_particles *samples[2];
    const char *name;
} scatter;

/* Both methods' intervals stand side by side: this part of the axis to the left and to the right of the truth. */
static const double beside = 0.012;

static void write_scatter(FILE *file, const void *user_data) {
    const scatter *s = user_data;
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < 2; k++) {
        fprintf(file, "$points%zu << EOD\n", k);
        for (size_t i = 0; i < svmp_particles_variables(s->samples[k]); i++) {
            const char *name = svmp_particles_name(s->samples[k], i);
            svmp_moments m;
            if (strncmp(name, "x.", 2) != 0 || svmp_particles_moments(s->samples[k], i, &m) != SVMP_OK) continue;
            const double truth = s->people->truth[strtoul(name + 2, NULL, 10) - 1];
            low = fmin(low, truth), high = fmax(high, truth);
            fprintf(file, "%g %g %g %g\n", truth, m.mean, m.q05, m.q95);
        }
        fputs("EOD\n", file);
    }
    fprintf(file,
            "set title '%s'\nset xlabel 'truth (logarithm, centred)'\nset ylabel 'estimate, 90%% interval'\n"
            "set key top left\nset grid lc rgb '#e0e0e0'\nset border 3\nset tics nomirror\n"
            "plot x with lines dt 2 lc rgb '#808080' notitle, "
            "$points0 using ($1-%g):2:3:4 with yerrorbars pt 7 ps 0.5 lc rgb '#c02020' title 'SVGD (graphical)', "
            "$points1 using ($1+%g):2:3:4 with yerrorbars pt 7 ps 0.5 lc rgb '#303030' title 'NUTS'\n",
            s->name, beside * (high - low), beside * (high - low));
}

int draw_crowd(const paper *p, const char *name, const crowd *c, const svmp_particles *graphical,
               const svmp_particles *nuts) {
    char file[64];
    const scatter s = {c, {graphical, nuts}, name};
    snprintf(file, sizeof file, "real_%s", name);
    return draw_script(p, file, 520, 360, write_scatter, &s);
}
