/* Inside parsing and compiling: the state that the passes share.
 *
 * lang/parsed_model.c calls those that no choice changes, once:
 *     text_checks.c           functions, distributions and names exist
 *     loops.c                 loops become instances of statements
 *     array_definitions.c     dimensions of arrays; who defines which element
 *     data_draws.c            what data { } draws
 *     data_chains.c           long chains of deterministic elements
 *     censoring.c             censored nodes, observed_sums.c: sums that are observed
 *     name_graph.c            which names lead to which
 *     leaves.c                unknown nodes that nothing observed depends on
 *     replicates.c            observed arrays that are drawn once more: statements that are added to the tree
 *     auxiliary_variable.c    a continuous unknown for texts that have none, likewise
 * lang/compile.c the others, in each compilation:
 *     stored_elements.c       deterministic elements that are computed once, not pasted
 *     unknown_nodes.c         unknown nodes, their transforms and bounds
 *     moved_coordinates.c     what is moved of location-scale families
 *     factor_builder.c        one instance becomes a factor
 *     patterns.c              factors of equal structure share a program, finish_groups.c: and become a group
 *     discrete_unknowns.c     unknowns with finitely many values
 *     discrete_totals.c       sums of them that are unknowns by themselves
 *     elimination.c           how they are summed out
 *     compile_order.c         parents come before children
 *     monitors.c              deterministic nodes that are reported
 *     pointwise_likelihood.c  the log likelihood of each observation, and the deviance, that are reported
 * Both evaluate expressions:
 *     expand.c                expressions become items: numbers where everything is known, expressions elsewhere
 *     subscripts.c            subscripts; reading elements of arrays, through the deterministic ones
 *     unknown_subscripts.c    subscripts that depend on unknowns
 *     functions/              the functions of the language
 */
#ifndef SVMP_LANG_COMPILE_COMPILE_STATE_H
#define SVMP_LANG_COMPILE_COMPILE_STATE_H

#include "lang/compile.h"
#include "lang/parse/parsed_text.h"

#define LOWERING_MOST_ITERATIONS  5000000u
#define LOWERING_MOST_ELEMENTS    5000000u
#define LOWERING_MOST_EXPRESSIONS 2000000u
#define NOTHING                   UINT32_MAX

/* ---- values --------------------------------------------------------------------------------- */

typedef enum item_kind {
    ITEM_LITERAL,    /* a number that the text alone decides: the same in all instances */
    ITEM_NUMBER,     /* a number from data or a loop counter */
    ITEM_EXPRESSION, /* depends on unknowns: an expression of lowering->builder */
    ITEM_OPAQUE,     /* depends on unknowns, and it is not needed how */
} item_kind;

typedef struct model_item {
    item_kind kind;
    expr expression;
    double number;
} model_item;

static inline bool svmp_item_known(model_item item) { return item.kind <= ITEM_NUMBER; }

typedef struct array_shape {
    size_t rank, dimensions[DATA_MOST_DIMENSIONS];
} array_shape;

/* An array of items: the last ones on the stack lowering->items. */
typedef struct value {
    size_t first, count;
    array_shape shape;
} value;

/* ---- arrays and elements -------------------------------------------------------------------- */

typedef enum element_state {
    ELEMENT_UNDEFINED,
    ELEMENT_KNOWN,     /* value: from data, or computed from what is known */
    ELEMENT_COMPUTED,  /* by a deterministic instance, not evaluated yet */
    ELEMENT_BUSY,      /* being evaluated: reading it now is a cycle */
    ELEMENT_OPAQUE,    /* computed, and depends on unknowns */
    ELEMENT_UNKNOWN,   /* variable or part of a node */
    ELEMENT_DISCRETE,  /* unknown, with finitely many values: summed out */
    ELEMENT_REST,      /* the observed sum less the other terms: observed_sums.c */
    ELEMENT_REMAINDER, /* discrete, and what the others leave of a total: discrete_totals.c */
} element_state;

typedef struct model_element {
    element_state state;
    uint32_t definition; /* instance, or NOTHING */
    uint32_t output;     /* of an unknown one: which output of the result, or which discrete unknown, it is; for
                          * ELEMENT_REST: the dsum instance that defines it */
    uint32_t stamp;      /* of the instance for which `memo` holds */
    double value;
    model_item memo;
} model_element;

typedef struct model_array {
    const data_array *data; /* or NULL */
    array_shape shape;
    size_t count, first; /* its elements; first is SIZE_MAX when it has none and is read from `data` alone */
    size_t rank_seen;    /* of the left-hand sides; 0: none */
    uint32_t place;      /* of the first left-hand side */
    uint32_t whole; /* the one instance that defines it, without subscripts: it has that one's dimensions; NOTHING */
    bool sized;     /* dimensions are given, by data or `var` */
    bool is_data;   /* from a file, or computed in data { } */
    bool read;
} model_array;

typedef struct model_instance {
    const ast_statement *statement;
    uint32_t counters; /* its loops' values: lowering->counter_values from there on */
    uint32_t node;     /* of an unknown node, among the result's nodes or leaves; or NOTHING */
    uint32_t parents;  /* once they are sorted: lowering->parents from there on, to those of the next instance */
    uint32_t reader;   /* the last one that read it, so that it is noted once; NOTHING */
    uint32_t values;   /* how many a stochastic node has */
    double largest;    /* value that is observed of what depends on it; -1: none is (leaves.c) */
    bool computed;     /* its elements have values, or are known to depend on unknowns */
    bool busy;         /* waits for what it reads: reading it now is a cycle */
    bool settled;      /* of dsum: one of its terms is what the others leave */
    bool leaf;         /* nothing observed depends on its unknown elements: they are drawn after the run */
    bool stored;       /* its elements are computed once (stored_elements.c) */
} model_instance;

/* One instance reads an element that another one defines. */
typedef struct instance_edge {
    uint32_t child, parent;
} instance_edge;

/* Edges in lists: those of instance k are item[start[k]] ... item[start[k + 1] - 1]. */
typedef struct edge_lists {
    uint32_t *start, *item;
} edge_lists;

/* What is known of a statement, by its place. */
typedef struct statement_state {
    bool failed;    /* an error in it was noted: further instances are skipped */
    double largest; /* of its instances, set by leaves.c: value that is observed of what depends on them, or -1 */
} statement_state;

/* What follows from the names in the statements of model { }, by symbol (name_graph.c). */
typedef struct name_graph {
    uint32_t *component; /* the same for names that lead to each other, from the left of a statement to its right */
    bool *recursive;     /* formulas, '<-', lead from the name back to it */
    bool *discrete;      /* formulas lead to a name that is a discrete unknown, or it is one */
} name_graph;

/* A call that does not vary, by its place: whether data alone decide its number, and the number. */
typedef struct known_call {
    bool is;
    double number;
} known_call;

/* ---- discrete unknowns ---------------------------------------------------------------------- */

typedef struct discrete_unknown {
    uint32_t instance; /* that defines it */
    uint32_t symbol, offset;
    double least;
    uint32_t states;
    bool open;      /* it has no largest value, or one that depends on unknowns: the last state is where the sum ends */
    uint32_t state; /* in the present combination, if it is in the scope */
    bool in_scope;
    uint32_t component; /* towards the one that names its component */
    uint32_t reader;    /* the last factor that read it */
    size_t readers;     /* factors that do, */
    size_t dependents;  /* values of these, but for its own, */
    double read;        /* and how many entries their tables have */
    bool total;         /* the sum of others (discrete_totals.c) */
} discrete_unknown;

/* ---- patterns ------------------------------------------------------------------------------- */

typedef enum pattern_kind {
    PATTERN_FACTOR,
    PATTERN_PRIOR,
    PATTERN_MONITOR,
    PATTERN_DISCRETE,
    PATTERN_COMPUTED
} pattern_kind;

typedef struct factor_pattern {
    uint64_t *signature;
    size_t length, offset; /* where the statement stands */
    pattern_kind kind;
    program *program;
    size_t slots, parameters, instances;
    uint32_t *variables; /* instance by instance */
    double *numbers;
    size_t variable_capacity, number_capacity;
    struct group_whole whole; /* of a process's own factors: what they are of all, */
    uint32_t *origin;         /* instance -> which one of all, */
    uint32_t *last;           /* the variables of the last one of all */
    size_t origin_capacity, elsewhere_capacity;
    lowered_prior shape; /* of a prior */
} factor_pattern;

/* ---- stored elements ------------------------------------------------------------------------ */

/* An element that has a row, and what computes it: which instance of which pattern. */
typedef struct stored_place {
    uint32_t element, pattern, instance;
} stored_place;

typedef struct stored_elements {
    size_t most;          /* elements that may have rows; 0: everything is pasted */
    size_t first, count;  /* rows, from `first` on: those that were read */
    uint32_t *row;        /* element -> 1 + its row, counted from 0; 0: it has none yet */
    stored_place *places; /* of the rows */
} stored_elements;

/* ---- the whole ------------------------------------------------------------------------------ */

typedef struct model_lowering {
    svmp_context *context;
    diagnostics *diagnostics;
    const ast_model *ast;
    const data_set *data;
    const char *monitors;

    /* of a compilation; NULL while the model is parsed */
    const choices *choices;
    const graph_owners *owners;
    compile_report *report;
    lowered_model *result;
    svmp_graph *graph; /* nothing is made but this; NULL: the model */
    uint32_t *node_of; /* variable -> its node, for owners and graph */

    statement_state *states;
    known_call *known_calls;
    model_array *arrays; /* by symbol */
    model_element *elements;
    size_t element_count, element_capacity;
    model_instance *instances;
    size_t instance_count, instance_capacity;
    size_t iterations;

    /* what the compilations of a parsed model share */
    double *counter_values;
    size_t counter_count, counter_capacity;
    double *cut_lower, *cut_upper; /* by element, what dinterval says; NULL: there is none */
    uint32_t *cut_by;              /* the dinterval whose cut points depend on unknowns, or NOTHING */
    edge_lists reads;              /* of each instance, which ones it reads */
    name_graph names;

    /* where we are */
    double loop_counters[AST_MOST_LOOPS]; /* while loops are unrolled */
    const ast_statement *statement;
    const double *counters;
    uint32_t instance; /* or NOTHING */
    uint32_t factor;   /* the instance whose factor is being made, or NOTHING */
    bool in_data;      /* data { } is being computed */
    bool sizing;       /* dimensions are being found: only data can be read */
    bool shaping;      /* dimensions of a right-hand side are evaluated, not values; errors are found later */
    bool symbolic;     /* unknowns become expressions; otherwise they are opaque */
    bool tracing;      /* only what is read is noted */
    bool drawn;        /* discrete unknowns have values: those drawn for each particle */
    bool storing;      /* what is stored is read as a row; otherwise it is pasted, too */
    int depth;
    size_t node_reads; /* how many elements that the model defines were read */
    uint32_t pending;  /* an instance to be computed before we go on, or NOTHING */
    uint32_t without;  /* the total whose other terms are being added up, or NOTHING */
    uint32_t stamp;
    uint32_t slot_epoch; /* the stamp of the builder's inputs */

    /* items and expressions */
    model_item *items;
    size_t item_count, item_capacity;
    program_builder *builder, *calculator; /* for this instance; for numbers */
    uint32_t *slots;                       /* the variable in each slot of this instance */
    size_t slot_count, slot_capacity;
    uint32_t *slot_of, *slot_stamp; /* variable -> its slot, when the stamp is ours */
    double *parameters;
    size_t parameter_count, parameter_capacity;
    bool filling; /* a table is filled, entry by entry: a number that an earlier entry of it had */
    size_t filling_first, filling_next; /* is the same parameter; those of the table, and where to look first */
    uint32_t *parameter_stamp;          /* of the entry that had it last */
    size_t parameter_stamp_capacity;
    size_t expressions; /* of all programs */

    /* nodes: bounds of outputs as items, opaque when they depend on unknowns */
    model_item *lower, *upper;
    uint32_t *element_of; /* output -> its element */
    size_t lower_capacity, upper_capacity, element_of_capacity;

    /* subscripts that depend on unknowns, those of the variable at hand from choice_first on */
    struct index_choice *index_choices;
    size_t choice_count, choice_capacity, choice_first, choice_at;
    bool choosing, chosen;

    stored_elements stored;

    /* discrete unknowns, and the factors that read them */
    discrete_unknown *discrete;
    size_t discrete_count, discrete_capacity;
    uint32_t *scope; /* what was read in the present combination, in this order */
    size_t scope_count, scope_capacity;
    uint32_t *factor_scopes;
    size_t factor_scope_count, factor_scope_capacity;
    struct discrete_factor *discrete_factors;
    size_t discrete_factor_count, discrete_factor_capacity;

    instance_edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t *parents; /* the edges' parents, sorted by their children */

    factor_pattern *patterns;
    size_t pattern_count, pattern_capacity;
    uint32_t *pattern_slots; /* open hash table */
    size_t pattern_slot_count;
    uint64_t *signature;
    size_t signature_length, signature_capacity;
} model_lowering;

static inline statement_state *svmp_state_of(const model_lowering *lowering, const ast_statement *statement) {
    return &lowering->states[statement->place];
}

static inline bool svmp_failed(const model_lowering *lowering, const ast_statement *statement) {
    return svmp_state_of(lowering, statement)->failed;
}

/* What was parsed. A matrix has its paths alone: compiling reads them. */
struct parsed_model {
    svmp_context *context;
    char **matrix_paths; /* of a Gaussian; NULL: of a model text */
    size_t matrix_count;
    text_source *texts; /* model and data in the order of the files, until they are parsed */
    size_t text_count;
    svmp_text *text;         /* NULL until it is parsed */
    bool text_is_given;      /* the caller owns it */
    data_set *read;          /* from files, or without any numbers */
    const data_set *data;    /* these, or what was given */
    char *monitors;          /* NULL: none */
    bool auxiliary;          /* a continuous variable was added, since there was none */
    model_lowering resolved; /* result of the passes that no choice changes */
};

/* Makes nodes and groups, or the graph alone, unfinished: unless these are NULL. */
svmp_status svmp_compile_nodes(const parsed_model *parsed, const choices *made, const graph_owners *owners,
                               compile_report *report, svmp_graph *graph, lowered_model **lowered);

/* Frees all that a compilation owns. */
void svmp_lowering_end(model_lowering *lowering);

/* Adds the statements auxiliary.number ~ dflat() and factor(-0.5 * auxiliary.number^2) to model { }, behind those of
 * the text. */
svmp_status svmp_add_auxiliary(ast_model *ast);

/* Adds a message to the report of a compilation. */
svmp_status svmp_lowering_log(const model_lowering *lowering, svmp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes an error at a place of the current statement, with the loops' values, and ends work on the statement. */
svmp_status svmp_lowering_error(model_lowering *lowering, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "x[3,1]" of an element of an array; returns `text`. */
enum { ELEMENT_TEXT = 160 };
const char *svmp_element_text(const model_lowering *lowering, uint32_t symbol, size_t offset, char text[ELEMENT_TEXT]);
/* The node that an instance defines, as its left-hand side with numbers: "x[3,1:2]". */
const char *svmp_instance_text(model_lowering *lowering, uint32_t which, char text[ELEMENT_TEXT]);

/* ---- text_checks.c -------------------------------------------------------------------------------- */

/* Notes every unknown function, distribution and name, and wrong counts of arguments; fills in what the tree holds for
 * the checker. */
svmp_status svmp_check(model_lowering *lowering, ast_model *ast);

/* ---- loops.c ------------------------------------------------------------------------------- */

/* Makes instances of all relations below `first`, and calls `visit` for each with its loops' values in place. */
typedef svmp_status (*unroll_visitor)(model_lowering *lowering, uint32_t instance);
svmp_status svmp_unroll(model_lowering *lowering, const ast_statement *first, unroll_visitor visit);

/* Stands in an instance: its statement and the values of its loops. */
typedef struct place {
    const ast_statement *statement;
    const double *counters;
    uint32_t instance;
} place;
place svmp_enter(model_lowering *lowering, uint32_t which);
void svmp_leave(model_lowering *lowering, place before);

/* SVMP_OK for an error that was noted while there is room for more; what remains must end the lowering. */
svmp_status svmp_go_on(model_lowering *lowering, svmp_status status);

/* ---- array_definitions.c ------------------------------------------------------------------------------- */

/* Dimensions from `var`; from the left-hand sides of a block, which become instances; then who defines each element. */
svmp_status svmp_declare(model_lowering *lowering);
svmp_status svmp_size_arrays(model_lowering *lowering, const ast_statement *first);
svmp_status svmp_define(model_lowering *lowering);
/* Gives an array that is defined as a whole the dimensions of what defines it; others have theirs. */
svmp_status svmp_size_whole(model_lowering *lowering, uint32_t symbol);

/* ---- expand.c   ----------------------------------------------------------------------------- */

svmp_status svmp_expand(model_lowering *lowering, const ast_expression *expression, value *result);
svmp_status svmp_expand_scalar(model_lowering *lowering, const ast_expression *expression, model_item *result);
/* A number that does not depend on unknowns; `what` names it in the error. */
svmp_status svmp_expand_number(model_lowering *lowering, const ast_expression *expression, const char *what,
                               double *number);

svmp_status svmp_push(model_lowering *lowering, model_item pushed);
model_item svmp_item_literal(double number);
model_item svmp_item_number(double number);
model_item svmp_item_expression(expr expression);
model_item svmp_apply(model_lowering *lowering, expr_op op, model_item a, model_item b, model_item c);
/* The item as an expression of the builder; a number from data becomes a parameter. */
svmp_status svmp_item_build(model_lowering *lowering, model_item built, expr *expression);
/* The variable as an input of the builder. */
svmp_status svmp_input(model_lowering *lowering, uint32_t variable, expr *expression);
/* Forgets the expressions of the last instance. */
svmp_status svmp_begin_instance(model_lowering *lowering);

static inline array_shape svmp_vector_shape(size_t count) { return (array_shape){.rank = 1, .dimensions = {count}}; }
size_t svmp_shape_count(const array_shape *shape);
bool svmp_shapes_equal(const array_shape *a, const array_shape *b);
const char *svmp_shape_text(const array_shape *shape, char text[ELEMENT_TEXT]);

/* Evaluates a deterministic instance into its elements; in data { }, draws a stochastic one. When that would go too
 * deep it fails as SVMP_BAD_INPUT with an instance in lowering->pending that must be computed first. */
svmp_status svmp_compute(model_lowering *lowering, uint32_t which);

/* Computes the pending instance, and all that it waits for. */
svmp_status svmp_compute_pending(model_lowering *lowering);

/* ---- subscripts.c -------------------------------------------------------------------------------- */

svmp_status svmp_expand_variable(model_lowering *lowering, const ast_expression *variable, value *result);

/* All that a variable may name, when a subscript depends on unknowns, is a parent of the current instance. */
svmp_status svmp_note_elements(model_lowering *lowering, const ast_expression *variable);
/* The elements that a variable names, for the present choice of the subscripts that depend on unknowns. */
svmp_status svmp_read_elements(model_lowering *lowering, const ast_expression *variable, value *result);

/* unknown_subscripts.c: reads through subscripts that depend on unknowns. */
svmp_status svmp_expand_choices(model_lowering *lowering, const ast_expression *variable, value *result);
/* Whether what depends on unknowns can be a subscript: a whole number by its form. */
bool svmp_may_index(const model_lowering *lowering, model_item index);
/* Chooses a number for such a subscript, for now. */
svmp_status svmp_choose_index(model_lowering *lowering, model_item index, size_t extent, model_item *chosen);

/* The elements that a variable names, as numbers on the item stack (from 0 within the array), and their shape with
 * extents of 1 dropped. */
svmp_status svmp_expand_subscript(model_lowering *lowering, const ast_expression *variable, value *offsets);

/* The shape alone; reads nothing. */
svmp_status svmp_variable_shape(model_lowering *lowering, const ast_expression *variable, array_shape *result);

/* ---- product_checks.c ------------------------------------------------------------------------------ */

/* An infinite number times an unknown has no finite value: an error that names the datum. The numbers are elements
 * `left_part` and `right_part` of the two operands of `call`. */
svmp_status svmp_check_product(model_lowering *lowering, const ast_expression *call, model_item left, size_t left_part,
                               model_item right, size_t right_part);

/* ---- functions_elementwise.c ----------------------------------------------------------------------------- */

typedef struct language_function language_function;
struct language_function {
    const char *name;
    size_t least, most; /* arguments */
    svmp_status (*evaluate)(model_lowering *lowering, const ast_expression *call, value *result);
    expr_op op; /* of the elementwise ones */
};

const language_function *svmp_function_find(const char *name, size_t arguments);
const language_function *svmp_function_table(size_t *count);

/* The links: name k, NULL beyond the last one. */
const char *svmp_link_name(size_t k);
/* The inverse of a link: the function that its right-hand side goes through; false when it is none. */
bool svmp_link_inverse(const char *link, expr_op *inverse);

/* The functions of a distribution: dnorm(x, ...), its density, pnorm, its distribution function, qnorm, its quantiles,
 * and logdensity.norm. NULL: `name` is none of them; *arguments is how many it takes. */
const language_function *svmp_distribution_function(const char *name, size_t *arguments);

svmp_status svmp_call_elementwise(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_sum(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_product(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_mean(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_sd(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_min(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_max(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_inner_product(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_length(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_dim(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_range(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_sequence(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_repeat(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_combine(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_interpolate(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_transpose(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_matrix_product(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_inverse(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_logdet(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_least_bound(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_largest_bound(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_sort(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_rank(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_order(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_density(model_lowering *, const ast_expression *, const distribution *, value *);
svmp_status svmp_call_interval(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_round_to(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_sums(model_lowering *, const ast_expression *, value *);
svmp_status svmp_call_ranked(model_lowering *, const ast_expression *, value *);

typedef struct evaluated_distribution {
    size_t count;
    value arguments[DISTRIBUTION_ARGUMENTS];
    model_item lower, upper; /* of T(,); infinite where there is none */
} evaluated_distribution;

/* Evaluates arguments and bounds of the current statement; the arguments stay on the item stack. */
svmp_status svmp_expand_distribution(model_lowering *lowering, evaluated_distribution *result);

/* ---- name_graph.c ----------------------------------------------------------------------------- */

svmp_status svmp_names_graph(model_lowering *lowering);

/* Whether the name on the left of a statement stands behind it again: x[t] ~ dnorm(x[t-1], tau). */
bool svmp_leads_to_itself(const model_lowering *lowering, const ast_statement *statement);

/* Whether an expression depends on discrete unknowns, by its names. NULL: no. */
bool svmp_reads_discrete(const model_lowering *lowering, const ast_expression *expression);

/* ---- leaves.c --------------------------------------------------------------------------------- */

/* Marks the instances whose unknown elements are leaves, and lists what each instance reads. */
svmp_status svmp_find_leaves(model_lowering *lowering);
/* How many elements of a stochastic instance are unknown, and of how many. */
svmp_status svmp_count_unknown(model_lowering *lowering, uint32_t which, size_t *unknown, size_t *count);

/* ---- stored_elements.c ------------------------------------------------------------------------ */

/* Marks the instances whose elements are to be stored. */
svmp_status svmp_stored_choose(model_lowering *lowering);
/* From here on they are read as rows, once the nodes are made. */
svmp_status svmp_stored_begin(model_lowering *lowering);
svmp_status svmp_stored_read(model_lowering *lowering, model_element *element);
/* Makes the programs of the rows that were read, and of those that these read. */
svmp_status svmp_stored_compute(model_lowering *lowering);
/* Lists the rows in the result, whose groups are there: numbering[pattern] says which. */
svmp_status svmp_stored_finish(model_lowering *lowering, const uint32_t *numbering);

/* ---- unknown_nodes.c --------------------------------------------------------------------------------- */

/* Makes the node of a stochastic instance, if it has unknown elements. */
svmp_status svmp_make_node(model_lowering *lowering, uint32_t which);

/* Leaves' variables come behind those of all nodes, once these are made. */
void svmp_place_leaves(model_lowering *lowering);

/* The node or leaf that an instance defines; NULL: it has no unknown elements. */
static inline lowered_node *svmp_instance_node(const model_lowering *lowering, uint32_t which) {
    const model_instance *instance = &lowering->instances[which];
    if (instance->node == NOTHING) return NULL;
    return (instance->leaf ? lowering->result->leaves : lowering->result->nodes) + instance->node;
}

/* The natural values of all outputs of the node that an instance defines, as expressions, kept in the elements' memos,
 * and log |Jacobian|. */
svmp_status svmp_node_natural(model_lowering *lowering, uint32_t defining, expr *jacobian);

/* Whether elements of the node can be had without the others, and one of them: its memo. */
bool svmp_node_has_elements(const model_lowering *lowering, uint32_t defining);
svmp_status svmp_node_element(model_lowering *lowering, model_element *element);

/* The bounds of element `part` of a node of one dimension, its support narrowed by T(,) and by what dinterval says of
 * `which` of all elements. */
svmp_status svmp_node_bounds(model_lowering *lowering, const distribution *family,
                             const evaluated_distribution *evaluated, size_t part, size_t which, model_item *lower,
                             model_item *upper);

/* Of dsum, the present instance, makes one of its unknowns the observed sum less the other terms, if that can be. */
svmp_status svmp_rest_choose(model_lowering *lowering, double sum);
/* Its value, as its memo. */
svmp_status svmp_rest_read(model_lowering *lowering, model_element *rest);

/* The one element that a variable of the model names, or SIZE_MAX. */
svmp_status svmp_find_element(model_lowering *lowering, const ast_expression *variable, size_t *found);

/* Notes what a dinterval instance says about the node that it censors. */
svmp_status svmp_censor(model_lowering *lowering, uint32_t which);
/* The bounds that a dinterval instance gives it. */
svmp_status svmp_censor_bounds(model_lowering *lowering, uint32_t which, model_item *low, model_item *high);

/* x.3.1 of x[3,1]; x of a scalar. The caller's. */
svmp_status svmp_output_name(const model_lowering *lowering, uint32_t symbol, size_t offset, char **name);

/* ---- monitors.c ------------------------------------------------------------------------------ */

/* Adds the deterministic nodes whose names stand in `list`, commas between them; NULL: none. */
svmp_status svmp_add_monitors(model_lowering *lowering, const char *list);

/* pointwise_likelihood.c: "log_lik", "deviance" and "posterior_predictive"; *is is whether the name is one of these,
 * which it adds. */
svmp_status svmp_add_likelihood(model_lowering *lowering, const char *name, size_t length, bool *is);

/* replicates.c: where "posterior_predictive" is monitored, the statements that draw the observed arrays once more. */
#define REPLICATE_SUFFIX ".rep"
svmp_status svmp_replicate(ast_model *ast, const data_set *data, const char *monitors);

/* ---- array_descriptions.c ----------------------------------------------------------------------------- */

/* Fills the list of arrays of the result, once the nodes are made, and the names of those that are computed. */
svmp_status svmp_describe_arrays(model_lowering *lowering);

/* ---- data_draws.c ----------------------------------------------------------------------------- */

/* Draws the elements of the current instance that are not given; what is wrong is noted. */
svmp_status svmp_simulate(model_lowering *lowering, uint32_t which);

/* ---- factor_builder.c, patterns.c, compile_order.c ----------------------------------------------------------- */

/* Adds the factor of a stochastic or factor() instance. */
svmp_status svmp_add_factor(model_lowering *lowering, uint32_t which);

/* The log density or potential of an instance for the present combination of discrete unknowns, as an expression;
 * -inf where the combination cannot be. */
svmp_status svmp_factor_entry(model_lowering *lowering, uint32_t which, expr *entry);
/* Fails with the reason why the combination cannot be. */
svmp_status svmp_factor_refuse(model_lowering *lowering, uint32_t which);
/* The log density of what an instance observes, given all unknowns, those that were drawn included. */
svmp_status svmp_factor_likelihood(model_lowering *lowering, uint32_t which, expr *entry);
/* The program of a fresh pattern. */
svmp_status svmp_factor_finish(model_lowering *lowering, uint32_t which, expr total);

/* The pattern with the structure of the builder's expressions, these words, and these expressions picked out, or a new
 * one without a program (*fresh), for as many slots and parameters as there are now. */
svmp_status svmp_pattern_find(model_lowering *lowering, pattern_kind kind, size_t word_count, const uint64_t *words,
                              size_t picked_count, const expr *picked, uint32_t *which, bool *fresh);
/* One more instance: its first slots and parameters, if this process needs it. */
svmp_status svmp_pattern_append(model_lowering *lowering, uint32_t which);
/* Turns patterns into groups, priors and monitors of the result. */
svmp_status svmp_patterns_finish(model_lowering *lowering);

/* Notes directed cycles; otherwise fills levels and order of the nodes. */
svmp_status svmp_order_nodes(model_lowering *lowering);

#endif
