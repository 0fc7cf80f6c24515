/* The model on the device: programs of factor groups, and which rows add up to a score. */
#include <math.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "expr/code.h"
#include "expr/special.h"
#include "model/program_group.h"

#include "backend/cuda/interpret.h"

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* A place of a code block as a kind and a number. */
static uint32_t place_of(const code_block *code, uint32_t place) {
    const size_t from[] = {0, code_place_literals(code), code_place_columns(code), code_place_inputs(code),
                           code_place_outputs(code)};
    uint32_t kind = PLACE_OUTPUT;
    while (place < from[kind]) kind--;
    return (uint32_t)(place - from[kind]) | kind << PLACE_SHIFT;
}

static svmp_status put_code(backend *b, const code_block *code, program_args *made) {
    device_instruction *list = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, list, code->count));
    for (size_t k = 0; k < code->count; k++) {
        const code_instruction *i = &code->instructions[k];
        list[k] = (device_instruction){.code = i->code, .out = place_of(code, i->out)};
        for (size_t p = 0; p < 3; p++) list[k].operand[p] = place_of(code, i->operand[p]);
        made->special |= is_special(i->code);
    }
    made->count = (uint32_t)code->count;
    made->registers = (uint32_t)code->registers;
    SVMP_CHECK(CUDA_PUT(b, made->code, code->count, list));
    SVMP_CHECK(CUDA_PUT(b, made->literals, code->literal_count, code->literals));
done:
    svmp_release(b->context, list);
    return status;
}

svmp_status svmp_cuda_program(backend *b, const factor_group *group, program_args *made) {
    const bound_program *bound = svmp_program_group_bound(group);
    const program *compiled = bound->compiled;
    program_partial *partial = NULL;
    uint32_t *slots = NULL;
    svmp_status status;
    *made = (program_args){.instances = group->instances, .slots = (uint32_t)group->slots, .n = b->n};
    SVMP_CHECK(SVMP_NEW(b->context, slots, group->slots));
    for (size_t j = 0; j < group->slots; j++) slots[j] = (uint32_t)j;
    SVMP_CHECK(svmp_program_partial(compiled, group->slots, slots, &partial));
    SVMP_CHECK(put_code(b, &partial->gradient, made));
    SVMP_CHECK(CUDA_PUT(b, made->columns, compiled->columns * group->instances, bound->columns));
    SVMP_CHECK(CUDA_PUT(b, made->variables, group->slots * group->instances, group->variables));
done:
    svmp_program_partial_free(partial);
    svmp_release(b->context, slots);
    return status;
}

static svmp_status plan_programs(backend *b) {
    cuda *own = b->own;
    const svmp_model *model = b->model;
    double *gradient = NULL;
    SVMP_TRY(SVMP_NEW(b->context, own->programs, model->group_count));
    SVMP_TRY(CUDA_TAKE(b, gradient, model->group_row[model->group_count] * b->n));
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        if (group->instances == 0 || group->slots == 0) continue;
        program_args *made = &own->programs[own->program_count];
        SVMP_TRY(svmp_cuda_program(b, group, made));
        made->gradient = gradient + model->group_row[g] * b->n;
        own->program_count++;
    }
    own->gather.pieces.rows = own->gather.whole.rows = gradient;
    return SVMP_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

enum { PIECE_ROWS = 128 }; /* of a list that a thread adds up */

static size_t pieces_of(const size_t *start, size_t i) {
    return (start[i + 1] - start[i] + PIECE_ROWS - 1) / PIECE_ROWS;
}

/* Cuts lists that are long: sums->pieces then has them, and sums->whole the sums of pieces. `start` is on the host;
 * sums->whole has the entries, that are on the device. */
static svmp_status cut(backend *b, size_t count, const size_t *start, row_sums *sums) {
    size_t longest = 0, pieces = 0, *piece_start = NULL, *whole_start = NULL;
    svmp_status status;
    sums->count = count;
    sums->whole.n = b->n;
    for (size_t i = 0; i < count; i++) {
        const size_t here = pieces_of(start, i);
        longest = here > longest ? here : longest;
        pieces += here;
    }
    if (longest <= 1) return CUDA_PUT(b, sums->whole.start, count + 1, start);
    SVMP_CHECK(SVMP_NEW(b->context, piece_start, pieces + 1));
    SVMP_CHECK(SVMP_NEW(b->context, whole_start, count + 1));
    for (size_t i = 0, p = 0; i < count; i++) {
        for (size_t e = start[i]; e < start[i + 1]; e += PIECE_ROWS) piece_start[p++] = e;
        whole_start[i + 1] = p;
    }
    piece_start[pieces] = start[count];
    sums->pieces = sums->whole;
    sums->pieces.constant = NULL;
    sums->pieces.adds = sums->pieces.minus = 0;
    sums->piece_count = pieces;
    SVMP_CHECK(CUDA_PUT(b, sums->pieces.start, pieces + 1, piece_start));
    SVMP_CHECK(CUDA_TAKE(b, sums->pieces.out, pieces * b->n));
    sums->whole.item = NULL;
    sums->whole.column = NULL;
    sums->whole.weight = NULL;
    sums->whole.rows = sums->pieces.out;
    SVMP_CHECK(CUDA_PUT(b, sums->whole.start, count + 1, whole_start));
done:
    svmp_release(b->context, piece_start);
    svmp_release(b->context, whole_start);
    return status;
}

svmp_status svmp_cuda_plan_score(backend *b) {
    cuda *own = b->own;
    const svmp_model *model = b->model;
    const quadratic *q = &model->quadratic;
    const size_t variables = model->graph->variables, entries = q->start[variables];
    sum_args *whole = &own->quadratic.whole;
    SVMP_TRY(plan_programs(b));
    SVMP_TRY(CUDA_PUT(b, whole->column, entries, q->column));
    SVMP_TRY(CUDA_PUT(b, whole->weight, entries, q->value));
    SVMP_TRY(CUDA_PUT(b, whole->constant, variables, q->linear));
    whole->minus = 1;
    whole->out = own->score;
    SVMP_TRY(cut(b, model->graph->own_variables, q->start, &own->quadratic));

    own->gathers = own->program_count > 0;
    if (!own->gathers) return SVMP_OK;
    SVMP_TRY(CUDA_PUT(b, own->gather.whole.item, model->gather_start[variables], model->gather_row));
    own->gather.whole.adds = 1;
    own->gather.whole.out = own->score;
    return cut(b, model->graph->own_variables, model->gather_start, &own->gather);
}
