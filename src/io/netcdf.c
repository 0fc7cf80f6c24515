#include "io/netcdf.h"

#include <string.h>

int svmp_netcdf_is_meant(const char *path) {
    const size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".nc") == 0;
}

#ifndef SVMP_HAVE_NETCDF

static svmp_status left_out(svmp_context *context, const char *path) {
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "The file '%s' needs NetCDF, which was left out of this build (Debian: libnetcdf-dev).", path);
}

svmp_status svmp_netcdf_read(svmp_context *context, const char *path, svmp_particles **particles) {
    (void)particles;
    return left_out(context, path);
}

svmp_status svmp_netcdf_write(const svmp_particles *particles, const char *path, const char *comments, int overwrite) {
    (void)comments, (void)overwrite;
    return left_out(particles->context, path);
}

#else

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"
#include "io/output.h"
#include "io/shape.h"

/* netCDF-C serves one thread at a time, whatever their contexts. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

typedef struct netcdf_file {
    svmp_context *context;
    const char *path;
    int id, open, group;
    int writing;
    size_t chains, draws; /* draws of each chain */
    double *block;        /* BLOCK numbers, on their way to the file or from it */
} netcdf_file;

enum { BLOCK = 1 << 17, LONGEST_PATH = PATH_MAX + 8 };

#define NC_TRY(file, call)                                                                                             \
    do {                                                                                                               \
        const int nc_error_ = (call);                                                                                  \
        if (nc_error_ != NC_NOERR) return nc_failed((file), nc_error_);                                                \
    } while (0)

static svmp_status nc_failed(const netcdf_file *file, int error) {
    if (file->writing)
        return svmp_fail(file->context, SVMP_CANNOT_WRITE, "The file '%s' could not be written: %s.", file->path,
                         nc_strerror(error));
    return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: this cannot be read as NetCDF: %s.", file->path,
                     nc_strerror(error));
}

static svmp_status refuse(const netcdf_file *file, const char *why) {
    return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: %s.", file->path, why);
}

/* The same path, in a way that netCDF-C does not take for the address of a server. */
static const char *local_path(const char *path, char buffer[LONGEST_PATH]) {
    if (*path == '/' || strlen(path) + 3 > LONGEST_PATH) return path;
    snprintf(buffer, LONGEST_PATH, "./%s", path);
    return buffer;
}

/* ---- statistics: Stan's names here, ArviZ's there ------------------------------------------------------------------
 */

typedef struct statistic_name {
    const char *here, *there;
    nc_type type;
} statistic_name;

static const statistic_name statistic_names[] = {
    {"lp__", "lp", NC_DOUBLE},
    {"accept_stat__", "acceptance_rate", NC_DOUBLE},
    {"stepsize__", "step_size", NC_DOUBLE},
    {"treedepth__", "tree_depth", NC_INT64},
    {"n_leapfrog__", "n_steps", NC_INT64},
    {"divergent__", "diverging", NC_BYTE},
    {"energy__", "energy", NC_DOUBLE},
};

enum { STATISTIC_NAMES = sizeof statistic_names / sizeof *statistic_names };

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Where variable m of an array of `count`, in draw d of chain c, stands among the particles' values. */
static double *value_at(const netcdf_file *file, const svmp_particles *p, const size_t *variable, size_t m, size_t c,
                        size_t d) {
    return p->values + variable[m] * p->count + c * file->draws + d;
}

/* The values of an array between the particles and a variable of the file, some draws at a time: both directions. */
static svmp_status transfer(netcdf_file *file, int id, const shaped_array *array, const svmp_particles *p) {
    size_t start[2 + SHAPE_DIMENSIONS] = {0}, count[2 + SHAPE_DIMENSIONS] = {1};
    for (size_t k = 0; k < array->dimensions; k++) count[2 + k] = array->extent[k];
    const size_t most = array->count < BLOCK ? BLOCK / array->count : 1;
    double *block = file->block, *own = NULL;
    if (array->count > BLOCK) {
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
            if (!file->writing) error = nc_get_vara_double(file->group, id, start, count, block);
            for (size_t k = 0; k < draws * array->count && error == NC_NOERR; k++) {
                double *here = value_at(file, p, array->variable, k % array->count, c, first + k / array->count);
                if (file->writing)
                    block[k] = *here;
                else
                    *here = block[k];
            }
            if (file->writing) error = nc_put_vara_double(file->group, id, start, count, block);
        }
    svmp_release(file->context, own);
    return error == NC_NOERR ? SVMP_OK : nc_failed(file, error);
}

/* ---- the checksum --------------------------------------------------------------------------------------------------
 *
 * HDF5, which reads these files, does not survive all damage to them. So a few words behind the end of what it knows
 * of, which it passes over and other programs cut off when they change the file, tell whether the file is as it was
 * written.
 */

typedef struct seal {
    char mark[16];
    uint64_t order, size, hash; /* of what stands before */
} seal;

static const char seal_mark[16] = {'s', 'v', 'm', 'p', ' ', 'c', 'h', 'e', 'c', 'k', 's', 'u', 'm', ' ', '1', '\n'};

#define SEAL_ORDER UINT64_C(0x0102030405060708)

static seal empty_seal(uint64_t size) {
    seal made = {.order = SEAL_ORDER, .size = size, .hash = SVMP_HASH_START};
    memcpy(made.mark, seal_mark, sizeof seal_mark);
    return made;
}

/* The seal that the first `size` bytes of the stream should have; `room` is BLOCK words. Returns 0 when they cannot be
 * read. */
static int compute_seal(FILE *stream, uint64_t size, double *room, seal *made) {
    *made = empty_seal(size);
    rewind(stream);
    for (uint64_t left = size; left > 0;) {
        const size_t piece = left < BLOCK * sizeof *room ? (size_t)left : BLOCK * sizeof *room;
        if (fread(room, 1, piece, stream) != piece) return 0;
        made->hash = svmp_hash_bytes(made->hash, piece, room);
        left -= piece;
    }
    return 1;
}

/* Fails when there is a seal and it is another than it should be. */
static svmp_status check_seal(const netcdf_file *file, FILE *stream) {
    seal found = {{0}, 0, 0, 0}, due;
    if (fseek(stream, 0, SEEK_END) != 0) return SVMP_OK;
    const long end = ftell(stream);
    if (end < (long)sizeof found || fseek(stream, end - (long)sizeof found, SEEK_SET) != 0 ||
        fread(&found, sizeof found, 1, stream) != 1)
        return SVMP_OK;
    if (memcmp(found.mark, seal_mark, sizeof seal_mark) != 0 || found.order != SEAL_ORDER) return SVMP_OK;
    const uint64_t size = (uint64_t)end - sizeof found;
    if (found.size == size && compute_seal(stream, size, file->block, &due) && found.hash == due.hash) return SVMP_OK;
    return refuse(file, "the file is damaged: its checksum is not that of what it holds");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static const char record_name[] = "svmp_record"; /* the comments as they were given */

/* An attribute, whose text is cut off where HDF5 has no more room for it. */
static svmp_status put_attribute(const netcdf_file *file, int group, const char *name, const char *text,
                                 size_t length) {
    enum { LONGEST = 60000 };
    NC_TRY(file, nc_put_att_text(group, NC_GLOBAL, name, length < LONGEST ? length : LONGEST, text));
    return SVMP_OK;
}

static svmp_status put_text(const netcdf_file *file, int group, const char *name, const char *text) {
    return put_attribute(file, group, name, text, strlen(text));
}

/* A dimension with its coordinates first, first + 1, ... */
static svmp_status put_dimension(const netcdf_file *file, const char *name, size_t extent, long long first, int *id) {
    enum { COORDINATES = 512 };
    int variable;
    NC_TRY(file, nc_def_dim(file->group, name, extent, id));
    NC_TRY(file, nc_def_var(file->group, name, NC_INT64, 1, id, &variable));
    for (size_t start = 0; start < extent; start += COORDINATES) {
        long long value[COORDINATES];
        const size_t count = extent - start < COORDINATES ? extent - start : COORDINATES;
        for (size_t k = 0; k < count; k++) value[k] = first + (long long)(start + k);
        NC_TRY(file, nc_put_vara_longlong(file->group, variable, &start, &count, value));
    }
    return SVMP_OK;
}

/* "name = value" lines of the record, each an attribute. */
static svmp_status put_record(const netcdf_file *file, int group, const char *comments) {
    while (comments && *comments) {
        char name[128];
        const size_t length = strcspn(comments, "\n");
        const char *equals = strstr(comments, " = ");
        if (equals && equals < comments + length && (size_t)(equals - comments) < sizeof name) {
            const size_t name_length = (size_t)(equals - comments);
            memcpy(name, comments, name_length);
            name[name_length] = '\0';
            for (char *c = name; *c; c++) *c = *c == ' ' ? '_' : *c;
            const char *value = equals + 3;
            SVMP_TRY(put_attribute(file, group, name, value, (size_t)(comments + length - value)));
        }
        comments += length + (comments[length] == '\n');
    }
    return SVMP_OK;
}

static svmp_status put_attributes(const netcdf_file *file, int group, const char *comments) {
    char created[64];
    struct tm parts;
    const time_t seconds = time(NULL);
    gmtime_r(&seconds, &parts);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
    SVMP_TRY(put_text(file, group, "created_at", created));
    SVMP_TRY(put_text(file, group, "inference_library", "svmp"));
    SVMP_TRY(put_text(file, group, "inference_library_version", svmp_version()));
    return put_record(file, group, comments);
}

/* A group with the dimensions that all its variables have. */
static svmp_status put_group(netcdf_file *file, const char *name, const char *comments, int dimensions[2]) {
    NC_TRY(file, nc_def_grp(file->id, name, &file->group));
    SVMP_TRY(put_attributes(file, file->group, comments));
    SVMP_TRY(put_dimension(file, "chain", file->chains, 0, &dimensions[0]));
    return put_dimension(file, "draw", file->draws, 0, &dimensions[1]);
}

static svmp_status put_array(netcdf_file *file, const svmp_particles *p, const shaped_array *array,
                             const int common[2]) {
    char name[NC_MAX_NAME + 1], dimension[NC_MAX_NAME + 1];
    int id, dimensions[2 + SHAPE_DIMENSIONS] = {common[0], common[1]};
    snprintf(name, sizeof name, "%.*s", (int)array->length, array->name);
    if (strcmp(name, "chain") == 0 || strcmp(name, "draw") == 0 || array->length > NC_MAX_NAME - 16)
        return svmp_fail(file->context, SVMP_UNSUPPORTED,
                         "The file '%s' cannot have a variable called '%.80s': %s. A file that ends in .csv can.",
                         file->path, name, array->length > 5 ? "that is too long" : "a dimension is called so");
    for (size_t k = 0; k < array->dimensions; k++) {
        snprintf(dimension, sizeof dimension, "%.*s_dim_%zu", (int)array->length, array->name, k);
        SVMP_TRY(put_dimension(file, dimension, array->extent[k], (long long)array->first[k], &dimensions[2 + k]));
    }
    NC_TRY(file, nc_def_var(file->group, name, NC_DOUBLE, 2 + (int)array->dimensions, dimensions, &id));
    return transfer(file, id, array, p);
}

static svmp_status put_posterior(netcdf_file *file, const svmp_particles *p, const char *comments) {
    int dimensions[2];
    shape arrays = {0};
    svmp_status status;
    SVMP_CHECK(svmp_shape_of(p, &arrays));
    SVMP_CHECK(put_group(file, "posterior", comments, dimensions));
    for (size_t a = 0; a < arrays.count; a++) SVMP_CHECK(put_array(file, p, &arrays.arrays[a], dimensions));
done:
    svmp_shape_free(file->context, &arrays);
    return status;
}

static int is_whole(size_t count, const double *values) {
    for (size_t l = 0; l < count; l++)
        if (!(fabs(values[l]) < 0x1p53) || values[l] != rint(values[l])) return 0;
    return 1;
}

static svmp_status put_statistic(const netcdf_file *file, const struct statistic *s, const int dimensions[2]) {
    char name[NC_MAX_NAME + 1];
    nc_type type = NC_DOUBLE;
    int id;
    const size_t length = strlen(s->name) - 2; /* without the underscores */
    snprintf(name, sizeof name, "%.*s", (int)length, s->name);
    for (size_t k = 0; k < STATISTIC_NAMES; k++)
        if (strcmp(statistic_names[k].here, s->name) == 0) {
            snprintf(name, sizeof name, "%s", statistic_names[k].there);
            type = is_whole(file->chains * file->draws, s->values) ? statistic_names[k].type : NC_DOUBLE;
        }
    NC_TRY(file, nc_def_var(file->group, name, type, 2, dimensions, &id));
    if (type == NC_BYTE) NC_TRY(file, nc_put_att_text(file->group, id, "dtype", 4, "bool"));
    NC_TRY(file, nc_put_var_double(file->group, id, s->values));
    return SVMP_OK;
}

static svmp_status put_statistics(netcdf_file *file, const svmp_particles *p) {
    int dimensions[2];
    if (p->statistic_count == 0) return SVMP_OK;
    SVMP_TRY(put_group(file, "sample_stats", NULL, dimensions));
    for (size_t k = 0; k < p->statistic_count; k++) SVMP_TRY(put_statistic(file, &p->statistics[k], dimensions));
    return SVMP_OK;
}

/* The file as it will be, in memory: HDF5 does not survive every disk that is full. *image is the caller's to free. */
static svmp_status make_image(netcdf_file *file, const svmp_particles *p, const char *comments, NC_memio *image) {
    SVMP_TRY(SVMP_NEW(file->context, file->block, BLOCK));
    NC_TRY(file, nc_create_mem("svmp", NC_NETCDF4, 0, &file->id));
    file->open = 1;
    SVMP_TRY(put_attributes(file, file->id, comments));
    if (comments) SVMP_TRY(put_text(file, file->id, record_name, comments));
    SVMP_TRY(put_posterior(file, p, comments));
    SVMP_TRY(put_statistics(file, p));
    file->open = 0;
    NC_TRY(file, nc_close_memio(file->id, image));
    return SVMP_OK;
}

/* Where the file ends that the image begins with: HDF5 makes room in large pieces, and its superblock, in version 0,
 * tells at byte 40 how much of it is used. */
static size_t used_size(const NC_memio *image) {
    const unsigned char *bytes = image->memory;
    uint64_t end = 0;
    if (image->size < 48 || bytes[8] != 0) return image->size;
    for (size_t k = 0; k < 8; k++) end |= (uint64_t)bytes[40 + k] << 8 * k;
    return end < image->size ? (size_t)end : image->size;
}

static svmp_status put_image(const NC_memio *image, output_file *output) {
    const size_t size = used_size(image);
    seal made = empty_seal(size);
    made.hash = svmp_hash_bytes(made.hash, size, image->memory);
    SVMP_TRY(svmp_output_put(output, image->memory, size));
    return svmp_output_put(output, (const char *)&made, sizeof made);
}

static void close_file(netcdf_file *file) {
    if (file->open && file->writing) nc_abort(file->id);
    if (file->open && !file->writing) nc_close(file->id);
    svmp_release(file->context, file->block);
}

svmp_status svmp_netcdf_write(const svmp_particles *particles, const char *path, const char *comments, int overwrite) {
    netcdf_file file = {.context = particles->context, .path = path, .writing = 1, .chains = particles->chains};
    file.draws = particles->count / particles->chains;
    output_file output = {0};
    NC_memio image = {0};
    svmp_status status;
    pthread_mutex_lock(&one_at_a_time);
    SVMP_CHECK(svmp_output_open(file.context, path, overwrite, &output));
    SVMP_CHECK(make_image(&file, particles, comments, &image));
    SVMP_CHECK(put_image(&image, &output));
    SVMP_CHECK(svmp_output_finish(&output));
done:
    close_file(&file);
    free(image.memory);
    svmp_output_close(&output);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct netcdf_variable {
    char name[NC_MAX_NAME + 1];
    shaped_array array;
    int taken; /* it has the dimensions chain, draw, ..., and holds numbers */
} netcdf_variable;

/* Whether the dimension is called so; its extent. */
static svmp_status is_dimension(const netcdf_file *file, int id, const char *expected, int *is, size_t *extent) {
    char name[NC_MAX_NAME + 1];
    NC_TRY(file, nc_inq_dim(file->group, id, name, extent));
    *is = strcmp(name, expected) == 0;
    return SVMP_OK;
}

/* The first index of a dimension: what its coordinates say where they count up from 1 or more, else 1. */
static svmp_status first_index(const netcdf_file *file, int dimension, size_t extent, size_t *first) {
    char name[NC_MAX_NAME + 1];
    int id, count = 0, over = -1;
    nc_type type = NC_NAT;
    const size_t start = 0, last = extent - 1;
    long long low = 0, high = 0;
    *first = 1;
    NC_TRY(file, nc_inq_dimname(file->group, dimension, name));
    if (nc_inq_varid(file->group, name, &id) != NC_NOERR) return SVMP_OK;
    NC_TRY(file, nc_inq_varndims(file->group, id, &count));
    if (count != 1) return SVMP_OK;
    NC_TRY(file, nc_inq_var(file->group, id, NULL, &type, NULL, &over, NULL));
    if (over != dimension || (type != NC_INT && type != NC_INT64)) return SVMP_OK;
    NC_TRY(file, nc_get_var1_longlong(file->group, id, &start, &low));
    NC_TRY(file, nc_get_var1_longlong(file->group, id, &last, &high));
    if (low >= 1 && low < UINT32_MAX && high == low + (long long)last) *first = (size_t)low;
    return SVMP_OK;
}

static svmp_status look_at(netcdf_file *file, int id, netcdf_variable *v) {
    int dimensions[NC_MAX_VAR_DIMS], count = 0, chain = 0, draw = 0;
    nc_type type = NC_NAT;
    size_t chains = 0, draws = 0;
    *v = (netcdf_variable){{0}, {0}, 0};
    NC_TRY(file, nc_inq_varndims(file->group, id, &count));
    if (count < 2 || count > 2 + SHAPE_DIMENSIONS) return SVMP_OK;
    NC_TRY(file, nc_inq_var(file->group, id, v->name, &type, NULL, dimensions, NULL));
    if (type == NC_NAT || type == NC_CHAR || type >= NC_STRING) return SVMP_OK;
    SVMP_TRY(is_dimension(file, dimensions[0], "chain", &chain, &chains));
    SVMP_TRY(is_dimension(file, dimensions[1], "draw", &draw, &draws));
    if (!chain || !draw) return SVMP_OK;
    if (chains == 0 || draws == 0) return refuse(file, "there are no draws");
    if (file->chains && (chains != file->chains || draws != file->draws))
        return refuse(file, "not all variables have as many draws");
    file->chains = chains;
    file->draws = draws;
    v->array = (shaped_array){.name = v->name, .length = strlen(v->name), .count = 1, .dimensions = (size_t)count - 2};
    for (int k = 2; k < count; k++) {
        size_t *extent = &v->array.extent[k - 2];
        NC_TRY(file, nc_inq_dimlen(file->group, dimensions[k], extent));
        if (*extent == 0) return SVMP_OK;
        if (*extent > UINT32_MAX || v->array.count > UINT32_MAX / *extent) return refuse(file, "an array is too large");
        v->array.count *= *extent;
        SVMP_TRY(first_index(file, dimensions[k], *extent, &v->array.first[k - 2]));
    }
    v->taken = 1;
    return SVMP_OK;
}

/* How many variables the group holds, in all its arrays. */
static svmp_status count_variables(netcdf_file *file, int ids, size_t *variables) {
    netcdf_variable v;
    *variables = 0;
    for (int id = 0; id < ids; id++) {
        SVMP_TRY(look_at(file, id, &v));
        if (v.taken) *variables += v.array.count;
    }
    if (*variables == 0)
        return refuse(file, "the group 'posterior' has no variable with the dimensions chain and draw");
    const double bytes = (double)*variables * (double)file->chains * (double)file->draws * sizeof(double);
    return svmp_require_memory(file->context, bytes, "the particles of this file take");
}

static svmp_status take_array(netcdf_file *file, int id, netcdf_variable *v, size_t first, svmp_particles *p) {
    char name[NC_MAX_NAME + 128];
    size_t *variable = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(file->context, variable, v->array.count));
    v->array.variable = variable;
    for (size_t m = 0; m < v->array.count; m++) {
        svmp_shape_name(&v->array, m, name, sizeof name);
        variable[m] = first + m;
        status = svmp_particles_set_name(p, first + m, name);
        if (status == SVMP_BAD_CALL) status = SVMP_BAD_INPUT;
        if (status != SVMP_OK) goto done;
    }
    SVMP_CHECK(transfer(file, id, &v->array, p));
done:
    svmp_release(file->context, variable);
    return status;
}

static svmp_status check_values(const netcdf_file *file, const svmp_particles *p) {
    const char *repeated;
    SVMP_TRY(svmp_particles_repeated_name(p, &repeated));
    if (repeated)
        return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: two variables are called '%.80s'.", file->path, repeated);
    for (size_t k = 0; k < p->variables * p->count; k++)
        if (!isfinite(p->values[k]))
            return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: %.80s of particle %zu is %g, not a finite number.",
                             file->path, svmp_particles_name(p, k / p->count), k % p->count + 1, p->values[k]);
    return SVMP_OK;
}

static svmp_status take_posterior(netcdf_file *file, svmp_particles **made) {
    int ids = 0;
    size_t variables, first = 0;
    if (nc_inq_grp_ncid(file->id, "posterior", &file->group) != NC_NOERR)
        return refuse(file, "there is no group 'posterior'; this is no InferenceData of ArviZ");
    NC_TRY(file, nc_inq_nvars(file->group, &ids));
    SVMP_TRY(count_variables(file, ids, &variables));
    if (file->chains > SIZE_MAX / file->draws) return refuse(file, "there are too many draws");
    SVMP_TRY(svmp_particles_create(file->context, variables, file->chains * file->draws, NULL, made));
    SVMP_TRY(svmp_particles_set_chains(*made, file->chains));
    for (int id = 0; id < ids; id++) {
        netcdf_variable v;
        SVMP_TRY(look_at(file, id, &v));
        if (!v.taken || v.array.count == 0) continue;
        SVMP_TRY(take_array(file, id, &v, first, *made));
        first += v.array.count;
    }
    return check_values(file, *made);
}

static svmp_status take_statistic(netcdf_file *file, int id, const netcdf_variable *v, double *values,
                                  svmp_particles *p) {
    char name[NC_MAX_NAME + 4];
    snprintf(name, sizeof name, "%s__", v->name);
    for (size_t k = 0; k < STATISTIC_NAMES; k++)
        if (strcmp(statistic_names[k].there, v->name) == 0) snprintf(name, sizeof name, "%s", statistic_names[k].here);
    NC_TRY(file, nc_get_var_double(file->group, id, values));
    if (svmp_name_fault(name) || strcmp(name, "chain__") == 0) return SVMP_OK;
    return svmp_particles_set_statistic(p, name, values);
}

static svmp_status take_statistics(netcdf_file *file, svmp_particles *p) {
    int ids = 0;
    double *values = NULL;
    svmp_status status = SVMP_OK;
    if (nc_inq_grp_ncid(file->id, "sample_stats", &file->group) != NC_NOERR) return SVMP_OK;
    NC_TRY(file, nc_inq_nvars(file->group, &ids));
    SVMP_TRY(SVMP_NEW(file->context, values, p->count));
    for (int id = 0; id < ids; id++) {
        netcdf_variable v;
        SVMP_CHECK(look_at(file, id, &v));
        if (v.taken && v.array.count == 1) SVMP_CHECK(take_statistic(file, id, &v, values, p));
    }
done:
    svmp_release(file->context, values);
    return status;
}

static svmp_status take_comments(const netcdf_file *file, svmp_particles *p) {
    nc_type type;
    size_t length;
    if (nc_inq_att(file->id, NC_GLOBAL, record_name, &type, &length) != NC_NOERR || type != NC_CHAR) return SVMP_OK;
    SVMP_TRY(svmp_allocate(file->context, length + 1, 1, (void **)&p->comments)); /* ended by a zero */
    NC_TRY(file, nc_get_att_text(file->id, NC_GLOBAL, record_name, p->comments));
    return SVMP_OK;
}

static svmp_status check_readable(const netcdf_file *file) {
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL)
        return svmp_fail(file->context, SVMP_CANNOT_READ, "The file '%s' could not be read: %s.", file->path,
                         strerror(errno));
    svmp_status status = check_seal(file, stream);
    fclose(stream);
    return status;
}

svmp_status svmp_netcdf_read(svmp_context *context, const char *path, svmp_particles **particles) {
    netcdf_file file = {.context = context, .path = path};
    char buffer[LONGEST_PATH];
    svmp_particles *made = NULL;
    svmp_status status;
    pthread_mutex_lock(&one_at_a_time);
    SVMP_CHECK(SVMP_NEW(context, file.block, BLOCK));
    SVMP_CHECK(check_readable(&file));
    const int error = nc_open(local_path(path, buffer), NC_NOWRITE, &file.id);
    if (error != NC_NOERR) SVMP_CHECK(nc_failed(&file, error));
    file.open = 1;
    SVMP_CHECK(take_posterior(&file, &made));
    SVMP_CHECK(take_statistics(&file, made));
    SVMP_CHECK(take_comments(&file, made));
    *particles = made;
    made = NULL;
done:
    close_file(&file);
    svmp_particles_free(made);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

#endif
