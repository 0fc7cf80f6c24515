#include "record.h"

#include <stdlib.h>
#include <string.h>

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

static void print_option(FILE *text, const run_record *record, const char *name) {
    const char *value = options_value(record->set, name);
    if (strcmp(name, "particles") == 0)
        fprintf(text, "%s = %zu\n", name, record->particles);
    else
        fprintf(text, "%s = %s\n", name, *value ? value : "(the method's own)");
}

char *record_text(const run_record *record) {
    char *text = NULL;
    size_t size = 0, count;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) return NULL;
    fprintf(stream, "svmp %s\n", svmp_version());
    for (size_t k = 0; k < record->set->operand_count; k++)
        fprintf(stream, "%s = %s\n", k == 0 ? "model" : "data", record->set->operands[k]);
    const svmp_option *rows = svmp_run_option_table(&count);
    for (size_t k = 0; k < count; k++) print_option(stream, record, rows[k].name);
    print_option(stream, record, "threads");
    if (record->processes > 1) fprintf(stream, "processes = %zu\n", record->processes);
    fprintf(stream, "outcome = %s\niterations done = %zu\nseconds = %.3f\n", outcome_word(record->outcome),
            record->iterations, record->seconds);
    convergence_write(&record->convergence, stream);
    int lost = ferror(stream);
    if (fclose(stream) == 0 && !lost) return text;
    free(text);
    return NULL;
}
