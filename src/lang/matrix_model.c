/* The Gaussian exp(b'x - x'Ax/2), its precision A and its vector b as Matrix Market files: a node a variable, a factor
 * for each a_ii with b_i, a factor for each a_ij that is not zero. Of several processes each reads all of the files and
 * keeps the rows of its own nodes. */
#include <math.h>
#include <string.h>

#include "data/matrix_market.h"
#include "graph/graph_part.h"
#include "lang/compile/compile_state.h"
#include "lang/model_files.h"

typedef struct gaussian_files {
    svmp_context *context;
    const char *precision_path, *linear_path;
    const graph_owners *owners; /* NULL: all rows are wanted */
    matrix precision, linear;
    size_t rows;             /* that are kept: own ones, and those that they read */
    uint32_t *whole, *local; /* kept row -> row of the matrix, and back, or NOWHERE */
    double *diagonal, *b;    /* b: zeros when there is no second file */
} gaussian_files;

enum { NOWHERE = UINT32_MAX };

/* ---- the precision ----------------------------------------------------------------------------------------------- */

static svmp_status check_size(const gaussian_files *files) {
    const matrix *a = &files->precision;
    if (a->rows != a->columns)
        return svmp_fail(files->context, SVMP_BAD_INPUT, "%s: a precision matrix must be square, not %zu by %zu.",
                         files->precision_path, a->rows, a->columns);
    if (a->announced < a->rows)
        return svmp_fail(files->context, SVMP_NOT_POSITIVE_DEFINITE,
                         "%s: the diagonal has zeros (%zu rows, %zu entries), so the matrix is not positive definite.",
                         files->precision_path, a->rows, a->announced);
    return SVMP_OK;
}

/* Every variable has its own positive entry on the diagonal: so is every positive definite matrix, and so the file is
 * never smaller than the model that is made of it. */
static svmp_status read_diagonal(gaussian_files *files) {
    const matrix *a = &files->precision;
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

/* ---- the rows that are kept -------------------------------------------------------------------------------------- */

static int is_own(const gaussian_files *files, uint32_t row) {
    return files->owners == NULL || files->owners->owner[row] == files->owners->rank;
}

/* What own rows need, and the diagonal, which tells how symmetric the matrix is. */
static int is_wanted(const void *files, matrix_entry entry) {
    return entry.row == entry.column || is_own(files, entry.row) || is_own(files, entry.column);
}

/* The factor of two nodes that an entry is. */
static int is_edge(matrix_entry entry) { return entry.row > entry.column && entry.value != 0; }

static int is_wanted_edge(const void *unused, matrix_entry entry) { return (void)unused, is_edge(entry); }

/* Numbers the rows that are own or that own ones read, in their order; at least one. */
static svmp_status number_rows(gaussian_files *files) {
    const matrix *a = &files->precision;
    SVMP_TRY(SVMP_NEW(files->context, files->local, a->rows));
    for (uint32_t i = 0; i < a->rows; i++) files->local[i] = is_own(files, i) ? 0 : NOWHERE;
    for (size_t k = 0; k < a->count; k++)
        if (is_edge(a->entries[k])) files->local[a->entries[k].row] = files->local[a->entries[k].column] = 0;
    for (size_t i = 0; i < a->rows; i++) files->rows += files->local[i] != NOWHERE;
    if (files->rows == 0) files->local[0] = 0, files->rows = 1; /* of an idle process: no model is empty */
    SVMP_TRY(SVMP_NEW(files->context, files->whole, files->rows));
    for (size_t i = 0, kept = 0; i < a->rows; i++) {
        if (files->local[i] == NOWHERE) continue;
        files->whole[kept] = (uint32_t)i;
        files->local[i] = (uint32_t)kept++;
    }
    return SVMP_OK;
}

/* ---- b ----------------------------------------------------------------------------------------------------------- */

static int is_wanted_row(const void *files, matrix_entry entry) {
    const gaussian_files *of = files; /* the vector may turn out to have another size */
    return entry.row < of->precision.rows && of->local[entry.row] != NOWHERE;
}

static svmp_status read_linear(gaussian_files *files) {
    size_t rows = files->precision.rows;
    SVMP_TRY(SVMP_NEW(files->context, files->b, files->rows));
    if (files->linear_path == NULL) return SVMP_OK;
    SVMP_TRY(svmp_matrix_read(files->context, files->linear_path, is_wanted_row, files, &files->linear));
    const matrix *b = &files->linear;
    if (b->rows != rows || b->columns != 1)
        return svmp_fail(files->context, SVMP_BAD_INPUT,
                         "%s: the vector is %zu by %zu, but the matrix in '%s' needs %zu by 1.", files->linear_path,
                         b->rows, b->columns, files->precision_path, rows);
    for (size_t k = 0; k < b->count; k++) files->b[files->local[b->entries[k].row]] = b->entries[k].value;
    return SVMP_OK;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static svmp_status add_factors(const gaussian_files *files, svmp_model *model) {
    const matrix *a = &files->precision;
    for (size_t i = 0; i < files->rows; i++) {
        size_t node;
        SVMP_TRY(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
    }
    for (size_t i = 0; i < files->rows; i++)
        if (is_own(files, files->whole[i]))
            SVMP_TRY(svmp_model_add_gaussian(model, 1, &i, &files->diagonal[files->whole[i]], &files->b[i]));
    for (size_t k = 0; k < a->count; k++) {
        const matrix_entry entry = a->entries[k];
        if (!is_edge(entry)) continue;
        const size_t nodes[2] = {files->local[entry.column], files->local[entry.row]};
        const double block[4] = {0, entry.value, entry.value, 0};
        SVMP_TRY(svmp_model_add_gaussian(model, 2, nodes, block, NULL));
    }
    return svmp_model_finish(model);
}

static void release(gaussian_files *files) {
    svmp_matrix_free(files->context, &files->precision);
    svmp_matrix_free(files->context, &files->linear);
    void *owned[] = {files->diagonal, files->b, files->whole, files->local};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(files->context, owned[k]);
}

svmp_status svmp_matrix_check(svmp_context *context, const model_files *files) {
    if (files->monitors)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "'%s' has no deterministic nodes to monitor: only model texts have them.", files->paths[0]);
    for (size_t k = 0; k < files->count; k++)
        if (strlen(files->paths[k]) < 4 || strcmp(files->paths[k] + strlen(files->paths[k]) - 4, ".mtx") != 0)
            return svmp_fail(context, SVMP_BAD_INPUT,
                             "'%s' does not belong to a Gaussian model, whose files end in .mtx.", files->paths[k]);
    if (files->count <= 2) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_INPUT,
                     "A Gaussian model has one or two files, the precision and the vector b, but %zu were given.",
                     files->count);
}

svmp_status svmp_matrix_compile(const parsed_model *parsed, const graph_owners *owners, svmp_model **model) {
    svmp_context *context = parsed->context;
    gaussian_files files = {.context = context, .precision_path = parsed->matrix_paths[0], .owners = owners};
    svmp_model *made = NULL;
    svmp_status status;
    if (parsed->matrix_count > 1) files.linear_path = parsed->matrix_paths[1];
    SVMP_CHECK(svmp_matrix_read(context, files.precision_path, is_wanted, &files, &files.precision));
    SVMP_CHECK(check_size(&files));
    SVMP_CHECK(read_diagonal(&files));
    SVMP_CHECK(check_symmetry(&files));
    SVMP_CHECK(number_rows(&files));
    SVMP_CHECK(read_linear(&files));
    SVMP_CHECK(svmp_model_create(context, &made));
    SVMP_CHECK(add_factors(&files, made));
    if (owners)
        SVMP_CHECK(svmp_graph_place(made->graph, files.precision.rows, files.precision.rows, files.whole, files.whole));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    release(&files);
    return status;
}

svmp_status svmp_matrix_graph(const parsed_model *parsed, svmp_graph **graph) {
    svmp_context *context = parsed->context;
    gaussian_files files = {.context = context, .precision_path = parsed->matrix_paths[0]};
    svmp_graph *made = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_matrix_read(context, files.precision_path, is_wanted_edge, NULL, &files.precision));
    SVMP_CHECK(check_size(&files));
    SVMP_CHECK(svmp_graph_create(context, &made));
    for (size_t i = 0; i < files.precision.rows; i++) SVMP_CHECK(svmp_graph_add_node(made, 1));
    for (size_t k = 0; k < files.precision.count; k++) {
        const matrix_entry *edge = &files.precision.entries[k];
        SVMP_CHECK(svmp_graph_add_factor(made, 2, (const size_t[]){edge->column, edge->row}));
    }
    svmp_matrix_free(context, &files.precision);
    SVMP_CHECK(svmp_graph_finish(made));
    *graph = made;
    made = NULL;
done:
    svmp_graph_free(made);
    release(&files);
    return status;
}
