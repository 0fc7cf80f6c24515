/* Particles from NetCDF-4 files written by svmp or by other programs. */
#include "sample/files/netcdf_file.h"

#ifdef SVMP_HAVE_NETCDF

#include "base/hash.h"
#include "sample/netcdf.h"

enum { LONGEST_PATH = PATH_MAX + 8 };

/* The path in a form that netCDF-C does not take for a URL. */
static const char *local_path(const char *path, char buffer[LONGEST_PATH]) {
    if (*path == '/' || strlen(path) + 3 > LONGEST_PATH) return path;
    snprintf(buffer, LONGEST_PATH, "./%s", path);
    return buffer;
}

static svmp_status refuse(const netcdf_file *file, const char *why) {
    return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: %s.", file->path, why);
}

/* The checksum record of the first `size` bytes of the stream; `workspace` is NC_BLOCK words. Returns 0 if they cannot
 * be read. */
static int compute_checksum(FILE *stream, uint64_t size, double *workspace, checksum *made) {
    *made = svmp_nc_checksum(size);
    rewind(stream);
    for (uint64_t left = size; left > 0;) {
        const size_t piece = left < NC_BLOCK * sizeof *workspace ? (size_t)left : NC_BLOCK * sizeof *workspace;
        if (fread(workspace, 1, piece, stream) != piece) return 0;
        made->hash = svmp_hash_bytes(made->hash, piece, workspace);
        left -= piece;
    }
    return 1;
}

/* Whether the stream ends with a checksum record; *size is the number of bytes before it. */
static int find_checksum(FILE *stream, checksum *found, uint64_t *size) {
    if (fseek(stream, 0, SEEK_END) != 0) return 0;
    const long end = ftell(stream);
    if (end < (long)sizeof *found || fseek(stream, end - (long)sizeof *found, SEEK_SET) != 0 ||
        fread(found, sizeof *found, 1, stream) != 1)
        return 0;
    *size = (uint64_t)end - sizeof *found;
    return svmp_nc_is_checksum(found);
}

int svmp_particles_file_sealed(const char *path) {
    FILE *stream = path ? fopen(path, "rb") : NULL;
    checksum found;
    uint64_t size;
    if (stream == NULL) return 0;
    const int sealed = find_checksum(stream, &found, &size);
    fclose(stream);
    return sealed;
}

/* Fails if there is a checksum and it does not match. */
static svmp_status check_checksum(const netcdf_file *file, FILE *stream) {
    checksum found, due;
    uint64_t size;
    if (!find_checksum(stream, &found, &size)) return SVMP_OK;
    if (found.size == size && compute_checksum(stream, size, file->block, &due) && found.hash == due.hash)
        return SVMP_OK;
    return refuse(file, "the file is damaged: the checksum does not match");
}

/* The size of an HDF5 file, which its superblock states after the signature; 0: not HDF5. Knows versions 0 to 3 of the
 * superblock with little-endian addresses of eight bytes. */
static uint64_t hdf5_size(FILE *stream) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    static const size_t places[] = {40, 44, 28, 28};
    unsigned char head[52];
    uint64_t size = 0;
    rewind(stream);
    if (fread(head, 1, sizeof head, stream) != sizeof head || memcmp(head, signature, sizeof signature) != 0 ||
        head[8] > 3 || head[head[8] < 2 ? 13 : 9] != 8)
        return 0;
    for (size_t k = 8; k-- > 0;) size = size << 8 | head[places[head[8]] + k];
    return size;
}

/* Why netCDF-C cannot open the file, in clearer words than its own. */
static svmp_status cannot_open(const netcdf_file *file, int error) {
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL) return svmp_nc_failed(file, error);
    const uint64_t due = hdf5_size(stream);
    const long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    fclose(stream);
    if (size == 0) return refuse(file, "the file is empty");
    if (size > 0 && (uint64_t)size < due)
        return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: the file is truncated: it has %ld of %llu bytes.",
                         file->path, size, (unsigned long long)due);
    if (error == NC_ENOTNC) return refuse(file, "this is not a NetCDF file");
    return svmp_nc_failed(file, error);
}

typedef struct netcdf_variable {
    char name[NC_MAX_NAME + 1];
    shaped_array array;
    int taken; /* it has the dimensions chain, draw, ..., and holds numbers */
} netcdf_variable;

/* Whether the dimension has this name; its extent. */
static svmp_status is_dimension(const netcdf_file *file, int id, const char *expected, int *is, size_t *extent) {
    char name[NC_MAX_NAME + 1];
    NC_TRY(file, svmp_nc.inq_dim(file->group, id, name, extent));
    *is = strcmp(name, expected) == 0;
    return SVMP_OK;
}

/* The first index of a dimension: that of its coordinates if these count up from 1 or more, else 1. */
static svmp_status first_index(const netcdf_file *file, int dimension, size_t extent, size_t *first) {
    char name[NC_MAX_NAME + 1];
    int id, count = 0, over = -1;
    nc_type type = NC_NAT;
    const size_t start = 0, last = extent - 1;
    long long low = 0, high = 0;
    *first = 1;
    NC_TRY(file, svmp_nc.inq_dimname(file->group, dimension, name));
    if (svmp_nc.inq_varid(file->group, name, &id) != NC_NOERR) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_varndims(file->group, id, &count));
    if (count != 1) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_var(file->group, id, NULL, &type, NULL, &over, NULL));
    if (over != dimension || (type != NC_INT && type != NC_INT64)) return SVMP_OK;
    NC_TRY(file, svmp_nc.get_var1_longlong(file->group, id, &start, &low));
    NC_TRY(file, svmp_nc.get_var1_longlong(file->group, id, &last, &high));
    if (low >= 1 && low < UINT32_MAX && high == low + (long long)last) *first = (size_t)low;
    return SVMP_OK;
}

static svmp_status inspect_variable(netcdf_file *file, int id, netcdf_variable *v) {
    int dimensions[NC_MAX_VAR_DIMS], count = 0, chain = 0, draw = 0;
    nc_type type = NC_NAT;
    size_t chains = 0, draws = 0;
    *v = (netcdf_variable){{0}, {0}, 0};
    NC_TRY(file, svmp_nc.inq_varndims(file->group, id, &count));
    if (count < 2 || count > 2 + SHAPE_DIMENSIONS) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_var(file->group, id, v->name, &type, NULL, dimensions, NULL));
    if (type == NC_NAT || type == NC_CHAR || type >= NC_STRING) return SVMP_OK;
    SVMP_TRY(is_dimension(file, dimensions[0], "chain", &chain, &chains));
    SVMP_TRY(is_dimension(file, dimensions[1], "draw", &draw, &draws));
    if (!chain || !draw) return SVMP_OK;
    if (chains == 0 || draws == 0) return refuse(file, "there are no draws");
    if (file->chains && (chains != file->chains || draws != file->draws))
        return refuse(file, "the variables have different numbers of draws");
    file->chains = chains;
    file->draws = draws;
    v->array = (shaped_array){.name = v->name, .length = strlen(v->name), .count = 1, .dimensions = (size_t)count - 2};
    for (int k = 2; k < count; k++) {
        size_t *extent = &v->array.extent[k - 2];
        NC_TRY(file, svmp_nc.inq_dimlen(file->group, dimensions[k], extent));
        if (*extent == 0) return SVMP_OK;
        if (*extent > UINT32_MAX || v->array.count > UINT32_MAX / *extent) return refuse(file, "an array is too large");
        v->array.count *= *extent;
        SVMP_TRY(first_index(file, dimensions[k], *extent, &v->array.first[k - 2]));
    }
    v->taken = 1;
    return SVMP_OK;
}

/* The number of variables in all arrays of the group. */
static svmp_status count_variables(netcdf_file *file, int ids, size_t *variables) {
    netcdf_variable v;
    *variables = 0;
    for (int id = 0; id < ids; id++) {
        SVMP_TRY(inspect_variable(file, id, &v));
        if (v.taken) *variables += v.array.count;
    }
    if (*variables == 0)
        return refuse(file, "the group '" NC_POSTERIOR "' has no variable with the dimensions chain and draw");
    const double bytes = (double)*variables * (double)file->chains * (double)file->draws * sizeof(double);
    return svmp_require_memory(file->context, bytes, "the particles of this file need");
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
    SVMP_CHECK(svmp_nc_transfer(file, id, &v->array, p));
done:
    svmp_release(file->context, variable);
    return status;
}

static svmp_status check_values(const netcdf_file *file, const svmp_particles *p) {
    const char *repeated;
    SVMP_TRY(svmp_particles_repeated_name(p, &repeated));
    if (repeated)
        return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: two variables have the name '%.80s'.", file->path,
                         repeated);
    for (size_t k = 0; k < p->variables * p->count; k++)
        if (!isfinite(p->values[k]))
            return svmp_fail(file->context, SVMP_BAD_INPUT, "%s: %.80s of particle %zu is %g, not a finite number.",
                             file->path, svmp_particles_name(p, k / p->count), k % p->count + 1, p->values[k]);
    return SVMP_OK;
}

/* Reads the variables of the open group. */
static svmp_status take_sample(netcdf_file *file, svmp_particles **made) {
    int ids = 0;
    size_t variables, first = 0;
    file->chains = file->draws = 0;
    NC_TRY(file, svmp_nc.inq_nvars(file->group, &ids));
    SVMP_TRY(count_variables(file, ids, &variables));
    if (file->draws > 0 && file->chains > SIZE_MAX / file->draws) return refuse(file, "there are too many draws");
    SVMP_TRY(svmp_particles_create(file->context, variables, file->chains * file->draws, NULL, made));
    SVMP_TRY(svmp_particles_set_chains(*made, file->chains));
    for (int id = 0; id < ids; id++) {
        netcdf_variable v;
        SVMP_TRY(inspect_variable(file, id, &v));
        if (!v.taken || v.array.count == 0) continue;
        SVMP_TRY(take_array(file, id, &v, first, *made));
        first += v.array.count;
    }
    return check_values(file, *made);
}

static svmp_status take_posterior(netcdf_file *file, svmp_particles **made) {
    if (svmp_nc.inq_grp_ncid(file->id, NC_POSTERIOR, &file->group) != NC_NOERR)
        return refuse(file, "there is no group '" NC_POSTERIOR "'; this is not an ArviZ InferenceData file");
    return take_sample(file, made);
}

/* Other programs may have a group of that name, with anything in it. */
static svmp_status take_compressed(netcdf_file *file, svmp_particles *draws) {
    netcdf_variable v;
    int ids = 0, taken = 0;
    if (svmp_nc.inq_grp_ncid(file->id, NC_COMPRESSED, &file->group) != NC_NOERR) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_nvars(file->group, &ids));
    file->chains = file->draws = 0;
    for (int id = 0; id < ids; id++) {
        SVMP_TRY(inspect_variable(file, id, &v));
        taken |= v.taken;
    }
    return taken ? take_sample(file, &draws->compressed) : SVMP_OK;
}

static svmp_status take_statistic(netcdf_file *file, int id, const netcdf_variable *v, double *values,
                                  svmp_particles *p) {
    char name[NC_MAX_NAME + 4];
    snprintf(name, sizeof name, "%s__", v->name);
    for (size_t k = 0; k < NC_STATISTICS; k++)
        if (strcmp(svmp_nc_statistics[k].there, v->name) == 0)
            snprintf(name, sizeof name, "%s", svmp_nc_statistics[k].here);
    NC_TRY(file, svmp_nc.get_var_double(file->group, id, values));
    if (svmp_name_problem(name) || strcmp(name, "chain__") == 0) return SVMP_OK;
    return svmp_particles_set_statistic(p, name, values);
}

/* A variable with one dimension is a series, unless the dimension is chain or draw. */
static svmp_status take_series(netcdf_file *file, int id, svmp_particles *p) {
    enum { MOST = 10000000 };
    char name[NC_MAX_NAME + 1], along[NC_MAX_NAME + 1];
    int count = 0, dimension = 0;
    nc_type type = NC_NAT;
    size_t extent = 0;
    double *values = NULL;
    NC_TRY(file, svmp_nc.inq_varndims(file->group, id, &count));
    if (count != 1) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_var(file->group, id, name, &type, NULL, &dimension, NULL));
    NC_TRY(file, svmp_nc.inq_dim(file->group, dimension, along, &extent));
    if (strcmp(along, "chain") == 0 || strcmp(along, "draw") == 0 || extent > MOST) return SVMP_OK;
    if (type == NC_NAT || type == NC_CHAR || type >= NC_STRING) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(file->context, values, extent));
    const int error = svmp_nc.get_var_double(file->group, id, values);
    svmp_status status =
        error == NC_NOERR ? svmp_particles_set_series(p, name, along, extent, values) : svmp_nc_failed(file, error);
    svmp_release(file->context, values);
    return status == SVMP_BAD_CALL ? SVMP_OK : status; /* series of other programs may have any name */
}

static svmp_status take_statistics(netcdf_file *file, svmp_particles *p) {
    int ids = 0;
    double *values = NULL;
    svmp_status status = SVMP_OK;
    if (svmp_nc.inq_grp_ncid(file->id, "sample_stats", &file->group) != NC_NOERR) return SVMP_OK;
    NC_TRY(file, svmp_nc.inq_nvars(file->group, &ids));
    SVMP_TRY(SVMP_NEW(file->context, values, p->count));
    for (int id = 0; id < ids; id++) {
        netcdf_variable v;
        SVMP_CHECK(inspect_variable(file, id, &v));
        if (v.taken && v.array.count == 1) SVMP_CHECK(take_statistic(file, id, &v, values, p));
        SVMP_CHECK(take_series(file, id, p));
    }
done:
    svmp_release(file->context, values);
    return status;
}

static svmp_status take_comments(const netcdf_file *file, svmp_particles *p) {
    nc_type type;
    size_t length, size = 0, capacity = 0;
    char name[64];
    for (size_t part = 0;; part++, size += length) {
        svmp_nc_record_name(part, name);
        if (svmp_nc.inq_att(file->id, NC_GLOBAL, name, &type, &length) != NC_NOERR || type != NC_CHAR) return SVMP_OK;
        SVMP_TRY(SVMP_GROW(file->context, p->comments, capacity, size + length + 1));
        NC_TRY(file, svmp_nc.get_att_text(file->id, NC_GLOBAL, name, p->comments + size));
        p->comments[size + length] = '\0';
    }
}

static svmp_status check_readable(const netcdf_file *file) {
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL)
        return svmp_fail(file->context, SVMP_CANNOT_READ, "Cannot read '%s': %s.", file->path, strerror(errno));
    svmp_status status = check_checksum(file, stream);
    fclose(stream);
    return status;
}

svmp_status svmp_netcdf_read(svmp_context *context, const char *path, svmp_particles **particles) {
    netcdf_file file = {.context = context, .path = path};
    char buffer[LONGEST_PATH];
    svmp_particles *made = NULL;
    svmp_status status;
    SVMP_TRY(svmp_nc_enter(context, path));
    SVMP_CHECK(SVMP_NEW(context, file.block, NC_BLOCK));
    SVMP_CHECK(check_readable(&file));
    const int error = svmp_nc.open(local_path(path, buffer), NC_NOWRITE, &file.id);
    if (error != NC_NOERR) SVMP_CHECK(cannot_open(&file, error));
    file.open = 1;
    SVMP_CHECK(take_posterior(&file, &made));
    if (made) SVMP_CHECK(take_statistics(&file, made));
    if (made) SVMP_CHECK(take_comments(&file, made));
    if (made) SVMP_CHECK(take_compressed(&file, made));
    *particles = made;
    made = NULL;
done:
    svmp_nc_close(&file);
    svmp_particles_free(made);
    svmp_nc_leave();
    return status;
}

#endif
