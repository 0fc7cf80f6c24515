/* Products of data and unknowns. */
#include "lang/compile/compile_passes.h"

#include <math.h>

static svmp_status infinite(model_lowering *lowering, const ast_expression *operand, size_t part) {
    char text[ELEMENT_TEXT], there[200];
    value offsets;
    if (operand->kind != AST_VARIABLE || operand->counter >= 0 || !lowering->arrays[operand->symbol].data)
        return svmp_lowering_error(lowering, operand->offset, "the value is infinite, and is multiplied by an unknown");
    SVMP_TRY(svmp_expand_subscript(lowering, operand, &offsets));
    const size_t offset = (size_t)lowering->items[offsets.first + part].number;
    svmp_data_place(lowering->data, lowering->arrays[operand->symbol].data, offset, there, sizeof there);
    return svmp_lowering_error(lowering, operand->offset, "'%s' (%s) is infinite, and is multiplied by an unknown",
                               svmp_element_text(lowering, operand->symbol, offset, text), there);
}

svmp_status svmp_check_product(model_lowering *lowering, const ast_expression *call, model_item left, size_t left_part,
                               model_item right, size_t right_part) {
    if (svmp_item_known(left) && isinf(left.number) && right.kind == ITEM_EXPRESSION)
        return infinite(lowering, call->operands[0], left_part);
    if (svmp_item_known(right) && isinf(right.number) && left.kind == ITEM_EXPRESSION)
        return infinite(lowering, call->operands[1], right_part);
    return SVMP_OK;
}
