#include "error_output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "svmp_parallel.h"

static struct {
    const char *program;
    int muted;
    char first[1024]; /* what was not said */
} output = {.program = "svmp"};

void error_output_program(const char *program) { output.program = program; }

int is_reporting(void) { return !output.muted; }

static svmp_launch launched(void) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    return launch;
}

void defer_errors(void) { output.muted = launched().processes > 1; }

static void report_if(int first) {
    output.muted = !first;
    if (output.muted && freopen("/dev/null", "w", stdout) == NULL) fclose(stdout);
}

void error_output_of(const svmp_context *context) { report_if(svmp_context_process(context) == 0); }

void error_output_of_launched(void) { report_if(launched().process == 0); }

int agree_on_status(const svmp_context *context, int status) {
    struct {
        int status;
        char words[sizeof output.first];
    } mine = {.status = status}, *all = calloc(svmp_context_processes(context), sizeof *all);
    memcpy(mine.words, output.first, sizeof mine.words);
    if (svmp_context_any(context, all == NULL) || all == NULL) {
        free(all);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    svmp_context_gather(context, sizeof mine, &mine, all);
    size_t k = 0;
    while (k < svmp_context_processes(context) && all[k].status == 0) k++;
    const int first = k < svmp_context_processes(context) ? all[k].status : 0;
    if (first && is_reporting() && *all[k].words) {
        if (k > 0) report_error(first, "process %zu: %s", k, all[k].words);
        if (k == 0) report_error(first, "%s", all[k].words);
    }
    free(all);
    return first;
}

int fail_together(int status) {
    svmp_context *context = NULL;
    if (svmp_context_create(NULL, &context) == SVMP_OK && svmp_context_join(context) == SVMP_OK) {
        error_output_of(context);
        agree_on_status(context, status);
    } else {
        output.muted = 0;
        report_error(status, "%s", *output.first ? output.first : svmp_context_error(context));
    }
    svmp_context_free(context);
    return status;
}

int report_error(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (output.muted && output.first[0] == '\0') vsnprintf(output.first, sizeof output.first, format, arguments);
    if (!output.muted) {
        fprintf(stderr, "%s: ", output.program);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
    return status;
}
