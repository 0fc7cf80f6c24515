/* The effective values of the options of a run. */
#include <string.h>

#include "run/option_table.h"
#include "run/run.h"

/* Whether the run's method uses an option. */
static int applies(const svmp_run *run, const char *option) {
    enum { DRAWS = 1 }; /* among those of samplers */
    static const char *const of_kernels[] = {"kernel", "bandwidth", "tolerance"};
    static const char *const of_chains[] = {"chains", "accept"}, *const of_samplers[] = {"warmup", "draws"},
                             *const of_particles[] = {"particles", "iterations"};
    const int sampler = run->method->yield == SVMP_YIELD_CHAINS, sweeps = run->method->sweeps;
    for (size_t k = 0; k < 3; k++)
        if (strcmp(option, of_kernels[k]) == 0) return run->method->kernel != NULL;
    for (size_t k = 0; k < 2; k++) {
        if (strcmp(option, of_chains[k]) == 0) return sampler && !sweeps;
        if (strcmp(option, of_samplers[k]) == 0)
            return sampler || (k == DRAWS && run->method->answers && run->options.draws);
        if (strcmp(option, of_particles[k]) == 0) return !sampler || sweeps;
    }
    if (strcmp(option, "precision") == 0) return run->method->answers != 0;
    return strcmp(option, "step") != 0 || run->method->step != NULL;
}

const char *svmp_run_setting(const svmp_run *run, const char *option, char *buffer, size_t size) {
    char number[NUMBER_TEXT];
    const char *text = NULL;
    if (run == NULL || option == NULL || buffer == NULL || size == 0 || !applies(run, option)) return NULL;
    const option_row *row = svmp_option_find(option);
    if (row) text = svmp_run_options_text(&run->options, row, number);
    if (strcmp(option, "kernel") == 0 && run->options.kernel == NULL) text = run->method->kernel;
    if (strcmp(option, "step") == 0 && run->options.step == NULL) text = run->method->step;
    if (strcmp(option, "init") == 0) text = svmp_run_init(run);
    if (strcmp(option, "iterations") == 0) snprintf(number, sizeof number, "%zu", run->iterations), text = number;
    if (strcmp(option, "draws") == 0 && run->method->answers) /* it may have found that some numbers need more */
        snprintf(number, sizeof number, "%zu", run->draws_each * run->options.particles), text = number;
    if (strcmp(option, "threads") == 0) snprintf(number, sizeof number, "%d", run->backend->threads), text = number;
    if (strcmp(option, "backend") == 0)
        text = run->backend->runs_as ? run->backend->runs_as : run->backend->local->name;
    if (strcmp(option, "backend_reason") == 0 && *run->backend_reason) text = run->backend_reason;
    if (text == NULL) return NULL;
    snprintf(buffer, size, "%s", text);
    return buffer;
}
