/* Splits a model among processes: mpirun -n 4 processes OUTPUT.csv MODEL [DATA...], or one process without mpirun.
 *
 * All processes make the same calls, each moves the nodes of its own part, and the first one writes: the file that one
 * process would have written. All get the same statuses and errors, so the first one prints them. */
#include <stdio.h>
#include <svmp_parallel.h>
#include <time.h>

/* Clocks differ slightly: if one process stops, all do. */
static int is_late(const svmp_progress *progress, void *user_data) {
    (void)progress;
    return difftime(time(NULL), *(const time_t *)user_data) > 60;
}

int main(int count, char **arguments) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    const int prints = launch.process == 0; /* known even before they join, or if they cannot */
    if (count < 3) {
        if (prints) fprintf(stderr, "usage: processes OUTPUT.csv MODEL [DATA...]\n");
        return 2;
    }
    const char *output = arguments[1], *const *files = (const char *const *)arguments + 2;
    time_t started = time(NULL);
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    svmp_options *options = NULL;
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    svmp_split split;
    svmp_outcome outcome;
    svmp_discrepancy found;
    int failed = svmp_context_create(NULL, &context) || svmp_context_join(context) ||
                 svmp_model_read_split(context, (size_t)count - 2, files, NULL, &model, &split) ||
                 svmp_options_create(context, &options) || svmp_options_set(options, "method", "graphical") ||
                 svmp_run_create(model, options, &run) || svmp_run_set_monitor(run, is_late, &started) ||
                 svmp_run_go(run, &outcome) || svmp_run_discrepancy(run, &found, NULL) ||
                 svmp_run_particles(run, &particles) || svmp_particles_write(particles, output, NULL, 1);
    if (failed && prints) fprintf(stderr, "processes: %s\n", svmp_context_error(context));
    if (!failed && prints)
        printf("%s: %zu variables, %zu of them moved by the first of %zu processes; %s, discrepancy ratio %.2f\n",
               output, svmp_particles_whole(particles), svmp_particles_variables(particles), split.processes,
               svmp_outcome_text(outcome), found.ratio);
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_options_free(options);
    svmp_model_free(model);
    svmp_context_free(context); /* a process that ends before this counts as failed */
    return failed;
}
