#include "paper_gaussian.h"

#include <math.h>
#include <stdlib.h>

#include "front/memory_file.h"
#include "paper_measure.h"
#include "paper_random.h"

enum { REFERENCE_DRAWS = 2000, PURPOSE_FIELD = 1 };

/* The upper half of A, row by row, and its diagonal. Symmetrising two uniform numbers gives their mean. */
static void draw_field(dice *d, size_t n, joined_function joined, double radius, double *a, double *b) {
    for (size_t i = 0; i < n; i++) b[i] = dice_normal(d);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            a[i * n + j] = a[j * n + i] =
                joined(i, j, radius) ? (dice_uniform(d, -0.1, 0.1) + dice_uniform(d, -0.1, 0.1)) / 2 : 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += j == i ? 0 : fabs(a[i * n + j]);
        a[i * n + i] = 0.1 + sum;
    }
}

/* N, b and a (the diagonal), and for each entry above it from, to and w: the data of models/gaussian_grid.bug. */
static char *field_data(size_t n, const double *a, const double *b, size_t *size) {
    char *text = NULL;
    FILE *file = open_written(&text, size);
    if (file == NULL) return NULL;
    fprintf(file, "N <- %zu\n", n);
    dump_vector(file, "b", n, b, 1);
    dump_vector(file, "a", n, a, n + 1);
    static const char *const names[] = {"from", "to", "w"};
    for (int which = 0; which < 3; which++) {
        const char *comma = "";
        fprintf(file, "%s <- c(", names[which]);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                if (a[i * n + j] == 0) continue;
                if (which < 2)
                    fprintf(file, "%s%zu", comma, which ? j + 1 : i + 1);
                else
                    fprintf(file, "%s%.17g", comma, a[i * n + j]);
                comma = ", ";
            }
        fputs(")\n", file);
    }
    close_written(file, &text);
    return text;
}

static int write_field(const task *t, size_t n, joined_function joined, double radius, const char *path) {
    double *a = calloc(n * n + n, sizeof *a);
    size_t size = 0;
    if (a == NULL) return task_no_memory();
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_FIELD + (unsigned)radius);
    draw_field(&d, n, joined, radius, a, a + n * n);
    char *text = field_data(n, a, a + n * n, &size);
    const int status = text ? write_output(path, text, size, 1) : task_no_memory();
    free(text);
    free(a);
    return status;
}

static int find_moments(const task *t, gaussian_problem *problem) {
    const size_t d = problem->variables;
    problem->mean = calloc(2 * d, sizeof *problem->mean);
    if (problem->mean == NULL) return task_no_memory();
    problem->square = problem->mean + d;
    const svmp_status status = svmp_model_exact_moments(problem->model, problem->mean, problem->square);
    if (status != SVMP_OK) return task_failed(t, status);
    for (size_t i = 0; i < d; i++) problem->square[i] += problem->mean[i] * problem->mean[i];
    return 0;
}

int gaussian_draw(const task *t, size_t variables, joined_function joined, double radius, const char *part,
                  gaussian_problem *problem) {
    char path[PATH_SIZE];
    *problem = (gaussian_problem){.variables = variables};
    task_path(t, "problems", part, "R", path);
    int status = write_field(t, variables, joined, radius, path);
    if (status == 0) status = task_model(t, "gaussian_grid", path, &problem->model);
    if (status == 0) status = find_moments(t, problem);
    if (status) return status;
    settings options = task_options(t, "exact", REFERENCE_DRAWS, 1);
    options.step = NULL;
    options.seed++; /* other draws than those of the method 'exact' */
    return task_run(t, problem->model, &options, NULL, &problem->reference, NULL);
}

void gaussian_free(gaussian_problem *problem) {
    svmp_particles_free(problem->reference);
    svmp_model_free(problem->model);
    free(problem->mean);
}

int gaussian_measure(task *t, const gaussian_problem *problem, const char *series, const char *method, size_t particles,
                     size_t iterations, double x) {
    if (!task_runs(t, method)) return 0;
    const settings options = task_options(t, method, particles, iterations);
    svmp_particles *sample = NULL;
    svmp_comparison c;
    int status = task_run(t, problem->model, &options, NULL, &sample, NULL);
    if (status == 0 && sample) {
        const svmp_status compared = svmp_particles_compare(sample, problem->reference, &c);
        if (compared != SVMP_OK) status = task_failed(t, compared);
    }
    const place where = {series, method, options.step, x};
    const double *mean = problem->mean, *square = problem->square;
    if (status == 0) status = add_value(t, where, "mean", sample ? mse_mean(sample, mean) : INFINITY);
    if (status == 0) status = add_value(t, where, "square", sample ? mse_square(sample, square) : INFINITY);
    if (status == 0) status = add_value(t, where, "mmd", sample ? c.mmd : INFINITY);
    svmp_particles_free(sample);
    return status;
}
