#include "expr/sums_of_squares.h"

#include <string.h>

#include "base/hash.h"
#include "expr/expr_nodes.h"

enum {
    MOST_ATOMS = 64,     /* of one form */
    MOST_KEYS = 8,       /* common factors of one sum */
    MOST_COLUMNS = 1024, /* that are reused */
    PARTS_PER_TERM = 64, /* a sum with more is not changed */
    NO_COLUMN = MOST_COLUMNS,
    ROW_FORM = MOST_ATOMS + 2,
    ROW_WIDTH
};

/* weight * e: a summand. */
typedef struct sum_part {
    expr e, weight;
} sum_part;

/* The rows of one common factor: forms over the same atoms. Of row r: weight, then c_r0, c_r1, ... (node 0 is 0), and
 * and finally the form itself. */
typedef struct row_group {
    uint32_t key; /* the node of the factor, 0: none */
    bool divides; /* the factor is 1/key */
    size_t rows, atoms, capacity;
    expr atom[MOST_ATOMS];
    expr *row; /* rows * ROW_WIDTH */
} row_group;

/* One g: of three columns of equal length. */
typedef struct known_product {
    uint32_t weight, a, b;
    expr sum;
} known_product;

struct square_sums {
    program_builder *builder;
    sum_part *parts, *stack;
    size_t part_count, part_capacity, stack_count, stack_capacity;
    row_group groups[MOST_KEYS];
    size_t group_count;
    expr *cells; /* of the stored columns */
    size_t cell_count, cell_capacity;
    size_t column_start[MOST_COLUMNS + 1], column_count;
    known_product *products; /* open hash table; weight NO_COLUMN: free */
    size_t product_count, product_size;
    expr *column; /* room for one */
    size_t column_capacity;
};

svmp_status svmp_squares_create(program_builder *builder, square_sums **made) {
    SVMP_TRY(SVMP_NEW(builder->context, *made, 1));
    (*made)->builder = builder;
    return SVMP_OK;
}

void svmp_squares_free(square_sums *sums) {
    if (sums == NULL) return;
    svmp_context *context = sums->builder->context;
    for (size_t g = 0; g < MOST_KEYS; g++) svmp_release(context, sums->groups[g].row);
    svmp_release_all(context, sums->parts, sums->stack, sums->cells, sums->products, sums->column, sums);
}

static bool is(const program_builder *b, expr e, expr_op op) { return b->nodes[e.index].op == op; }
static bool fixed(const program_builder *b, expr e) { return b->nodes[e.index].level < LEVEL_INPUT; }
static expr of(const program_builder *b, expr e, int which) { return svmp_expr_operand(b, e, which); }

/* ---- summands -----------------------------------------------------------------------------------------------------
 */

static svmp_status push(square_sums *sums, expr e, expr weight) {
    SVMP_TRY(SVMP_GROW(sums->builder->context, sums->stack, sums->stack_capacity, sums->stack_count + 1));
    sums->stack[sums->stack_count++] = (sum_part){e, weight};
    return SVMP_OK;
}

/* Splits weight*e if it is a sum or has a fixed factor: pushes its parts. */
static svmp_status split(square_sums *sums, sum_part part, bool *done) {
    program_builder *b = sums->builder;
    *done = true;
    if (fixed(b, part.e)) {
        *done = false;
        return SVMP_OK;
    }
    const expr first = of(b, part.e, 0), second = of(b, part.e, 1);
    switch (svmp_expr_op(b, part.e)) {
    case OP_add: SVMP_TRY(push(sums, second, part.weight)); return push(sums, first, part.weight);
    case OP_subtract:
        SVMP_TRY(push(sums, second, svmp_expr_negate(b, part.weight)));
        return push(sums, first, part.weight);
    case OP_negate: return push(sums, first, svmp_expr_negate(b, part.weight));
    case OP_multiply:
        if (fixed(b, second)) return push(sums, first, svmp_expr_multiply(b, part.weight, second));
        if (fixed(b, first)) return push(sums, second, svmp_expr_multiply(b, part.weight, first));
        break;
    default: break;
    }
    *done = false;
    return SVMP_OK;
}

/* All summands of the terms; *all is false if there are too many. */
static svmp_status list_parts(square_sums *sums, size_t count, const expr *terms, bool *all) {
    program_builder *b = sums->builder;
    size_t steps = 0;
    *all = false;
    sums->part_count = sums->stack_count = 0;
    for (size_t k = 0; k < count; k++) {
        SVMP_TRY(push(sums, terms[k], svmp_expr_literal(b, 1)));
        while (sums->stack_count > 0) {
            const sum_part part = sums->stack[--sums->stack_count];
            bool done;
            if (++steps > PARTS_PER_TERM * count) return SVMP_OK;
            SVMP_TRY(split(sums, part, &done));
            if (done) continue;
            SVMP_TRY(SVMP_GROW(b->context, sums->parts, sums->part_capacity, sums->part_count + 1));
            sums->parts[sums->part_count++] = part;
        }
    }
    *all = true;
    return SVMP_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

/* Whether a summand is key * l^2 or l^2 / key; a fixed factor of the key is moved to the weight. */
static bool is_square(program_builder *b, sum_part *part, expr *l, expr *key, bool *divides) {
    expr square = part->e;
    *key = (expr){0};
    *divides = is(b, part->e, OP_divide);
    if (*divides || is(b, part->e, OP_multiply)) {
        const int which = *divides || is(b, of(b, part->e, 0), OP_square) ? 0 : 1;
        square = of(b, part->e, which);
        *key = of(b, part->e, 1 - which);
    }
    if (!is(b, square, OP_square)) return false;
    if (key->index != 0 && !*divides && is(b, *key, OP_multiply) && fixed(b, of(b, *key, 1))) {
        part->weight = svmp_expr_multiply(b, part->weight, of(b, *key, 1));
        *key = of(b, *key, 0);
    }
    *l = of(b, square, 0);
    return true;
}

static row_group *find_group(square_sums *sums, uint32_t key, bool divides) {
    for (size_t g = 0; g < sums->group_count; g++)
        if (sums->groups[g].key == key && sums->groups[g].divides == divides) return &sums->groups[g];
    if (sums->group_count == MOST_KEYS) return NULL;
    row_group *made = &sums->groups[sums->group_count++];
    made->key = key;
    made->divides = divides;
    made->rows = made->atoms = 0;
    return made;
}

/* MOST_ATOMS if the group has no room for another atom. */
static size_t find_atom(row_group *group, expr e) {
    size_t k = 0;
    while (k < group->atoms && group->atom[k].index != e.index) k++;
    if (k == group->atoms && k < MOST_ATOMS) group->atom[group->atoms++] = e;
    return k;
}

/* Adds the row of a form; *fits is false if it has too many atoms or summands, and the group is unchanged. */
static svmp_status add_row(square_sums *sums, row_group *group, expr form, expr weight, bool *fits) {
    program_builder *b = sums->builder;
    const size_t atoms = group->atoms;
    SVMP_TRY(SVMP_GROW(b->context, group->row, group->capacity, (group->rows + 1) * ROW_WIDTH));
    expr *row = group->row + group->rows * ROW_WIDTH;
    memset(row, 0, ROW_WIDTH * sizeof *row);
    row[0] = weight;
    row[ROW_FORM] = form;
    sums->stack_count = 0;
    *fits = true;
    SVMP_TRY(push(sums, form, svmp_expr_literal(b, 1)));
    for (size_t steps = 0; *fits && sums->stack_count > 0; steps++) {
        const sum_part part = sums->stack[--sums->stack_count];
        bool done;
        *fits = steps < 4 * MOST_ATOMS;
        SVMP_TRY(split(sums, part, &done));
        if (done) continue;
        const bool constant = fixed(b, part.e);
        const size_t place = constant ? 0 : 1 + find_atom(group, part.e);
        const expr c = constant ? svmp_expr_multiply(b, part.e, part.weight) : part.weight;
        if (place > MOST_ATOMS)
            *fits = false;
        else
            row[1 + place] = row[1 + place].index == 0 ? c : svmp_expr_add(b, row[1 + place], c);
    }
    if (*fits)
        group->rows++;
    else
        group->atoms = atoms;
    return SVMP_OK;
}

/* Moves squares of linear forms from the parts to groups, and compacts the remaining parts. */
static svmp_status group_rows(square_sums *sums) {
    size_t kept = 0;
    sums->group_count = 0;
    for (size_t k = 0; k < sums->part_count; k++) {
        sum_part part = sums->parts[k];
        expr form, key;
        bool divides, fits = false;
        row_group *group = NULL;
        if (is_square(sums->builder, &part, &form, &key, &divides)) group = find_group(sums, key.index, divides);
        if (group) SVMP_TRY(add_row(sums, group, form, part.weight, &fits));
        if (!fits) sums->parts[kept++] = sums->parts[k];
    }
    sums->part_count = kept;
    return SVMP_OK;
}

/* ---- sums over rows -----------------------------------------------------------------------------------------------
 */

/* The number of the column with the cells in sums->column; equal columns have the same number. */
static svmp_status find_column(square_sums *sums, size_t rows, uint32_t *number) {
    for (uint32_t k = 0; k < sums->column_count; k++) {
        const size_t start = sums->column_start[k];
        if (sums->column_start[k + 1] - start != rows) continue;
        if (memcmp(sums->cells + start, sums->column, rows * sizeof *sums->cells) == 0) return *number = k, SVMP_OK;
    }
    *number = NO_COLUMN;
    if (sums->column_count == MOST_COLUMNS) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(sums->builder->context, sums->cells, sums->cell_capacity, sums->cell_count + rows));
    memcpy(sums->cells + sums->cell_count, sums->column, rows * sizeof *sums->cells);
    sums->cell_count += rows;
    *number = (uint32_t)sums->column_count++;
    sums->column_start[sums->column_count] = sums->cell_count;
    return SVMP_OK;
}

static known_product *find_product(const square_sums *sums, uint32_t weight, uint32_t a, uint32_t b) {
    const size_t mask = sums->product_size - 1;
    size_t place = svmp_mix_bits(((uint64_t)weight * MOST_COLUMNS + a) * MOST_COLUMNS + b) & mask;
    for (;; place = (place + 1) & mask) {
        known_product *at = &sums->products[place];
        if (at->weight == NO_COLUMN || (at->weight == weight && at->a == a && at->b == b)) return at;
    }
}

static svmp_status grow_table(square_sums *sums) {
    known_product *before = sums->products, *after;
    const size_t size = sums->product_size;
    if (2 * (sums->product_count + 1) <= size) return SVMP_OK;
    const size_t larger = size ? 2 * size : 256;
    SVMP_TRY(SVMP_NEW(sums->builder->context, after, larger));
    sums->products = after;
    sums->product_size = larger;
    for (size_t k = 0; k < larger; k++) after[k].weight = NO_COLUMN;
    for (size_t k = 0; k < size; k++)
        if (before[k].weight != NO_COLUMN) *find_product(sums, before[k].weight, before[k].a, before[k].b) = before[k];
    svmp_release(sums->builder->context, before);
    return SVMP_OK;
}

/* sum_r w_r a_r b_r of columns of the group: 1 of c_r0, 2 of c_r1, ... */
static expr add_up(const square_sums *sums, const row_group *group, size_t a, size_t b) {
    program_builder *builder = sums->builder;
    expr sum = svmp_expr_literal(builder, 0);
    for (size_t r = 0; r < group->rows; r++) {
        const expr *row = group->row + r * ROW_WIDTH;
        if (row[a].index == 0 || row[b].index == 0) continue;
        expr product = svmp_expr_multiply(builder, row[a], row[b]);
        sum = svmp_expr_add(builder, sum, svmp_expr_multiply(builder, row[0], product));
    }
    return sum;
}

static expr sum_rows(square_sums *sums, const row_group *group, const uint32_t *number, size_t a, size_t b) {
    if (number[0] == NO_COLUMN || number[a] == NO_COLUMN || number[b] == NO_COLUMN) return add_up(sums, group, a, b);
    if (sums->builder->status == SVMP_OK) sums->builder->status = grow_table(sums);
    if (sums->builder->status != SVMP_OK) return (expr){0};
    known_product *known = find_product(sums, number[0], number[a], number[b]);
    if (known->weight == NO_COLUMN) {
        sums->product_count++;
        *known = (known_product){number[0], number[a], number[b], add_up(sums, group, a, b)};
    }
    return known->sum;
}

/* ---- forms --------------------------------------------------------------------------------------------------------
 */

/* A sum of squares around 0 loses digits where the constants have a large mean. If an atom has the same coefficient in
 * all rows, the mean is moved to it: c_r0 + c v = (c_r0 - mean) + c (v + mean/c). */
static void centre(const square_sums *sums, row_group *group) {
    program_builder *b = sums->builder;
    for (size_t j = 0; j < group->atoms; j++) {
        const expr c = group->row[2 + j];
        bool same = c.index != 0;
        for (size_t r = 0; r < group->rows && same; r++) {
            const expr *row = group->row + r * ROW_WIDTH;
            same = row[2 + j].index == c.index && row[1].index != 0;
        }
        if (!same) continue;
        expr mean = svmp_expr_literal(b, 0), count = svmp_expr_literal(b, (double)group->rows);
        for (size_t r = 0; r < group->rows; r++) mean = svmp_expr_add(b, mean, group->row[r * ROW_WIDTH + 1]);
        mean = svmp_expr_divide(b, mean, count);
        for (size_t r = 0; r < group->rows; r++) {
            expr *constant = &group->row[r * ROW_WIDTH + 1];
            *constant = svmp_expr_subtract(b, *constant, mean);
        }
        group->atom[j] = svmp_expr_add(b, group->atom[j], svmp_expr_divide(b, mean, c));
        return;
    }
}

/* The older atom first, so that sums over rows of different atoms begin in the same order. */
static void order_atoms(const row_group *group, size_t *order) {
    for (size_t j = 0; j < group->atoms; j++) {
        size_t at = j;
        for (; at > 0 && group->atom[order[at - 1]].index > group->atom[j].index; at--) order[at] = order[at - 1];
        order[at] = j;
    }
}

static svmp_status number_columns(square_sums *sums, const row_group *group, uint32_t *number) {
    SVMP_TRY(SVMP_GROW(sums->builder->context, sums->column, sums->column_capacity, group->rows));
    for (size_t k = 0; k < group->atoms + 2; k++) {
        for (size_t r = 0; r < group->rows; r++) sums->column[r] = group->row[r * ROW_WIDTH + k];
        SVMP_TRY(find_column(sums, group->rows, &number[k]));
    }
    return SVMP_OK;
}

static expr times_key(program_builder *b, const row_group *group, expr e) {
    const expr key = {group->key};
    if (group->divides) return svmp_expr_divide(b, e, key);
    return group->key != 0 ? svmp_expr_multiply(b, e, key) : e;
}

/* Adds the group's quadratic form. */
static svmp_status add_form(square_sums *sums, row_group *group, expr *total) {
    program_builder *b = sums->builder;
    const expr two = svmp_expr_literal(b, 2);
    uint32_t number[MOST_ATOMS + 2];
    size_t order[MOST_ATOMS];
    order_atoms(group, order);
    centre(sums, group);
    SVMP_TRY(number_columns(sums, group, number));
    expr form = sum_rows(sums, group, number, 1, 1);
    for (size_t j = 0; j < group->atoms; j++) {
        const size_t own = 2 + order[j];
        expr inner = svmp_expr_multiply(b, two, sum_rows(sums, group, number, 1, own));
        for (size_t i = 0; i <= j; i++) {
            expr g = sum_rows(sums, group, number, own, 2 + order[i]);
            if (i < j) g = svmp_expr_multiply(b, two, g);
            inner = svmp_expr_add(b, inner, svmp_expr_multiply(b, group->atom[order[i]], g));
        }
        form = svmp_expr_add(b, form, svmp_expr_multiply(b, group->atom[order[j]], inner));
    }
    *total = svmp_expr_add(b, *total, times_key(b, group, form));
    return SVMP_OK;
}

static bool enough_rows(const row_group *group) { return group->rows > group->atoms + 1; }

static svmp_status add_group(square_sums *sums, row_group *group, expr *total) {
    program_builder *b = sums->builder;
    if (enough_rows(group)) return add_form(sums, group, total);
    for (size_t r = 0; r < group->rows; r++) {
        const expr *row = group->row + r * ROW_WIDTH;
        expr square = times_key(b, group, svmp_expr_square(b, row[ROW_FORM]));
        *total = svmp_expr_add(b, *total, svmp_expr_multiply(b, square, row[0]));
    }
    return SVMP_OK;
}

/* ---- whole sums ----------------------------------------------------------------------------------------------------
 */

static expr plain_sum(program_builder *b, size_t count, const expr *terms) {
    expr sum = svmp_expr_literal(b, 0);
    for (size_t k = 0; k < count; k++) sum = svmp_expr_add(b, sum, terms[k]);
    return sum;
}

/* The remaining summands, each distinct one once. */
static expr sum_parts(square_sums *sums) {
    program_builder *b = sums->builder;
    expr constant = svmp_expr_literal(b, 0), sum = constant;
    for (size_t k = 0; k < sums->part_count; k++) {
        sum_part *part = &sums->parts[k];
        if (part->e.index == 0) continue; /* taken */
        if (fixed(b, part->e)) {
            constant = svmp_expr_add(b, constant, svmp_expr_multiply(b, part->weight, part->e));
            continue;
        }
        expr weight = part->weight;
        for (size_t j = k + 1; j < sums->part_count; j++)
            if (sums->parts[j].e.index == part->e.index) {
                weight = svmp_expr_add(b, weight, sums->parts[j].weight);
                sums->parts[j].e.index = 0;
            }
        sum = svmp_expr_add(b, sum, svmp_expr_multiply(b, part->e, weight));
    }
    return svmp_expr_add(b, sum, constant);
}

/* Whether most of the summands are multiples of a few. */
static bool few_distinct_factors(const square_sums *sums) {
    const program_builder *b = sums->builder;
    uint32_t seen[MOST_ATOMS];
    size_t different = 0, parts = 0;
    for (size_t k = 0; k < sums->part_count; k++) {
        const uint32_t index = sums->parts[k].e.index;
        size_t j = 0;
        if (fixed(b, sums->parts[k].e)) continue;
        parts++;
        while (j < different && seen[j] != index) j++;
        if (j < different) continue;
        if (different == MOST_ATOMS) return false;
        seen[different++] = index;
    }
    return 2 * different <= parts;
}

static svmp_status collect(square_sums *sums, size_t count, const expr *terms, expr *sum) {
    program_builder *b = sums->builder;
    bool all, enough = false;
    *sum = plain_sum(b, 0, NULL);
    if (count > 2) {
        SVMP_TRY(list_parts(sums, count, terms, &all));
        enough = all && few_distinct_factors(sums);
        if (all) SVMP_TRY(group_rows(sums));
        for (size_t g = 0; all && g < sums->group_count; g++) enough = enough || enough_rows(&sums->groups[g]);
    }
    if (!enough) return *sum = plain_sum(b, count, terms), SVMP_OK;
    *sum = sum_parts(sums);
    for (size_t g = 0; g < sums->group_count; g++) SVMP_TRY(add_group(sums, &sums->groups[g], sum));
    return SVMP_OK;
}

expr svmp_squares_sum(square_sums *sums, size_t count, const expr *terms) {
    program_builder *b = sums->builder;
    expr sum = {0};
    const svmp_status status = b->status == SVMP_OK ? collect(sums, count, terms, &sum) : SVMP_OK;
    if (b->status == SVMP_OK) b->status = status;
    return b->status == SVMP_OK ? sum : (expr){0};
}
