/* Draws from the distributions of a model text's nodes: a start from the priors, and the leaves after a run. */
#include <math.h>
#include <string.h>

#include "model/leaf_order.h"

/* ---- one node, one particle ----------------------------------------------------------------- */

/* Whether the distribution takes these arguments. A probability may be 1 but for rounding, as in the density. */
static bool are_taken(const distribution *family, const lowered_prior *prior, number_array *arguments,
                      double *workspace) {
    const double slack = 1e-9;
    for (size_t j = 0; j < prior->arguments; j++) {
        if (family->argument[j].domain == DOMAIN_PROBABILITY) {
            const double p = arguments[j].items[0];
            workspace[j] = p > 1 && p <= 1 + slack ? 1 : p;
            arguments[j].items = &workspace[j];
        }
        if (!svmp_distribution_accepts(family, j, arguments[j], NULL, 0)) return false;
    }
    return svmp_distribution_arguments_agree(family, prior->rows, arguments, NULL, 0);
}

/* The whole left-hand side is drawn; its unknown part goes to work->values. */
static svmp_status draw_array(const lowered_model *lowered, const lowered_node *node, random_source source,
                              const number_array *arguments, prior_workspace *work, bool *drawn) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    number_array own[DISTRIBUTION_ARGUMENTS];
    double workspace[DISTRIBUTION_ARGUMENTS], *whole = work->variables; /* as long as the left-hand side */
    memcpy(own, arguments, sizeof own);
    if (prior->leaf && !are_taken(node->distribution, prior, own, workspace)) return SVMP_OK;
    SVMP_TRY(svmp_distribution_draw(lowered->context, node->distribution, source, prior->rows, prior->columns, own,
                                    -INFINITY, INFINITY, drawn, whole));
    for (size_t k = 0; *drawn && k < node->outputs; k++) {
        const double value = work->values[k] = whole[lowered->parts[node->output + k]];
        if (prior->bounds > 0 && !(value > work->lower[k] && value < work->upper[k])) *drawn = false;
    }
    return SVMP_OK;
}

/* One of many elements has its own of the arguments; of a single one an argument may be a vector (dcat). */
static void pick_own(const lowered_prior *prior, size_t part, const number_array *arguments, number_array *own) {
    const bool elementwise = prior->rows * prior->columns > 1;
    for (size_t j = 0; j < prior->arguments; j++) {
        const bool one = arguments[j].rows * arguments[j].columns == 1;
        own[j] = elementwise ? (number_array){1, 1, arguments[j].items + (one ? 0 : part)} : arguments[j];
    }
}

/* Each unknown element by itself. Of a leaf, also between bounds that hardly any draw hits. */
static svmp_status draw_elements(const lowered_model *lowered, const lowered_node *node, random_source source,
                                 const number_array *arguments, prior_workspace *work, bool *drawn) {
    const lowered_prior *prior = &lowered->priors[node->prior];
    const uint64_t *places = source.places; /* of each element one */
    if (source.place_count > 1) source.place_count = 1;
    *drawn = true;
    for (size_t k = 0; *drawn && k < node->outputs; k++) {
        number_array own[DISTRIBUTION_ARGUMENTS];
        double workspace[DISTRIBUTION_ARGUMENTS];
        pick_own(prior, lowered->parts[node->output + k], arguments, own);
        *drawn = !prior->leaf || are_taken(node->distribution, prior, own, workspace);
        if (!*drawn) break;
        source.stream.a = node->key + k;
        source.places = places ? places + lowered->parts[node->output + k] : NULL;
        double *value = &work->values[k];
        const double low = work->lower[k], high = work->upper[k];
        SVMP_TRY(prior->leaf ? svmp_distribution_draw_truncated(lowered->context, node->distribution, source, own, low,
                                                                high, drawn, value)
                             : svmp_distribution_draw(lowered->context, node->distribution, source, 1, 1, own, low,
                                                      high, drawn, value));
    }
    return SVMP_OK;
}

/* The natural values of particle l, from what svmp_prior_evaluate left, to work->values. */
static svmp_status draw_values(const lowered_model *lowered, const lowered_node *node, random_source source, size_t n,
                               size_t l, prior_workspace *work, bool *drawn) {
    number_array arguments[DISTRIBUTION_ARGUMENTS] = {{0}};
    *drawn = false;
    svmp_prior_bounds(lowered, node, n, l, work);
    svmp_prior_arguments(lowered, node, n, l, work, arguments);
    if (!node->distribution->proper) return SVMP_OK;
    return node->distribution->rank == RANK_SCALAR ? draw_elements(lowered, node, source, arguments, work, drawn)
                                                   : draw_array(lowered, node, source, arguments, work, drawn);
}

/* ---- a start -------------------------------------------------------------------------------- */

static svmp_status draw_node(const lowered_model *lowered, const lowered_node *node, uint64_t seed, size_t n,
                             double *variables, prior_workspace *work) {
    svmp_prior_evaluate(lowered, node, n, variables, work);
    for (size_t l = 0; l < n; l++) {
        random_stream stream = {.seed = seed, .purpose = RANDOM_INIT, .a = node->key, .b = l};
        bool drawn;
        SVMP_TRY(draw_values(lowered, node, (random_source){.stream = stream}, n, l, work, &drawn));
        drawn = drawn && svmp_transform_inverse(node->transform, node->outputs, work->lower, work->upper, work->values,
                                                work->variables);
        if (drawn) svmp_prior_to_moved(lowered, node, n, l, work);
        for (size_t k = 0; drawn && k < node->variables; k++) drawn = isfinite(work->variables[k]);
        if (!drawn) svmp_random_normals(stream, node->variables, work->variables);
        svmp_prior_put(node, n, l, work->variables, variables);
    }
    return SVMP_OK;
}

static svmp_status draw_nodes(const lowered_model *lowered, size_t from, size_t to, uint64_t seed, size_t n,
                              double *variables) {
    prior_workspace work = {0};
    svmp_status status = svmp_prior_reserve(lowered, n, &work);
    for (size_t k = from; status == SVMP_OK && k < to; k++)
        status = draw_node(lowered, &lowered->nodes[lowered->by_level[k]], seed, n, variables, &work);
    svmp_prior_release(lowered, &work);
    return status;
}

svmp_status svmp_lowered_draw(const lowered_model *lowered, uint64_t seed, size_t n, double *variables) {
    memset(variables, 0, lowered->variables * n * sizeof *variables);
    return draw_nodes(lowered, 0, lowered->node_count, seed, n, variables);
}

svmp_status svmp_lowered_draw_level(const lowered_model *lowered, size_t level, uint64_t seed, size_t n,
                                    double *variables) {
    return draw_nodes(lowered, svmp_lowered_level_start(lowered, level), svmp_lowered_level_start(lowered, level + 1),
                      seed, n, variables);
}

/* ---- leaves --------------------------------------------------------------------------------- */

static svmp_status draw_leaf(const lowered_model *lowered, const lowered_node *leaf, const leaf_draws *draws,
                             leaf_order *order, size_t n, double *variables, prior_workspace *work) {
    const lowered_prior *prior = &lowered->priors[leaf->prior];
    const size_t elements = prior->rows * prior->columns;
    svmp_prior_evaluate(lowered, leaf, n, variables, work);
    if (draws->strata) svmp_leaf_order_find(lowered, leaf, work, order);
    for (size_t l = 0; l < n; l++) {
        const random_stream stream = {
            .seed = draws->seed, .purpose = RANDOM_LEAF, .a = leaf->key, .b = draws->number[l]};
        random_source source = {.stream = stream};
        if (draws->strata) {
            source.strata = order->strata;
            source.places = order->places + l * elements;
            source.place_count = elements;
        }
        bool drawn;
        SVMP_TRY(draw_values(lowered, leaf, source, n, l, work, &drawn));
        for (size_t k = 0; !drawn && k < leaf->variables; k++) work->values[k] = NAN;
        svmp_prior_put(leaf, n, l, work->values, variables);
    }
    return SVMP_OK;
}

svmp_status svmp_lowered_draw_leaves(const lowered_model *lowered, const leaf_draws *draws, size_t n,
                                     double *variables) {
    prior_workspace work = {0};
    leaf_order order = {0};
    svmp_status status = svmp_prior_reserve(lowered, n, &work);
    if (status == SVMP_OK) status = svmp_leaf_order_reserve(lowered, draws->strata, n, draws->number, &order);
    for (size_t k = 0; status == SVMP_OK && k < lowered->leaf_count; k++)
        status = draw_leaf(lowered, &lowered->leaves[lowered->leaves_by_level[k]], draws, &order, n, variables, &work);
    svmp_leaf_order_release(lowered, &order);
    svmp_prior_release(lowered, &work);
    return status;
}
