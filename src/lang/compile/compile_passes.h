/* The passes of parsing and compiling.
 *
 * lang/parsed_model.c calls those that no choice changes, once:
 *     semantic_checks.c           functions, distributions and names exist
 *     loops.c                 loops become instances of statements
 *     array_definitions.c     dimensions of arrays; who defines which element
 *     data_draws.c            what data { } draws
 *     deterministic_chains.c  long chains of deterministic elements
 *     censoring.c             censored nodes, observed_sums.c: sums that are observed
 *     name_graph.c            which names lead to which
 *     leaves.c                unknown nodes that nothing observed depends on
 *     replicates.c            observed arrays that are drawn once more: statements that are added to the tree
 *     auxiliary_variable.c    a continuous unknown for texts that have none, likewise
 * lang/compile.c the others, in each compilation:
 *     stored_elements.c       deterministic elements that are computed once, not pasted
 *     unknown_nodes.c         unknown nodes, their transforms and bounds
 *     driven_states.c         states that are moved in place of the unknowns that drive a recursion
 *     dense_normals.c         normal densities of many dimensions whose matrices are stored
 *     moved_coordinates.c     what is moved of location-scale families
 *     factor_builder.c        one instance becomes a factor
 *     patterns.c              factors of equal structure share a program, finish_groups.c: and become a group
 *     discrete_unknowns.c     unknowns with finitely many values
 *     discrete_components.c   those that factors join
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
#ifndef SVMP_LANG_COMPILE_COMPILE_PASSES_H
#define SVMP_LANG_COMPILE_COMPILE_PASSES_H

#include "lang/compile/compile_state.h"

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

/* ---- semantic_checks.c -------------------------------------------------------------------------------- */

/* Notes every unknown function, distribution and name, and wrong counts of arguments; fills in what the tree holds for
 * the checker. */
svmp_status svmp_check(model_lowering *lowering, ast_model *ast);

/* ---- loops.c ------------------------------------------------------------------------------- */

/* Makes instances of all relations below `first`, and calls `visit` for each with its loops' values in place. */
typedef svmp_status (*unroll_visitor)(model_lowering *lowering, uint32_t instance);
svmp_status svmp_unroll(model_lowering *lowering, const ast_statement *first, unroll_visitor visit);

/* Makes an instance the current one: its statement and the values of its loop counters. svmp_leave restores. */
typedef struct place {
    const ast_statement *statement;
    const double *counters;
    uint32_t instance;
} place;
place svmp_enter(model_lowering *lowering, uint32_t which);
void svmp_leave(model_lowering *lowering, place before);

/* Turns an error that was noted into SVMP_OK while more errors can be noted; other failures end the lowering. */
svmp_status svmp_go_on(model_lowering *lowering, svmp_status status);

/* ---- array_definitions.c ------------------------------------------------------------------------------- */

/* Dimensions from `var`; from the left-hand sides of a block, which become instances; then who defines each element. */
svmp_status svmp_declare(model_lowering *lowering);
svmp_status svmp_size_arrays(model_lowering *lowering, const ast_statement *first);
svmp_status svmp_define(model_lowering *lowering);
/* Gives an array that one statement defines as a whole the dimensions of its right-hand side. */
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

/* deterministic_chains.c: computes the pending instance, and all that it waits for. */
svmp_status svmp_compute_pending(model_lowering *lowering);
/* Calls `read` until it waits for nothing. */
typedef svmp_status (*chain_reader)(model_lowering *lowering, void *work);
svmp_status svmp_with_chains(model_lowering *lowering, chain_reader read, void *work);

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
/* The number of such a subscript in the current combination of choices. */
svmp_status svmp_choose_index(model_lowering *lowering, model_item index, size_t extent, model_item *chosen);

/* The elements that a variable names, as numbers on the item stack (from 0 within the array), and their shape with
 * extents of 1 dropped. */
svmp_status svmp_expand_subscript(model_lowering *lowering, const ast_expression *variable, value *offsets);
/* Number k of these elements. */
static inline model_element *svmp_element_at(const model_lowering *lowering, uint32_t symbol, const value *offsets,
                                             size_t k) {
    return lowering->elements + lowering->arrays[symbol].first + (size_t)lowering->items[offsets->first + k].number;
}

/* Whether an instance defines one element. */
svmp_status svmp_defines_one(model_lowering *lowering, uint32_t which, bool *one);

/* The shape alone; reads nothing. */
svmp_status svmp_variable_shape(model_lowering *lowering, const ast_expression *variable, array_shape *result);

/* ---- product_checks.c ------------------------------------------------------------------------------ */

/* An infinite number times an unknown has no finite value: an error that names the datum. The numbers are elements
 * `left_part` and `right_part` of the two operands of `call`. */
svmp_status svmp_check_product(model_lowering *lowering, const ast_expression *call, model_item left, size_t left_part,
                               model_item right, size_t right_part);

/* ---- argument_checks.c -------------------------------------------------------------------------------- */

typedef struct evaluated_distribution {
    size_t count;
    value arguments[DISTRIBUTION_ARGUMENTS];
    model_item lower, upper; /* of T(,); infinite where there is none */
} evaluated_distribution;

/* An argument for element `part` of the left-hand side: one number serves for all. */
static inline model_item svmp_argument_at(const model_lowering *lowering, const value *argument, size_t part) {
    return lowering->items[argument->first + (argument->count == 1 ? 0 : part)];
}

/* Evaluates arguments and bounds of the current statement; the arguments stay on the item stack. */
svmp_status svmp_expand_distribution(model_lowering *lowering, evaluated_distribution *result);

/* ---- category_labels.c ------------------------------------------------------------------------ */

/* Notes the labels of dimensions that text in the data subscripts. */
svmp_status svmp_label_arrays(model_lowering *lowering);

/* ---- name_graph.c ----------------------------------------------------------------------------- */

svmp_status svmp_names_graph(model_lowering *lowering);

/* Marks the names, by symbol, that the distribution of another name depends on, or a factor(). */
void svmp_names_read(const model_lowering *lowering, bool *read);

/* Whether the name on the left of a statement stands behind it again: x[t] ~ dnorm(x[t-1], tau). */
bool svmp_leads_to_itself(const model_lowering *lowering, const ast_statement *statement);

/* Whether an expression depends on discrete unknowns, by its names. NULL: no. */
bool svmp_reads_discrete(const model_lowering *lowering, const ast_expression *expression);

/* ---- leaves.c --------------------------------------------------------------------------------- */

/* Marks the instances whose unknown elements are leaves, and lists what each instance reads. */
svmp_status svmp_find_leaves(model_lowering *lowering);
/* The elements on the left of an instance, as numbers on the item stack (from 0 within the array), which the caller
 * empties. */
svmp_status svmp_instance_elements(model_lowering *lowering, uint32_t which, value *offsets);
/* How many of them are in a state, and of how many. */
svmp_status svmp_count_elements(model_lowering *lowering, uint32_t which, element_state state, size_t *found,
                                size_t *count);

/* ---- stored_elements.c ------------------------------------------------------------------------ */

/* Marks the instances whose elements are to be stored. */
svmp_status svmp_stored_choose(model_lowering *lowering);
/* Called once the nodes are made: from then on stored elements are read as rows. */
svmp_status svmp_stored_begin(model_lowering *lowering);
svmp_status svmp_stored_read(model_lowering *lowering, model_element *element);
/* Makes the programs of the rows that were read, and of those that these read. */
svmp_status svmp_stored_compute(model_lowering *lowering);
/* Lists the rows in the result, whose groups are there: numbering[pattern] says which. */
svmp_status svmp_stored_finish(model_lowering *lowering, const uint32_t *numbering);

/* ---- unknown_nodes.c --------------------------------------------------------------------------------- */

/* Makes the node of a stochastic instance, if it has unknown elements. */
svmp_status svmp_make_node(model_lowering *lowering, uint32_t which);

/* Numbers the variables of leaves after those of all nodes, once the nodes are made. */
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

/* If possible, replaces one unknown of the current dsum instance by the observed sum less the other terms. */
svmp_status svmp_difference_choose(model_lowering *lowering, double sum);
/* Evaluates it into its memo. */
svmp_status svmp_difference_read(model_lowering *lowering, model_element *difference);

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
/* One value of the builder under this name, which is taken over; the words are as in svmp_pattern_find. */
svmp_status svmp_add_monitor(model_lowering *lowering, size_t word_count, const uint64_t *words, expr built,
                             char *name);

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
/* One more instance, with this number unless `instance` is NULL: its first slots and parameters, if this process needs
 * it. */
svmp_status svmp_pattern_append(model_lowering *lowering, uint32_t which, uint32_t *instance);
/* All three: finds the pattern, gives a new one its program, of one log value or of `count` values, and appends. */
svmp_status svmp_pattern_add_factor(model_lowering *lowering, pattern_kind kind, size_t word_count,
                                    const uint64_t *words, size_t picked_count, const expr *picked, expr total,
                                    uint32_t *which, uint32_t *instance);
svmp_status svmp_pattern_add_values(model_lowering *lowering, pattern_kind kind, size_t word_count,
                                    const uint64_t *words, size_t count, const expr *values, uint32_t *which,
                                    uint32_t *instance);
/* Turns patterns into groups, priors and monitors of the result. */
svmp_status svmp_patterns_finish(model_lowering *lowering);

/* Notes directed cycles; otherwise fills levels and order of the nodes. */
svmp_status svmp_order_nodes(model_lowering *lowering);

#endif
