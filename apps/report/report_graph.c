#include <stdlib.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"

enum { NAME = 1024, EDGES_MOST = 200000 }; /* beyond that no one looks at neighbours one by one */

/* Every column of the file is a variable of the model, a value of its unknowns (elements of a simplex are no
 * variables), or computed from them; `column` gives for each variable its column. */
static int match(const svmp_model *model, const name_index *names, const svmp_particles *particles, const char *path,
                 size_t *column) {
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    char *met = calloc(names->count, 1);
    if (met == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    int status = 0;
    for (size_t i = 0; i < variables; i++) {
        char name[NAME];
        svmp_model_variable_name(model, i, name, sizeof name);
        if (names_find(names, name, &column[i]))
            met[column[i]] = 1;
        else
            column[i] = SIZE_MAX;
    }
    for (size_t k = 0; k < svmp_model_values(model); k++) {
        char name[NAME];
        size_t at;
        if (names_find(names, svmp_model_value_name(model, k, name, sizeof name), &at)) met[at] = 1;
    }
    for (size_t i = 0; i < names->count && status == 0; i++)
        if (!met[i] && !svmp_model_computes(model, svmp_particles_name(particles, i)))
            status = report_error(EXIT_WRONG, "The model does not match '%s': the model has no variable '%s'.", path,
                                  svmp_particles_name(particles, i));
    free(met);
    return status;
}

static size_t blanket(const svmp_graph *graph, size_t node) {
    size_t count;
    svmp_graph_neighbourhood(graph, node, &count);
    return count - 1;
}

/* The lines of `svmp check`. */
static void write_statistics(FILE *file, const svmp_model *model, size_t total) {
    const svmp_graph *graph = svmp_model_graph(model);
    const size_t nodes = svmp_graph_nodes(graph);
    size_t largest = 0;
    for (size_t v = 0; v < nodes; v++)
        if (blanket(graph, v) > largest) largest = blanket(graph, v);
    fprintf(file, "\"statistics\":[[\"nodes\",\"%zu\"],[\"variables\",\"%zu\"],[\"factors\",\"%zu\"],", nodes,
            svmp_graph_variables(graph), svmp_graph_factors(graph));
    fprintf(file, "[\"mean Markov blanket\",\"%.4g\"],[\"largest Markov blanket\",\"%zu\"],",
            (double)total / (double)nodes, largest);
    fprintf(file, "[\"distinct neighbourhoods\",\"%zu\"],[\"jointly Gaussian\",\"%s\"]]",
            svmp_graph_distinct_neighbourhoods(graph), svmp_model_is_gaussian(model) ? "yes" : "no");
}

static void write_nodes(FILE *file, const svmp_model *model, const size_t *column) {
    const svmp_graph *graph = svmp_model_graph(model);
    fputs(",\n\"nodes\":[", file);
    for (size_t v = 0; v < svmp_graph_nodes(graph); v++) {
        char name[NAME];
        const char *separator = "";
        fputs(v ? ",\n[" : "\n[", file);
        json_string(file, svmp_model_node_name(model, v, name, sizeof name));
        fprintf(file, ",%zu,[", blanket(graph, v));
        const size_t first = svmp_graph_node_first(graph, v), dimension = svmp_graph_node_dimension(graph, v);
        for (size_t i = first; i < first + dimension; i++) {
            if (column[i] == SIZE_MAX) continue;
            fprintf(file, "%s%zu", separator, column[i]);
            separator = ",";
        }
        fputs("]]", file);
    }
    fputc(']', file);
}

/* Pairs of neighbours, each once, one number after another. */
static void write_edges(FILE *file, const svmp_graph *graph, size_t edges) {
    const char *separator = "";
    if (edges > EDGES_MOST) {
        fputs(",\n\"edges\":null", file);
        return;
    }
    fputs(",\n\"edges\":[", file);
    for (size_t v = 0; v < svmp_graph_nodes(graph); v++) {
        size_t count;
        const uint32_t *closed = svmp_graph_neighbourhood(graph, v, &count);
        for (size_t k = 0; k < count; k++) {
            if (closed[k] <= v) continue;
            fprintf(file, "%s%zu,%lu", separator, v, (unsigned long)closed[k]);
            separator = ",";
        }
    }
    fputc(']', file);
}

int write_graph(FILE *file, const svmp_model *model, const name_index *names, const svmp_particles *particles,
                const char *path, int whole) {
    if (model == NULL) return fputs(",\n\"graph\":null", file), 0;
    const svmp_graph *graph = svmp_model_graph(model);
    size_t *column = calloc(svmp_graph_variables(graph), sizeof *column), total = 0;
    if (column == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    int status = match(model, names, particles, path, column);
    if (status == 0) {
        for (size_t v = 0; v < svmp_graph_nodes(graph); v++) total += blanket(graph, v);
        fputs(",\n\"graph\":{", file);
        write_statistics(file, model, total);
        if (whole) write_nodes(file, model, column);
        if (whole) write_edges(file, graph, total / 2);
        if (!whole) fputs(",\"nodes\":[],\"edges\":null", file);
        fputc('}', file);
    }
    free(column);
    return status;
}
