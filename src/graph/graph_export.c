#include <stdarg.h>
#include <string.h>

#include "graph/graph.h"

/* Text on its way to the caller's function, a block at a time. */
typedef struct graph_text {
    svmp_text_function write;
    void *user_data;
    size_t used;
    int failed;
    char block[1 << 12];
} graph_text;

static void flush(graph_text *to) {
    to->block[to->used] = '\0';
    if (to->used > 0 && !to->failed) to->failed = to->write(to->block, to->user_data) != 0;
    to->used = 0;
}

static void put(graph_text *to, char letter) {
    if (to->used == sizeof to->block - 1) flush(to);
    to->block[to->used++] = letter;
}

static void put_text(graph_text *to, const char *text) {
    while (*text) put(to, *text++);
}

__attribute__((format(printf, 2, 3))) static void print(graph_text *to, const char *format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(to, text);
}

/* A quoted string for JSON and DOT, which both escape quotes and backslashes; control characters become spaces. */
static void write_quoted(const char *text, graph_text *to) {
    put(to, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put(to, '\\');
        put(to, (unsigned char)*text < 0x20 ? ' ' : *text);
    }
    put(to, '"');
}

static void write_numbers(const uint32_t *item, size_t count, size_t skip, graph_text *to) {
    const char *separator = "";
    put(to, '[');
    for (size_t k = 0; k < count; k++) {
        if (item[k] == skip) continue;
        print(to, "%s%u", separator, item[k]);
        separator = ", ";
    }
    put(to, ']');
}

static void write_dot(const svmp_graph *graph, node_namer name, const void *user_data, graph_text *to) {
    char buffer[256];
    put_text(to, "graph model {\n  node [shape=ellipse];\n");
    for (size_t v = 0; v < graph->nodes; v++) {
        print(to, "  n%zu [label=", v);
        write_quoted(name(user_data, v, buffer, sizeof buffer), to);
        put_text(to, "];\n");
    }
    put_text(to, "  node [shape=square, label=\"\", width=0.1, style=filled, fillcolor=black];\n");
    for (size_t f = 0; f < graph->factors; f++) {
        print(to, "  f%zu;\n", f);
        for (size_t e = graph->scopes.start[f]; e < graph->scopes.start[f + 1]; e++)
            print(to, "  f%zu -- n%u;\n", f, graph->scopes.item[e]);
    }
    put_text(to, "}\n");
}

static void write_json(const svmp_graph *graph, node_namer name, const void *user_data, graph_text *to) {
    char buffer[256];
    put_text(to, "{\n  \"nodes\": [");
    for (size_t v = 0; v < graph->nodes; v++) {
        size_t count;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        print(to, "%s\n    {\"id\": %zu, \"name\": ", v ? "," : "", v);
        write_quoted(name(user_data, v, buffer, sizeof buffer), to);
        print(to, ", \"dimension\": %zu, \"blanket\": ", svmp_graph_node_dimension(graph, v));
        write_numbers(closed, count, v, to);
        put(to, '}');
    }
    put_text(to, "\n  ],\n  \"factors\": [");
    for (size_t f = 0; f < graph->factors; f++) {
        size_t from = graph->scopes.start[f], count = graph->scopes.start[f + 1] - from;
        print(to, "%s\n    ", f ? "," : "");
        write_numbers(graph->scopes.item + from, count, SIZE_MAX, to);
    }
    put_text(to, "\n  ]\n}\n");
}

svmp_status svmp_graph_write(const svmp_graph *graph, svmp_graph_format format, node_namer name, const void *names,
                             svmp_text_function write, void *user_data) {
    graph_text to = {.write = write, .user_data = user_data};
    switch (format) {
    case SVMP_GRAPH_DOT: write_dot(graph, name, names, &to); break;
    case SVMP_GRAPH_JSON: write_json(graph, name, names, &to); break;
    default: return svmp_fail(graph->context, SVMP_BAD_CALL, "Invalid graph format %d.", (int)format);
    }
    flush(&to);
    return to.failed ? svmp_fail(graph->context, SVMP_CANNOT_WRITE, "Cannot write the graph.") : SVMP_OK;
}
