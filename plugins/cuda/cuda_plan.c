/* The model on the device: programs of factor groups, and which rows add up to a score. */
#include <math.h>
#include <string.h>

#include "cuda/cuda_backend.h"
#include "cuda/twin_rows.h"
#include "expr/instructions.h"
#include "expr/program.h"
#include "maths/special.h"
#include "model/program_factors.h"

#include "cuda/interpret_code.h"

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* A place of a code block as a kind and a number. */
static uint32_t place_of(const code_block *code, uint32_t place) {
    const size_t from[] = {0, code_place_literals(code), code_place_columns(code), code_place_inputs(code),
                           code_place_outputs(code)};
    uint32_t kind = PLACE_OUTPUT;
    while (place < from[kind]) kind--;
    return (uint32_t)(place - from[kind]) | kind << PLACE_SHIFT;
}

/* The operands of an operation, a pair or a copy. */
static uint32_t operands_of(uint32_t code) {
    if (code < OP_COUNT) return (uint32_t)svmp_op_arity((expr_op)code);
    return code == CODE_COPY ? 1 : 3;
}

/* The instructions of a program on the host. */
static svmp_status take_code(svmp_context *context, const code_block *code, program_code *made) {
    SVMP_TRY(SVMP_NEW(context, made->code, code->count));
    SVMP_TRY(SVMP_NEW(context, made->literals, code->literal_count));
    if (code->literal_count) memcpy(made->literals, code->literals, code->literal_count * sizeof *made->literals);
    for (size_t k = 0; k < code->count; k++) {
        const code_instruction *i = &code->instructions[k];
        device_instruction *to = &made->code[k];
        *to = (device_instruction){.code = i->code, .out = place_of(code, i->out), .operands = operands_of(i->code)};
        for (size_t p = 0; p < to->operands; p++) to->operand[p] = place_of(code, i->operand[p]);
        made->special |= is_special(i->code);
    }
    made->count = code->count;
    made->literal_count = code->literal_count;
    made->registers = (uint32_t)code->registers;
    return SVMP_OK;
}

/* With `code`, derivatives share rows. */
static svmp_status put_code(backend *b, const code_block *block, program_args *made, program_code *code) {
    program_code local = {0}, *p = code ? code : &local;
    svmp_status status;
    p->slots = made->slots;
    SVMP_CHECK(take_code(b->context, block, p));
    if (code) SVMP_CHECK(svmp_cuda_find_twins(b->context, p));
    made->count = (uint32_t)p->count;
    made->registers = p->registers;
    made->special = p->special;
    SVMP_CHECK(CUDA_PUT(b, made->code, p->count, p->code));
    SVMP_CHECK(CUDA_PUT(b, made->literals, p->literal_count, p->literals));
done:
    svmp_program_code_free(b->context, &local);
    return status;
}

svmp_status svmp_cuda_program(backend *b, const factor_group *group, size_t slot, program_args *made,
                              program_code *code) {
    const size_t outputs = slot == SVMP_CUDA_ALL_SLOTS ? group->slots : 1;
    program_partial *partial = NULL;
    uint32_t *slots = NULL;
    svmp_status status;
    made->outputs = (uint32_t)outputs;
    SVMP_CHECK(SVMP_NEW(b->context, slots, outputs));
    for (size_t j = 0; j < outputs; j++) slots[j] = (uint32_t)(slot == SVMP_CUDA_ALL_SLOTS ? j : slot);
    SVMP_CHECK(svmp_program_partial(svmp_program_group_bound(group)->compiled, outputs, slots, &partial));
    SVMP_CHECK(put_code(b, &partial->gradient, made, code));
done:
    svmp_program_partial_free(partial);
    svmp_release(b->context, slots);
    return status;
}

svmp_status svmp_cuda_instances(backend *b, const factor_group *group, program_args *made) {
    const bound_program *bound = svmp_program_group_bound(group);
    *made = (program_args){.instances = group->instances, .slots = (uint32_t)group->slots, .n = b->n};
    SVMP_TRY(CUDA_PUT(b, made->columns, bound->compiled->columns * group->instances, bound->columns));
    return CUDA_PUT(b, made->variables, group->slots * group->instances, group->variables);
}

/* Whether a program shares a launch with others of its kind, with special functions or without. */
static int shares(const program_args *p) { return p->registers <= SMALL_REGISTERS; }

/* One launch for programs of a kind: small ones then take no longer than the largest. */
static svmp_status plan_together(backend *b, size_t count, const program_args *list, size_t kind) {
    cuda *own = b->local_state;
    programs_args *made = &own->together[kind];
    uint32_t *first = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, first, count + 1));
    size_t lanes = 0;
    for (size_t g = 0; g < count; g++) lanes += list[g].instances * b->n;
    made->abreast = b->n >= ABREAST && lanes >= MANY_LANES;
    for (size_t g = 0; g < count; g++) {
        const size_t each = made->abreast ? (b->n + ABREAST - 1) / ABREAST : b->n;
        const size_t blocks = (list[g].instances * each + PROGRAM_BLOCK - 1) / PROGRAM_BLOCK;
        first[g + 1] = first[g] + (uint32_t)blocks;
        if (list[g].registers > made->registers) made->registers = list[g].registers;
    }
    made->count = (uint32_t)count;
    made->special = (int)kind;
    own->blocks[kind] = first[count];
    SVMP_CHECK(CUDA_PUT(b, made->list, count, list));
    SVMP_CHECK(CUDA_PUT(b, made->first, count + 1, first));
done:
    svmp_release(b->context, first);
    return status;
}

/* Those that are alone come first, then both kinds of those that are not. */
static svmp_status order_programs(backend *b) {
    cuda *own = b->local_state;
    program_args *ordered = NULL;
    size_t at = 0, from[3];
    double blocks = 0;
    svmp_status status = SVMP_OK;
    for (size_t g = 0; g < own->program_count; g++)
        blocks += (double)own->programs[g].instances * (double)b->n / PROGRAM_BLOCK + 1;
    own->program_alone = own->program_count;
    if (own->program_count == 0 || blocks > UINT32_MAX) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(b->context, ordered, own->program_count));
    for (size_t kind = 0; kind < 3; kind++) {
        from[kind] = at;
        for (size_t g = 0; g < own->program_count; g++) {
            const program_args *p = &own->programs[g];
            if ((shares(p) ? 1 + (size_t)(p->special != 0) : 0) == kind) ordered[at++] = *p;
        }
    }
    memcpy(own->programs, ordered, own->program_count * sizeof *ordered);
    own->program_alone = from[1];
    if (from[2] > from[1]) SVMP_CHECK(plan_together(b, from[2] - from[1], ordered + from[1], 0));
    if (at > from[2]) SVMP_CHECK(plan_together(b, at - from[2], ordered + from[2], 1));
done:
    svmp_release(b->context, ordered);
    return status;
}

/* For each row of the model the one that has its numbers, and times what; returns whether any is another's. */
static int find_rows(const svmp_model *model, const program_code *codes, size_t *item, double *weight) {
    int twins = 0;
    for (size_t g = 0, p = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        if (group->instances == 0 || group->slots == 0) continue;
        const slot_row *at = codes[p++].rows;
        for (size_t r = 0; r < group->instances * group->slots; r++) {
            const size_t j = r % group->slots, row = model->group_row[g] + r;
            item[row] = row - j + at[j].slot;
            weight[row] = at[j].weight;
            twins |= at[j].slot != j;
        }
    }
    return twins;
}

/* The rows that are added up for each variable. Their numbers are short where they can be. */
static svmp_status plan_gather(backend *b, const program_code *codes) {
    cuda *own = b->local_state;
    const svmp_model *model = b->model;
    const size_t rows = model->group_row[model->group_count];
    sum_args *whole = &own->gather.whole;
    size_t *item = NULL, *list = NULL;
    uint32_t *column = NULL;
    double *weight = NULL, *weights = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, item, rows));
    SVMP_CHECK(SVMP_NEW(b->context, list, rows));
    SVMP_CHECK(SVMP_NEW(b->context, column, rows));
    SVMP_CHECK(SVMP_NEW(b->context, weight, rows));
    SVMP_CHECK(SVMP_NEW(b->context, weights, rows));
    const int twins = find_rows(model, codes, item, weight);
    for (size_t e = 0; e < rows; e++) {
        list[e] = item[model->gather_row[e]];
        column[e] = (uint32_t)list[e];
        weights[e] = weight[model->gather_row[e]];
    }
    if (rows <= UINT32_MAX)
        SVMP_CHECK(CUDA_PUT(b, whole->column, rows, column));
    else
        SVMP_CHECK(CUDA_PUT(b, whole->item, rows, list));
    if (twins) SVMP_CHECK(CUDA_PUT(b, whole->weight, rows, weights));
done:
    svmp_release(b->context, item);
    svmp_release(b->context, list);
    svmp_release(b->context, column);
    svmp_release(b->context, weight);
    svmp_release(b->context, weights);
    return status;
}

static svmp_status plan_programs(backend *b) {
    cuda *own = b->local_state;
    const svmp_model *model = b->model;
    double *gradient = NULL;
    program_code *codes = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, own->programs, model->group_count));
    SVMP_CHECK(SVMP_NEW(b->context, codes, model->group_count));
    SVMP_CHECK(CUDA_TAKE(b, gradient, model->group_row[model->group_count] * b->n));
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        if (group->instances == 0 || group->slots == 0) continue;
        program_args *made = &own->programs[own->program_count];
        SVMP_CHECK(svmp_cuda_instances(b, group, made));
        SVMP_CHECK(svmp_cuda_program(b, group, SVMP_CUDA_ALL_SLOTS, made, &codes[own->program_count]));
        made->gradient = gradient + model->group_row[g] * b->n;
        own->program_count++;
    }
    own->gather.pieces.rows = own->gather.whole.rows = gradient;
    own->gathers = own->program_count > 0;
    if (own->gathers) SVMP_CHECK(plan_gather(b, codes));
    SVMP_CHECK(svmp_cuda_compile(b, codes));
    SVMP_CHECK(order_programs(b));
done:
    for (size_t g = 0; codes && g < model->group_count; g++) svmp_program_code_free(b->context, &codes[g]);
    svmp_release(b->context, codes);
    return status;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

enum { LONG_ROWS = 64, PIECE_ROWS = 256 }; /* of a list that is cut, and of its pieces */

static int is_long(const size_t *start, size_t i) { return start[i + 1] - start[i] > LONG_ROWS; }

/* Room to list pieces on the host. */
typedef struct piece_lists {
    size_t *end;               /* of lists; those that are long are empty */
    size_t *from, *to, *first; /* pieces, and those of every long list */
    uint32_t *list;            /* the long lists */
    size_t pieces, lists;
} piece_lists;

static svmp_status list_pieces(const backend *b, size_t count, const size_t *start, piece_lists *l) {
    size_t pieces = 0, lists = 0;
    for (size_t i = 0; i < count; i++)
        if (is_long(start, i)) lists++, pieces += (start[i + 1] - start[i] + PIECE_ROWS - 1) / PIECE_ROWS;
    SVMP_TRY(SVMP_NEW(b->context, l->end, count));
    SVMP_TRY(SVMP_NEW(b->context, l->from, pieces));
    SVMP_TRY(SVMP_NEW(b->context, l->to, pieces));
    SVMP_TRY(SVMP_NEW(b->context, l->first, lists + 1));
    SVMP_TRY(SVMP_NEW(b->context, l->list, lists));
    for (size_t i = 0; i < count; i++) {
        l->end[i] = is_long(start, i) ? start[i] : start[i + 1];
        for (size_t e = start[i]; is_long(start, i) && e < start[i + 1]; e += PIECE_ROWS) {
            l->from[l->pieces] = e;
            l->to[l->pieces++] = e + PIECE_ROWS < start[i + 1] ? e + PIECE_ROWS : start[i + 1];
        }
        if (!is_long(start, i)) continue;
        l->list[l->lists++] = (uint32_t)i;
        l->first[l->lists] = l->pieces;
    }
    return SVMP_OK;
}

svmp_status svmp_cuda_cut(backend *b, size_t count, const size_t *start, row_sums *sums) {
    piece_lists l = {0};
    svmp_status status;
    sums->count = count;
    sums->whole.n = b->n;
    SVMP_CHECK(CUDA_PUT(b, sums->whole.start, count + 1, start));
    SVMP_CHECK(list_pieces(b, count, start, &l));
    if (l.pieces == 0) goto done;
    sums->pieces = sums->whole;
    sums->pieces.constant = NULL;
    sums->pieces.adds = sums->pieces.minus = 0;
    sums->piece_count = l.pieces;
    sums->last = (sum_args){.n = b->n, .out = sums->whole.out, .adds = 1, .minus = sums->whole.minus};
    sums->last_count = l.lists;
    SVMP_CHECK(CUDA_PUT(b, sums->whole.end, count, l.end));
    SVMP_CHECK(CUDA_PUT(b, sums->pieces.start, l.pieces, l.from));
    SVMP_CHECK(CUDA_PUT(b, sums->pieces.end, l.pieces, l.to));
    SVMP_CHECK(CUDA_TAKE(b, sums->pieces.out, l.pieces * b->n));
    SVMP_CHECK(CUDA_PUT(b, sums->last.start, l.lists + 1, l.first));
    SVMP_CHECK(CUDA_PUT(b, sums->last.to, l.lists, l.list));
    sums->last.rows = sums->pieces.out;
done:
    svmp_release(b->context, l.end);
    svmp_release(b->context, l.from);
    svmp_release(b->context, l.to);
    svmp_release(b->context, l.first);
    svmp_release(b->context, l.list);
    return status;
}

svmp_status svmp_cuda_plan_score(backend *b) {
    cuda *own = b->local_state;
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
    SVMP_TRY(svmp_cuda_cut(b, model->graph->moved_variables, q->start, &own->quadratic));

    if (!own->gathers) return SVMP_OK;
    own->gather.whole.out = own->score;
    return svmp_cuda_cut(b, model->graph->moved_variables, model->gather_start, &own->gather);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Programs that have a launch of their own, one after the other, share what one of them needs at most. */
svmp_status svmp_cuda_plan_registers(backend *b) {
    cuda *own = b->local_state;
    const device_ops *ops = own->ops;
    cuda_messages *m = &own->messages;
    double *far = NULL;
    size_t most = 0;
    if (ops->far == NULL) return SVMP_OK;
    for (size_t g = 0; g < own->program_alone; g++)
        most = larger(most, ops->far(own->device, &own->programs[g], own->programs[g].instances * b->n));
    for (size_t g = 0; g < m->program_count; g++)
        most = larger(most, ops->far(own->device, &m->programs[g], m->evaluations[g] * b->n));
    if (most == 0) return SVMP_OK;
    SVMP_TRY(CUDA_TAKE(b, far, most));
    for (size_t g = 0; g < own->program_alone; g++) own->programs[g].far = far;
    for (size_t g = 0; g < m->program_count; g++) m->programs[g].far = far;
    return SVMP_OK;
}
