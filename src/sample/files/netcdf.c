#include "sample/netcdf.h"

#include <string.h>

#include "sample/files/netcdf_file.h"

int svmp_path_is_netcdf(const char *path) {
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".nc") == 0;
}

#ifndef SVMP_HAVE_NETCDF

static svmp_status left_out(svmp_context *context, const char *path) {
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "The file '%s' needs NetCDF, which this build does not have (Debian: libnetcdf-dev).", path);
}

svmp_status svmp_netcdf_read(svmp_context *context, const char *path, svmp_particles **particles) {
    (void)particles;
    return left_out(context, path);
}

svmp_status svmp_netcdf_write(const svmp_particles *particles, const char *path, const char *comments, int overwrite) {
    (void)comments, (void)overwrite;
    return left_out(particles->context, path);
}

int svmp_particles_file_sealed(const char *path) {
    (void)path;
    return 0;
}

#else

#include "base/hash.h"

svmp_status svmp_nc_failed(const netcdf_file *file, int error) {
    if (file->writing)
        return svmp_fail(file->context, SVMP_CANNOT_WRITE, "Cannot write '%s': %s.", file->path,
                         svmp_nc.strerror(error));
    return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: cannot read the file as NetCDF: %s.", file->path,
                     svmp_nc.strerror(error));
}

/* ---- statistics: Stan's names here, ArviZ's there ---------------------------------------------------------------- */

const statistic_name svmp_nc_statistics[NC_STATISTICS] = {
    {"lp__", "lp", NC_DOUBLE},
    {"accept_stat__", "acceptance_rate", NC_DOUBLE},
    {"stepsize__", "step_size", NC_DOUBLE},
    {"treedepth__", "tree_depth", NC_INT64},
    {"n_leapfrog__", "n_steps", NC_INT64},
    {"divergent__", "diverging", NC_BYTE},
    {"energy__", "energy", NC_DOUBLE},
    {"n_sweeps__", "n_sweeps", NC_INT64},
};

const char *svmp_nc_record_name(size_t part, char name[64]) {
    snprintf(name, 64, part ? "svmp_record_%zu" : "svmp_record", part + 1);
    return name;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The position of variable m of an array of `count`, in draw d of chain c, among the particles' values. */
static double *value_at(const netcdf_file *file, const svmp_particles *p, const size_t *variable, size_t m, size_t c,
                        size_t d) {
    return p->values + variable[m] * p->count + c * file->draws + d;
}

/* Copies the values of an array between the particles and a variable of the file, some draws at a time, in either
 * direction. */
svmp_status svmp_nc_transfer(netcdf_file *file, int id, const shaped_array *array, const svmp_particles *p) {
    size_t start[2 + SHAPE_DIMENSIONS] = {0}, count[2 + SHAPE_DIMENSIONS] = {1};
    for (size_t k = 0; k < array->dimensions; k++) count[2 + k] = array->extent[k];
    const size_t most = array->count < NC_BLOCK ? NC_BLOCK / array->count : 1;
    double *block = file->block, *own = NULL;
    if (array->count > NC_BLOCK) {
        SVMP_TRY(SVMP_NEW(file->context, own, array->count));
        block = own;
    }
    int error = NC_NOERR;
    for (size_t c = 0; c < file->chains && error == NC_NOERR; c++)
        for (size_t first = 0; first < file->draws && error == NC_NOERR; first += most) {
            const size_t draws = file->draws - first < most ? file->draws - first : most;
            start[0] = c;
            start[1] = first;
            count[1] = draws;
            if (!file->writing) error = svmp_nc.get_vara_double(file->group, id, start, count, block);
            for (size_t k = 0; k < draws * array->count && error == NC_NOERR; k++) {
                double *here = value_at(file, p, array->variable, k % array->count, c, first + k / array->count);
                if (file->writing)
                    block[k] = *here;
                else
                    *here = block[k];
            }
            if (file->writing) error = svmp_nc.put_vara_double(file->group, id, start, count, block);
        }
    svmp_release(file->context, own);
    return error == NC_NOERR ? SVMP_OK : svmp_nc_failed(file, error);
}

/* ---- the checksum ------------------------------------------------------------------------------------------------ */

static const char seal_mark[16] = {'s', 'v', 'm', 'p', ' ', 'c', 'h', 'e', 'c', 'k', 's', 'u', 'm', ' ', '1', '\n'};

#define SEAL_ORDER UINT64_C(0x0102030405060708)

checksum svmp_nc_checksum(uint64_t size) {
    checksum made = {.order = SEAL_ORDER, .size = size, .hash = SVMP_HASH_START};
    memcpy(made.mark, seal_mark, sizeof seal_mark);
    return made;
}

int svmp_nc_is_checksum(const checksum *found) {
    return memcmp(found->mark, seal_mark, sizeof seal_mark) == 0 && found->order == SEAL_ORDER;
}

void svmp_nc_close(netcdf_file *file) {
    if (file->open && file->writing) svmp_nc.abort(file->id);
    if (file->open && !file->writing) svmp_nc.close(file->id);
    svmp_release(file->context, file->block);
}

#endif
