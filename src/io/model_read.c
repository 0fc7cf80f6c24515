/* Models from files: which reader, and the Gaussian exp(b'x - x'Ax/2), its precision A and its vector b as Matrix
 * Market files. */
#include "io/model_read.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "io/matrix_market.h"

typedef struct gaussian_files {
    svmp_context *context;
    const char *precision_path, *linear_path;
    matrix precision, linear;
    double *diagonal, *b; /* b: zeros when there is no second file */
} gaussian_files;

static int ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* Every variable has its own positive entry on the diagonal: so is every positive definite matrix, and so the file is
 * never smaller than the model that is made of it. */
static svmp_status read_diagonal(gaussian_files *files) {
    const matrix *a = &files->precision;
    if (a->rows != a->columns)
        return svmp_fail(files->context, SVMP_BAD_INPUT, "%s: a precision matrix is square, not %zu by %zu.",
                         files->precision_path, a->rows, a->columns);
    if (a->count < a->rows)
        return svmp_fail(files->context, SVMP_NOT_POSITIVE_DEFINITE,
                         "%s: the diagonal has zeros (%zu rows, %zu entries), so the matrix is not positive definite.",
                         files->precision_path, a->rows, a->count);
    SVMP_TRY(SVMP_NEW(files->context, files->diagonal, a->rows));
    for (size_t k = 0; k < a->count; k++)
        if (a->entries[k].row == a->entries[k].column) files->diagonal[a->entries[k].row] = a->entries[k].value;
    for (size_t i = 0; i < a->rows; i++)
        if (!(files->diagonal[i] > 0))
            return svmp_fail(files->context, SVMP_NOT_POSITIVE_DEFINITE,
                             "%s: the diagonal entry of row %zu is %g, so the matrix is not positive definite.",
                             files->precision_path, i + 1, files->diagonal[i]);
    return SVMP_OK;
}

/* A general matrix may differ from its transpose by rounding: 1e-12 of sqrt(a_ii a_jj), which bounds |a_ij|. */
static svmp_status check_symmetry(const gaussian_files *files) {
    const matrix *a = &files->precision;
    if (a->symmetric) return SVMP_OK;
    for (size_t k = 0; k < a->count; k++) {
        matrix_entry here = a->entries[k];
        if (here.row == here.column) continue;
        double there = svmp_matrix_at(a, here.column, here.row);
        double scale = sqrt(files->diagonal[here.row]) * sqrt(files->diagonal[here.column]);
        if (!(fabs(here.value - there) <= 1e-12 * scale))
            return svmp_fail(
                files->context, SVMP_BAD_INPUT,
                "%s: the matrix is not symmetric: entry (%lu, %lu) is %.17g and entry (%lu, %lu) is %.17g.",
                files->precision_path, (unsigned long)here.row + 1, (unsigned long)here.column + 1, here.value,
                (unsigned long)here.column + 1, (unsigned long)here.row + 1, there);
    }
    return SVMP_OK;
}

static svmp_status read_linear(gaussian_files *files) {
    size_t rows = files->precision.rows;
    SVMP_TRY(SVMP_NEW(files->context, files->b, rows));
    if (files->linear_path == NULL) return SVMP_OK;
    SVMP_TRY(svmp_matrix_read(files->context, files->linear_path, &files->linear));
    const matrix *b = &files->linear;
    if (b->rows != rows || b->columns != 1)
        return svmp_fail(files->context, SVMP_BAD_INPUT,
                         "%s: the vector is %zu by %zu, but the matrix in '%s' needs one that is %zu by 1.",
                         files->linear_path, b->rows, b->columns, files->precision_path, rows);
    for (size_t k = 0; k < b->count; k++) files->b[b->entries[k].row] = b->entries[k].value;
    return SVMP_OK;
}

/* A node a variable, a factor for each a_ii with b_i, a factor for each a_ij that is not zero. */
static svmp_status add_factors(const gaussian_files *files, svmp_model *model) {
    const matrix *a = &files->precision;
    for (size_t i = 0; i < a->rows; i++) {
        size_t node;
        SVMP_TRY(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
    }
    for (size_t i = 0; i < a->rows; i++)
        SVMP_TRY(svmp_model_add_gaussian(model, 1, &i, &files->diagonal[i], &files->b[i]));
    for (size_t k = 0; k < a->count; k++) {
        matrix_entry entry = a->entries[k];
        if (entry.row <= entry.column || entry.value == 0) continue;
        const size_t nodes[2] = {entry.column, entry.row};
        const double block[4] = {0, entry.value, entry.value, 0};
        SVMP_TRY(svmp_model_add_gaussian(model, 2, nodes, block, NULL));
    }
    return svmp_model_finish(model);
}

svmp_status svmp_model_read(svmp_context *context, size_t count, const char *const *paths, svmp_model **model) {
    return svmp_model_read_monitoring(context, count, paths, NULL, model);
}

svmp_status svmp_model_read_monitoring(svmp_context *context, size_t count, const char *const *paths,
                                       const char *monitors, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (paths == NULL || model == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read was given no %s.",
                         paths ? "place for its result" : "paths");
    for (size_t k = 0; k < count; k++)
        if (paths[k] == NULL) return svmp_fail(context, SVMP_BAD_CALL, "Path %zu of the model is NULL.", k + 1);
    if (count == 0) return svmp_fail(context, SVMP_BAD_CALL, "A model needs a file; none was given.");
    if (ends_in(paths[0], ".mtx") && monitors)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "'%s' has no deterministic nodes to monitor: only a model text has them.", paths[0]);
    if (ends_in(paths[0], ".mtx")) return svmp_model_read_gaussian(context, count, paths, model);
    if (ends_in(paths[0], ".bug") || ends_in(paths[0], ".jags") || ends_in(paths[0], ".txt")) {
        number_locale locale = {0};
        SVMP_TRY(svmp_number_enter(context, &locale));
        svmp_status status = svmp_model_read_language(context, count, paths, monitors, model);
        svmp_number_leave(&locale);
        return status;
    }
    return svmp_fail(context, SVMP_BAD_INPUT,
                     "The kind of '%s' is not known by its ending: .bug, .jags and .txt are model texts, .mtx is the "
                     "precision of a Gaussian.",
                     paths[0]);
}

svmp_status svmp_model_read_gaussian(svmp_context *context, size_t count, const char *const *paths,
                                     svmp_model **model) {
    for (size_t k = 0; k < count; k++)
        if (!ends_in(paths[k], ".mtx"))
            return svmp_fail(context, SVMP_BAD_INPUT, "'%s' is given with a Gaussian; its files end in .mtx.",
                             paths[k]);
    if (count > 2)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "A Gaussian model has one or two files, the precision and the vector b; %zu were given.",
                         count);

    gaussian_files files = {.context = context, .precision_path = paths[0], .linear_path = count > 1 ? paths[1] : NULL};
    svmp_model *made = NULL;
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_matrix_read(context, files.precision_path, &files.precision));
    SVMP_CHECK(read_diagonal(&files));
    SVMP_CHECK(check_symmetry(&files));
    SVMP_CHECK(read_linear(&files));
    SVMP_CHECK(svmp_model_create(context, &made));
    SVMP_CHECK(add_factors(&files, made));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    svmp_matrix_free(context, &files.precision);
    svmp_matrix_free(context, &files.linear);
    svmp_release(context, files.diagonal);
    svmp_release(context, files.b);
    return status;
}
