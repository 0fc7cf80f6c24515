/* Inside the expression engine: straight-line code over blocks of lanes, and how it is made from the graph. */
#ifndef SVMP_EXPR_INSTRUCTIONS_H
#define SVMP_EXPR_INSTRUCTIONS_H

#include "expr/expr_nodes.h"
#include "expr/operation_loops.h"

/* How a block takes its lanes: particles of one instance, whose columns are scalars then; or many instances, whose
 * columns are one number a lane. */
typedef enum block_mode { BLOCK_WIDE, BLOCK_GATHERED, BLOCK_MODES } block_mode;

/* out and operands are places: an array of pointers to the lanes' numbers (or to one number, of a scalar). */
typedef struct code_instruction {
    expr_kernel kernel[BLOCK_MODES];
    uint32_t code; /* what the kernels compute: an expr_op, CODE_PAIRS + a pair_op, or CODE_COPY */
    uint32_t out, operand[3];
} code_instruction;

/* Where the instructions that are not shared find the variant of an instance: in its register `first` + which of the
 * column's numbers the instance has. */
typedef struct code_choice {
    uint32_t column, first, place;
} code_choice;

/* Places in their order: registers, literals, columns, inputs, outputs. */
typedef struct code_block {
    code_instruction *instructions;
    double *literals;
    size_t count, registers, literal_count, columns, inputs, outputs;

    /* Where instances share something (shared_code.c): the first `shared` instructions read nothing of an instance but
     * the variables in the slots `common`. They run once for instances that have the same variables there, and leave
     * what the others read in the registers `carried`, and in those of the choices, which have at most so many
     * variants. */
    size_t shared, common_count, carried_count, choice_count, variants;
    uint32_t *common, *carried;
    code_choice *choices;
} code_block;

static inline size_t code_place_literals(const code_block *code) { return code->registers; }
static inline size_t code_place_columns(const code_block *code) { return code->registers + code->literal_count; }
static inline size_t code_place_inputs(const code_block *code) { return code_place_columns(code) + code->columns; }
static inline size_t code_place_outputs(const code_block *code) { return code_place_inputs(code) + code->inputs; }
static inline size_t code_places(const code_block *code) { return code_place_outputs(code) + code->outputs; }

/* Expressions of parameters alone that the lanes read: evaluated once an instance, column by column. */
typedef struct hoisted {
    uint32_t *column; /* of each node of the builder: its column + 1, or 0 */
    expr *list;
    size_t count, capacity;
} hoisted;

/* Code that computes `outputs` from what depends on less than `level`: LEVEL_INPUT for the lanes, which adds to
 * `hoist` what it reads; LEVEL_PARAMETER for the instances, whose columns are the parameters (`hoist` NULL). */
svmp_status svmp_code_compile(program_builder *builder, expr_level level, size_t count, const expr *outputs,
                              hoisted *hoist, code_block *code);
/* Gives the places their numbers, once it is known how many columns there are in all. */
void svmp_code_number(code_block *code, size_t columns, size_t inputs, size_t outputs);
void svmp_code_free(svmp_context *context, code_block *code);

/* The different numbers of a column, if they are few. */
enum { SHARED_NUMBERS = 4 };
typedef struct column_numbers {
    size_t count; /* 0: they are many */
    double number[SHARED_NUMBERS];
} column_numbers;

/* What is known of instances: the slots in which all have the same variable, and the numbers of columns. */
typedef struct shared_parts {
    unsigned char *slot;
    column_numbers *column;
} shared_parts;

/* The operations that a log value consists of, operands before their users and the value last: what other programs are
 * made from. Of a literal, operand[0] is its place in `literals`; of an input the slot; of a parameter the column, for
 * what depends on parameters alone is known by its column. Empty for a program of values alone. */
typedef struct recipe_operation {
    uint32_t op; /* expr_op */
    uint32_t operand[3];
} recipe_operation;

typedef struct program_recipe {
    recipe_operation *operations;
    double *literals;
    size_t count, literal_count;
} program_recipe;

/* What the lanes of `value` compute; `hoist` knows their columns. */
svmp_status svmp_recipe_take(const program_builder *builder, expr value, const hoisted *hoist, program_recipe *recipe);
void svmp_recipe_free(svmp_context *context, program_recipe *recipe);

/* The value again, in a builder that has nothing else; its parameters are the columns. */
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

    shared_parts known;   /* slot NULL: nothing is known of the variables; column NULL: no slot is shared */
    unsigned char *which; /* columns*instances: which of the column's numbers the instance has, if they are few */
    code_block values, gradient; /* of the program, what instances share first; empty: they share nothing */
};

/* svmp_bound_share with what is known of the variables of another one, which has these instances, and the same slots.
 */
svmp_status svmp_bound_share_as(bound_program *bound, const bound_program *other);

/* The values of one instance whose variables are these. */
void svmp_bound_evaluate_at(const bound_program *bound, const uint32_t *variables, size_t instance, size_t n,
                            const double *x, void *scratch, double *value);

struct program_partial {
    svmp_context *context;
    code_block both;                         /* lanes: the value, then the derivatives */
    code_block gradient;                     /* lanes: the derivatives */
    code_block shared_both, shared_gradient; /* the same, what instances share first; empty: they share nothing */
};

#endif
