#include <stdio.h>
#include <svmp.h>

int main(void) {
    const char *files[] = {"models/grid.mtx", "models/grid_b.mtx"}; /* exp(b'x - x'Ax/2): A, b */
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    svmp_options *options = NULL; /* by default the method stops by itself */
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    svmp_moments x;
    svmp_verdict *verdict = NULL; /* whether the particles may be believed */
    char words[1000];
    int failed = svmp_context_create(NULL, &context) || svmp_model_read(context, 2, files, NULL, &model) ||
                 svmp_options_create(context, &options) || svmp_options_set(options, "particles", "50") ||
                 svmp_run_create(model, options, &run) || svmp_run_go(run, &outcome) ||
                 svmp_run_particles(run, &particles) || svmp_particles_moments(particles, 0, &x) ||
                 svmp_verdict_create(context, &verdict) ||
                 svmp_run_verdict(run, NULL, 5, verdict); /* for at most 5 s */
    if (failed)
        fprintf(stderr, "%s\n", svmp_context_error(context));
    else
        printf("%s: mean %.2f, sd %.2f\n%s\n", svmp_particles_name(particles, 0), x.mean, x.sd,
               svmp_verdict_sentence(verdict, words, sizeof words));
    svmp_verdict_free(verdict);
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_options_free(options);
    svmp_model_free(model);
    svmp_context_free(context);
    return failed;
}
