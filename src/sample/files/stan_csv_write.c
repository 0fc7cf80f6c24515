/* Particles as Stan CSV. The first of several processes writes one file for all of them. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/output_file.h"
#include "base/peer_rows.h"
#include "sample/files/stan_csv_columns.h"
#include "sample/netcdf.h"

/* Refuses names that could not be read back. */
static svmp_status check_readable(const svmp_particles *particles, const char *path) {
    const char *repeated;
    SVMP_TRY(svmp_particles_repeated_name(particles, &repeated));
    if (repeated)
        return svmp_fail(particles->context, SVMP_BAD_CALL,
                         "Cannot write the particles to '%s': two variables have the name '%.80s'.", path, repeated);
    for (size_t i = 0; i < particles->variables; i++)
        for (size_t l = 0; l < particles->count; l++)
            if (!isfinite(particles->values[i * particles->count + l]))
                return svmp_fail(particles->context, SVMP_NOT_FINITE,
                                 "Cannot write the particles to '%s': %.80s of particle %zu is %g.", path,
                                 svmp_particles_name(particles, i), l + 1, particles->values[i * particles->count + l]);
    return SVMP_OK;
}

static svmp_status write_comments(output_file *output, const char *comments) {
    while (*comments) {
        size_t length = strcspn(comments, "\n");
        SVMP_TRY(svmp_output_put(output, "# ", 2));
        SVMP_TRY(svmp_output_put(output, comments, length));
        SVMP_TRY(svmp_output_put(output, "\n", 1));
        comments += length + (comments[length] == '\n');
    }
    return SVMP_OK;
}

static svmp_status write_text(output_file *output, const char *text) {
    return svmp_output_put(output, text, strlen(text));
}

static svmp_status write_name(output_file *output, const char *name, char after) {
    SVMP_TRY(write_text(output, name));
    return svmp_output_put(output, &after, 1);
}

static svmp_status write_number(output_file *output, double value, char after) {
    char text[NUMBER_TEXT + 1];
    size_t length = svmp_number_format(value, text);
    text[length++] = after;
    return svmp_output_put(output, text, length);
}

/* "# name[along] = 1 2 3" */
static svmp_status write_series(output_file *output, const svmp_particles *particles) {
    for (size_t k = 0; k < particles->series_count; k++) {
        const struct series *s = &particles->series[k];
        SVMP_TRY(svmp_output_put(output, "# ", 2));
        SVMP_TRY(write_name(output, s->name, '['));
        SVMP_TRY(write_name(output, s->along, ']'));
        SVMP_TRY(svmp_output_put(output, " = ", 3));
        for (size_t l = 0; l < s->count; l++)
            SVMP_TRY(write_number(output, s->values[l], l + 1 < s->count ? ' ' : '\n'));
        if (s->count == 0) SVMP_TRY(svmp_output_put(output, "\n", 1));
    }
    return SVMP_OK;
}

static const char *name_of(const void *particles, size_t variable) { return svmp_particles_name(particles, variable); }

/* The names of all variables, for the first process: room for them, */
static svmp_status create_titles(const svmp_particles *particles, const char ***names, svmp_particles **titles) {
    svmp_context *context = particles->context;
    if (particles->peers->count == 1) return SVMP_OK;
    const size_t whole = particles->peers->rank == 0 ? particles->whole : 1;
    SVMP_TRY(SVMP_NEW(context, *names, whole));
    return svmp_particles_create(context, whole, 1, NULL, titles);
}

/* and the names; whether they could be set is in *written. */
static svmp_status collect_titles(const svmp_particles *particles, spread *s, const char **names,
                                  svmp_particles *titles, svmp_status *written) {
    char *text = NULL;
    if (titles == NULL) return SVMP_OK;
    const svmp_status status = svmp_spread_names(s, particles->whole, name_of, particles, &text, names);
    for (size_t i = 0; particles->peers->rank == 0 && i < titles->variables && status == SVMP_OK; i++)
        if (*written == SVMP_OK) *written = svmp_particles_set_name(titles, i, names[i]);
    svmp_release(particles->context, text);
    return status;
}

/* Writes the lines that restore the names: stan_csv_columns.h. */
static svmp_status write_record(output_file *output, const csv_columns *columns) {
    int any = 0;
    for (size_t k = 0; k < columns->renamed_count; k++) {
        SVMP_TRY(write_text(output, "# column "));
        SVMP_TRY(write_text(output, columns->renamed[k].file));
        SVMP_TRY(write_text(output, ", in the model "));
        SVMP_TRY(write_name(output, columns->renamed[k].model, '\n'));
    }
    for (size_t c = 0; c < columns->count; c++) {
        if (columns->list[c].variable != SIZE_MAX) continue;
        SVMP_TRY(write_text(output, any++ ? "," : "# known columns: "));
        SVMP_TRY(write_text(output, columns->list[c].name));
    }
    return any ? write_text(output, "\n") : SVMP_OK;
}

static svmp_status write_header(output_file *output, const svmp_particles *particles, const csv_columns *columns) {
    char rows[64];
    snprintf(rows, sizeof rows, "# " PARTICLES_ROWS "%zu\n", particles->count);
    SVMP_TRY(write_text(output, rows));
    for (size_t k = 0; k < particles->statistic_count; k++)
        SVMP_TRY(write_name(output, particles->statistics[k].name, ','));
    if (particles->chains > 1) SVMP_TRY(write_name(output, "chain__", ','));
    for (size_t c = 0; c < columns->count; c++)
        SVMP_TRY(write_name(output, columns->list[c].name, c + 1 < columns->count ? ',' : '\n'));
    return SVMP_OK;
}

/* Writes particles first ... last - 1, whose numbers are in `block`, variable by variable. */
static svmp_status write_rows(output_file *output, const svmp_particles *particles, const csv_columns *columns,
                              size_t first, size_t last, const double *block) {
    const size_t each = particles->count / particles->chains, rows = last - first;
    for (size_t l = first; l < last; l++) {
        for (size_t k = 0; k < particles->statistic_count; k++)
            SVMP_TRY(write_number(output, particles->statistics[k].values[l], ','));
        if (particles->chains > 1) SVMP_TRY(write_number(output, (double)(l / each + 1), ','));
        for (size_t c = 0; c < columns->count; c++) {
            const csv_column *column = &columns->list[c];
            const double value =
                column->variable == SIZE_MAX ? column->value : block[column->variable * rows + l - first];
            SVMP_TRY(write_number(output, value, c + 1 < columns->count ? ',' : '\n'));
        }
    }
    return SVMP_OK;
}

/* Collective; only the first process has an output. If writing fails, it continues without one, because the others wait
 * for it. `titles`: with several processes, particles with the names of all variables. */
static svmp_status write_table(output_file *output, const svmp_particles *particles, const svmp_particles *titles,
                               svmp_status written, spread *s) {
    const size_t together = svmp_spread_rows(particles->whole);
    csv_columns columns = {0};
    if (output && written == SVMP_OK)
        written = svmp_columns_of(titles ? titles : particles, &particles->known, &columns);
    if (output && written == SVMP_OK) written = write_record(output, &columns);
    if (output && written == SVMP_OK) written = write_header(output, particles, &columns);
    for (size_t l = 0; l < particles->count; l += together) {
        const size_t last = l + together < particles->count ? l + together : particles->count;
        const double *block =
            svmp_spread_collect(s, (spread_block){0, particles->whole, l, last}, particles->count, particles->values);
        if (output && written == SVMP_OK) written = write_rows(output, particles, &columns, l, last, block);
    }
    svmp_columns_free(&columns);
    return written;
}

/* All that can fail before the processes exchange anything. */
static svmp_status begin_file(const svmp_particles *particles, const char *path, const char *comments, int overwrite,
                              number_locale *locale, output_file *output) {
    SVMP_TRY(check_readable(particles, path));
    SVMP_TRY(svmp_number_enter(particles->context, locale));
    if (particles->peers->rank > 0) return SVMP_OK;
    SVMP_TRY(svmp_output_open(particles->context, path, overwrite, output));
    if (comments) SVMP_TRY(write_comments(output, comments));
    return write_series(output, particles);
}

static svmp_status write_file(const svmp_particles *particles, const char *path, const char *comments, int overwrite) {
    svmp_context *context = particles->context;
    const svmp_peers *peers = particles->peers;
    const size_t whole = particles->whole, rows = svmp_spread_rows(whole);
    const int first = peers->rank == 0;
    svmp_particles *titles = NULL;
    const char **names = NULL;
    output_file output = {0};
    number_locale locale = {0};
    spread s = {0};
    svmp_status written = SVMP_OK, status = begin_file(particles, path, comments, overwrite, &locale, &output);
    if (status == SVMP_OK) status = create_titles(particles, &names, &titles);
    SVMP_CHECK(svmp_spread_open(context, peers, whole, particles->variables, particles->place,
                                whole * (rows < particles->count ? rows : particles->count), status, &s));
    SVMP_CHECK(collect_titles(particles, &s, names, titles, &written));
    status = write_table(first ? &output : NULL, particles, titles, written, &s);
    if (first && status == SVMP_OK) status = svmp_output_finish(&output);
    status = svmp_agree(context, peers, status);
done:
    svmp_output_close(&output);
    svmp_spread_close(&s);
    svmp_number_leave(&locale);
    svmp_release(context, names);
    svmp_particles_free(titles);
    return status;
}

svmp_status svmp_particles_write(const svmp_particles *particles, const char *path, const char *comments,
                                 int overwrite) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (path == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_write: the path is NULL.");
    if (!svmp_path_is_netcdf(path)) return write_file(particles, path, comments, overwrite);
    if (particles->peers->count > 1)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "Several processes cannot write '%s': they can write only files that end in .csv.", path);
    SVMP_TRY(check_readable(particles, path));
    return svmp_netcdf_write(particles, path, comments, overwrite);
}

double svmp_particles_file_size(const svmp_particles *particles, const char *path) {
    if (particles == NULL || path == NULL) return 0;
    const int csv = !svmp_path_is_netcdf(path);
    const double numbers = (double)particles->whole + (double)particles->statistic_count;
    double row = (csv ? 19 : 8) * numbers; /* most numbers have 17 digits and a point, or fewer digits and a sign */
    if (csv) row += (double)svmp_columns_known_size(&particles->known) + (particles->chains > 1 ? 2 : 0);
    return row * (double)particles->count;
}
