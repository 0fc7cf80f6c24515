#include "run_record.h"

#include <stdlib.h>
#include <string.h>

#include "front/memory_file.h"
#include "print_verdict.h"
#include "run_arguments.h"

const char *outcome_word(svmp_outcome outcome) {
    switch (outcome) {
    case SVMP_UNFINISHED: return "unfinished";
    case SVMP_COMPLETED: return "completed";
    case SVMP_CONVERGED: return "converged";
    case SVMP_STOPPED: return "stopped";
    case SVMP_DIVERGED: return "diverged";
    }
    return "unknown";
}

/* The value of an option in the run; no line if the run does not use it. */
static void print_option(FILE *text, const run_record *record, const char *name) {
    char buffer[4096];
    const char *value = svmp_run_setting(record->run, name, buffer, sizeof buffer);
    if (strcmp(name, "init") == 0 && start_file(record->set)) value = start_file(record->set);
    if (value) fprintf(text, "%s = %s\n", name, value);
}

/* Which part of the result is in the file, if options choose one. */
static void print_given(FILE *text, const run_record *record, const char *name) {
    const char *value = options_given(record->set, name);
    if (value) fprintf(text, "%s = %s\n", name, value);
}

/* The lines that rstan's read_stan_csv and ArviZ's from_cmdstan read: the number of draws, warm-up and thinning. */
static void print_for_stan(FILE *text, const run_record *record, size_t rows) {
    char buffer[32];
    const char *warmup = svmp_run_setting(record->run, "warmup", buffer, sizeof buffer);
    if (record->chain) fprintf(text, "id = %zu\n", record->chain);
    fprintf(text, "num_samples = %zu\nnum_warmup = %s\nsave_warmup = 0\nthin = %zu\n", rows * record->thin,
            warmup ? warmup : "0", record->thin);
    fprintf(text, "Elapsed Time: %.3f seconds (Warm-up)\n", record->warmup);
    fprintf(text, "              %.3f seconds (Sampling)\n", record->seconds - record->warmup);
    fprintf(text, "              %.3f seconds (Total)\n", record->seconds);
}

char *record_text(const run_record *record, const svmp_particles *written) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_written(&text, &size);
    if (stream == NULL) return NULL;
    fprintf(stream, "svmp %s\n", svmp_version());
    for (size_t k = 0; k < record->set->operand_count; k++)
        fprintf(stream, "%s = %s\n", k == 0 ? "model" : "data", record->set->operands[k]);
    svmp_option option;
    for (size_t k = 0; svmp_option_at(k, &option); k++)
        if (!record->compressed || strcmp(option.name, "draws") != 0) print_option(stream, record, option.name);
    print_option(stream, record, "threads");
    print_given(stream, record, "monitor");
    if (options_given(record->set, "coordinates") || strcmp(record->coordinates, "centred") != 0)
        fprintf(stream, "coordinates = %s\n", record->coordinates);
    print_given(stream, record, "save");
    if (record->processes > 1) fprintf(stream, "processes = %zu\n", record->processes);
    fprintf(stream, "outcome = %s\niterations done = %zu\n", outcome_word(record->outcome), record->iterations);
    if (record->resumed) fprintf(stream, "resumed at = %zu\n", record->resumed);
    fprintf(stream, "seconds = %.3f\n", record->seconds);
    convergence_write(&record->convergence, stream);
    char verdict[VERDICT_RECORD];
    if (record->verdict) fputs(svmp_verdict_record(record->verdict, verdict, sizeof verdict), stream);
    if (record->verdict && record->processes == 1)
        fprintf(stream, "verdict_numbers = %016llx\n", (unsigned long long)svmp_particles_checksum(written));
    print_for_stan(stream, record, svmp_particles_count(written));
    close_written(stream, &text);
    return text;
}
