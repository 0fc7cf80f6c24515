#include <string.h>

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

static int write_graph(const svmp_model *model, svmp_context *context, svmp_graph_format format, const char *path) {
    svmp_status status =
        path ? svmp_model_save_graph(model, format, path, 1) : svmp_model_write_graph(model, format, stdout);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int run(const option_set *set) {
    const char *path = options_given(set, "output");
    svmp_graph_format format;
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    int status = read_format(options_value(set, "format"), &format);
    if (status == 0 && path) status = check_output(path, OUTPUT_ANY, options_given(set, "force") != NULL);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = read_model(set, context, NULL, &model);
    if (status == 0) status = write_graph(model, context, format, path);
    svmp_model_free(model);
    svmp_context_free(context);
    return status;
}

const command command_graph = {
    .name = "graph",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Print the factor graph as DOT or JSON",
    .text = "Prints the factor graph for Graphviz, or as JSON with the Markov blankets that follow from it.\n",
    .options = options,
    .run = run,
};
