/* The state that the passes of parsing and compiling share; the passes are in compile_passes.h. */
#ifndef SVMP_LANG_COMPILE_COMPILE_STATE_H
#define SVMP_LANG_COMPILE_COMPILE_STATE_H

#include "lang/compile.h"
#include "lang/compile/model_elements.h"
#include "lang/parse/parsed_text.h"
#include "sample/particles.h"

#define LOWERING_MOST_ITERATIONS  5000000u
#define LOWERING_MOST_ELEMENTS    5000000u
#define LOWERING_MOST_EXPRESSIONS 2000000u

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

/* The result of parsing. A matrix has only its paths: compiling reads them. */
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
