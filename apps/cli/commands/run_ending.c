#include <string.h>

#include "command_table.h"
#include "commands/run_session.h"
#include "print_sampling.h"

int session_explain_warmup(const session *s) {
    report_error(EXIT_INTERRUPTED, "Interrupted after %zu of %zu warm-up iterations: there are no draws yet.",
                 svmp_run_iteration(s->run), s->warmup);
    checkpoint_report_resume(&s->checkpoint_writer, s->set);
    return EXIT_INTERRUPTED;
}

/* Advice to keep the particles of the next run finite. */
static void advise_finite(const session *s) {
    char step[STEP_TEXT], text[STEP_TEXT], kernel[STEP_TEXT];
    const char *smaller = scaled_step(svmp_run_setting(s->run, "step", step, sizeof step), 0.1, text);
    char init[STEP_TEXT];
    const char *from = svmp_run_setting(s->run, "init", init, sizeof init); /* the method's own, if none was given */
    const int fitted = from && strncmp(from, "gaussian", strlen("gaussian")) == 0;
    if (s->method.yield != SVMP_YIELD_PARTICLES) return;
    if (svmp_run_iteration(s->run) == 0)
        report_error(
            EXIT_FAILED,
            "Try another start: %s--init normal:0.1. If no start works, the posterior may be improper: give all "
            "unknowns proper priors.",
            fitted ? "" : "--init gaussian, or ");
    else if (svmp_run_setting(s->run, "kernel", kernel, sizeof kernel) == NULL)
        report_error(
            EXIT_FAILED,
            "Langevin moves grow with the score: try a smaller step (%s%s), or -m mala, which rejects such moves.",
            smaller, fitted ? "" : " --init gaussian");
    else
        report_error(EXIT_FAILED, "Try a smaller step%s: %s%s.", fitted ? "" : " or a start from a Gaussian fit",
                     smaller, fitted ? "" : ", --init gaussian");
}

int session_explain_end(const session *s, svmp_status ended) {
    if (ended == SVMP_NOT_FINITE) {
        if (s->writer.written) report_error(EXIT_FAILED, "The last finite particles are in '%s'.", s->writer.written);
        advise_finite(s);
        return EXIT_FAILED;
    }
    if (s->record.outcome != SVMP_STOPPED) return EXIT_DONE;
    const size_t requested = svmp_run_iterations(s->run);
    if (s->writer.written)
        report_error(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations; the particles are in '%s'.",
                     s->record.iterations, requested, s->writer.written);
    else
        report_error(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations.", s->record.iterations, requested);
    if (!checkpoint_report_resume(&s->checkpoint_writer, s->set) && s->writer.written && !s->writer.chosen &&
        !s->writer.split)
        report_error(EXIT_INTERRUPTED,
                     "Without --checkpoint the run cannot be resumed; --init %s starts a new run from these particles.",
                     s->writer.written);
    return EXIT_INTERRUPTED;
}
