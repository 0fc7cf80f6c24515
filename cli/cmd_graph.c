#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

static const svmp_option rows[] = {
    {"format", 0, "dot|json", "dot", "the factor graph for Graphviz, or nodes, factors and blankets as JSON", "Output"},
    {"output", 'o', "FILE", "", "write to FILE, not to the standard output", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

static int read_format(const char *text, svmp_graph_format *format) {
    *format = strcmp(text, "json") == 0 ? SVMP_GRAPH_JSON : SVMP_GRAPH_DOT;
    if (*format == SVMP_GRAPH_JSON || strcmp(text, "dot") == 0) return 0;
    return complain(EXIT_WRONG, "The option '--format' is dot or json, not '%s'.", text);
}

static void remove_half(const char *path) {
    struct stat about;
    if (lstat(path, &about) == 0 && S_ISREG(about.st_mode)) remove(path);
}

static int write_file(const svmp_model *model, svmp_context *context, svmp_graph_format format, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) return complain(EXIT_FAILED, "The file '%s' could not be written: %s.", path, strerror(errno));
    svmp_status status = svmp_model_write_graph(model, format, file);
    int error = fclose(file) != 0 ? errno : 0;
    if (status == SVMP_OK && error == 0) return 0;
    remove_half(path);
    if (status != SVMP_OK) return failed(context, status);
    return complain(EXIT_FAILED, "The file '%s' could not be written: %s.", path, strerror(error));
}

static int write_standard(const svmp_model *model, svmp_context *context, svmp_graph_format format) {
    svmp_status status = svmp_model_write_graph(model, format, stdout);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int run(const option_set *set) {
    const char *path = options_given(set, "output");
    svmp_graph_format format;
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    int status = read_format(options_value(set, "format"), &format);
    if (status == 0 && path) status = check_output(path, 0, options_given(set, "force") != NULL);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = read_model(set, context, &model);
    if (status == 0) status = path ? write_file(model, context, format, path) : write_standard(model, context, format);
    svmp_model_free(model);
    svmp_context_free(context);
    return status;
}

const command command_graph = {
    .name = "graph",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Print the factor graph of a model as DOT or JSON",
    .text = "Prints the factor graph for Graphviz, or as JSON with the Markov blankets that follow from it.\n",
    .options = options,
    .run = run,
};
