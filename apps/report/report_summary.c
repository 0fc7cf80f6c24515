#include <stdlib.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"
#include "summary_table.h"

static void write_table(FILE *file, size_t variables, const svmp_moments *moments, const svmp_mixing *mixing) {
    table_column columns[TABLE_COLUMNS];
    const size_t count = table_columns(mixing != NULL, columns);
    fputs(",\n\"columns\":[", file);
    for (size_t k = 0; k < count; k++) {
        if (k) fputc(',', file);
        json_string(file, columns[k].heading);
    }
    fputs("],\n\"cells\":[", file);
    for (size_t i = 0; i < variables; i++) {
        char cells[TABLE_COLUMNS][TABLE_CELL];
        table_cells(&moments[i], mixing ? &mixing[i] : NULL, cells);
        for (size_t k = 0; k < count; k++) {
            fputs(k ? "," : i ? ",\n" : "\n", file);
            json_string(file, cells[k]);
        }
    }
    fputc(']', file);
}

int write_summary(FILE *file, svmp_context *context, const svmp_particles *particles) {
    const size_t variables = svmp_particles_variables(particles);
    const int chains = svmp_particles_are_chains(particles);
    svmp_moments *moments = calloc(variables, sizeof *moments);
    svmp_mixing *mixing = calloc(variables, sizeof *mixing);
    int status = 0;
    if (moments == NULL || mixing == NULL) status = report_error(EXIT_FAILED, "Out of memory.");
    if (status == 0) {
        svmp_status made = svmp_particles_summarise(particles, variables, NULL, moments, chains ? mixing : NULL);
        if (made != SVMP_OK) status = failed(context, made);
    }
    if (status == 0) write_table(file, variables, moments, chains ? mixing : NULL);
    free(moments);
    free(mixing);
    return status;
}
