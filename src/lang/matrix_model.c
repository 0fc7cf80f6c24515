/* The Gaussian exp(b'x - x'Ax/2), its precision A and its vector b as Matrix Market files: a node a variable, a factor
 * for each a_ii with b_i, a factor for each a_ij that is not zero. Each process reads all of the files, once, and keeps
 * the rows of its own nodes; the first one has all of them until the others know which ones are theirs. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "data/matrix_market.h"
#include "graph/graph_part.h"
#include "lang/compile/compile_passes.h"
#include "lang/model_files.h"

typedef struct gaussian_files {
    svmp_context *context;
    const parsed_model *parsed;
    const graph_owners *owners;       /* NULL: all rows are wanted */
    matrix read[2];                   /* for own rows; unless the whole files have been read */
    const matrix *precision, *linear; /* these, or the whole ones; linear may be NULL */
    size_t rows;                      /* that are kept: own ones, and those that they read */
    uint32_t *whole, *local;          /* kept row -> row of the matrix, and back, or NOWHERE */
    double *diagonal, *b;             /* b: zeros when there is no second file */
} gaussian_files;

enum { NOWHERE = UINT32_MAX };

/* ---- the precision ----------------------------------------------------------------------------------------------- */

static svmp_status check_size(const gaussian_files *files) {
    const matrix *a = files->precision;
    if (a->rows != a->columns)
        return svmp_fail(files->context, SVMP_BAD_INPUT, "%s: a precision matrix must be square, not %zu by %zu.",
                         files->parsed->matrix_paths[0], a->rows, a->columns);
    if (a->announced < a->rows)
        return svmp_fail(files->context, SVMP_NOT_POSITIVE_DEFINITE,
                         "%s: the diagonal has zeros (%zu rows, %zu entries), so the matrix is not positive definite.",
                         files->parsed->matrix_paths[0], a->rows, a->announced);
    return SVMP_OK;
}

/* Every variable has its own positive entry on the diagonal: so is every positive definite matrix, and so the file is
 * never smaller than the model that is made of it. */
static svmp_status read_diagonal(gaussian_files *files) {
    const matrix *a = files->precision;
    SVMP_TRY(SVMP_NEW(files->context, files->diagonal, a->rows));
    for (size_t k = 0; k < a->count; k++)
        if (a->entries[k].row == a->entries[k].column) files->diagonal[a->entries[k].row] = a->entries[k].value;
    for (size_t i = 0; i < a->rows; i++)
        if (!(files->diagonal[i] > 0))
            return svmp_fail(files->context, SVMP_NOT_POSITIVE_DEFINITE,
                             "%s: the diagonal entry of row %zu is %g, so the matrix is not positive definite.",
                             files->parsed->matrix_paths[0], i + 1, files->diagonal[i]);
    return SVMP_OK;
}

/* A general matrix may differ from its transpose by rounding: 1e-12 of sqrt(a_ii a_jj), which bounds |a_ij|. */
static svmp_status check_symmetry(const gaussian_files *files) {
    const matrix *a = files->precision;
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
                files->parsed->matrix_paths[0], (unsigned long)here.row + 1, (unsigned long)here.column + 1, here.value,
                (unsigned long)here.column + 1, (unsigned long)here.row + 1, there);
    }
    return SVMP_OK;
}

/* ---- the rows that are kept -------------------------------------------------------------------------------------- */

static int is_own(const gaussian_files *files, uint32_t row) {
    const graph_owners *owners = files->owners; /* their file may turn out to be another one, with fewer rows */
    return owners == NULL || (row < owners->nodes && owners->owner[row] == owners->rank);
}

/* Entries that own rows need, and the diagonal, which sets the scale of the test for symmetry. */
static int is_wanted(const void *files, matrix_entry entry) {
    return entry.row == entry.column || is_own(files, entry.row) || is_own(files, entry.column);
}

/* The factor of two nodes that an entry is. */
static int is_edge(matrix_entry entry) { return entry.row > entry.column && entry.value != 0; }

static int is_own_edge(const gaussian_files *files, matrix_entry entry) {
    return is_edge(entry) && is_wanted(files, entry);
}

/* The k-th file: what was read of it when it was parsed, or else the wanted entries. All processes call this together,
 * and compare the files. */
static svmp_status take(gaussian_files *files, size_t k, matrix_filter keep, const matrix **taken) {
    const parsed_model *parsed = files->parsed;
    const char *path = parsed->matrix_paths[k];
    *taken = parsed->matrices ? &parsed->matrices[k] : &files->read[k];
    svmp_status status =
        parsed->matrices ? SVMP_OK : svmp_matrix_read(files->context, path, keep, files, &files->read[k]);
    if (files->owners == NULL) return status;
    SVMP_TRY(svmp_agree(files->context, files->context->peers, status));
    return svmp_file_compare(files->context, k, path, (*taken)->bytes, (*taken)->checksum);
}

/* Numbers the rows that are own or that own ones read, in their order; at least one. */
static svmp_status number_rows(gaussian_files *files) {
    const matrix *a = files->precision;
    SVMP_TRY(SVMP_NEW(files->context, files->local, a->rows));
    for (uint32_t i = 0; i < a->rows; i++) files->local[i] = is_own(files, i) ? 0 : NOWHERE;
    for (size_t k = 0; k < a->count; k++)
        if (is_own_edge(files, a->entries[k])) files->local[a->entries[k].row] = files->local[a->entries[k].column] = 0;
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

/* The processes go on together. */
static svmp_status take_precision(gaussian_files *files) {
    svmp_context *context = files->context;
    svmp_status status;
    SVMP_TRY(take(files, 0, is_wanted, &files->precision));
    SVMP_CHECK(check_size(files));
    SVMP_CHECK(read_diagonal(files));
    SVMP_CHECK(check_symmetry(files));
    SVMP_CHECK(number_rows(files));
    status = SVMP_NEW(context, files->b, files->rows);
done:
    return files->owners ? svmp_agree(context, context->peers, status) : status;
}

/* ---- b ----------------------------------------------------------------------------------------------------------- */

static int is_wanted_row(const void *files, matrix_entry entry) {
    const gaussian_files *of = files; /* the vector may turn out to have another size */
    return entry.row < of->precision->rows && of->local[entry.row] != NOWHERE;
}

static svmp_status read_linear(gaussian_files *files) {
    const size_t rows = files->precision->rows;
    if (files->parsed->matrix_count < 2) return SVMP_OK;
    SVMP_TRY(take(files, 1, is_wanted_row, &files->linear));
    const matrix *b = files->linear;
    if (b->rows != rows || b->columns != 1)
        return svmp_fail(files->context, SVMP_BAD_INPUT,
                         "%s: the vector is %zu by %zu, but the matrix in '%s' needs %zu by 1.",
                         files->parsed->matrix_paths[1], b->rows, b->columns, files->parsed->matrix_paths[0], rows);
    for (size_t k = 0; k < b->count; k++)
        if (is_wanted_row(files, b->entries[k])) files->b[files->local[b->entries[k].row]] = b->entries[k].value;
    return SVMP_OK;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static svmp_status add_factors(const gaussian_files *files, svmp_model *model) {
    const matrix *a = files->precision;
    for (size_t i = 0; i < files->rows; i++) {
        size_t node;
        SVMP_TRY(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
    }
    for (size_t i = 0; i < files->rows; i++)
        if (is_own(files, files->whole[i]))
            SVMP_TRY(svmp_model_add_gaussian(model, 1, &i, &files->diagonal[files->whole[i]], &files->b[i]));
    for (size_t k = 0; k < a->count; k++) {
        const matrix_entry entry = a->entries[k];
        if (!is_own_edge(files, entry)) continue;
        const size_t nodes[2] = {files->local[entry.column], files->local[entry.row]};
        const double block[4] = {0, entry.value, entry.value, 0};
        SVMP_TRY(svmp_model_add_gaussian(model, 2, nodes, block, NULL));
    }
    return svmp_model_finish(model);
}

static void release(gaussian_files *files) {
    for (size_t k = 0; k < 2; k++) svmp_matrix_free(files->context, &files->read[k]);
    svmp_release_all(files->context, files->diagonal, files->b, files->whole, files->local);
}

svmp_status svmp_matrix_check(svmp_context *context, const model_files *files) {
    if (files->monitors)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "'%s' has no deterministic nodes to monitor: only model texts have them.", files->paths[0]);
    if (files->statements || files->given || files->simulated)
        return svmp_fail(context, SVMP_BAD_INPUT, "'%s' has no statements to predict from: only model texts have them.",
                         files->paths[0]);
    for (size_t k = 0; k < files->count; k++)
        if (strlen(files->paths[k]) < 4 || strcmp(files->paths[k] + strlen(files->paths[k]) - 4, ".mtx") != 0)
            return svmp_fail(context, SVMP_BAD_INPUT,
                             "'%s' does not belong to a Gaussian model, whose files end in .mtx.", files->paths[k]);
    if (files->count <= 2) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_INPUT,
                     "A Gaussian model has one or two files, the precision and the vector b, but %zu were given.",
                     files->count);
}

svmp_status svmp_matrix_parse(parsed_model *parsed) {
    svmp_context *context = parsed->context;
    SVMP_TRY(SVMP_NEW(context, parsed->matrices, parsed->matrix_count));
    for (size_t k = 0; k < parsed->matrix_count; k++)
        SVMP_TRY(svmp_matrix_read(context, parsed->matrix_paths[k], NULL, NULL, &parsed->matrices[k]));
    return SVMP_OK;
}

svmp_status svmp_matrix_compile(const parsed_model *parsed, const graph_owners *owners, svmp_model **model) {
    svmp_context *context = parsed->context;
    gaussian_files files = {.context = context, .parsed = parsed, .owners = owners};
    svmp_model *made = NULL;
    svmp_status status;
    SVMP_CHECK(take_precision(&files));
    SVMP_CHECK(read_linear(&files));
    SVMP_CHECK(svmp_model_create(context, &made));
    SVMP_CHECK(add_factors(&files, made));
    if (owners) SVMP_CHECK(svmp_graph_place(made->graph, owners->nodes, owners->nodes, files.whole, files.whole));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    release(&files);
    return status;
}

svmp_status svmp_matrix_graph(const parsed_model *parsed, svmp_graph **graph) {
    svmp_context *context = parsed->context;
    const matrix *a = &parsed->matrices[0];
    const gaussian_files files = {.context = context, .parsed = parsed, .precision = a};
    svmp_graph *made = NULL;
    svmp_status status;
    SVMP_CHECK(check_size(&files));
    SVMP_CHECK(svmp_graph_create(context, &made));
    for (size_t i = 0; i < a->rows; i++) SVMP_CHECK(svmp_graph_add_node(made, 1));
    for (size_t k = 0; k < a->count; k++) {
        const matrix_entry *edge = &a->entries[k];
        if (is_edge(*edge)) SVMP_CHECK(svmp_graph_add_factor(made, 2, (const size_t[]){edge->column, edge->row}));
    }
    SVMP_CHECK(svmp_graph_finish(made));
    *graph = made;
    made = NULL;
done:
    svmp_graph_free(made);
    return status;
}
