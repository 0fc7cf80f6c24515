/* What the passes of parsing and compiling work on: values, the arrays of the model with their elements, and the
 * instances of its statements. */
#ifndef SVMP_LANG_COMPILE_MODEL_ELEMENTS_H
#define SVMP_LANG_COMPILE_MODEL_ELEMENTS_H

#include "data/data_set.h"
#include "expr/program.h"
#include "lang/parse/syntax_tree.h"

#define NOTHING UINT32_MAX

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
    ELEMENT_KNOWN,      /* value: from data, or computed from what is known */
    ELEMENT_COMPUTED,   /* by a deterministic instance, not evaluated yet */
    ELEMENT_BUSY,       /* being evaluated: reading it now is a cycle */
    ELEMENT_OPAQUE,     /* computed, and depends on unknowns */
    ELEMENT_UNKNOWN,    /* variable or part of a node */
    ELEMENT_DISCRETE,   /* unknown, with finitely many values: summed out */
    ELEMENT_DIFFERENCE, /* the observed sum less the other terms: observed_sums.c */
    ELEMENT_REMAINDER,  /* discrete, and what the others leave of a total: discrete_totals.c */
} element_state;

typedef struct model_element {
    element_state state;
    uint32_t definition; /* instance, or NOTHING */
    uint32_t output;     /* of an unknown one: which output of the result, or which discrete unknown, it is; for
                          * ELEMENT_DIFFERENCE: the dsum instance that defines it */
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
    double largest;    /* observed value among the nodes that depend on it; -1: none is observed (leaves.c) */
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

/* The state of a statement, indexed by its place. */
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

#endif
