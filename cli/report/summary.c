#include "../command.h"
#include "json.h"
#include "parts.h"

int write_summary(FILE *file, svmp_context *context, const svmp_particles *particles) {
    fputs(",\n\"columns\":[\"mean\",\"sd\",\"5%\",\"50%\",\"95%\"],\"cells\":[", file);
    for (size_t i = 0; i < svmp_particles_variables(particles); i++) {
        svmp_moments m;
        svmp_status status = svmp_particles_moments(particles, i, &m);
        if (status != SVMP_OK) return failed(context, status);
        fprintf(file, "%s\n\"%.4g\",\"%.4g\",\"%.4g\",\"%.4g\",\"%.4g\"", i ? "," : "", m.mean, m.sd, m.q05, m.q50,
                m.q95);
    }
    fputc(']', file);
    return 0;
}
