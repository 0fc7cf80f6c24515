#include "report_fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "report_json.h"

/* ---- what is shown one by one ------------------------------------------------------------------------------------ */

static int is_small(const overview_array *array) { return array->count <= OVERVIEW_SMALL; }

int choose_shown(svmp_context *context, const svmp_particles *particles, const overview *o, svmp_particles **shown) {
    const size_t variables = svmp_particles_variables(particles);
    size_t more, large = 0, count, seen = 0;
    *shown = NULL;
    if (variables <= PAGE_ALL) return 0;
    size_t *chosen = calloc(PAGE_SOME, sizeof *chosen);
    if (chosen == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    count = overview_scalars(o, PAGE_SOME / 2, chosen, &more);
    for (size_t a = 0; a < o->count; a++) large += is_small(&o->arrays[a]) ? 0 : o->arrays[a].count;
    const size_t room = PAGE_SOME - count, step = large / room + 1;
    for (size_t a = 0; a < o->count; a++)
        for (size_t k = 0; !is_small(&o->arrays[a]) && k < o->arrays[a].count; k++)
            if (seen++ % step == 0 && count < PAGE_SOME) chosen[count++] = o->order[o->arrays[a].first + k];
    const svmp_status status = svmp_particles_select(particles, count, chosen, 1, shown);
    free(chosen);
    return status == SVMP_OK ? 0 : failed(context, status);
}

/* The first scalar or element of a small array, among many variables; else the first variable. */
static size_t opening(const svmp_particles *shown, const overview *o) {
    size_t row, more, at = 0;
    const size_t variables = svmp_particles_variables(shown);
    if (o->count == 0 || variables < OVERVIEW_FROM || overview_scalars(o, 1, &row, &more) == 0) return 0;
    for (size_t a = 0; a < o->count; a++)
        if (is_small(&o->arrays[a])) {
            const char *name = o->arrays[a].name; /* that of its first element */
            while (at < variables && strcmp(svmp_particles_name(shown, at), name) != 0) at++;
            break;
        }
    return at < variables ? at : 0;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

typedef struct picture {
    const overview_array *array;
    size_t step, extent[2]; /* of the cells that are written */
} picture;

static int has_picture(const overview_array *array) {
    double box = 1;
    for (size_t k = 0; k < array->rank; k++) box *= (double)(array->high[k] - array->low[k] + 1);
    return !is_small(array) && (array->rank == 1 || array->rank == 2) && box <= 4 * (double)array->count;
}

static size_t extent_of(const overview_array *array, size_t k) {
    return k < array->rank ? array->high[k] - array->low[k] + 1 : 1;
}

/* Every how many elements of a dimension, so that all pictures stay small. */
static size_t step_of(const overview *o, size_t rank) {
    double cells = 0;
    for (size_t a = 0; a < o->count; a++)
        if (has_picture(&o->arrays[a]))
            cells += (double)extent_of(&o->arrays[a], 0) * (double)extent_of(&o->arrays[a], 1);
    const double share = cells / PAGE_CELLS;
    return share <= 1 ? 1 : (size_t)ceil(rank == 1 ? share : sqrt(share));
}

/* Where the element stands in the picture; SIZE_MAX: it is left out. */
static size_t cell_of(const picture *p, const char *name) {
    const char *at = name + p->array->length;
    size_t cell = 0;
    for (size_t k = 0; k < p->array->rank; k++) {
        char *end;
        const size_t index = strtoul(at + 1, &end, 10) - p->array->low[k];
        if (index % p->step != 0) return SIZE_MAX;
        cell = cell * p->extent[k] + index / p->step;
        at = end;
    }
    return cell;
}

static double value_of(const svmp_moments *m, size_t which) {
    const double values[] = {m->mean, m->sd, m->q05, m->q95};
    return values[which];
}

/* One number of all elements: mean, sd, 5 %, 95 %; or their excess. */
static void write_layer(FILE *file, const picture *p, const overview *o, const svmp_particles *particles,
                        const svmp_moments *moments, size_t which, const double *excess, float *cells) {
    const size_t count = p->extent[0] * p->extent[1];
    for (size_t c = 0; c < count; c++) cells[c] = NAN;
    for (size_t k = p->array->first; k < p->array->first + p->array->count; k++) {
        const size_t i = o->order[k], cell = cell_of(p, svmp_particles_name(particles, i));
        if (cell < count) cells[cell] = (float)(excess ? excess[i] : value_of(&moments[i], which));
    }
    fputc(',', file);
    json_floats(file, cells, count);
}

static int write_picture(FILE *file, const overview *o, const overview_array *array, const svmp_particles *particles,
                         const svmp_moments *moments, const double *excess) {
    picture p = {array, step_of(o, array->rank), {1, 1}};
    for (size_t k = 0; k < array->rank; k++) p.extent[k] = (extent_of(array, k) - 1) / p.step + 1;
    float *cells = calloc(p.extent[0] * p.extent[1], sizeof *cells);
    if (cells == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    fputc('[', file);
    json_text(file, array->name, array->length);
    fprintf(file, ",%zu,%zu,[%zu,%zu],[%zu,%zu]", array->rank, p.step, array->low[0],
            array->rank > 1 ? array->low[1] : 1, p.extent[0], p.extent[1]);
    for (size_t which = 0; which < 4; which++) {
        if (which >= 2 && array->rank == 2)
            fputs(",null", file);
        else
            write_layer(file, &p, o, particles, moments, which, NULL, cells);
    }
    if (excess)
        write_layer(file, &p, o, particles, moments, 0, excess, cells);
    else
        fputs(",null", file);
    fputc(']', file);
    free(cells);
    return 0;
}

/* The excess of every variable's node, in the order of the file; NULL: it is not known. */
static double *find_excess(const svmp_particles *particles, const svmp_model *model, const name_index *names) {
    svmp_series s = {0};
    const svmp_graph *graph = model ? svmp_model_graph(model) : NULL;
    int there = 0;
    for (size_t k = 0; graph && !there && svmp_particles_series(particles, k, &s); k++)
        there = strcmp(s.name, "node_excess") == 0 && s.count == svmp_graph_nodes(graph);
    double *excess = there ? calloc(names->count + 1, sizeof *excess) : NULL;
    for (size_t i = 0; excess && i < names->count; i++) excess[i] = NAN;
    for (size_t v = 0; excess && v < svmp_graph_nodes(graph); v++)
        for (size_t k = 0; k < svmp_graph_node_dimension(graph, v); k++) {
            char name[1024];
            size_t i;
            svmp_model_variable_name(model, svmp_graph_node_first(graph, v) + k, name, sizeof name);
            if (names_find(names, name, &i)) excess[i] = s.values[v];
        }
    return excess;
}

/* R-hat, and the smaller number of effective draws, of all variables. */
static int write_mixing(FILE *file, size_t variables, const svmp_mixing *mixing) {
    float *values = calloc(variables, sizeof *values);
    if (values == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t i = 0; i < variables; i++) values[i] = (float)mixing[i].r_hat;
    fputs(",\n\"r_hat\":", file);
    json_floats(file, values, variables);
    for (size_t i = 0; i < variables; i++) values[i] = (float)fmin(mixing[i].bulk_draws, mixing[i].tail_draws);
    fputs(",\n\"draws\":", file);
    json_floats(file, values, variables);
    free(values);
    return 0;
}

static int write_pictures(FILE *file, const svmp_particles *particles, const overview *o, const svmp_model *model,
                          const name_index *names, const svmp_moments *moments) {
    double *excess = find_excess(particles, model, names);
    const char *separator = "\n";
    int status = 0;
    fputs(",\n\"fields\":[", file);
    for (size_t a = 0; a < o->count && status == 0; a++) {
        if (!has_picture(&o->arrays[a])) continue;
        fputs(separator, file);
        status = write_picture(file, o, &o->arrays[a], particles, moments, excess);
        separator = ",\n";
    }
    fputc(']', file);
    free(excess);
    return status;
}

int write_fields(FILE *file, svmp_context *context, const svmp_particles *particles, const svmp_particles *shown,
                 const overview *o, const svmp_model *model, const name_index *names) {
    const size_t variables = svmp_particles_variables(particles);
    const int many = o->count > 0, chains = svmp_particles_are_chains(particles) && shown != particles;
    fprintf(file, ",\n\"all\":%zu,\"opens\":%zu", variables, opening(shown, o));
    if (!many) return fputs(",\"fields\":[]", file), 0;
    svmp_moments *moments = calloc(variables, sizeof *moments);
    svmp_mixing *mixing = calloc(variables, sizeof *mixing);
    int status = 0;
    if (moments == NULL || mixing == NULL) {
        free(moments);
        free(mixing);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    const svmp_status made = svmp_particles_summarise(particles, variables, NULL, moments, chains ? mixing : NULL);
    if (made != SVMP_OK) status = failed(context, made);
    if (status == 0 && chains) status = write_mixing(file, variables, mixing);
    if (status == 0) status = write_pictures(file, particles, o, model, names, moments);
    free(moments);
    free(mixing);
    return status;
}
