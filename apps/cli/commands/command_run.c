#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "commands/run_session.h"
#include "convergence.h"
#include "print_verdict.h"
#include "run_arguments.h"
#include "time_estimate.h"
#include "watchdog.h"

static const option_row rows[] = {
    {"output", 'o', "FILE", "", "write the draws or particles to FILE (.csv or .nc)", "Output"},
    {"particles-file", 0, "FILE", "", "write Stein's particles; also: --particles FILE", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE; with --split, also remove old parts", "Output"},
    {"monitor", 0, "NAME,...", "",
     "also report these nodes: computed by <-, discrete, deviance, log_lik or posterior_predictive", "Output"},
    {"save", 0, "NAME,...", "", "write only these variables and arrays", "Output"},
    {"thin", 0, "K", "1", "write every Kth draw of each chain", "Output"},
    {"split", 0, NULL, "", "write one file per chain: FILE_1.csv, ...", "Output"},
    {"progress", 0, "auto|json|none", "auto", "show a live line, JSON lines, or nothing", "Output"},
    {"quiet", 'q', NULL, "", "show no progress", "Output"},
    {"verify", 0, "auto|yes|no", "auto",
     "cross-examine the particles at the end; auto: for at most a third of the run time or 5 s", "Verdict"},
    {"require-converged", 0, NULL, "", "exit with status 1 unless the verdict is 'Passed'", "Verdict"},
    {"checkpoint", 0, "FILE", "", "save the state of the run to FILE", "Checkpoints"},
    {"checkpoint-every", 0, "S", "60", "seconds between saves; 0: every iteration", "Checkpoints"},
    {"resume", 0, "FILE", "", "continue from a checkpoint; -t may be larger", "Checkpoints"},
    {"threads", 0, "N", "0", "threads; 0: all, shared under mpirun", "Machine"},
};

static void options(option_set *set) {
    options_add_run(set, 0, NULL);
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &coordinates_option);
}

/* The discrepancy along the way, where the file will show it: at 8, 16, 32, ... iterations, which costs few of them,
 * and is the same however often the run was broken off. */
static int is_measured(const session *s, size_t iteration) {
    return s->measures && iteration >= 8 && (iteration & (iteration - 1)) == 0;
}

/* Stops the run for good when it was interrupted, and for a moment when a checkpoint is due. */
static int watch(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    s->watch.expected = svmp_run_expected(s->run);
    s->interrupted = progress_update(&s->watch, state);
    if (is_measured(s, state->iteration)) svmp_run_measure(s->run, NULL, NULL); /* or the curve has a point less */
    if (state->iteration == s->warmup) s->warm = progress_seconds(&s->watch);
    return s->interrupted || checkpoint_is_due(&s->checkpoint_writer);
}

/* Clocks and signals differ between processes: what one of them wishes, all do. */
static svmp_status iterate(session *s, svmp_outcome *outcome) {
    for (;;) {
        const svmp_status status = svmp_run_go(s->run, outcome);
        if (status != SVMP_OK || *outcome != SVMP_STOPPED || svmp_context_any(s->context, s->interrupted != 0))
            return status;
        progress_wipe(&s->watch);
        checkpoint_write(&s->checkpoint_writer);
    }
}

/* While the particles are examined, only an interruption counts. */
static int watch_examination(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    stage_update(&s->stage, state->iteration, state->iterations);
    return progress_interrupted() || s->interrupted;
}

/* Examines the particles: at the price of a third of the processor's time for the run, or of seconds. Without
 * memory for it the result stays unjudged, and is kept. */
static void judge(session *s) {
    run_record *record = &s->record;
    const int finished = record->outcome == SVMP_COMPLETED || record->outcome == SVMP_CONVERGED;
    const double third = s->worked / 3, examines = finished && record->iterations > 0 ? s->examines : 0;
    if (s->method.yield != SVMP_YIELD_PARTICLES && s->method.yield != SVMP_YIELD_CHAINS) return;
    stage_begin(&s->stage, s->mode, "examination");
    svmp_status judged = svmp_run_set_monitor(s->run, watch_examination, s);
    if (judged == SVMP_OK) judged = svmp_verdict_create(s->context, &s->verdict);
    if (judged == SVMP_OK)
        judged = svmp_run_verdict(s->run, record->convergence.known ? s->nodes : NULL,
                                  examines > 0 ? fmax(examines, third) : 0, s->verdict);
    stage_end(&s->stage);
    if (judged == SVMP_NO_MEMORY || judged == SVMP_BAD_CALL) {
        failed(s->context, judged);
        return;
    }
    if (record->outcome == SVMP_DIVERGED) svmp_verdict_veto(s->verdict, SVMP_NOTE_DIVERGED, 0, NULL);
    record->verdict = s->verdict;
    progress_print_verdict(&s->watch, s->verdict);
}

/* Takes the result, writes it at once and judges it. */
static int take_result(session *s, svmp_outcome outcome, double seconds) {
    s->record = (run_record){
        .set = s->set,
        .run = s->run,
        .coordinates = s->coordinates,
        .processes = svmp_context_processes(s->context),
        .outcome = outcome,
        .iterations = svmp_run_iteration(s->run),
        .resumed = s->watch.first,
        .seconds = seconds,
        .warmup = s->warm,
        .thin = 1,
    };
    s->nodes = calloc(svmp_graph_nodes(svmp_model_graph(s->model)) + 1, sizeof *s->nodes);
    const int measurable = outcome != SVMP_DIVERGED && !svmp_context_any(s->context, s->nodes == NULL);
    const svmp_context *parts = s->shares ? NULL : s->context; /* each process has measured all nodes, or its own */
    if (measurable) s->record.convergence = convergence_measure(parts, s->run, s->model, s->nodes);
    const svmp_status taken = svmp_run_draws(s->run, &s->result);
    if (taken != SVMP_OK) return failed(s->context, taken);
    if (convergence_attach(parts, &s->record.convergence, s->model, s->nodes, s->result) != SVMP_OK)
        report_error(EXIT_DONE,
                     "warning: the result lacks the discrepancies of the nodes: there is not enough memory.");
    s->record.particles = svmp_particles_count(s->result);
    const int status = writer_leave_out(&s->writer, s->model, &s->result);
    if (status) return status;
    s->unwritten = writer_secure(&s->writer, s->result, &s->record);
    judge(s);
    return 0;
}

/* Writes the result first, so that it is there whatever fails afterwards. A file that could not be written before the
 * examination is not tried again. */
static int finish(session *s, svmp_status ended) {
    const int lost = s->unwritten && s->writer.written == NULL;
    int incomplete = lost ? 0 : writer_write(&s->writer, s->result, &s->record);
    const int particles = writer_write_particles(&s->writer, s->result, &s->record);
    if (incomplete && s->writer.written)
        report_error(EXIT_FAILED, "'%s' has the particles, but no verdict.", s->writer.written);
    if (incomplete == 0) incomplete = particles;
    const int unwritten = s->unwritten ? s->unwritten : incomplete;
    int status = 0;
    if (ended == SVMP_OK) {
        const svmp_status taken = svmp_particles_first(s->result, VARIABLES_SHOWN, &s->first);
        status = taken == SVMP_OK ? session_print(s) : failed(s->context, taken);
    }
    if (unwritten && ended == SVMP_OK) checkpoint_report_resume(&s->checkpoint_writer, s->set);
    if (unwritten || status) return unwritten ? unwritten : status;
    const int explained = session_explain_end(s, ended);
    return explained == EXIT_DONE && options_given(s->set, "require-converged") && !s->clear ? EXIT_FAILED : explained;
}

/* With `auto`, prints the backend that was chosen and the reason. This is a message, not progress. */
static void print_backend(const session *s) {
    char name[32], why[600];
    const char *given = options_given(s->set, "backend");
    if (given == NULL || strcmp(given, "auto") != 0 || options_given(s->set, "quiet") || !is_reporting()) return;
    const char *reason = svmp_run_setting(s->run, "backend_reason", why, sizeof why);
    if (reason == NULL && strcmp(svmp_options_get(s->options, "backend"), given) != 0) reason = "as in the checkpoint";
    if (svmp_run_setting(s->run, "backend", name, sizeof name))
        report_error(EXIT_DONE, "The backend is '%s'%s%s.", name, reason ? ": " : "", reason ? reason : "");
}

static int go(session *s) {
    char text[32];
    const char *warmup = svmp_run_setting(s->run, "warmup", text, sizeof text);
    svmp_outcome outcome = SVMP_UNFINISHED;
    s->warmup = warmup ? strtoul(warmup, NULL, 10) : 0;
    s->measures = (options_given(s->set, "output") || checkpoint_path(s->set)) &&
                  svmp_run_setting(s->run, "kernel", text, sizeof text);
    progress_begin(&s->watch, s->mode, &s->method, svmp_run_iteration(s->run));
    s->watch.result = estimate_result(s->run, s->options, &s->method, s->model);
    s->watch.begun = s->watch.started - s->began;
    s->watch.warmup = s->warmup;
    if (s->method.yield == SVMP_YIELD_PARTICLES && s->examines > 0)
        s->watch.after = estimate_examination(s->options, &s->method, s->model, &s->watch.result);
    print_backend(s);
    checkpoint_writer_begin(&s->checkpoint_writer, s->set, s->context, s->run);
    watchdog_begin(&s->checkpoint_writer, s->set);
    svmp_status ended = svmp_run_set_monitor(s->run, watch, s);
    if (ended == SVMP_OK) ended = svmp_run_set_lag(s->run, PROGRESS_MAY_LAG);
    const double worked = progress_processor();
    if (ended == SVMP_OK) ended = iterate(s, &outcome);
    double seconds = progress_end(&s->watch);
    s->worked = progress_processor() - worked;
    if (ended == SVMP_OK) checkpoint_write(&s->checkpoint_writer);
    if (ended != SVMP_OK) {
        const int status = failed(s->context, ended);
        if (status == EXIT_FAILED && ended != SVMP_NOT_FINITE) checkpoint_report_resume(&s->checkpoint_writer, s->set);
        if (ended != SVMP_NOT_FINITE) return status;
    }
    if (ended == SVMP_OK && outcome == SVMP_STOPPED && s->method.yield == SVMP_YIELD_CHAINS &&
        svmp_run_iteration(s->run) <= s->warmup)
        return session_explain_warmup(s);
    const int status = take_result(s, ended == SVMP_OK ? outcome : SVMP_DIVERGED, seconds);
    if (status == 0) return finish(s, ended);
    checkpoint_report_resume(&s->checkpoint_writer, s->set);
    return status;
}

static int run(const option_set *set) {
    session s = {.set = set, .began = progress_clock()};
    int status = session_prepare(&s);
    if (status == 0) status = go(&s);
    watchdog_end();
    file_unlock(&s.lock);
    free(s.nodes);
    writer_free(&s.writer);
    svmp_particles_free(s.start);
    svmp_particles_free(s.result);
    svmp_particles_free(s.first);
    svmp_verdict_free(s.verdict);
    svmp_run_free(s.run);
    svmp_model_free(s.model);
    svmp_options_free(s.options);
    svmp_context_free(s.context);
    return status;
}

const command command_run = {
    .name = "run",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Run inference and print a summary",
    .joins = 1,
    .text =
        "MODEL is a text in the model language (.bug, .jags or .txt) and DATA its data (.json, .csv, .R, .txt\n"
        "or .dump, in any combination). Or MODEL is the precision A of a Gaussian exp(b'x \\- x'Ax/2) as a Matrix\n"
        "Market file (.mtx), and DATA, if given, is the vector b in the same format. The particles are written to\n"
        "the file of\n.BR \\-o ;\na table of moments goes to standard output and the progress to standard error.\n"
        ".PP\nThe options for samplers apply to {chains}, in place of\n"
        ".BR \\-n \" and \" \\-t .\n"
        "With {sweeps} the particles are chains, and the iterations are sweeps. The first\n.B \\-\\-warmup\n"
        "sweeps adapt and are discarded; at most\n.B \\-\\-draws\nevenly spaced ones of the rest are kept.\n.PP\n"
        "When interrupted by Ctrl-C or SIGTERM, the run stops after the current iteration and writes its results\n"
        "so far. When interrupted again, a second or more later, it is aborted. If a value becomes infinite or\n"
        "NaN, the run fails and writes its last finite particles.\n.PP\n"
        "At its end a run is judged: particles by their discrepancy and last step, chains by R-hat, effective\n"
        "draws, divergences and energy, and both by a\n"
        "cross-examination like that of\n.BR \"svmp verify\" ,\n"
        "which may take a third of the time of the run, or 5 seconds if that is more. The verdict ends\n"
        "the table and is written to the file. With\n.B \\-\\-require\\-converged\n"
        "the exit status is 1 unless the particles pass. Samplers pass if their chains have mixed and a sample of\n"
        "their draws passes the examination.\n.PP\nWith\n"
        ".B \\-\\-checkpoint\n"
        "the run saves its state to a file at intervals, when it is interrupted, and at the end. The same command\n"
        "with\n.B \\-\\-resume\n"
        "continues from there and computes the same numbers as an uninterrupted run. It saves its own checkpoints\n"
        "to the same file unless\n.B \\-\\-checkpoint\n"
        "names another. The options must be the same, except that the number of iterations (of draws, for a\n"
        "sampler) may be larger, unless the step size decreases over the run, and that\n"
        ".B \\-\\-backend auto\nis the backend of the checkpoint.\n"
        ".PP\n.B \\-\\-coordinates\n"
        "sets the parametrisation of nodes whose prior is dnorm, dlnorm, dt, dlogis or ddexp with an unknown\n"
        "location or scale: the node itself (centred), its distance from the location in units of the scale\n"
        "(noncentred), or a choice for each node from the data and the prior (auto). The default is auto for\n"
        "{auto}, and centred for the other methods. Results are always on the scale of the model\n"
        ".RB ( docs/coordinates.md ).\n"
        ".PP\nThe unknowns of the model are reported.\n.B \\-\\-monitor\n"
        "adds nodes: deterministic ones, computed from each particle; discrete unknowns, drawn given each particle;\n"
        "deviance; log_lik, the log likelihood of each observation; and posterior_predictive, observations drawn "
        "anew.\n"
        "An element of an array is x[3,1] or x.3.1.\n.PP\n"
        "Stan's tools read one file per chain, which\n.B \\-\\-split\nwrites: FILE_1.csv, FILE_2.csv and so on.\n"
        ".PP\n.B mpirun \\-n P svmp run ...\n"
        "runs in several processes\n.RB ( docs/distributed.md ):\n"
        "with {shared} they share the chains; with other methods, or if memory is short, the nodes.\n"
        "All processes must be given the same files and options; the first one writes the results.\n"
        ".PP\n.B \\-\\-backend cuda\n"
        "keeps the particles on an NVIDIA GPU, with kernels in single precision and the rest in double;\n"
        ".B cuda\\-f64\ndoes everything in double precision. This pays for\n"
        ".BR graphical \", \" vanilla \", \" independent \", \" random \", \" combined \" and \" langevin ,\n"
        "with thousands of nodes or hundreds of particles; methods that compute nothing there use the CPU, with a\n"
        "warning.\n.B auto\n"
        "uses a GPU for these if there is one with enough free memory.\n"
        "The others are for comparing:\n"
        ".BR cpu\\-baseline \", \" cpu\\-avx2 \" and \" cpu\\-avx512\n"
        "are the default with fixed instructions, and\n.B ref\nis plain loops. See docs/gpu.md and "
        "docs/methods.md.\n"
        ".PP\nThe names of\n.B \\-\\-save\nare variables or arrays: x stands for x.1, x.2 and so on.\n"
        ".PP\nThe particles of {modes}\n"
        "are modes, not a sample of the posterior: row l holds the lth best value of each node separately, and the\n"
        "first row is the best configuration. These methods need models whose factors touch at most two nodes.\n",
    .options = options,
    .run = run,
};
