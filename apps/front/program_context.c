#include "front/program_context.h"

#include <string.h>

#include "front/error_output.h"
#include "front/spell_option.h"
#include "svmp_parallel.h"

static int exit_of(svmp_status status) {
    switch (status) {
    case SVMP_OK: return EXIT_DONE;
    case SVMP_BAD_CALL:
    case SVMP_BAD_INPUT:
    case SVMP_CANNOT_READ:
    case SVMP_UNSUPPORTED:
    case SVMP_NOT_POSITIVE_DEFINITE: return EXIT_WRONG;
    case SVMP_NO_MEMORY:
    case SVMP_CANNOT_WRITE:
    case SVMP_NOT_FINITE:
    case SVMP_CALLBACK_FAILED:
    case SVMP_DEVICE_FAILED: return EXIT_FAILED;
    }
    return EXIT_FAILED;
}

/* Errors in a model or its data have their place, as a compiler's do, and may be several: they are printed unchanged as
 * they occur. */
static int has_place(const char *message) { return strstr(message, ": error: ") != NULL; }

static void print_error(svmp_status status, const char *message, void *user_data) {
    (void)status;
    (void)user_data;
    if (has_place(message) && is_reporting()) fprintf(stderr, "%s\n", message);
    if (has_place(message) && !is_reporting()) report_error(EXIT_WRONG, "%s", message);
}

int failed(const svmp_context *context, svmp_status status) {
    const char *sentence = svmp_context_error(context);
    if (has_place(sentence)) return exit_of(status);
    return report_error(exit_of(status), "%s", *sentence ? sentence : svmp_status_text(status));
}

void print_log(svmp_log_level level, const char *message, void *user_data) {
    (void)user_data;
    if (level != SVMP_LOG_WARNING || !is_reporting()) return;
    fprintf(stderr, strstr(message, ": warning: ") ? "%s\n" : "svmp: warning: %s\n", message);
}

int open_context(const option_set *set, svmp_context **context) {
    const char *text = options_value(set, "threads");
    size_t threads = 0;
    int wrong = text ? read_count("threads", text, 0, 4096, &threads) : 0;
    if (wrong) return wrong;
    svmp_status status = svmp_context_create(NULL, context);
    if (status == SVMP_OK) status = svmp_context_set_threads(*context, (int)threads);
    if (status == SVMP_OK) status = svmp_context_set_speller(*context, spell_option, NULL);
    if (status == SVMP_OK) status = svmp_context_set_log(*context, print_log, NULL);
    if (status == SVMP_OK) status = svmp_context_set_error(*context, print_error, NULL);
    return status == SVMP_OK ? 0 : failed(NULL, status);
}

int open_joined_context(const option_set *set, svmp_context **context) {
    const int status = open_context(set, context);
    if (status) return fail_together(status);
    const svmp_status joined = svmp_context_join(*context);
    error_output_of(*context);
    return joined == SVMP_OK ? agree_on_status(*context, 0) : failed(*context, joined);
}
