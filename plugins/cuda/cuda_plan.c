/* The model on the device: programs of factor groups, and which rows add up to a score. */
#include <math.h>
#include <string.h>

#include "cuda/cuda_backend.h"
#include "cuda/twin_rows.h"
#include "maths/special.h"

#include "cuda/interpret_code.h"

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* The instructions of a program on the host. */
static svmp_status take_code(const svmp_host *host, const svmp_code_view *code, program_code *made) {
    CUDA_TRY(CUDA_NEW(host, made->code, code->count));
    CUDA_TRY(CUDA_NEW(host, made->literals, code->literal_count));
    if (code->literal_count) memcpy(made->literals, code->literals, code->literal_count * sizeof *made->literals);
    for (size_t k = 0; k < code->count; k++) {
        const svmp_instruction *i = &code->instructions[k];
        made->code[k] =
            (device_instruction){i->code, i->out, {i->operand[0], i->operand[1], i->operand[2]}, i->operands};
        made->special |= is_special(i->code);
    }
    made->count = code->count;
    made->literal_count = code->literal_count;
    made->registers = code->registers;
    return SVMP_OK;
}

/* With `code`, derivatives share rows. */
static svmp_status put_code(cuda_run *run, const svmp_code_view *block, program_args *made, program_code *code) {
    program_code local = {0}, *p = code ? code : &local;
    svmp_status status;
    p->slots = made->slots;
    CUDA_CHECK(take_code(&run->host, block, p));
    if (code) CUDA_CHECK(svmp_cuda_find_twins(&run->host, p));
    made->count = (uint32_t)p->count;
    made->registers = p->registers;
    made->special = p->special;
    CUDA_CHECK(CUDA_PUT(run, made->code, p->count, p->code));
    CUDA_CHECK(CUDA_PUT(run, made->literals, p->literal_count, p->literals));
done:
    svmp_program_code_free(&run->host, &local);
    return status;
}

svmp_status svmp_cuda_program(cuda_run *run, size_t group, size_t slot, program_args *made, program_code *code) {
    const svmp_model_view *model = run->model;
    svmp_code_view partial;
    if (slot == SVMP_CUDA_ALL_SLOTS) {
        made->outputs = (uint32_t)model->groups[group].slots;
        return put_code(run, &model->groups[group].gradient, made, code);
    }
    made->outputs = 1;
    CUDA_TRY((svmp_status)model->derivative(model->source, group, slot, &partial));
    return put_code(run, &partial, made, code);
}

svmp_status svmp_cuda_instances(cuda_run *run, const svmp_group_view *group, program_args *made) {
    *made = (program_args){.instances = group->instances, .slots = (uint32_t)group->slots, .n = run->n};
    CUDA_TRY(CUDA_PUT(run, made->columns, group->columns * group->instances, group->column));
    return CUDA_PUT(run, made->variables, group->slots * group->instances, group->variables);
}

/* Whether a program shares a launch with others of its kind, with special functions or without. */
static int shares(const program_args *p) { return p->registers <= SMALL_REGISTERS; }

/* One launch for programs of a kind: small ones then take no longer than the largest. */
static svmp_status plan_together(cuda_run *run, size_t count, const program_args *list, size_t kind) {
    cuda *state = run->state;
    programs_args *made = &state->together[kind];
    uint32_t *first = NULL;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, first, count + 1));
    size_t lanes = 0;
    for (size_t g = 0; g < count; g++) lanes += list[g].instances * run->n;
    made->abreast = run->n >= ABREAST && lanes >= MANY_LANES;
    for (size_t g = 0; g < count; g++) {
        const size_t each = made->abreast ? (run->n + ABREAST - 1) / ABREAST : run->n;
        const size_t blocks = (list[g].instances * each + PROGRAM_BLOCK - 1) / PROGRAM_BLOCK;
        first[g + 1] = first[g] + (uint32_t)blocks;
        if (list[g].registers > made->registers) made->registers = list[g].registers;
    }
    made->count = (uint32_t)count;
    made->special = (int)kind;
    state->blocks[kind] = first[count];
    CUDA_CHECK(CUDA_PUT(run, made->list, count, list));
    CUDA_CHECK(CUDA_PUT(run, made->first, count + 1, first));
done:
    svmp_host_release(&run->host, first);
    return status;
}

/* Those that are alone come first, then both kinds of those that are not. */
static svmp_status order_programs(cuda_run *run) {
    cuda *state = run->state;
    program_args *ordered = NULL;
    size_t at = 0, from[3];
    double blocks = 0;
    svmp_status status = SVMP_OK;
    for (size_t g = 0; g < state->program_count; g++)
        blocks += (double)state->programs[g].instances * (double)run->n / PROGRAM_BLOCK + 1;
    state->program_alone = state->program_count;
    if (state->program_count == 0 || blocks > UINT32_MAX) return SVMP_OK;
    CUDA_CHECK(CUDA_NEW(&run->host, ordered, state->program_count));
    for (size_t kind = 0; kind < 3; kind++) {
        from[kind] = at;
        for (size_t g = 0; g < state->program_count; g++) {
            const program_args *p = &state->programs[g];
            if ((shares(p) ? 1 + (size_t)(p->special != 0) : 0) == kind) ordered[at++] = *p;
        }
    }
    memcpy(state->programs, ordered, state->program_count * sizeof *ordered);
    state->program_alone = from[1];
    if (from[2] > from[1]) CUDA_CHECK(plan_together(run, from[2] - from[1], ordered + from[1], 0));
    if (at > from[2]) CUDA_CHECK(plan_together(run, at - from[2], ordered + from[2], 1));
done:
    svmp_host_release(&run->host, ordered);
    return status;
}

/* For each row of the model the one that has its numbers, and times what; returns whether any is another's. */
static int find_rows(const svmp_model_view *model, const program_code *codes, size_t *item, double *weight) {
    int twins = 0;
    for (size_t g = 0, p = 0; g < model->group_count; g++) {
        const svmp_group_view *group = &model->groups[g];
        if (group->instances == 0 || group->slots == 0) continue;
        const slot_row *at = codes[p++].rows;
        for (size_t r = 0; r < group->instances * group->slots; r++) {
            const size_t j = r % group->slots, row = model->groups[g].first_row + r;
            item[row] = row - j + at[j].slot;
            weight[row] = at[j].weight;
            twins |= at[j].slot != j;
        }
    }
    return twins;
}

/* The rows that are added up for each variable. Their numbers are short where they can be. */
static svmp_status plan_gather(cuda_run *run, const program_code *codes) {
    cuda *state = run->state;
    const svmp_model_view *model = run->model;
    const size_t rows = model->rows;
    sum_args *whole = &state->gather.whole;
    size_t *item = NULL, *list = NULL;
    uint32_t *column = NULL;
    double *weight = NULL, *weights = NULL;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, item, rows));
    CUDA_CHECK(CUDA_NEW(&run->host, list, rows));
    CUDA_CHECK(CUDA_NEW(&run->host, column, rows));
    CUDA_CHECK(CUDA_NEW(&run->host, weight, rows));
    CUDA_CHECK(CUDA_NEW(&run->host, weights, rows));
    const int twins = find_rows(model, codes, item, weight);
    for (size_t e = 0; e < rows; e++) {
        list[e] = item[model->gather_row[e]];
        column[e] = (uint32_t)list[e];
        weights[e] = weight[model->gather_row[e]];
    }
    if (rows <= UINT32_MAX)
        CUDA_CHECK(CUDA_PUT(run, whole->column, rows, column));
    else
        CUDA_CHECK(CUDA_PUT(run, whole->item, rows, list));
    if (twins) CUDA_CHECK(CUDA_PUT(run, whole->weight, rows, weights));
done:
    svmp_host_release_all(&run->host, item, list, column, weight, weights);
    return status;
}

static svmp_status plan_programs(cuda_run *run) {
    cuda *state = run->state;
    const svmp_model_view *model = run->model;
    double *gradient = NULL;
    program_code *codes = NULL;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, state->programs, model->group_count));
    CUDA_CHECK(CUDA_NEW(&run->host, codes, model->group_count));
    CUDA_CHECK(CUDA_TAKE(run, gradient, model->rows * run->n));
    for (size_t g = 0; g < model->group_count; g++) {
        const svmp_group_view *group = &model->groups[g];
        if (group->instances == 0 || group->slots == 0) continue;
        program_args *made = &state->programs[state->program_count];
        CUDA_CHECK(svmp_cuda_instances(run, group, made));
        CUDA_CHECK(svmp_cuda_program(run, g, SVMP_CUDA_ALL_SLOTS, made, &codes[state->program_count]));
        made->gradient = gradient + model->groups[g].first_row * run->n;
        state->program_count++;
    }
    state->gather.pieces.rows = state->gather.whole.rows = gradient;
    state->gathers = state->program_count > 0;
    if (state->gathers) CUDA_CHECK(plan_gather(run, codes));
    CUDA_CHECK(svmp_cuda_compile(run, codes));
    CUDA_CHECK(order_programs(run));
done:
    for (size_t g = 0; codes && g < model->group_count; g++) svmp_program_code_free(&run->host, &codes[g]);
    svmp_host_release(&run->host, codes);
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

static svmp_status list_pieces(const cuda_run *run, size_t count, const size_t *start, piece_lists *l) {
    size_t pieces = 0, lists = 0;
    for (size_t i = 0; i < count; i++)
        if (is_long(start, i)) lists++, pieces += (start[i + 1] - start[i] + PIECE_ROWS - 1) / PIECE_ROWS;
    CUDA_TRY(CUDA_NEW(&run->host, l->end, count));
    CUDA_TRY(CUDA_NEW(&run->host, l->from, pieces));
    CUDA_TRY(CUDA_NEW(&run->host, l->to, pieces));
    CUDA_TRY(CUDA_NEW(&run->host, l->first, lists + 1));
    CUDA_TRY(CUDA_NEW(&run->host, l->list, lists));
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

svmp_status svmp_cuda_cut(cuda_run *run, size_t count, const size_t *start, row_sums *sums) {
    piece_lists l = {0};
    svmp_status status;
    sums->count = count;
    sums->whole.n = run->n;
    CUDA_CHECK(CUDA_PUT(run, sums->whole.start, count + 1, start));
    CUDA_CHECK(list_pieces(run, count, start, &l));
    if (l.pieces == 0) goto done;
    sums->pieces = sums->whole;
    sums->pieces.constant = NULL;
    sums->pieces.adds = sums->pieces.minus = 0;
    sums->piece_count = l.pieces;
    sums->last = (sum_args){.n = run->n, .out = sums->whole.out, .adds = 1, .minus = sums->whole.minus};
    sums->last_count = l.lists;
    CUDA_CHECK(CUDA_PUT(run, sums->whole.end, count, l.end));
    CUDA_CHECK(CUDA_PUT(run, sums->pieces.start, l.pieces, l.from));
    CUDA_CHECK(CUDA_PUT(run, sums->pieces.end, l.pieces, l.to));
    CUDA_CHECK(CUDA_TAKE(run, sums->pieces.out, l.pieces * run->n));
    CUDA_CHECK(CUDA_PUT(run, sums->last.start, l.lists + 1, l.first));
    CUDA_CHECK(CUDA_PUT(run, sums->last.to, l.lists, l.list));
    sums->last.rows = sums->pieces.out;
done:
    svmp_host_release_all(&run->host, l.end, l.from, l.to, l.first, l.list);
    return status;
}

svmp_status svmp_cuda_plan_score(cuda_run *run) {
    cuda *state = run->state;
    const svmp_model_view *model = run->model;
    const svmp_model_view *q = model;
    const size_t variables = model->variables, entries = q->start[variables];
    sum_args *whole = &state->quadratic.whole;
    CUDA_TRY(plan_programs(run));
    CUDA_TRY(CUDA_PUT(run, whole->column, entries, q->column));
    CUDA_TRY(CUDA_PUT(run, whole->weight, entries, q->value));
    CUDA_TRY(CUDA_PUT(run, whole->constant, variables, q->linear));
    whole->minus = 1;
    whole->out = state->score;
    CUDA_TRY(svmp_cuda_cut(run, model->moved_variables, q->start, &state->quadratic));

    if (!state->gathers) return SVMP_OK;
    state->gather.whole.out = state->score;
    return svmp_cuda_cut(run, model->moved_variables, model->gather_start, &state->gather);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Programs that have a launch of their own, one after the other, share what one of them needs at most. */
svmp_status svmp_cuda_plan_registers(cuda_run *run) {
    cuda *state = run->state;
    const device_ops *ops = state->ops;
    cuda_messages *m = &state->messages;
    double *far = NULL;
    size_t most = 0;
    if (ops->far == NULL) return SVMP_OK;
    for (size_t g = 0; g < state->program_alone; g++)
        most = larger(most, ops->far(state->device, &state->programs[g], state->programs[g].instances * run->n));
    for (size_t g = 0; g < m->program_count; g++)
        most = larger(most, ops->far(state->device, &m->programs[g], m->evaluations[g] * run->n));
    if (most == 0) return SVMP_OK;
    CUDA_TRY(CUDA_TAKE(run, far, most));
    for (size_t g = 0; g < state->program_alone; g++) state->programs[g].far = far;
    for (size_t g = 0; g < m->program_count; g++) m->programs[g].far = far;
    return SVMP_OK;
}
