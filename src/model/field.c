/* The factors of a Gaussian whose precision is a sparse matrix. */
#include <math.h>

#include "model/model.h"

static svmp_status check(const svmp_model *model, size_t first, size_t count, const svmp_field *field) {
    svmp_context *context = model->context;
    if (field == NULL || (field->entries > 0 && (!field->rows || !field->columns || !field->values)))
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_add_field: an array is NULL.");
    if (first > model->graph->nodes || count > model->graph->nodes - first)
        return svmp_fail(context, SVMP_BAD_CALL, "The field has nodes up to %zu, but the model has %zu nodes.",
                         first + count, model->graph->nodes);
    for (size_t v = first; v < first + count; v++)
        if (model->graph->first[v + 1] - model->graph->first[v] != 1)
            return svmp_fail(context, SVMP_BAD_CALL, "Node %zu of the field has several variables instead of one.", v);
    for (size_t e = 0; e < field->entries; e++) {
        const size_t row = field->rows[e], column = field->columns[e];
        if (row >= count || column >= count)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Entry %zu of the field is in row %zu and column %zu, but the matrix has %zu rows.", e,
                             row, column, count);
        if (!isfinite(field->values[e]))
            return svmp_fail(context, SVMP_BAD_INPUT, "Entry (%zu, %zu) of the precision is not finite: %g.", row + 1,
                             column + 1, field->values[e]);
    }
    return SVMP_OK;
}

/* A factor for each row, with the diagonal and b, and then one for each pair: as the reader of Matrix Market files
 * does. */
svmp_status svmp_model_add_field(svmp_model *model, size_t first, size_t count, const svmp_field *field) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(check(model, first, count, field));
    double *diagonal = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(model->context, diagonal, count));
    for (size_t e = 0; e < field->entries; e++)
        if (field->rows[e] == field->columns[e]) diagonal[field->rows[e]] += field->values[e];
    for (size_t i = 0; i < count; i++) {
        const size_t node = first + i;
        const double *linear = field->linear ? &field->linear[i] : NULL;
        SVMP_CHECK(svmp_model_add_gaussian(model, 1, &node, &diagonal[i], linear));
    }
    for (size_t e = 0; e < field->entries; e++) {
        const double value = field->values[e], block[4] = {0, value, value, 0};
        const size_t nodes[2] = {first + field->columns[e], first + field->rows[e]};
        if (field->rows[e] == field->columns[e] || value == 0) continue;
        SVMP_CHECK(svmp_model_add_gaussian(model, 2, nodes, block, NULL));
    }
done:
    svmp_release(model->context, diagonal);
    return status;
}
