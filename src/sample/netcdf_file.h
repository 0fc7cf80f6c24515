/* A NetCDF file at work: what its writer and its reader share. */
#ifndef SVMP_SAMPLE_NETCDF_FILE_H
#define SVMP_SAMPLE_NETCDF_FILE_H

#ifdef SVMP_HAVE_NETCDF

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "sample/shape.h"

/* netCDF-C serves one thread at a time, whatever their contexts. */
extern pthread_mutex_t svmp_nc_lock;

typedef struct netcdf_file {
    svmp_context *context;
    const char *path;
    int id, open, group;
    int writing;
    size_t chains, draws; /* draws of each chain */
    double *block;        /* NC_BLOCK numbers, on their way to the file or from it */
} netcdf_file;

enum { NC_BLOCK = 1 << 17 };

#define NC_TRY(file, call)                                                                                             \
    do {                                                                                                               \
        const int nc_error_ = (call);                                                                                  \
        if (nc_error_ != NC_NOERR) return svmp_nc_failed((file), nc_error_);                                           \
    } while (0)

svmp_status svmp_nc_failed(const netcdf_file *file, int error);

/* Ends what is open; what was being written is given up. */
void svmp_nc_close(netcdf_file *file);

/* Stan's name of a statistic here, ArviZ's there. */
typedef struct statistic_name {
    const char *here, *there;
    nc_type type;
} statistic_name;

enum { NC_STATISTICS = 8 };
extern const statistic_name svmp_nc_statistics[NC_STATISTICS];

/* The attributes that hold the comments as they were given: svmp_record, svmp_record_2, ..., since HDF5 has room for so
 * many bytes in each. */
enum { NC_LONGEST = 60000 };
const char *svmp_nc_record_name(size_t part, char name[64]);

/* The values of an array between the particles and a variable of the file, some draws at a time: both directions. */
svmp_status svmp_nc_transfer(netcdf_file *file, int id, const shaped_array *array, const svmp_particles *p);

/* HDF5, which reads these files, does not survive all damage to them. So a few words behind the end of what it knows
 * of, which it passes over and other programs cut off when they change the file, tell whether the file is as it was
 * written. */
typedef struct seal {
    char mark[16];
    uint64_t order, size, hash; /* of what stands before */
} seal;

/* Of so many bytes, which are still to be hashed. */
seal svmp_nc_seal(uint64_t size);
int svmp_nc_is_seal(const seal *found);

#endif
#endif
