/* Predictions: from the draws of a run, or from the priors alone. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "read_samples.h"
#include "summary_table.h"
#include "table_overview.h"

static const option_row rows[] = {
    {"derive", 0, "STATEMENTS", "", "add statements to the model: \"OR <- exp(b); d <- mu[2] - mu[1]\"", "Output"},
    {"monitor", 0, "NAME,...", "", "report these deterministic nodes, too, or log_lik, deviance, posterior_predictive",
     "Output"},
    {"output", 'o', "FILE", "", "write the predictions to FILE (.csv or .nc)", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
    {"quiet", 'q', NULL, "", "print no table", "Output"},
    {"seed", 0, "N", "1", "random seed", "Start"},
};

static const option_row same_row = {
    "same-data", 0, NULL, "", "the data are those of FILE: what they miss has the values of FILE", "Output",
};

static const option_row count_row = {"particles", 'n', "N", "1000", "number of independent draws", "Start"};

static void predict_options(option_set *set) {
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &same_row);
}

static void simulate_options(option_set *set) {
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &count_row);
}

/* ---- output ---------------------------------------------------------------------------------- */

static int print_table(svmp_context *context, const svmp_particles *made) {
    const size_t count = svmp_particles_variables(made);
    const int width = names_width(made, count, NULL);
    svmp_moments *moments = calloc(count + 1, sizeof *moments);
    if (moments == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    const svmp_status status = svmp_particles_summarise(made, count, NULL, moments, NULL);
    if (status == SVMP_OK) {
        print_moments_heading(width, 0);
        for (size_t k = 0; k < count && k < OVERVIEW_FROM; k++)
            print_moments(width, svmp_particles_name(made, k), &moments[k], NULL);
        if (count > OVERVIEW_FROM) printf("... and %zu more: -o FILE writes all\n", count - OVERVIEW_FROM);
    }
    free(moments);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int put_out(const option_set *set, svmp_context *context, const svmp_particles *made, const char *what) {
    const char *path = options_given(set, "output");
    char comments[200];
    int status = 0;
    snprintf(comments, sizeof comments, "svmp %s\nmethod = %s\nseed = %s\n", svmp_version(), what,
             options_value(set, "seed"));
    if (path) {
        const svmp_status wrote = svmp_particles_write(made, path, comments, options_given(set, "force") != NULL);
        if (wrote != SVMP_OK) status = failed(context, wrote);
    }
    if (status == 0 && options_given(set, "quiet") == NULL) status = print_table(context, made);
    return status;
}

static int check_target(const option_set *set) {
    const char *path = options_given(set, "output");
    if (path == NULL) return 0;
    const int status = check_output(path, OUTPUT_PARTICLES, options_given(set, "force") != NULL);
    return status ? status : refuse_input(set, path);
}

static svmp_reading reading_of(const option_set *set) {
    return (svmp_reading){.monitors = options_given(set, "monitor"), .statements = options_given(set, "derive")};
}

/* ---- predict --------------------------------------------------------------------------------- */

/* Whether text in the data subscripts an array. */
static bool has_labels(const svmp_model *model) {
    svmp_array array;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++)
        for (size_t d = 0; d < array.rank; d++)
            if (svmp_model_label(model, array.name, d, 0)) return true;
    return false;
}

/* The operands from `first` on are the model and its data. */
static int predict(const option_set *set, svmp_context *context, size_t first, const svmp_particles *draws,
                   uint64_t seed) {
    svmp_reading how = reading_of(set);
    svmp_model *model = NULL;
    svmp_particles *made = NULL;
    how.given = draws;
    how.fresh = options_given(set, "same-data") == NULL;
    svmp_status status =
        svmp_model_read(context, set->operand_count - first, (const char *const *)set->operands + first, &how, &model);
    if (status == SVMP_OK && how.fresh && has_labels(model)) {
        svmp_model_free(model);
        return report_error(EXIT_WRONG,
                            "'%s' does not record the codes of text, so text in other data cannot be matched with it. "
                            "Use numbers as subscripts, or Python's fit.predict; if the data are those of the run, "
                            "use --same-data.",
                            set->operands[0]);
    }
    if (status == SVMP_OK) status = svmp_model_predict(model, draws, seed, &made);
    const int result = status == SVMP_OK ? put_out(set, context, made, "predict") : failed(context, status);
    svmp_particles_free(made);
    svmp_model_free(model);
    return result;
}

static int run_predict(const option_set *set) {
    const size_t files = sample_files(set);
    svmp_context *context = NULL;
    svmp_particles *draws = NULL;
    size_t seed;
    int status = read_count("seed", options_value(set, "seed"), 0, SIZE_MAX, &seed);
    if (status == 0 && files == set->operand_count)
        status = report_error(EXIT_WRONG, "A model must follow the draws: svmp predict FILE MODEL [DATA...].");
    if (status == 0) status = check_target(set);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = read_sample(set, context, files, &draws);
    if (status == 0) status = predict(set, context, files, draws, seed);
    svmp_particles_free(draws);
    svmp_context_free(context);
    return status;
}

const command command_predict = {
    .name = "predict",
    .operands = "FILE MODEL [DATA...]",
    .least = 2,
    .most = SIZE_MAX,
    .summary = "Predict or derive from draws",
    .text =
        "The unknowns that FILE has are given; for each draw, all other unknowns are drawn from their distributions,\n"
        "and what is monitored or derived is computed. DATA may have other rows and groups than those of the run:\n"
        "what is to be predicted is missing there (NA), and groups that FILE does not know are new ones. Responses "
        "and\n"
        "discrete unknowns are drawn again; with --same-data, responses that are missing have the values of FILE.\n",
    .options = predict_options,
    .run = run_predict,
};

/* ---- simulate -------------------------------------------------------------------------------- */

static int simulate(const option_set *set, svmp_context *context, uint64_t count, uint64_t seed) {
    svmp_reading how = reading_of(set);
    svmp_model *model = NULL;
    svmp_particles *made = NULL;
    how.simulated = 1;
    svmp_status status = svmp_model_read(context, set->operand_count, (const char *const *)set->operands, &how, &model);
    if (status == SVMP_OK) status = svmp_model_simulate(model, count, seed, &made);
    const int result = status == SVMP_OK ? put_out(set, context, made, "simulate") : failed(context, status);
    svmp_particles_free(made);
    svmp_model_free(model);
    return result;
}

static int run_simulate(const option_set *set) {
    enum { MOST = 100000000 };
    svmp_context *context = NULL;
    size_t seed, count;
    int status = read_count("seed", options_value(set, "seed"), 0, SIZE_MAX, &seed);
    if (status == 0) status = read_count("particles", options_value(set, "particles"), 1, MOST, &count);
    if (status == 0) status = check_target(set);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = simulate(set, context, count, seed);
    svmp_context_free(context);
    return status;
}

const command command_simulate = {
    .name = "simulate",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Draw from the priors, data and all",
    .text =
        "Draws all unknowns from their priors, and then the data: independent draws from what the model says before\n"
        "anything is observed. DATA gives sizes and covariates; what it has of stochastic nodes is drawn, too.\n",
    .options = simulate_options,
    .run = run_simulate,
};
