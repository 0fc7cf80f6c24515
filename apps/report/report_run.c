#include <math.h>
#include <string.h>

#include "report_json.h"
#include "report_parts.h"

static void write_comments(FILE *file, const char *text) {
    fputs(",\n\"comments\":[", file);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), shown = length;
        if (shown > 0 && line[shown - 1] == '\r') shown--;
        if (line != text) fputc(',', file);
        json_text(file, line, shown);
        line += length + (line[length] == '\n');
    }
    fputc(']', file);
}

static void write_member(FILE *file, const char *name, double value) {
    if (isnan(value)) return;
    fputc(',', file);
    json_string(file, name);
    fputc(':', file);
    json_number(file, value);
}

static void write_sampling(FILE *file, const svmp_particles *particles) {
    svmp_sampling s;
    fputs(",\n\"sampling\":", file);
    if (svmp_particles_sampling(particles, &s) != SVMP_OK || isnan(s.acceptance)) {
        fputs("null", file);
        return;
    }
    fprintf(file, "{\"chains\":%zu,\"draws\":%zu,\"trajectories\":%zu,\"divergent\":%zu,\"deepest\":%zu", s.chains,
            s.draws, s.trajectories, s.divergent, s.deepest);
    write_member(file, "acceptance", s.acceptance);
    write_member(file, "leapfrogs", s.leapfrogs);
    write_member(file, "ebfmi", s.ebfmi);
    fputc('}', file);
}

int write_run(FILE *file, const svmp_context *context, const svmp_particles *particles, const svmp_particles *shown,
              const char *path) {
    char advice[2048];
    const char *slash = strrchr(path, '/');
    fputs("\"svmp\":", file);
    json_string(file, svmp_version());
    fputs(",\"file\":", file);
    json_string(file, slash ? slash + 1 : path);
    fprintf(file, ",\"particles\":%zu,\"chains\":%zu", svmp_particles_count(particles),
            svmp_particles_chains(particles));
    write_comments(file, svmp_particles_comments(particles));
    fputs(",\n\"advice\":", file);
    json_string(file, svmp_recorded_advice(context, svmp_particles_comments(particles), advice, sizeof advice));
    write_sampling(file, particles);
    fputs(",\n\"names\":[", file);
    for (size_t i = 0; i < svmp_particles_variables(shown); i++) {
        if (i) fputc(',', file);
        json_string(file, svmp_particles_name(shown, i));
    }
    fputc(']', file);
    return 0;
}
