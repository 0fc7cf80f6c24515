/* The state that the passes of parsing and compiling share; the passes are in compile_passes.h. */
#ifndef SVMP_LANG_COMPILE_COMPILE_STATE_H
#define SVMP_LANG_COMPILE_COMPILE_STATE_H

#include "lang/compile.h"
#include "lang/parse/parsed_text.h"
#include "sample/particles.h"

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
    bool dense;        /* a normal density of many dimensions whose matrix is stored (dense_normals.c) */
    bool is_state;     /* its element is moved in place of the unknown that drives it (driven_states.c): */
    uint32_t driver;   /* the instance before on the way from the unknown to the state, of those behind the unknown, */
    uint32_t state;    /* and of the unknown, the state's instance; NOTHING */
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
    lowered_prior shape;        /* of a prior */
    struct dense_normal *dense; /* in place of a program (dense_normals.c) */
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

    /* while the model is parsed */
    const named_variables
        *given;     /* unknowns that draws have values of: all others are leaves; NULL: there are no draws */
    bool fresh;     /* the data are not those of the draws: no responses are given */
    bool simulated; /* what is observed of stochastic nodes is drawn, too */

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
    struct matrix *matrices; /* what is in these files; of several processes only the first one has them */
    text_source *texts;      /* model and data in the order of the files, until they are parsed */
    size_t text_count;
    svmp_text *text;         /* NULL until it is parsed */
    bool text_is_given;      /* the caller owns it */
    data_set *read;          /* from files, or without any numbers */
    const data_set *data;    /* these, or what was given */
    char *monitors;          /* NULL: none */
    char *statements;        /* added to the text, until it is parsed; NULL: none */
    named_variables given;   /* until it is parsed */
    bool simulated, fresh;   /* as in model_files */
    bool auxiliary;          /* a continuous variable was added, since there was none */
    model_lowering resolved; /* result of the passes that no choice changes */
};

#endif
