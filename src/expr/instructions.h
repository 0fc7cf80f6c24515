/* Internal to the expression engine: straight-line code over blocks of lanes, and its generation from the graph. */
#ifndef SVMP_EXPR_INSTRUCTIONS_H
#define SVMP_EXPR_INSTRUCTIONS_H

#include "expr/expr_nodes.h"
#include "expr/operation_loops.h"

/* The lanes of a block: particles of one instance, with scalar columns; or many instances, with one number per lane in
 * each column. */
typedef enum block_mode { BLOCK_WIDE, BLOCK_GATHERED, BLOCK_MODES } block_mode;

/* out and operands are places: an array of pointers to the lanes' numbers (or to one number, of a scalar). */
typedef struct code_instruction {
    expr_kernel kernel[BLOCK_MODES];
    uint32_t code; /* the operation: an expr_op, CODE_PAIRS + a pair_op, or CODE_COPY */
    uint32_t out, operand[3];
} code_instruction;

/* The variant of a shared value that an instance uses is in register `first` + the index of the instance's number among
 * those of the column. */
typedef struct code_choice {
    uint32_t column, first, place;
} code_choice;

/* Places in their order: registers, literals, columns, inputs, outputs. */
typedef struct code_block {
    code_instruction *instructions;
    double *literals;
    size_t count, registers, literal_count, columns, inputs, outputs;

    /* If instances share values (shared_code.c): the first `shared` instructions read only variables in the slots
     * `common`. They run once for instances with the same variables there, and store results for the other instructions
     * in the registers `carried` and in those of the choices, with at most `variants` variants. */
    size_t shared, common_count, carried_count, choice_count, variants;
    uint32_t *common, *carried;
    code_choice *choices;
} code_block;

static inline size_t code_place_literals(const code_block *code) { return code->registers; }
static inline size_t code_place_columns(const code_block *code) { return code->registers + code->literal_count; }
static inline size_t code_place_inputs(const code_block *code) { return code_place_columns(code) + code->columns; }
static inline size_t code_place_outputs(const code_block *code) { return code_place_inputs(code) + code->inputs; }
static inline size_t code_places(const code_block *code) { return code_place_outputs(code) + code->outputs; }

/* Expressions of parameters alone that the lanes read: evaluated once per instance, column by column. */
typedef struct hoisted {
    uint32_t *column; /* for each node of the builder: its column + 1, or 0 */
    expr *list;
    size_t count, capacity;
} hoisted;

/* Code that computes `outputs` from expressions below `level`: LEVEL_INPUT for the lanes, which adds the expressions
 * that it reads to `hoist`; LEVEL_PARAMETER for the instances, whose columns are the parameters (`hoist` NULL). */
svmp_status svmp_code_compile(program_builder *builder, expr_level level, size_t count, const expr *outputs,
                              hoisted *hoist, code_block *code);
/* Numbers the places, once the total number of columns is known, and chooses the kernels. */
void svmp_code_number(code_block *code, size_t columns, size_t inputs, size_t outputs);
/* The kernels of an instruction whose places are numbered. */
void svmp_code_choose_kernels(const code_block *code, code_instruction *made);
void svmp_code_free(svmp_context *context, code_block *code);

/* The distinct numbers of a column, if there are few. */
enum { SHARED_NUMBERS = 4 };
typedef struct column_numbers {
    size_t count; /* 0: there are many */
    double number[SHARED_NUMBERS];
} column_numbers;

/* Properties of instances: the slots in which all have the same variable, and the numbers of columns. */
typedef struct shared_parts {
    unsigned char *slot;
    column_numbers *column;
} shared_parts;

/* The operations of a log value, operands before their users and the value last, from which other programs are made.
 * operand[0] of a literal is its index in `literals`, of an input the slot, of a parameter the column, since
 * expressions of parameters alone are represented by their column. Empty for a program of values without gradient. */
typedef struct recipe_operation {
    uint32_t op; /* expr_op */
    uint32_t operand[3];
} recipe_operation;

typedef struct program_recipe {
    recipe_operation *operations;
    double *literals;
    size_t count, literal_count;
} program_recipe;

/* The recipe of `value` as computed by the lanes; `hoist` has their columns. */
svmp_status svmp_recipe_take(const program_builder *builder, expr value, const hoisted *hoist, program_recipe *recipe);
void svmp_recipe_free(svmp_context *context, program_recipe *recipe);

/* Rebuilds the value in an empty builder; its parameters are the columns. */
expr svmp_recipe_build(const program_recipe *recipe, program_builder *builder);

struct program {
    svmp_context *context;
    size_t shared; /* owners other than the first */
    size_t slots, parameters, outputs, columns;
    int degree;
    bool differentiated;
    code_block values;   /* lanes: the outputs */
    code_block gradient; /* lanes: the value, then the gradient */
    code_block instance; /* instances: the columns */
    program_recipe recipe;
};

struct bound_program {
    const program *compiled;
    size_t instances;
    double *columns; /* columns*instances: column h of instance k at h*instances + k */

    shared_parts known; /* slot NULL: the variables are unknown; column NULL: no slot is shared */
    unsigned char
        *which; /* columns*instances: the index of the instance's number among those of the column, if there are few */
    code_block values, gradient; /* code of the program with shared instructions first; empty: nothing is shared */
};

/* svmp_bound_share with the properties of another bound program, which has these instances and the same slots.
 */
svmp_status svmp_bound_share_as(bound_program *bound, const bound_program *other);

/* The values of one instance with these variables. */
void svmp_bound_evaluate_at(const bound_program *bound, const uint32_t *variables, size_t instance, size_t n,
                            const double *x, void *scratch, double *value);

struct program_partial {
    svmp_context *context;
    code_block both;                         /* lanes: the value, then the derivatives */
    code_block gradient;                     /* lanes: the derivatives */
    code_block shared_both, shared_gradient; /* the same with shared instructions first; empty: nothing is shared */
};

#endif
