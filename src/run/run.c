/* The run: checks its options, then loops: iterate, call the monitor, stop. */
#include <math.h>
#include <string.h>

#include "backend/backend_choice.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/peers.h"
#include "model/natural_values.h"
#include "model/quadratic_factor.h"
#include "prepare/fitted_gaussian.h"
#include "run/option_table.h"
#include "run/result_log_density.h"
#include "run/run.h"
#include "run/start_given.h"

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status refuse_option(const svmp_run *run, const char *option) {
    return svmp_fail(run->context, SVMP_BAD_CALL, "The method '%s' does not take %s.", run->method->name, option);
}

/* Method k of those that take a step. */
static const char *stepping_name(size_t k) {
    size_t m = 0;
    for (; svmp_method_at(m); m++)
        if (svmp_method_at(m)->step && k-- == 0) break;
    return svmp_method_name(m);
}

static svmp_status refuse_step(const svmp_run *run) {
    char names[512];
    return svmp_fail(run->context, SVMP_BAD_CALL, "The method '%s' does not take a step; %s do.", run->method->name,
                     svmp_list_names(stepping_name, "and", names, sizeof names));
}

/* The default warm-up and draws of a sampler, and the number of iterations. For a large model the draws of all
 * particles take a gigabyte, or more if that would be fewer than 8 draws. */
static void set_sampler_defaults(svmp_run *run) {
    enum { FEW = 8, NUMBERS = 1 << 27 };
    run_options *options = &run->options;
    const int sweeps = run->method->sweeps;
    const size_t most = run->method->draws;
    const double most_draws = NUMBERS / ((double)run->model->graph->whole_variables * (double)options->particles);
    if (options->warmup == SVMP_METHODS_OWN) options->warmup = sweeps ? run->iterations / 2 : METHOD_WARMUP;
    if (options->draws == SVMP_METHODS_OWN)
        options->draws = !sweeps || most_draws > (double)most ? most : most_draws > FEW ? (size_t)most_draws : FEW;
    if (!sweeps) run->iterations = options->warmup + options->draws;
}

/* The draws of each chain by default: those of the method, fewer of them in a model with many values to report. */
static size_t usual_draws(const svmp_run *run) {
    enum {
        FEWEST = 4, /* of a chain that other programs compute R-hat of */
        ENOUGH = 10,
        MOST = KEPT_EARLY,
        NUMBERS = 1 << 20 /* of all draws, if there are more than ENOUGH */
    };
    const size_t n = run->options.particles, values = run->model->graph->variables + svmp_model_monitored(run->model),
                 each = (run->method->answers + n - 1) / n, small = NUMBERS / (n * values);
    const size_t affordable = each <= ENOUGH || small >= each ? each : small > ENOUGH ? small : ENOUGH;
    return affordable < FEWEST ? FEWEST : affordable > MOST ? MOST : affordable;
}

void svmp_run_choose_draws(svmp_run *run) {
    enum { MORE = 4 /* times as many, where numbers are uncertain otherwise */, NUMBERS = 1 << 25 };
    static const double usual_precision = 0.015;
    run_options *options = &run->options;
    const size_t n = options->particles, given = options->draws == SVMP_METHODS_OWN ? 0 : options->draws,
                 each = (given + n - 1) / n, usual = usual_draws(run);
    const double variables = (double)run->model->graph->variables, most = NUMBERS / (variables * (double)n);
    run->draws_each = given                   ? each
                      : n == 1                ? 0 /* one chain shows nothing of its own errors */
                      : most >= (double)usual ? usual
                      : most >= 2             ? (size_t)most
                                              : 0;
    const double more = MORE * fmax(1, usual_precision / options->precision) * (double)run->draws_each;
    run->draws_most = given || most < more ? run->draws_each : (size_t)more;
    options->draws = n * run->draws_each;
    if (given && options->draws != given)
        svmp_log(run->context, SVMP_LOG_WARNING, "The answer has %zu draws, not %zu: %zu of each of the %zu particles.",
                 options->draws, given, each, n);
    else if (options->draws == 0 && n > 1)
        svmp_log(
            run->context, SVMP_LOG_WARNING,
            "The answer is the %zu particles: %zu draws of %zu variables would take %.2g GB. The option 'draws' asks "
            "for them.",
            n, n * usual, run->model->graph->variables, sizeof(double) * 1e-9 * (double)(n * usual) * variables);
    else if (!given && n > 1 && options->draws < n * usual)
        svmp_log(run->context, SVMP_LOG_WARNING,
                 "The answer has %zu draws, not %zu, which would take %.2g GB. The option 'draws' sets their number.",
                 options->draws, n * usual, sizeof(double) * 1e-9 * (double)(n * usual) * variables);
}

/* Parses the options: which ones the method takes, and its defaults for the others. */
static svmp_status read_options(svmp_run *run, const backend_kind **backend_kind_) {
    svmp_context *context = run->context;
    const run_options *options = &run->options;
    const method *chosen = run->method = svmp_method_find(context, options->method);
    if (chosen == NULL) return SVMP_BAD_CALL;
    *backend_kind_ = svmp_backend_find(context, options->backend);
    if (*backend_kind_ == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_run_options_check(context, options));

    bandwidth standard;
    SVMP_TRY(svmp_bandwidth_parse(context, options->bandwidth, &standard));
    if (chosen->kernel) {
        const char *text = options->kernel ? options->kernel : chosen->kernel;
        SVMP_TRY(svmp_kernel_parse(context, text, standard, &run->kernel));
    } else {
        if (options->kernel) return refuse_option(run, "a kernel");
        if (options->tolerance > 0) return refuse_option(run, "a tolerance: it has no phi to compare with it");
    }
    if (chosen->step)
        SVMP_TRY(svmp_step_parse(context, options->step ? options->step : chosen->step, &run->step));
    else if (options->step)
        return refuse_step(run);
    run->iterations = options->iterations;
    if (run->iterations == SVMP_METHODS_OWN)
        run->iterations = chosen->iterations ? chosen->iterations : METHOD_ITERATIONS;
    if (chosen->yield == SVMP_YIELD_DRAWS) run->iterations = 1;
    if (chosen->yield == SVMP_YIELD_CHAINS) set_sampler_defaults(run);
    if (chosen->answers) svmp_run_choose_draws(run);
    return svmp_init_parse(context, svmp_run_init(run), &run->start);
}

const char *svmp_run_init(const svmp_run *run) {
    if (run->options.init) return run->options.init;
    return run->method->init ? run->method->init : METHOD_INIT;
}

/* Method k of those that run on a part of a model. */
static const char *local_name(size_t k) {
    size_t m = 0;
    for (; svmp_method_at(m); m++)
        if (svmp_method_at(m)->local && k-- == 0) break;
    return svmp_method_name(m);
}

/* Refuses methods that cannot run on a part of a model. */
static svmp_status check_part(const svmp_run *run) {
    if (run->method->local) return SVMP_OK;
    char names[512];
    return svmp_fail(run->context, SVMP_UNSUPPORTED,
                     "The method '%s' needs the whole model in one process; several processes can run %s.",
                     run->method->name, svmp_list_names(local_name, "and", names, sizeof names));
}

/* Checks that all processes have the same options: compares a checksum, and if it differs, each option. */
static svmp_status compare_options(const svmp_run *run) {
    size_t count;
    const option_row *rows = svmp_option_rows(&count);
    char buffer[NUMBER_TEXT];
    uint64_t hash = SVMP_HASH_START;
    for (size_t k = 0; k < count; k++) {
        const char *text = svmp_run_options_text(&run->options, &rows[k], buffer);
        hash = svmp_hash_bytes(hash, strlen(text) + 1, text);
    }
    if (svmp_peers_have_one(svmp_model_peers(run->model), hash)) return SVMP_OK;
    for (size_t k = 0; k < count; k++) {
        const char *text = svmp_run_options_text(&run->options, &rows[k], buffer);
        SVMP_TRY(svmp_context_compare(run->context, rows[k].option.name, *text ? text : "(the method's default)"));
    }
    return SVMP_OK;
}

static svmp_status draw_start(svmp_run *run) {
    const init_target target = svmp_start_target(run->backend);
    const int by_method = run->method->start && run->start.kind == INIT_GAUSSIAN;
    double *x;
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    SVMP_TRY(by_method ? run->method->start(run, x) : svmp_init_draw(&run->start, &target, x));
    return svmp_backend_commit(run->backend, ARRAY_PARTICLES);
}

/* How many processes of a machine have all particles: the most of any machine. Collective. */
static double count_copies(const svmp_run *run) {
    const svmp_peers *peers = run->model->sharers;
    double most = peers ? (double)peers->local + 1 : 1;
    if (peers) peers->max(peers, 1, &most);
    return most;
}

double svmp_run_bytes(const svmp_run *run, size_t n) {
    const svmp_model *model = run->model;
    const int chains = run->method->yield == SVMP_YIELD_CHAINS;
    const double variables = (double)model->graph->variables, row = sizeof(double) * (double)n;
    const double each = (double)run->draws_most;
    const double arrays =
        3 + (KEPT_FOR_EACH + 5) * each + /* states of the moves; the draws, their copies and natural values */
        (run->method->step ? (double)run->step.rule->states : 0) + (double)run->method->arrays;
    const double fitted = run->method->fits || run->start.kind == INIT_GAUSSIAN ? svmp_gaussian_bytes(model) : 0;
    const double draws = chains ? fmin((double)run->options.draws, (double)run->iterations) : 1;
    const double outputs =
        model->lowered || model->supports ? (double)(svmp_model_outputs(model) + svmp_model_monitored(model)) : 0;
    const double count = draws * (double)n;
    const double result = row * draws * (variables * (1 + chains) + outputs);
    const double last = count < (double)SIZE_MAX ? svmp_run_log_density_bytes(model, (size_t)count) : 0;
    return row * arrays * variables + fitted + result + last;
}

/* A run whose result would not fit is refused at the start. */
static svmp_status require_memory(const svmp_run *run, size_t n) {
    return svmp_require_memory(run->context, svmp_run_bytes(run, n) * count_copies(run),
                               "this run and its result need");
}

/* What `auto` selects, and why if it is the CPU. */
static const backend_kind *choose_backend(svmp_run *run, size_t n) {
    char *why = run->backend_reason;
    if (run->method->on_device)
        svmp_backend_choose(run->model, n, run->method->kernel ? &run->kernel : NULL, why, sizeof run->backend_reason);
    else
        snprintf(why, sizeof run->backend_reason, "the method '%s' gains nothing on a GPU", run->method->name);
    return *why ? &svmp_backend_cpu : &svmp_backend_auto;
}

/* Does not search for a device that would compute nothing. */
static const backend_kind *spare_device(const svmp_run *run, const backend_kind *kind) {
    if (!run->method->on_host || kind->plugin == NULL) return kind;
    svmp_log(run->context, SVMP_LOG_WARNING, "The method '%s' computes nothing on a GPU; the run uses the CPU.",
             run->method->name);
    return &svmp_backend_cpu;
}

/* Logs the choice; the backend itself falls back to the CPU if its memory is full. */
static void log_backend(svmp_run *run) {
    char name[32], *why = run->backend_reason;
    if (*why == '\0' && run->backend->local == &svmp_backend_cpu)
        snprintf(why, sizeof run->backend_reason, "there is not enough free memory on the GPU");
    svmp_run_setting(run, "backend", name, sizeof name);
    svmp_log(run->context, SVMP_LOG_INFO, "The backend is '%s'%s%s.", name, *why ? ": " : "", why);
}

static svmp_status set_up(svmp_run *run) {
    const backend_kind *kind = NULL;
    number_locale locale = {0};
    const int part = run->model->graph->halo != NULL;
    if (svmp_model_peers(run->model)->count > 1) SVMP_TRY(compare_options(run));
    svmp_status status = svmp_number_enter(run->context, &locale);
    if (status == SVMP_OK) status = read_options(run, &kind);
    svmp_number_leave(&locale);
    if (part && status == SVMP_OK) status = check_part(run);
    SVMP_TRY(svmp_model_agree_all(run->model, status));

    const method *chosen = run->method;
    const size_t n =
        chosen->yield == SVMP_YIELD_CHAINS && !chosen->sweeps ? run->options.chains : run->options.particles;
    SVMP_TRY(svmp_model_agree_all(run->model, require_memory(run, n)));
    const int choose = kind == &svmp_backend_auto;
    kind = choose ? choose_backend(run, n) : spare_device(run, kind);
    SVMP_TRY(svmp_model_agree_all(run->model, svmp_backend_create(kind, run->model, n, run->options.seed,
                                                                  chosen->kernel ? &run->kernel : NULL,
                                                                  chosen->step ? &run->step : NULL, &run->backend)));
    if (choose) log_backend(run);
    SVMP_TRY(svmp_backend_share(run->backend, chosen->shared ? svmp_model_peers(run->model) : &svmp_alone, &run->own));
    if (run->start.path)
        SVMP_TRY(svmp_model_agree_all(run->model, svmp_start_point(run, run->start.path, &run->start.point)));
    status = chosen->alloc(run);
    status = svmp_model_agree_all(run->model, status);
    if (status == SVMP_OK) status = svmp_model_agree_all(run->model, draw_start(run));
    svmp_gaussian_drop(run->model); /* it is large, and a run that needs it has taken it */
    return status;
}

/* A Gaussian whose precision is not positive definite has no posterior; this is checked before the run if the factor is
 * cheap. With a box it may have one. */
static svmp_status require_proper(const svmp_model *model) {
    enum { FEW_VARIABLES = 20000, FEW_ENTRIES = 1000000 };
    cholesky *factor = NULL;
    const size_t variables = model->graph->variables;
    if (model->graph->halo || model->boxed || !svmp_model_is_gaussian(model) || variables > FEW_VARIABLES ||
        model->quadratic.start[variables] > FEW_ENTRIES)
        return SVMP_OK;
    const svmp_status status = svmp_cholesky_create(model, &factor);
    svmp_cholesky_free(factor);
    return status == SVMP_UNSUPPORTED ? SVMP_OK : status; /* without CHOLMOD */
}

svmp_status svmp_run_make(const svmp_model *model, const run_options *options, svmp_run **run) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    if (run == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_run_create: the result is NULL.");
    SVMP_TRY(svmp_model_require_finished(model));
    run_options chosen = *options;
    if (strcmp(options->method, METHOD_AUTO) == 0)
        chosen.method = svmp_method_auto(model->graph->halo != NULL, model->boxed)->name;
    svmp_run *made = NULL;
    svmp_status status = SVMP_NEW(context, made, 1);
    if (status == SVMP_OK) {
        *made = (svmp_run){.context = context, .model = model, .more_draws = svmp_run_more_draws};
        status = svmp_run_options_copy(context, &chosen, &made->options);
    }
    SVMP_CHECK(svmp_model_agree_all(model, status));
    SVMP_CHECK(svmp_model_agree_all(model, require_proper(model)));
    SVMP_CHECK(set_up(made));
    *run = made;
    made = NULL;
done:
    svmp_run_free(made);
    return status;
}

svmp_status svmp_run_create(const svmp_model *model, const svmp_options *options, svmp_run **run) {
    const run_options values = svmp_options_values(options);
    return svmp_run_make(model, &values, run);
}

void svmp_run_free(svmp_run *run) {
    if (run == NULL) return;
    if (run->state && run->method->free) run->method->free(run);
    svmp_backend_free_share(run->own, run->backend);
    svmp_backend_free(run->backend);
    svmp_release(run->context, run->start.point);
    svmp_run_options_free(run->context, &run->options);
    svmp_release(run->context, run);
}

svmp_status svmp_run_set_monitor(svmp_run *run, svmp_monitor monitor, void *user_data) {
    if (run == NULL) return SVMP_BAD_CALL;
    run->monitor = monitor;
    run->monitor_data = user_data;
    return SVMP_OK;
}

svmp_status svmp_run_set_lag(svmp_run *run, size_t iterations) {
    if (run == NULL) return SVMP_BAD_CALL;
    run->lag = iterations;
    return SVMP_OK;
}

/* ---- going ------------------------------------------------------------------------------------------------------- */

svmp_status svmp_run_refuse_unusable(const svmp_run *run) {
    return svmp_fail(run->context, SVMP_BAD_CALL, "Loading a checkpoint failed half way; the run can only be freed.");
}

/* The number of iterations whose reports may be delayed. */
static size_t most_queued(const svmp_run *run) {
    if (run->backend->kind->await == NULL || !run->method->on_device || run->options.tolerance > 0) return 0;
    return run->monitor == NULL || run->lag > BACKEND_MOST_QUEUED ? BACKEND_MOST_QUEUED : run->lag;
}

size_t svmp_run_complete_trace(const svmp_run *run, history *way) {
    const backend *b = run->backend;
    size_t pending = run->unreported;
    for (; pending > b->queued; pending--) {
        const size_t t = run->iteration - pending;
        svmp_history_follow(way, t + 1, b->past[t % BACKEND_MOST_QUEUED],
                            svmp_step_rate(&run->step, t, run->iterations));
    }
    return pending;
}

/* Goes back to the iteration whose step was not finite, if the backend has done so. */
static void go_back(svmp_run *run) {
    backend *b = run->backend;
    if (b->rolled_back > 0) {
        run->iteration -= b->rolled_back;
        run->unreported -= b->rolled_back;
        run->rate = svmp_step_rate(&run->step, run->iteration, run->iterations);
    }
    b->rolled_back = 0;
    run->unreported = svmp_run_complete_trace(run, &run->trace);
}

svmp_status svmp_run_synchronise(svmp_run *run) {
    backend *b = run->backend;
    if (run->unreported == 0) return SVMP_OK;
    const svmp_status status = b->kind->await(b);
    go_back(run);
    return status;
}

/* One more iteration. */
static svmp_status iterate(svmp_run *run) {
    backend *b = run->backend;
    b->most_queued = most_queued(run);
    const svmp_status status = run->method->iterate(run);
    if (status == SVMP_OK) {
        run->iteration++;
        if (b->most_queued > 0)
            run->unreported++;
        else
            svmp_history_follow(&run->trace, run->iteration, b->largest, run->rate);
    }
    go_back(run);
    return status;
}

static int has_converged(const svmp_run *run) {
    if (run->ended) return run->ended == RUN_CONVERGED;
    return run->iteration > 0 && run->options.tolerance > 0 && run->backend->largest <= run->options.tolerance;
}

/* Whether it is true in any process. */
static int anywhere(const svmp_run *run, int here) {
    return svmp_peers_any(svmp_model_peers(run->model), here != 0) != 0;
}

svmp_status svmp_run_go(svmp_run *run, svmp_outcome *outcome) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (outcome == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_go: the outcome is NULL.");
    *outcome = SVMP_UNFINISHED;
    if (run->unusable) return svmp_run_refuse_unusable(run);
    const int watched = anywhere(run, run->monitor != NULL);
    svmp_status status = SVMP_OK;
    while (run->iteration < run->iterations && !run->ended) {
        if (has_converged(run)) { /* converged before: a run that continues from there */
            *outcome = SVMP_CONVERGED;
            return SVMP_OK;
        }
        status = iterate(run);
        if (run->model->sharers) status = svmp_model_agree_all(run->model, status);
        if (status == SVMP_OK && run->iteration == run->iterations) status = svmp_run_synchronise(run);
        if (status != SVMP_OK) break;

        const int known = run->method->largest && run->unreported < run->iteration;
        const svmp_progress progress = {run->iteration, run->iterations, known ? run->backend->largest : NAN, run->rate,
                                        run->divergences};
        const int wish = run->monitor && run->monitor(&progress, run->monitor_data) != 0;
        go_back(run);
        if (run->iteration < progress.iteration) status = SVMP_NOT_FINITE; /* the monitor has seen a failed step */
        if (status != SVMP_OK) break;
        const int stop = watched && anywhere(run, wish);
        if (stop) status = svmp_run_synchronise(run);
        if (status != SVMP_OK) break;
        if (stop && !run->ended && !has_converged(run) && run->iteration < run->iterations) {
            *outcome = SVMP_STOPPED;
            return SVMP_OK;
        }
    }
    if (status == SVMP_NOT_FINITE) *outcome = SVMP_DIVERGED;
    if (status != SVMP_OK) return status;
    *outcome = has_converged(run) ? SVMP_CONVERGED : SVMP_COMPLETED;
    return SVMP_OK;
}

size_t svmp_run_iteration(const svmp_run *run) { return run ? run->iteration : 0; }

size_t svmp_run_iterations(const svmp_run *run) { return run ? run->iterations : 0; }

size_t svmp_run_expected(const svmp_run *run) {
    return run && run->method->expect ? run->method->expect(run) : svmp_run_iterations(run);
}
