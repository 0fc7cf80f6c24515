/* Compares graphical and vanilla SVGD on a Gaussian with a known answer: grid PRECISION LINEAR [TABLE]
 *
 * The model is a square grid; each point is connected to its four neighbours. Graphical SVGD gives each point a kernel
 * on itself and its neighbours, vanilla SVGD uses one kernel on all points. With few particles the single kernel loses
 * variance, and the small ones do not. `make run` shows this; TABLE is a CSV file for the variances. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <svmp.h>

#define PARTICLES 50

/* The particles of a method compared with the exact answer. Variances are those of the particles: E[x^2] - E[x]^2.
 */
typedef struct answer {
    const char *method;
    double *variance;                   /* of each variable */
    double mse_mean, mse_square, ratio; /* mean squared errors of E[x] and E[x^2]; mean of variance / exact variance */
} answer;

static double square(double x) { return x * x; }

static svmp_status infer(svmp_context *context, const svmp_model *model, const double *exact_mean,
                         const double *exact_variance, answer *found) {
    svmp_options *options = NULL;
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    svmp_status status;
    if ((status = svmp_options_create(context, &options)) == SVMP_OK &&
        (status = svmp_options_set(options, "method", found->method)) == SVMP_OK &&
        (status = svmp_options_set_count(options, "particles", PARTICLES)) == SVMP_OK &&
        (status = svmp_run_create(model, options, &run)) == SVMP_OK &&
        (status = svmp_run_go(run, &outcome)) == SVMP_OK && (status = svmp_run_particles(run, &particles)) == SVMP_OK) {
        size_t d = svmp_particles_variables(particles);
        for (size_t i = 0; i < d; i++) {
            const double *x = svmp_particles_values(particles) + i * PARTICLES;
            double mean = 0, squares = 0;
            for (size_t l = 0; l < PARTICLES; l++) mean += x[l] / PARTICLES;
            for (size_t l = 0; l < PARTICLES; l++) squares += x[l] * x[l] / PARTICLES;
            found->variance[i] = squares - mean * mean;
            found->mse_mean += square(mean - exact_mean[i]) / (double)d;
            found->mse_square += square(squares - exact_variance[i] - square(exact_mean[i])) / (double)d;
            found->ratio += found->variance[i] / exact_variance[i] / (double)d;
        }
    }
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_options_free(options);
    return status;
}

/* Maps of the standard deviation side by side: light is small, dark is large, one scale for all. */
static void draw_maps(size_t side, size_t count, const char *const *titles, const double *const *variances) {
    static const char shades[] = " .:-=+*#%@";
    const size_t levels = sizeof shades - 1;
    double low = INFINITY, high = 0;
    for (size_t map = 0; map < count; map++)
        for (size_t i = 0; i < side * side; i++) {
            low = fmin(low, sqrt(variances[map][i]));
            high = fmax(high, sqrt(variances[map][i]));
        }
    for (size_t map = 0; map < count; map++) printf("  %-*s", map + 1 < count ? (int)(2 * side + 2) : 0, titles[map]);
    printf("\n");
    for (size_t row = 0; row < side; row++) {
        for (size_t map = 0; map < count; map++) {
            printf("  |");
            for (size_t column = 0; column < side; column++) {
                double part = (sqrt(variances[map][row * side + column]) - low) / (high - low);
                size_t level = (size_t)(part * (double)levels);
                char shade = shades[level < levels ? level : levels - 1];
                printf("%c%c", shade, shade);
            }
            printf("|");
        }
        printf("\n");
    }
    printf("  sd from %.1f '%c' to %.1f '%c'\n\n", low, shades[0], high, shades[levels - 1]);
}

static svmp_status write_table(const char *path, size_t d, const double *exact, const double *graphical,
                               const double *vanilla) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return SVMP_CANNOT_WRITE;
    fprintf(file, "node,exact,graphical,vanilla\n");
    for (size_t i = 0; i < d; i++) fprintf(file, "%zu,%.17g,%.17g,%.17g\n", i + 1, exact[i], graphical[i], vanilla[i]);
    int failed = ferror(file);
    return fclose(file) || failed ? SVMP_CANNOT_WRITE : SVMP_OK;
}

static svmp_status show(svmp_context *context, const char *const *files, const char *table) {
    svmp_model *model = NULL;
    double *numbers = NULL;
    svmp_status status = svmp_model_read(context, 2, files, NULL, &model);
    if (status != SVMP_OK) return status;

    const svmp_graph *graph = svmp_model_graph(model);
    size_t d = svmp_graph_variables(graph), side = (size_t)lround(sqrt((double)d));
    if ((numbers = calloc(4 * d, sizeof *numbers)) == NULL) {
        svmp_model_free(model);
        return SVMP_NO_MEMORY;
    }
    double *mean = numbers, *variance = numbers + d;
    answer graphical = {.method = "graphical", .variance = numbers + 2 * d};
    answer vanilla = {.method = "vanilla", .variance = numbers + 3 * d};
    if ((status = svmp_model_exact_moments(model, mean, variance)) == SVMP_OK &&
        (status = infer(context, model, mean, variance, &graphical)) == SVMP_OK &&
        (status = infer(context, model, mean, variance, &vanilla)) == SVMP_OK) {
        printf("%s: %zu variables, %zu factors; %d particles beside the exact answer\n\n", files[0], d,
               svmp_graph_factors(graph), PARTICLES);
        printf("  method       MSE of E[x]   MSE of E[x^2]   variance / exact\n");
        for (int k = 0; k < 2; k++) {
            const answer *r = k == 0 ? &graphical : &vanilla;
            printf("  %-10s %13.2g %15.2g %18.2f\n", r->method, r->mse_mean, r->mse_square, r->ratio);
        }
        printf("\nErrors of E[x] are those of the means alone; E[x^2] has the spread, too.\n");
        printf("The standard deviation of each variable, two characters wide:\n\n");
        if (side * side == d)
            draw_maps(side, 3, (const char *const[]){"exact", "graphical", "vanilla"},
                      (const double *const[]){variance, graphical.variance, vanilla.variance});
        const answer *best = fabs(1 - graphical.ratio) < fabs(1 - vanilla.ratio) ? &graphical : &vanilla;
        const answer *other = best == &graphical ? &vanilla : &graphical;
        printf("With %d particles %s SVGD keeps %.0f %% of the posterior's variance and %s SVGD %.0f %%.\n", PARTICLES,
               best->method, 100 * best->ratio, other->method, 100 * other->ratio);
        if (table) status = write_table(table, d, variance, graphical.variance, vanilla.variance);
    }
    free(numbers);
    svmp_model_free(model);
    return status;
}

int main(int count, char **arguments) {
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: grid PRECISION LINEAR [TABLE] (models/grid.mtx models/grid_b.mtx)\n");
        return 2;
    }
    svmp_context *context = NULL;
    svmp_status status = svmp_context_create(NULL, &context);
    if (status == SVMP_OK) status = show(context, (const char *const *)arguments + 1, count > 3 ? arguments[3] : NULL);
    if (status != SVMP_OK) {
        const char *error = svmp_context_error(context);
        fprintf(stderr, "grid: %s\n", *error ? error : svmp_status_text(status));
    }
    svmp_context_free(context);
    return status == SVMP_OK ? 0 : 1;
}
