#include <errno.h>
#include <string.h>

#include "graph/graph.h"

/* A quoted string for JSON and DOT, which both escape quotes and backslashes; control characters become spaces. */
static void write_quoted(const char *text, FILE *file) {
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', file);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, file);
    }
    fputc('"', file);
}

static void write_numbers(const uint32_t *item, size_t count, size_t skip, FILE *file) {
    const char *separator = "";
    fputc('[', file);
    for (size_t k = 0; k < count; k++) {
        if (item[k] == skip) continue;
        fprintf(file, "%s%u", separator, item[k]);
        separator = ", ";
    }
    fputc(']', file);
}

static void write_dot(const svmp_graph *graph, node_namer name, const void *user_data, FILE *file) {
    char buffer[256];
    fputs("graph model {\n  node [shape=ellipse];\n", file);
    for (size_t v = 0; v < graph->nodes; v++) {
        fprintf(file, "  n%zu [label=", v);
        write_quoted(name(user_data, v, buffer, sizeof buffer), file);
        fputs("];\n", file);
    }
    fputs("  node [shape=square, label=\"\", width=0.1, style=filled, fillcolor=black];\n", file);
    for (size_t f = 0; f < graph->factors; f++) {
        fprintf(file, "  f%zu;\n", f);
        for (size_t e = graph->scopes.start[f]; e < graph->scopes.start[f + 1]; e++)
            fprintf(file, "  f%zu -- n%u;\n", f, graph->scopes.item[e]);
    }
    fputs("}\n", file);
}

static void write_json(const svmp_graph *graph, node_namer name, const void *user_data, FILE *file) {
    char buffer[256];
    fputs("{\n  \"nodes\": [", file);
    for (size_t v = 0; v < graph->nodes; v++) {
        size_t count;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        fprintf(file, "%s\n    {\"id\": %zu, \"name\": ", v ? "," : "", v);
        write_quoted(name(user_data, v, buffer, sizeof buffer), file);
        fprintf(file, ", \"dimension\": %zu, \"blanket\": ", svmp_graph_node_dimension(graph, v));
        write_numbers(closed, count, v, file);
        fputc('}', file);
    }
    fputs("\n  ],\n  \"factors\": [", file);
    for (size_t f = 0; f < graph->factors; f++) {
        size_t from = graph->scopes.start[f], count = graph->scopes.start[f + 1] - from;
        fprintf(file, "%s\n    ", f ? "," : "");
        write_numbers(graph->scopes.item + from, count, SIZE_MAX, file);
    }
    fputs("\n  ]\n}\n", file);
}

svmp_status svmp_graph_write(const svmp_graph *graph, svmp_graph_format format, node_namer name, const void *user_data,
                             FILE *file) {
    switch (format) {
    case SVMP_GRAPH_DOT: write_dot(graph, name, user_data, file); break;
    case SVMP_GRAPH_JSON: write_json(graph, name, user_data, file); break;
    default: return svmp_fail(graph->context, SVMP_BAD_CALL, "Invalid graph format %d.", (int)format);
    }
    if (fflush(file) != 0 || ferror(file))
        return svmp_fail(graph->context, SVMP_CANNOT_WRITE, "Cannot write the graph: %s.", strerror(errno));
    return SVMP_OK;
}
