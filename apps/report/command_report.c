#include <stdlib.h>

#include "base/comment_lines.h"
#include "command_table.h"
#include "front/memory_file.h"
#include "read_samples.h"
#include "report_fields.h"
#include "report_page.h"
#include "report_parts.h"

static const option_row rows[] = {
    {"output", 'o', "FILE", "", "write the page to FILE (.html)", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
    {"truth", 0, "FILE", "", "CSV file with columns name and value: true values to show", "Content"},
    {"particles", 0, "N", "0", "particles in the plots; 0: as many as can be drawn quickly", "Content"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

/* All that a report is made of, so that there is one place where it ends. */
typedef struct material {
    const option_set *set;
    const char *path; /* of the particles, or the first of their files */
    size_t files;
    svmp_context *context;
    svmp_particles *particles, *some; /* some: those variables of many that are shown one by one; NULL: all */
    svmp_model *model;
    name_index names, shown_names;
    overview arrays; /* of more than a few variables */
    size_t shown;
    char coordinates[32];
} material;

/* The coordinates of the run, on which its graph depends; NULL: the default. */
static const char *coordinates_of(material *m) {
    const char *comments = svmp_particles_comments(m->particles);
    const int known = svmp_comment_find(comments, "coordinates", m->coordinates, sizeof m->coordinates);
    return known ? m->coordinates : NULL;
}

static int prepare(material *m) {
    if (page_library.size == 0)
        return report_error(EXIT_WRONG, "This build cannot write reports: it was built without D3 (Debian: node-d3).");
    const char *output = options_given(m->set, "output");
    if (output == NULL)
        return report_error(EXIT_WRONG, "An output file is needed: svmp report %s -o FILE.html.", m->path);
    int status = read_count("particles", options_value(m->set, "particles"), 0, 10000000, &m->shown);
    if (status == 0) status = check_output(output, OUTPUT_PAGE, options_given(m->set, "force") != NULL);
    if (status == 0) status = open_context(m->set, &m->context);
    if (status) return status;
    status = read_sample(m->set, m->context, m->files, &m->particles);
    if (status) return status;
    const size_t rest = m->set->operand_count - m->files;
    const svmp_reading how = {.coordinates = coordinates_of(m)};
    svmp_status read = SVMP_OK;
    if (rest > 0)
        read = svmp_model_read(m->context, rest, (const char *const *)m->set->operands + m->files, &how, &m->model);
    status = read == SVMP_OK ? names_build(m->particles, &m->names) : failed(m->context, read);
    if (status || m->names.count < OVERVIEW_FROM) return status;
    if (!overview_make(m->particles, &m->arrays)) return report_error(EXIT_FAILED, "Out of memory.");
    status = choose_shown(m->context, m->particles, &m->arrays, &m->some);
    return status == 0 && m->some ? names_build(m->some, &m->shown_names) : status;
}

static int write_data(material *m, FILE *file) {
    svmp_particles *shown = m->some ? m->some : m->particles;
    const name_index *listed = m->some ? &m->shown_names : &m->names;
    fputc('{', file);
    int status = write_run(file, m->context, m->particles, shown, m->path);
    if (status == 0) status = write_history(file, m->particles);
    if (status == 0) status = write_data_of(file, m->model, m->model ? m->set->operands[m->files] : NULL);
    if (status == 0)
        status = write_predictive(file, m->model, &m->names, m->particles, m->set->operand_count - m->files,
                                  (const char *const *)m->set->operands + m->files, coordinates_of(m));
    if (status == 0) status = write_summary(file, m->context, shown);
    if (status == 0) status = write_values(file, m->context, shown, m->shown);
    if (status == 0) status = write_graph(file, m->model, &m->names, m->particles, m->path, m->some == NULL);
    if (status == 0) status = write_fields(file, m->context, m->particles, shown, &m->arrays, m->model, &m->names);
    if (status == 0) status = write_truth(file, options_given(m->set, "truth"), &m->names, listed, m->path);
    fputs("}\n", file);
    return status;
}

/* *text is the caller's to free, whatever comes back. */
static int close_text(FILE *stream, char **text, int status) {
    return close_written(stream, text) || status ? status : report_error(EXIT_FAILED, "Out of memory.");
}

static int make_data(material *m, char **data, size_t *size) {
    FILE *stream = open_written(data, size);
    if (stream == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    return close_text(stream, data, write_data(m, stream));
}

static int make_page(material *m, char **page, size_t *size) {
    char *data = NULL;
    size_t data_size = 0;
    int status = make_data(m, &data, &data_size);
    FILE *stream = status == 0 ? open_written(page, size) : NULL;
    if (status == 0 && stream == NULL) status = report_error(EXIT_FAILED, "Out of memory.");
    if (stream) {
        page_write(stream, data, data_size);
        status = close_text(stream, page, status);
    }
    free(data);
    return status;
}

static int write_page(material *m) {
    const char *output = options_given(m->set, "output");
    char *page = NULL;
    size_t size = 0;
    int status = make_page(m, &page, &size);
    if (status == 0) status = write_output(output, page, size, options_given(m->set, "force") != NULL);
    if (status == 0) printf("%s: %zu variables, %.1f MB\n", output, m->names.count, (double)size / 1e6);
    free(page);
    return status;
}

static int run(const option_set *set) {
    material m = {.set = set, .path = set->operands[0], .files = sample_files(set)};
    int status = prepare(&m);
    if (status == 0) status = write_page(&m);
    names_free(&m.names);
    names_free(&m.shown_names);
    overview_free(&m.arrays);
    svmp_particles_free(m.some);
    svmp_model_free(m.model);
    svmp_particles_free(m.particles);
    svmp_context_free(m.context);
    return status;
}

const command command_report = {
    .name = "report",
    .operands = "FILE... [MODEL [DATA...]]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Write a report as an HTML page",
    .text = "Writes a self-contained HTML file that needs no network. It shows the configuration of the run, the\n"
            "table of\n.BR \"svmp summary\" ,\n"
            "the density of each variable, convergence curves or traces, pairs of neighbours, maps of two-dimensional\n"
            "nodes, and, if the model is given, its graph, its text and its observed data. If there are too many\n"
            "particles, the plots show an evenly spaced subset and say so; the table always uses all of them. Several\n"
            "files are the chains of one sample. In the file of\n.BR \\-\\-truth ,\n"
            "names of variables give their true values; pairs P.1, P.2 that are not variables are fixed points on the\n"
            "map, such as anchors.\n",
    .options = options,
    .run = run,
};
