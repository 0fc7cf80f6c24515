#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_table.h"
#include "front/memory_file.h"

static const option_row rows[] = {
    {"format", 0, "dot|json", "dot", "the factor graph for Graphviz, or nodes, factors and blankets as JSON", "Output"},
    {"output", 'o', "FILE", "", "write to FILE instead of standard output; .png, .svg and .pdf are drawn by Graphviz",
     "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
};

static void options(option_set *set) {
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add_run(set, 1, (const char *const[]){"method"});
    options_add(set, 1, &coordinates_option);
}

static int read_format(const char *text, svmp_graph_format *format) {
    *format = strcmp(text, "json") == 0 ? SVMP_GRAPH_JSON : SVMP_GRAPH_DOT;
    if (*format == SVMP_GRAPH_JSON || strcmp(text, "dot") == 0) return 0;
    return report_error(EXIT_WRONG, "The option '--format' must be dot or json, not '%s'.", text);
}

/* The kind of picture that a path's ending asks for, or NULL. */
static const char *picture_kind(const char *path) {
    static const char *const kinds[] = {"png", "svg", "pdf", "jpg", "gif", "ps", "eps", "webp"};
    const char *ending = path ? strrchr(path, '.') : NULL;
    for (size_t k = 0; ending && k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(ending + 1, kinds[k]) == 0) return kinds[k];
    return NULL;
}

/* Graphviz draws a text of ours: `stdin` of the child is the text. */
static FILE *start_graphviz(const char *kind, const char *layout, FILE *text, pid_t *child) {
    char as[16], by[16];
    int ends[2];
    snprintf(as, sizeof as, "-T%s", kind);
    snprintf(by, sizeof by, "-K%s", layout);
    if (pipe(ends) != 0) return NULL;
    *child = fork();
    if (*child == 0) {
        rewind(text);
        if (dup2(fileno(text), STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0) {
            close(ends[0]);
            execlp("dot", "dot", as, by, (char *)NULL);
        }
        _exit(127);
    }
    close(ends[1]);
    FILE *from = *child > 0 ? fdopen(ends[0], "rb") : NULL;
    if (from == NULL) close(ends[0]);
    return from;
}

static int write_piece(const char *text, void *file) { return fputs(text, file) < 0; }

static int draw_graph(const svmp_model *model, svmp_context *context, const char *kind, const char *path) {
    enum { LARGE = 300 }; /* nodes and factors: more take dot's layers hours */
    const svmp_graph *graph = svmp_model_graph(model);
    const int large = svmp_graph_nodes(graph) + svmp_graph_factors(graph) > LARGE;
    FILE *text = tmpfile(), *picture = NULL;
    char *bytes = NULL, block[1 << 14];
    size_t size = 0, got;
    pid_t child = -1;
    int ended = 127 << 8;
    svmp_status status = text ? svmp_model_write_graph(model, SVMP_GRAPH_DOT, write_piece, text) : SVMP_CANNOT_WRITE;
    FILE *from = status == SVMP_OK ? start_graphviz(kind, large ? "sfdp" : "dot", text, &child) : NULL;
    if (from) picture = open_written(&bytes, &size);
    while (picture && (got = fread(block, 1, sizeof block, from)) > 0) fwrite(block, 1, got, picture);
    if (picture && !close_written(picture, &bytes)) size = 0;
    if (from) fclose(from);
    if (child > 0) waitpid(child, &ended, 0);
    if (text) fclose(text);
    const int drawn = WIFEXITED(ended) && WEXITSTATUS(ended) == 0 && size > 0;
    const int wrote = drawn ? write_output(path, bytes, size, 1) : 0;
    free(bytes);
    if (status != SVMP_OK) return failed(context, status);
    if (drawn) return wrote;
    return WEXITSTATUS(ended) == 127
               ? report_error(EXIT_WRONG,
                              "Cannot draw '%s': Graphviz is not installed (Debian: graphviz). -o FILE.dot writes its "
                              "input instead.",
                              path)
               : report_error(EXIT_FAILED, "Graphviz failed to draw '%s'; -o FILE.dot writes its input instead.", path);
}

static int write_graph(const svmp_model *model, svmp_context *context, svmp_graph_format format, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = path ? open_written(&text, &size) : stdout;
    if (file == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    const svmp_status status = svmp_model_write_graph(model, format, write_piece, file);
    int result = status == SVMP_OK ? 0 : failed(context, status);
    if (path && !close_written(file, &text) && result == 0) result = report_error(EXIT_FAILED, "Out of memory.");
    if (path && result == 0) result = write_output(path, text, size, 1);
    free(text);
    return result;
}

static int run(const option_set *set) {
    const char *path = options_given(set, "output");
    svmp_graph_format format;
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    const char *kind = picture_kind(path);
    int status = read_format(options_value(set, "format"), &format);
    if (status == 0 && kind && options_given(set, "format"))
        status = report_error(EXIT_WRONG, "The option '--format' does not apply to '%s', a picture.", path);
    if (status == 0 && path) status = check_output(path, OUTPUT_ANY, options_given(set, "force") != NULL);
    if (status == 0 && path) status = refuse_input(set, path);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) status = read_model(set, context, &model);
    if (status == 0) status = kind ? draw_graph(model, context, kind, path) : write_graph(model, context, format, path);
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
    .text = "Prints the factor graph in Graphviz's DOT language, or as JSON with the Markov blankets.\n"
            "If FILE ends in .png, .svg or .pdf, Graphviz draws the graph; it must be installed.\n",
    .options = options,
    .run = run,
};
