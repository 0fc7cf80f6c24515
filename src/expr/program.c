/* Finishing: the gradient, the code of lanes and of instances. */
#include "expr/program.h"

#include "expr/instructions.h"

/* Checks that every leaf of a live expression exists. */
static svmp_status check_leaves(program_builder *builder, size_t slots, size_t parameters) {
    for (size_t index = 1; index < builder->count; index++) {
        const expr_node *node = &builder->nodes[index];
        if (node->op == OP_input && node->leaf >= slots)
            return svmp_fail(builder->context, SVMP_BAD_CALL, "Input %u is out of range: the program has %zu slots.",
                             (unsigned)node->leaf, slots);
        if (node->op == OP_parameter && node->leaf >= parameters)
            return svmp_fail(builder->context, SVMP_BAD_CALL,
                             "Parameter %u is out of range: the program has %zu parameters.", (unsigned)node->leaf,
                             parameters);
    }
    return SVMP_OK;
}

/* outputs[0 ... count-1] are the values, followed by `slots` entries of the gradient if differentiated. */
static svmp_status compile(program_builder *builder, size_t count, const expr *outputs, program *compiled) {
    svmp_status status = SVMP_OK;
    svmp_context *context = builder->context;
    hoisted hoist = {0};
    SVMP_TRY(SVMP_NEW(context, hoist.column, builder->count));
    code_block *values = &compiled->values, *gradient = &compiled->gradient, *instance = &compiled->instance;
    SVMP_CHECK(svmp_code_compile(builder, LEVEL_INPUT, count, outputs, &hoist, values));
    if (compiled->differentiated)
        SVMP_CHECK(svmp_code_compile(builder, LEVEL_INPUT, count + compiled->slots, outputs, &hoist, gradient));
    SVMP_CHECK(svmp_code_compile(builder, LEVEL_PARAMETER, hoist.count, hoist.list, NULL, instance));
    compiled->columns = hoist.count;
    if (compiled->differentiated) SVMP_CHECK(svmp_recipe_take(builder, outputs[0], &hoist, &compiled->recipe));
    svmp_code_number(values, compiled->columns, compiled->slots, count);
    svmp_code_number(gradient, compiled->columns, compiled->slots, count + compiled->slots);
    svmp_code_number(instance, compiled->parameters, 0, compiled->columns);
done:
    svmp_release_all(context, hoist.column, hoist.list);
    return status;
}

static svmp_status finish(program_builder *builder, size_t count, const expr *values, size_t slots, size_t parameters,
                          bool differentiated, program **finished) {
    svmp_status status = SVMP_OK;
    svmp_context *context = builder->context;
    program *made = NULL;
    expr *outputs = NULL;
    SVMP_TRY(builder->status);
    for (size_t o = 0; o < count; o++)
        if (values[o].index >= builder->count)
            return svmp_fail(context, SVMP_BAD_CALL, "A value is not an expression of this builder.");
    SVMP_TRY(check_leaves(builder, slots, parameters));
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (program){.context = context,
                      .slots = slots,
                      .parameters = parameters,
                      .outputs = count,
                      .degree = POLYNOMIAL_MANY,
                      .differentiated = differentiated};
    SVMP_CHECK(SVMP_NEW(context, outputs, count + slots));
    for (size_t o = 0; o < count; o++) outputs[o] = values[o];
    if (differentiated) SVMP_CHECK(svmp_builder_degree(builder, values[0], &made->degree));
    if (differentiated) SVMP_CHECK(svmp_builder_differentiate(builder, values[0], slots, outputs + count));
    SVMP_CHECK(compile(builder, count, outputs, made));
    *finished = made;
    made = NULL;
done:
    svmp_release(context, outputs);
    svmp_program_free(made);
    return status;
}

svmp_status svmp_program_finish(program_builder *builder, expr value, size_t slots, size_t parameters,
                                program **finished) {
    return finish(builder, 1, &value, slots, parameters, true, finished);
}

svmp_status svmp_program_finish_values(program_builder *builder, size_t count, const expr *values, size_t slots,
                                       size_t parameters, program **finished) {
    return finish(builder, count, values, slots, parameters, false, finished);
}

program *svmp_program_share(program *compiled) {
    compiled->shared++;
    return compiled;
}

void svmp_program_free(program *compiled) {
    if (compiled == NULL || compiled->shared-- > 0) return;
    svmp_context *context = compiled->context;
    svmp_code_free(context, &compiled->values);
    svmp_code_free(context, &compiled->gradient);
    svmp_code_free(context, &compiled->instance);
    svmp_recipe_free(context, &compiled->recipe);
    svmp_release(context, compiled);
}

size_t svmp_program_slots(const program *compiled) { return compiled->slots; }
size_t svmp_program_outputs(const program *compiled) { return compiled->outputs; }
int svmp_program_degree(const program *compiled) { return compiled->degree; }

size_t svmp_program_lane_operations(const program *compiled, bool gradient) {
    return gradient ? compiled->gradient.count : compiled->values.count;
}
