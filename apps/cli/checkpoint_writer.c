#include "checkpoint_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command_table.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *checkpoint_path(const option_set *set) {
    const char *path = options_given(set, "checkpoint");
    return path ? path : options_given(set, "resume");
}

int checkpoint_check_options(const option_set *set) {
    const char *path = checkpoint_path(set), *from = options_given(set, "resume");
    const char *every = options_given(set, "checkpoint-every");
    if (every && path == NULL)
        return report_error(EXIT_WRONG, "The option '--checkpoint-every' needs '--checkpoint' or '--resume'.");
    double seconds;
    if (every && read_real("checkpoint-every", every, 0, 1e9, &seconds)) return EXIT_WRONG;
    if (path == NULL) return 0;
    if (same_file(path, options_given(set, "output")))
        return report_error(EXIT_WRONG, "'%s' cannot be both the output and the checkpoint.", path);
    const int status =
        check_output(path, OUTPUT_CHECKPOINT, same_file(path, from) || options_given(set, "force") != NULL);
    return status || same_file(path, from) ? status
                                           : refuse_input(set, path); /* what is resumed must be a checkpoint */
}

void checkpoint_writer_begin(checkpoint_writer *k, const option_set *set, svmp_context *context, svmp_run *run) {
    *k = (checkpoint_writer){.context = context, .run = run, .path = checkpoint_path(set), .last = now()};
    k->every = strtod(options_value(set, "checkpoint-every"), NULL);
    k->kept = same_file(k->path, options_given(set, "resume"));
}

int checkpoint_is_due(const checkpoint_writer *k) { return k->path && now() - k->last >= k->every; }

void checkpoint_write(checkpoint_writer *k) {
    if (k->path == NULL) return;
    if (svmp_run_save(k->run, k->path) == SVMP_OK) {
        k->kept = 1;
        k->failing = 0;
    } else if (!k->failing) {
        report_error(EXIT_FAILED, "warning: could not save the checkpoint after iteration %zu: %s The run continues%s.",
                     svmp_run_iteration(k->run), svmp_context_error(k->context),
                     k->kept ? "; the last checkpoint is kept" : "");
        k->failing = 1;
    }
    k->last = now();
}

/* A word of a shell's line. */
static void print_word(const char *word, FILE *stream) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (*word && word[strspn(word, plain)] == '\0') {
        fprintf(stream, " %s", word);
        return;
    }
    fputs(" '", stream);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, stream);
    fputc('\'', stream);
}

void checkpoint_print_resume(const checkpoint_writer *k, const option_set *set, FILE *stream) {
    fputs("svmp: To continue: ", stream);
    if (svmp_context_processes(k->context) > 1) {
        svmp_launch launch;
        svmp_launch_read(&launch);
        fprintf(stream, "%s -n %zu ", launch.name ? launch.name : "mpirun", svmp_context_processes(k->context));
    }
    fputs("svmp run", stream);
    for (size_t r = 0; r < set->count; r++) {
        const option_row *row = &set->rows[r];
        if (set->values[r] == NULL || strcmp(row->name, "resume") == 0 || strcmp(row->name, "force") == 0) continue;
        fprintf(stream, " --%s", row->name);
        if (row->argument) print_word(set->values[r], stream);
    }
    fputs(" --resume", stream);
    print_word(k->path, stream);
    if (options_given(set, "output")) fputs(" --force", stream);
    int dashes = 0;
    for (size_t o = 0; o < set->operand_count; o++) dashes |= set->operands[o][0] == '-';
    if (dashes) fputs(" --", stream);
    for (size_t o = 0; o < set->operand_count; o++) print_word(set->operands[o], stream);
    fputc('\n', stream);
}

int checkpoint_report_resume(const checkpoint_writer *k, const option_set *set) {
    if (k->kept && is_reporting()) checkpoint_print_resume(k, set, stderr);
    return k->kept;
}
