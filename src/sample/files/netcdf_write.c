/* Particles to NetCDF-4: groups posterior, sample_stats, observed_data, and, if monitored, log_likelihood and
 * posterior_predictive; particles, if they come with the draws. */
#include "sample/files/netcdf_file.h"

#ifdef SVMP_HAVE_NETCDF

#include <ctype.h>
#include <time.h>

#include "base/hash.h"
#include "sample/netcdf.h"

static svmp_status put_attribute(const netcdf_file *file, int group, const char *name, const char *text,
                                 size_t length) {
    NC_TRY(file, svmp_nc.put_att_text(group, NC_GLOBAL, name, length, text));
    return SVMP_OK;
}

static svmp_status put_text(const netcdf_file *file, int group, const char *name, const char *text) {
    return put_attribute(file, group, name, text, strlen(text));
}

/* A dimension with its coordinates first, first + 1, ... */
static svmp_status put_dimension(const netcdf_file *file, const char *name, size_t extent, long long first, int *id) {
    enum { COORDINATES = 512 };
    int variable;
    NC_TRY(file, svmp_nc.def_dim(file->group, name, extent, id));
    NC_TRY(file, svmp_nc.def_var(file->group, name, NC_INT64, 1, id, &variable));
    for (size_t start = 0; start < extent; start += COORDINATES) {
        long long value[COORDINATES];
        const size_t count = extent - start < COORDINATES ? extent - start : COORDINATES;
        for (size_t k = 0; k < count; k++) value[k] = first + (long long)(start + k);
        NC_TRY(file, svmp_nc.put_vara_longlong(file->group, variable, &start, &count, value));
    }
    return SVMP_OK;
}

/* Whether NetCDF accepts the name of an attribute. */
static int is_attribute_name(const char *name) {
    if (!isalnum((unsigned char)*name) && *name != '_') return 0;
    while (isprint((unsigned char)*name) && *name != '/') name++;
    return *name == '\0';
}

/* Writes the comments to as many attributes as needed. */
static svmp_status put_comments(const netcdf_file *file, const char *comments) {
    const size_t length = strlen(comments);
    char name[64];
    for (size_t part = 0; part * NC_LONGEST < length; part++) {
        const size_t left = length - part * NC_LONGEST;
        SVMP_TRY(put_attribute(file, file->id, svmp_nc_record_name(part, name), comments + part * NC_LONGEST,
                               left < NC_LONGEST ? left : NC_LONGEST));
    }
    return SVMP_OK;
}

/* Writes "name = value" lines of the record as attributes; lines that cannot be attributes remain only in the
 * record. */
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
            const size_t size = (size_t)(comments + length - value);
            if (is_attribute_name(name) && size <= NC_LONGEST) SVMP_TRY(put_attribute(file, group, name, value, size));
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

/* Defines a group with the dimensions shared by all its variables. */
static svmp_status put_group(netcdf_file *file, const char *name, const char *comments, int dimensions[2]) {
    NC_TRY(file, svmp_nc.def_grp(file->id, name, &file->group));
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
                         "The file '%s' cannot have a variable '%.80s': %s. Use a file that ends in .csv.", file->path,
                         name, array->length > 5 ? "the name is too long" : "a dimension has that name");
    for (size_t k = 0; k < array->dimensions; k++) {
        snprintf(dimension, sizeof dimension, "%.*s_dim_%zu", (int)array->length, array->name, k);
        SVMP_TRY(put_dimension(file, dimension, array->extent[k], (long long)array->first[k], &dimensions[2 + k]));
    }
    NC_TRY(file, svmp_nc.def_var(file->group, name, NC_DOUBLE, 2 + (int)array->dimensions, dimensions, &id));
    return svmp_nc_transfer(file, id, array, p);
}

/* Which arrays a group has: how many characters of the name it gets there, 0 if it is not one of them. */
typedef size_t (*array_filter)(const svmp_particles *p, const shaped_array *array);

static size_t any_array(const svmp_particles *p, const shaped_array *array) { return (void)p, array->length; }

/* log_lik, if it is monitored. */
static size_t likelihood(const svmp_particles *p, const shaped_array *array) {
    return (void)p, array->length == 7 && memcmp(array->name, "log_lik", 7) == 0 ? array->length : 0;
}

/* Predictions, y.rep, of an observed array y. */
static size_t prediction(const svmp_particles *p, const shaped_array *array) {
    enum { SUFFIX = 4 };
    if (array->length <= SUFFIX || memcmp(array->name + array->length - SUFFIX, ".rep", SUFFIX) != 0) return 0;
    for (size_t k = 0; k < p->observed.count; k++)
        if (strlen(p->observed.list[k].name) == array->length - SUFFIX &&
            memcmp(p->observed.list[k].name, array->name, array->length - SUFFIX) == 0)
            return array->length - SUFFIX;
    return 0;
}

/* Writes a group of these arrays, if there are any. */
static svmp_status put_arrays(netcdf_file *file, const char *group, const svmp_particles *p, const char *comments,
                              array_filter filter) {
    int dimensions[2], made = 0;
    shape arrays = {0};
    svmp_status status;
    SVMP_CHECK(svmp_shape_of(p, &arrays));
    for (size_t a = 0; a < arrays.count; a++) {
        shaped_array array = arrays.arrays[a];
        array.length = filter(p, &array);
        if (array.length == 0) continue;
        if (!made++) SVMP_CHECK(put_group(file, group, comments, dimensions));
        SVMP_CHECK(put_array(file, p, &array, dimensions));
    }
done:
    svmp_shape_free(file->context, &arrays);
    return status;
}

/* The particles that come with the draws, as one chain. */
static svmp_status put_compressed(netcdf_file *file, const svmp_particles *p) {
    const size_t chains = file->chains, draws = file->draws;
    if (p->compressed == NULL) return SVMP_OK;
    file->chains = 1;
    file->draws = p->compressed->count;
    const svmp_status status = put_arrays(file, NC_COMPRESSED, p->compressed, NULL, any_array);
    file->chains = chains;
    file->draws = draws;
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
    for (size_t k = 0; k < NC_STATISTICS; k++)
        if (strcmp(svmp_nc_statistics[k].here, s->name) == 0) {
            snprintf(name, sizeof name, "%s", svmp_nc_statistics[k].there);
            type = is_whole(file->chains * file->draws, s->values) ? svmp_nc_statistics[k].type : NC_DOUBLE;
        }
    NC_TRY(file, svmp_nc.def_var(file->group, name, type, 2, dimensions, &id));
    if (type == NC_BYTE) NC_TRY(file, svmp_nc.put_att_text(file->group, id, "dtype", 4, "bool"));
    NC_TRY(file, svmp_nc.put_var_double(file->group, id, s->values));
    return SVMP_OK;
}

/* Writes a series along its own dimension; integers, such as iterations, are stored as integers. */
static svmp_status put_series(const netcdf_file *file, const struct series *s) {
    int dimension, id;
    if (svmp_nc.inq_dimid(file->group, s->along, &dimension) != NC_NOERR)
        NC_TRY(file, svmp_nc.def_dim(file->group, s->along, s->count, &dimension));
    const nc_type type = is_whole(s->count, s->values) ? NC_INT64 : NC_DOUBLE;
    NC_TRY(file, svmp_nc.def_var(file->group, s->name, type, 1, &dimension, &id));
    NC_TRY(file, svmp_nc.put_var_double(file->group, id, s->values));
    return SVMP_OK;
}

static svmp_status put_statistics(netcdf_file *file, const svmp_particles *p) {
    int dimensions[2];
    if (p->statistic_count + p->series_count == 0) return SVMP_OK;
    SVMP_TRY(put_group(file, "sample_stats", NULL, dimensions));
    for (size_t k = 0; k < p->statistic_count; k++) SVMP_TRY(put_statistic(file, &p->statistics[k], dimensions));
    for (size_t k = 0; k < p->series_count; k++)
        if (p->series[k].count > 0) SVMP_TRY(put_series(file, &p->series[k]));
    return SVMP_OK;
}

static svmp_status put_observed(netcdf_file *file, const svmp_particles *p) {
    if (p->observed.count == 0) return SVMP_OK;
    NC_TRY(file, svmp_nc.def_grp(file->id, "observed_data", &file->group));
    SVMP_TRY(put_attributes(file, file->group, NULL));
    for (size_t a = 0; a < p->observed.count; a++) {
        const struct extra_array *o = &p->observed.list[a];
        char dimension[NC_MAX_NAME + 1];
        int id, dimensions[PARTICLES_DIMENSIONS];
        for (size_t k = 0; k < o->rank; k++) {
            snprintf(dimension, sizeof dimension, "%.200s_dim_%zu", o->name, k);
            SVMP_TRY(put_dimension(file, dimension, o->dimensions[k], 1, &dimensions[k]));
        }
        NC_TRY(file, svmp_nc.def_var(file->group, o->name, NC_DOUBLE, (int)o->rank, dimensions, &id));
        NC_TRY(file, svmp_nc.put_var_double(file->group, id, o->values));
    }
    return SVMP_OK;
}

/* Makes the file in memory, because HDF5 may crash when the disk is full. The caller frees *image. */
static svmp_status make_image(netcdf_file *file, const svmp_particles *p, const char *comments, NC_memio *image) {
    SVMP_TRY(svmp_require_memory(file->context, 2.0 * (double)p->variables * (double)p->count * sizeof(double),
                                 "a NetCDF file is built in memory, which together with the particles needs"));
    SVMP_TRY(SVMP_NEW(file->context, file->block, NC_BLOCK));
    NC_TRY(file, svmp_nc.create_mem("svmp", NC_NETCDF4, 0, &file->id));
    file->open = 1;
    SVMP_TRY(put_attributes(file, file->id, comments));
    if (comments) SVMP_TRY(put_comments(file, comments));
    SVMP_TRY(put_arrays(file, NC_POSTERIOR, p, comments, any_array));
    SVMP_TRY(put_compressed(file, p));
    SVMP_TRY(put_arrays(file, "log_likelihood", p, NULL, likelihood));       /* where ArviZ's loo() looks for it, */
    SVMP_TRY(put_arrays(file, "posterior_predictive", p, NULL, prediction)); /* and plot_ppc() */
    SVMP_TRY(put_statistics(file, p));
    SVMP_TRY(put_observed(file, p));
    file->open = 0;
    NC_TRY(file, svmp_nc.close_memio(file->id, image));
    return SVMP_OK;
}

/* The size of the file within the image: HDF5 allocates large pieces, and byte 40 of its superblock, version 0, states
 * how much is used. */
static size_t used_size(const NC_memio *image) {
    const unsigned char *bytes = image->memory;
    uint64_t end = 0;
    if (image->size < 48 || bytes[8] != 0) return image->size;
    for (size_t k = 0; k < 8; k++) end |= (uint64_t)bytes[40 + k] << 8 * k;
    return end < image->size ? (size_t)end : image->size;
}

static svmp_status put_image(const NC_memio *image, output_file *output) {
    const size_t size = used_size(image);
    checksum made = svmp_nc_checksum(size);
    made.hash = svmp_hash_bytes(made.hash, size, image->memory);
    SVMP_TRY(svmp_output_put(output, image->memory, size));
    return svmp_output_put(output, (const char *)&made, sizeof made);
}

svmp_status svmp_netcdf_write(const svmp_particles *particles, const char *path, const char *comments, int overwrite) {
    netcdf_file file = {.context = particles->context, .path = path, .writing = 1, .chains = particles->chains};
    file.draws = particles->count / particles->chains;
    output_file output = {0};
    NC_memio image = {0};
    svmp_status status;
    SVMP_TRY(svmp_nc_enter(file.context, path));
    SVMP_CHECK(svmp_output_open(file.context, path, overwrite, &output));
    SVMP_CHECK(make_image(&file, particles, comments, &image));
    SVMP_CHECK(put_image(&image, &output));
    SVMP_CHECK(svmp_output_finish(&output));
done:
    svmp_nc_close(&file);
    free(image.memory);
    svmp_output_close(&output);
    svmp_nc_leave();
    return status;
}

#endif
