/* An open NetCDF file: code shared by the writer and the reader. */
#ifndef SVMP_SAMPLE_FILES_NETCDF_FILE_H
#define SVMP_SAMPLE_FILES_NETCDF_FILE_H

#ifdef SVMP_HAVE_NETCDF

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>

#include "base/output_file.h"
#include "sample/name_shapes.h"

/* netCDF-C and its 50 libraries take longer to load than a small model takes to run, so they are loaded when a file
 * needs them. svmp_nc.open is nc_open. */
typedef struct netcdf_calls {
#define CALL(name) __typeof__(&nc_##name) name;
#include "sample/files/netcdf_calls.def"
#undef CALL
} netcdf_calls;
extern netcdf_calls svmp_nc;

/* netCDF-C is not thread-safe: one thread at a time, in any context, between these. Fails if there is no library. */
svmp_status svmp_nc_enter(svmp_context *context, const char *path);
void svmp_nc_leave(void);

typedef struct netcdf_file {
    svmp_context *context;
    const char *path;
    int id, open, group;
    int writing;
    size_t chains, draws; /* draws of each chain */
    double *block;        /* a buffer of NC_BLOCK numbers */
} netcdf_file;

enum { NC_BLOCK = 1 << 17 };

#define NC_POSTERIOR  "posterior"
#define NC_COMPRESSED "particles" /* the group of svmp_particles_compressed */

#define NC_TRY(file, call)                                                                                             \
    do {                                                                                                               \
        const int nc_error_ = (call);                                                                                  \
        if (nc_error_ != NC_NOERR) return svmp_nc_failed((file), nc_error_);                                           \
    } while (0)

svmp_status svmp_nc_failed(const netcdf_file *file, int error);

/* Closes the file; an unfinished file is discarded. */
void svmp_nc_close(netcdf_file *file);

/* The name of a statistic in svmp and Stan (`here`) and in ArviZ (`there`). */
typedef struct statistic_name {
    const char *here, *there;
    nc_type type;
} statistic_name;

enum { NC_STATISTICS = 8 };
extern const statistic_name svmp_nc_statistics[NC_STATISTICS];

/* The attributes that hold the comments: svmp_record, svmp_record_2, ..., because HDF5 limits the size of an attribute.
 */
enum { NC_LONGEST = 60000 };
const char *svmp_nc_record_name(size_t part, char name[64]);

/* Copies the values of an array between the particles and a variable of the file, in either direction, block by block.
 */
svmp_status svmp_nc_transfer(netcdf_file *file, int id, const shaped_array *array, const svmp_particles *p);

/* A checksum after the end of the HDF5 data. HDF5 crashes on some damaged files, so svmp checks the file first. HDF5
 * ignores these bytes, and other programs remove them when they change the file. */
typedef struct checksum {
    char mark[16];
    uint64_t order, size, hash; /* of the bytes before it */
} checksum;

/* A checksum record for `size` bytes, with the hash still to be computed. */
checksum svmp_nc_checksum(uint64_t size);
int svmp_nc_is_checksum(const checksum *found);

#endif
#endif
