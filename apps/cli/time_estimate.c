#include "time_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/error_output.h"
#include "run_arguments.h"

static double variables_of(const svmp_model *model) { return (double)svmp_graph_variables(svmp_model_graph(model)); }

/* 0.4 to 1 ms of the processor for each variable was measured for fields and SLAM of 6,000 to 90,000 variables.
 * The memory: 7 arrays of 64 draws, and those of the particles. */
void estimate_start(const option_set *set, const svmp_options *options, const svmp_method *method,
                    const svmp_model *model) {
    static const char fitted[] = "gaussian";
    const double is_long = 10; /* seconds */
    const double variables = variables_of(model), seconds = 0.6e-3 * variables;
    const double particles = (double)option_count(options, "particles");
    const char *init = options_given(set, "init");
    const int sought = method->fits || (init && strncmp(init, fitted, strlen(fitted)) == 0);
    if (!sought || seconds < is_long) return;
    report_error(EXIT_DONE,
                 "The start of %.0f variables takes about %.0f s of processor time and %.2g GB of memory; the "
                 "estimate for the run follows.",
                 variables, seconds,
                 sizeof(double) * variables * (7 * 64 + (6 + (double)method->arrays) * particles) / 1e9);
}

/* The variables and the values that they stand for; and the draws of a sampler, which fill their room only as they
 * come. */
double estimate_result(const svmp_run *run, const svmp_options *options, const svmp_method *method,
                       const svmp_model *model) {
    const int chains = method->yield == SVMP_YIELD_CHAINS;
    const double particles = (double)option_count(options, chains && !method->sweeps ? "chains" : "particles");
    char text[32];
    const char *draws = svmp_run_setting(run, "draws", text, sizeof text);
    const double kept = chains && draws ? strtod(draws, NULL) : 1;
    return sizeof(double) * variables_of(model) * particles * kept * (chains ? 3 : 2);
}

/* Its memory, as measured: chains of at most 500 particles, trajectories and a Gaussian of its own. */
double estimate_examination(const svmp_options *options, const svmp_method *method, const svmp_model *model,
                            double *bytes) {
    const double particles = fmin((double)option_count(options, "particles"), 500);
    *bytes += sizeof(double) * variables_of(model) * (20 * particles + 640);
    return method->examination;
}
