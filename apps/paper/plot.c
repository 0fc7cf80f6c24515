/* The panels of each figure, in the paper's arrangement: a line a method, a band of two standard errors. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "sensor_map.h"

typedef struct line {
    const char *series, *method, *title;
} line;

typedef struct panel {
    const char *name, *title, *x_label, *metric, *y_label;
    int log_x;
    const line *lines; /* ends with a NULL method */
} panel;

/* ---- which ------------------------------------------------------------------------------------------------------- */

static const line lines_1[] = {{"d=1", "vanilla", "vanilla, d = 1"}, {"d=2", "vanilla", "d = 2"},
                               {"d=5", "vanilla", "d = 5"},          {"d=10", "vanilla", "d = 10"},
                               {"d=20", "vanilla", "d = 20"},        {"d=50", "vanilla", "d = 50"},
                               {"d=100", "vanilla", "d = 100"},      {"d=1", "independent", "independent, d = 1"},
                               {"d=100", "independent", "d = 100"},  {"d=1", DEFAULT_METHOD, "default, d = 1"},
                               {"d=100", DEFAULT_METHOD, "d = 100"}, {0}};
static const line lines_2[] = {
    {"", "graphical", "SVGD (graphical)"}, {"", "vanilla", "SVGD (vanilla)"},           {"", "exact", "Monte Carlo"},
    {"", "langevin", "Langevin"},          {"", DEFAULT_METHOD, "default (transport)"}, {0}};
static const line lines_2d[] = {{"radius", "graphical", "SVGD (graphical)"},
                                {"radius", "vanilla", "SVGD (vanilla)"},
                                {"radius", DEFAULT_METHOD, "default (transport)"},
                                {0}};
static const line lines_3[] = {{"", "random", "SVGD (graphical+random)"},
                               {"", "combined", "SVGD (combine)"},
                               {"", "vanilla", "SVGD (vanilla)"},
                               {"", "exact", "Monte Carlo"},
                               {"", "langevin", "Langevin"},
                               {"", DEFAULT_METHOD, "default (transport)"},
                               {0}};
#define LINES_5(start)                                                                                                 \
    {start, "graphical", "SVGD (graphical)"}, {start, "vanilla", "SVGD (vanilla)"}, {start, "langevin", "Langevin"},   \
        {start, "dpmp", "D-PMP"}, {start, "tpmp", "T-PMP"}, {                                                          \
        start, DEFAULT_METHOD, "default (transport)"                                                                   \
    }
static const line lines_5_data[] = {LINES_5("data"), {0}};
static const line lines_5_uniform[] = {LINES_5("uniform"), {"own", DEFAULT_METHOD, "default, own start"}, {0}};
static const line lines_6[] = {{"", "graphical", "SVGD (graphical)"},
                               {"", "vanilla", "SVGD (vanilla)"},
                               {"", "langevin", "Langevin"},
                               {"", DEFAULT_METHOD, "default (transport)"},
                               {0}};

#define N   "number of particles"
#define MSE "log10 MSE"
#define MMD "log10 MMD"
static const panel panels[] = {
    {"fig1", "Variance found for N(0, I_d)", N, "variance", "estimated variance", 1, lines_1},
    {"fig2a", "(a) E[x]", N, "log10 mean", MSE, 1, lines_2},
    {"fig2b", "(b) E[x^2]", N, "log10 square", MSE, 1, lines_2},
    {"fig2c", "(c) MMD", N, "log10 mmd", MMD, 1, lines_2},
    {"fig2d", "(d) MMD as the graph becomes denser, n = 20", "connectivity radius r", "log10 mmd", MMD, 0, lines_2d},
    {"fig3a", "(a) E[x]", N, "log10 mean", MSE, 1, lines_3},
    {"fig3b", "(b) E[x^2]", N, "log10 square", MSE, 1, lines_3},
    {"fig3c", "(c) MMD", N, "log10 mmd", MMD, 1, lines_3},
    {"fig5a_data", "(a) location error, start from the data", N, "location", "root MSE", 1, lines_5_data},
    {"fig5b_data", "(b) E[x], start from the data", N, "log10 mean", MSE, 1, lines_5_data},
    {"fig5c_data", "(c) E[x^2], start from the data", N, "log10 square", MSE, 1, lines_5_data},
    {"fig5d_data", "(d) MMD, start from the data", N, "log10 mmd", MMD, 1, lines_5_data},
    {"fig5a_uniform", "(a) location error, uniform start", N, "location", "root MSE", 1, lines_5_uniform},
    {"fig5b_uniform", "(b) E[x], uniform start", N, "log10 mean", MSE, 1, lines_5_uniform},
    {"fig5c_uniform", "(c) E[x^2], uniform start", N, "log10 square", MSE, 1, lines_5_uniform},
    {"fig5d_uniform", "(d) MMD, uniform start", N, "log10 mmd", MMD, 1, lines_5_uniform},
    {"fig6a", "(a) true answers", N, "log10 truth", MSE, 1, lines_6},
    {"fig6b", "(b) posterior mean", N, "log10 mean", MSE, 1, lines_6},
    {"fig6c", "(c) posterior variance", N, "log10 posterior_var", MSE, 1, lines_6},
    {"fig6d", "(d) MMD", N, "log10 mmd", MMD, 1, lines_6},
};

/* A method has its colour in every figure; those of figure 1 grow darker with the dimension. */
static const char *colour(const line *l) {
    static const struct {
        const char *method, *colour;
    } colours[] = {{"graphical", "#c02020"}, {"random", "#c02020"}, {"combined", "#d08000"},
                   {"vanilla", "#2050b0"},   {"exact", "#303030"},  {"langevin", "#208040"},
                   {"dpmp", "#8030a0"},      {"tpmp", "#a08020"},   {DEFAULT_METHOD, "#e000a0"}};
    static const struct {
        const char *series, *colour;
    } blues[] = {{"d=1", "#b8d0f0"},  {"d=2", "#98b8e8"},  {"d=5", "#78a0e0"},  {"d=10", "#5888d8"},
                 {"d=20", "#3868c0"}, {"d=50", "#2050a0"}, {"d=100", "#103070"}};
    if (strcmp(l->method, DEFAULT_METHOD) == 0)
        return strcmp(l->series, "d=1") == 0 || strcmp(l->series, "own") == 0 ? "#f090d0" : "#e000a0";
    if (strcmp(l->method, "independent") == 0) return strcmp(l->series, "d=1") == 0 ? "#e08080" : "#c02020";
    for (size_t k = 0; k < sizeof blues / sizeof *blues; k++)
        if (strcmp(blues[k].series, l->series) == 0) return blues[k].colour;
    for (size_t k = 0; k < sizeof colours / sizeof *colours; k++)
        if (strcmp(colours[k].method, l->method) == 0) return colours[k].colour;
    return "#808080";
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

typedef struct drawing {
    const paper *paper;
    const panel *panel;
    const csv *summary;
} drawing;

/* $name <<EOD: x, mean, standard error. Returns how many. */
static size_t write_points(FILE *file, const csv *s, const line *l, const char *metric, size_t number) {
    enum { SERIES, METHOD, STEP, X, METRIC, MEAN, ERROR };
    size_t points = 0;
    fprintf(file, "$line%zu << EOD\n", number);
    for (size_t r = 0; r < s->rows; r++) {
        if (strcmp(csv_cell(s, r, SERIES), l->series) != 0 || strcmp(csv_cell(s, r, METHOD), l->method) != 0 ||
            strcmp(csv_cell(s, r, METRIC), metric) != 0 || strcmp(csv_cell(s, r, MEAN), "nan") == 0)
            continue;
        fprintf(file, "%s %s %s\n", csv_cell(s, r, X), csv_cell(s, r, MEAN), csv_cell(s, r, ERROR));
        points++;
    }
    fputs("EOD\n", file);
    return points;
}

/* The lowest and the highest mean of a line. */
static void range_of(const csv *s, const line *l, const char *metric, double *low, double *high) {
    enum { SERIES, METHOD, STEP, X, METRIC, MEAN };
    for (size_t r = 0; r < s->rows; r++) {
        if (strcmp(csv_cell(s, r, SERIES), l->series) != 0 || strcmp(csv_cell(s, r, METHOD), l->method) != 0 ||
            strcmp(csv_cell(s, r, METRIC), metric) != 0)
            continue;
        *low = fmin(*low, strtod(csv_cell(s, r, MEAN), NULL));
        *high = fmax(*high, strtod(csv_cell(s, r, MEAN), NULL));
    }
}

/* Whether the default method is so far below all others, being exact, that its line would press theirs together. */
static int is_far_below(const drawing *d, const line *l) {
    const double far = 5;
    double low = INFINITY, high = -INFINITY, own_low = INFINITY, own_high = -INFINITY;
    if (strcmp(l->method, DEFAULT_METHOD) != 0) return 0;
    for (const line *k = d->panel->lines; k->method; k++) {
        const int own = strcmp(k->method, DEFAULT_METHOD) == 0;
        range_of(d->summary, k, d->panel->metric, own ? &own_low : &low, own ? &own_high : &high);
    }
    return own_high < low - far;
}

/* More lines than a key below the panel has room for. */
static int many_lines(const panel *p) {
    size_t count = 0;
    while (p->lines[count].method) count++;
    return count > 7;
}

static void write_panel(FILE *file, const void *user_data) {
    const drawing *d = user_data;
    const panel *p = d->panel;
    fprintf(file, "set title \"%s\" noenhanced\nset xlabel '%s'\nset ylabel '%s'\n", p->title, p->x_label, p->y_label);
    fputs("set grid lc rgb '#e0e0e0'\nset border 3\nset tics nomirror\nset xlabel offset 0,0.4\n", file);
    fputs(many_lines(p) ? "set key outside right top\n" : "set key below maxcols 2 samplen 2 height 0.5\n", file);
    if (p->log_x) fputs("set logscale x\nset xtics (5, 10, 20, 50, 100, 200)\nset xrange [4.5:220]\n", file);
    if (strcmp(p->metric, "variance") == 0)
        fputs("set yrange [0:1.1]\nset arrow from graph 0,first 1 to graph 1,first 1 nohead dt 2 lc rgb '#808080'\n",
              file);
    size_t points[16] = {0}, count = 0;
    for (; p->lines[count].method; count++)
        points[count] = write_points(file, d->summary, &p->lines[count], p->metric, count);
    const char *comma = "plot ";
    for (size_t k = 0; k < count; k++) {
        if (points[k] == 0) continue;
        if (is_far_below(d, &p->lines[k])) {
            fprintf(file, "%sNaN with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s' title '%s: exact, far below'", comma,
                    colour(&p->lines[k]), p->lines[k].title);
            continue;
        }
        fprintf(
            file,
            "%s$line%zu using 1:($2-2*$3):($2+2*$3) with filledcurves fc rgb '%s' fs transparent solid 0.2 notitle, "
            "$line%zu using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s' title '%s'",
            comma, k, colour(&p->lines[k]), k, colour(&p->lines[k]), p->lines[k].title);
        comma = ", ";
    }
    fputs("\n", file);
}

int draw_figure(const paper *p, const figure *f) {
    char path[PATH_SIZE];
    csv summary = {0};
    if (f->number == 4) return draw_maps(p);
    snprintf(path, sizeof path, "%s/paper/%s.csv", p->options.folder, f->name);
    int status = csv_read(path, &summary);
    for (size_t k = 0; k < sizeof panels / sizeof *panels && status == 0; k++) {
        if (strncmp(panels[k].name, f->name, strlen(f->name)) != 0) continue;
        const drawing d = {p, &panels[k], &summary};
        status = draw_script(p, panels[k].name, many_lines(&panels[k]) ? 560 : 420, 360, write_panel, &d);
    }
    csv_free(&summary);
    return status;
}
