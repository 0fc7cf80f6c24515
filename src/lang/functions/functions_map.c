/* Functions of maps, for gamma of car.proper: 1 / the least and 1 / the largest eigenvalue of C. */
#include "lang/functions/language_functions.h"

#include <math.h>

#include "dist/map_neighbours.h"

/* The operands C, adj, num, M one behind the other, as numbers; *known is false while something is not computed yet. */
static svmp_status read_numbers(model_lowering *lowering, const ast_expression *call, size_t counts[4],
                                double **numbers, bool *known) {
    value operand = {0};
    const size_t first = lowering->item_count;
    for (size_t k = 0; k < 4; k++) {
        SVMP_TRY(svmp_expand(lowering, call->operands[k], &operand));
        counts[k] = operand.count;
    }
    const size_t count = lowering->item_count - first;
    *known = true;
    SVMP_TRY(SVMP_NEW(lowering->context, *numbers, count));
    for (size_t k = 0; k < count; k++) {
        const model_item item = lowering->items[first + k];
        if (item.kind == ITEM_EXPRESSION) return svmp_lowering_error(lowering, call->offset, "the map must be data");
        *known = *known && svmp_item_known(item);
        (*numbers)[k] = item.number;
    }
    lowering->item_count = first;
    return SVMP_OK;
}

static svmp_status find_bound(model_lowering *lowering, const ast_expression *call, const size_t counts[4],
                              const double *numbers, bool largest, double *bound) {
    const double *c = numbers, *adj = c + counts[0], *num = adj + counts[1], *m = num + counts[2];
    const car_map map = {counts[2], counts[1], adj, num, c};
    char sentence[200];
    double *values;
    if (counts[0] != counts[1] || counts[2] != counts[3])
        return svmp_lowering_error(
            lowering, call->offset,
            "C and adj must have equal lengths, and so must num and M: the lengths are %zu and %zu, %zu and %zu",
            counts[0], counts[1], counts[2], counts[3]);
    for (size_t k = 0; k < counts[2]; k++)
        if (!(m[k] > 0 && num[k] >= 0 && num[k] <= (double)counts[1] && num[k] == floor(num[k])))
            return svmp_lowering_error(lowering, call->offset, "area %zu has num = %g and M = %g", k + 1, num[k], m[k]);
    if (!svmp_car_is_map(&map, m, sentence, sizeof sentence))
        return svmp_lowering_error(lowering, call->offset, "%s", sentence);
    SVMP_TRY(SVMP_NEW(lowering->context, values, counts[2]));
    svmp_status status = svmp_car_eigenvalues(lowering->context, &map, m, values);
    if (status == SVMP_OK) *bound = 1 / values[largest ? counts[2] - 1 : 0];
    svmp_release(lowering->context, values);
    return status;
}

static svmp_status call_bound(model_lowering *lowering, const ast_expression *call, bool largest, value *result) {
    size_t counts[4];
    double *numbers = NULL, bound = NAN;
    bool known = false;
    svmp_status status = read_numbers(lowering, call, counts, &numbers, &known);
    if (status == SVMP_OK && known) status = find_bound(lowering, call, counts, numbers, largest, &bound);
    svmp_release(lowering->context, numbers);
    SVMP_TRY(status);
    *result = (value){.first = lowering->item_count, .count = 1, .shape = svmp_vector_shape(1)};
    return svmp_push(lowering, known ? svmp_item_number(bound) : (model_item){.kind = ITEM_OPAQUE});
}

svmp_status svmp_call_least_bound(model_lowering *lowering, const ast_expression *call, value *result) {
    return call_bound(lowering, call, false, result);
}

svmp_status svmp_call_largest_bound(model_lowering *lowering, const ast_expression *call, value *result) {
    return call_bound(lowering, call, true, result);
}
