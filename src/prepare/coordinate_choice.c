/* The information of the data about a node u of a location-scale family, apart from its prior, is approximated by a
 * Gaussian of precision J and mean e (lang/compile/moved_coordinates.c).
 *
 * J is the curvature of the node's other factors, corrected for its children: if u is the location of a node v, and w_v
 * is the share of the data in the conditional precision of v, then w_v P_v of the precision P_v of the link remains
 * after v is integrated out. So children are processed before their parents. e follows from the mean of the score of u
 * without that of its prior, which is J (e - mean u).
 *
 * The share w = J/(J + P) of the data in the precision of u given its location m and scale s determines whether u moves
 * with them. If u hardly moves with m and s there is nothing to gain: either the data determine u, or other data
 * determine m and s. */
#include "prepare/coordinate_choice.h"

#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "model/curvature.h"
#include "model/node_prior.h"
#include "prepare/prepare_constants.h"

/* Sums over the nodes of one statement (precisely: of one prior). */
typedef struct statement_part {
    double share, moves;
    size_t nodes;
} statement_part;

typedef struct chooser {
    const svmp_model *model;
    const lowered_model *lowered;
    size_t n;
    const double *x;
    prior_workspace work;
    double *moved;    /* particles with one variable shifted */
    double *slopes;   /* of a location by one variable, by particle */
    double *score;    /* its mean over the particles, by variable */
    double *diagonal; /* of the mean curvature, by variable; later without the part of the children's priors */
    uint32_t *node_of;
    statement_part *statements; /* by prior */
    node_coordinates *chosen;
} chooser;

/* ---- one node --------------------------------------------------------------------------------- */

/* The part of the prior of one element of a node: means over the particles, and variances. */
typedef struct own_part {
    double u, slope, bend;      /* u, and its own factor's first and negative second derivative by it */
    double information, unit;   /* the prior's information P', and P' in units of P = 1/s^2 */
    double location, log_scale; /* m and log s, */
    double location_variance, log_scale_variance;
} own_part;

static own_part add_prior(chooser *c, const lowered_node *node, size_t k) {
    const distribution *family = node->distribution;
    const double power = svmp_distribution_location_scale(family)->power, each = 1 / (double)c->n;
    number_array arguments[DISTRIBUTION_ARGUMENTS] = {{0}};
    own_part mean = {0};
    svmp_prior_evaluate(c->lowered, node, c->n, c->x, &c->work);
    for (size_t l = 0; l < c->n; l++) {
        const double u = c->x[(node->variable + k) * c->n + l];
        double own[DISTRIBUTION_ARGUMENTS] = {0};
        svmp_prior_arguments(c->lowered, node, c->n, l, &c->work, arguments);
        for (size_t j = 0; j < family->arguments; j++) {
            const size_t count = arguments[j].rows * arguments[j].columns;
            own[j] = arguments[j].items[count == 1 ? 0 : c->lowered->parts[node->output + k]];
        }
        const double information = svmp_location_scale_information(family, own), log_scale = power * log(own[1]);
        mean.u += each * u;
        mean.slope += each * svmp_location_scale_slope(family, own, u);
        mean.bend += each * svmp_location_scale_curvature(family, own, u);
        mean.information += each * information;
        mean.unit += each * information * exp(2 * log_scale);
        const double location_step = own[0] - mean.location, log_step = log_scale - mean.log_scale; /* Welford's */
        mean.location += location_step / (double)(l + 1);
        mean.log_scale += log_step / (double)(l + 1);
        mean.location_variance += each * location_step * (own[0] - mean.location);
        mean.log_scale_variance += each * log_step * (log_scale - mean.log_scale);
    }
    return mean;
}

/* The coordinates of element k of a node, and how much it moves with m and s. */
static node_coordinates find_coordinates(chooser *c, const lowered_node *node, size_t k, own_part *own, double *moves) {
    *own = add_prior(c, node, k);
    const double beyond = c->diagonal[node->variable + k] - own->bend;
    if (!isfinite(beyond) || !(own->information > 0)) { /* unknown: centred, as in the text */
        *moves = 0;
        return (node_coordinates){.centring = 1};
    }
    const double data = fmax(beyond, 0), share = data / (data + own->information);
    *moves = (1 - share) * sqrt(own->location_variance * exp(-2 * own->log_scale) + own->log_scale_variance);
    if (share <= least_data) return (node_coordinates){.centring = 0};
    const node_coordinates found = {share, data / own->unit,
                                    own->u + (c->score[node->variable + k] - own->slope) / data};
    if (share < most_data && isfinite(found.information) && isfinite(found.centre)) return found;
    return (node_coordinates){.centring = 1};
}

/* ---- the nodes above it ----------------------------------------------------------------------- */

/* location (by particle) at x with the variable shifted by `step`, times `factor`, added to sum. */
static void add_location(chooser *c, const lowered_node *node, uint32_t variable, double step, double factor,
                         double *sum) {
    double *row = c->moved + variable * c->n;
    for (size_t l = 0; l < c->n; l++) row[l] += step;
    svmp_prior_evaluate(c->lowered, node, c->n, c->moved, &c->work);
    for (size_t l = 0; l < c->n; l++) sum[l] += factor * c->work.prior[l];
    memcpy(row, c->x + variable * c->n, c->n * sizeof *row);
}

/* (d location / d variable)^2, by differences: the mean over the particles. */
static double squared_slope(chooser *c, const lowered_node *node, uint32_t variable) {
    const double step = 1e-4;
    memset(c->slopes, 0, c->n * sizeof *c->slopes);
    add_location(c, node, variable, step, 0.5 / step, c->slopes);
    add_location(c, node, variable, -step, -0.5 / step, c->slopes);
    return svmp_dot(c->n, c->slopes, c->slopes) / (double)c->n;
}

/* Subtracts from the curvature of this node's location the part that does not come from the data. */
static void take_from_parents(chooser *c, const lowered_node *node, double handed_on, double bend) {
    const lowered_values *values = &c->lowered->priors[node->prior].values;
    const size_t slots = svmp_program_slots(values->program);
    const uint32_t *variables = values->variables + node->instance * slots;
    for (size_t j = 0; j < slots; j++) {
        if (!c->lowered->nodes[c->node_of[variables[j]]].location_scale) continue;
        const double by = squared_slope(c, node, variables[j]);
        if (isfinite(by)) c->diagonal[variables[j]] -= by * bend * (1 - handed_on);
    }
}

static void choose_node(chooser *c, size_t which) {
    const lowered_node *node = &c->lowered->nodes[which];
    statement_part *all = &c->statements[node->prior];
    own_part own = {0};
    double share = 0, moves = 0;
    for (size_t k = 0; k < node->variables; k++) {
        double one;
        c->chosen[which] = find_coordinates(c, node, k, &own, &one);
        share += c->chosen[which].centring / (double)node->variables;
        moves += one / (double)node->variables;
    }
    if (node->variables > 1) /* the data may inform the elements differently */
        c->chosen[which] = (node_coordinates){.centring = share < 0.5 ? 0 : 1};
    else
        take_from_parents(c, node, share, own.bend);
    all->share += share;
    all->moves += moves;
    all->nodes++;
}

/* Centres all nodes of statements that hardly move with their location and scale. */
static void settle_statements(chooser *c) {
    for (size_t k = 0; k < c->lowered->node_count; k++) {
        const lowered_node *node = &c->lowered->nodes[k];
        const statement_part *all = &c->statements[node->prior];
        if (!node->location_scale) continue;
        const double nodes = (double)all->nodes;
        if (all->moves < small_move * nodes && all->share > weak_data * nodes)
            c->chosen[k] = (node_coordinates){.centring = 1};
    }
}

/* ---- all of them ------------------------------------------------------------------------------ */

static svmp_status measure_curvature(chooser *c) {
    svmp_context *context = c->model->context;
    const size_t variables = c->lowered->variables;
    curvature *measured = NULL;
    double *H = NULL, *score = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_curvature_create(c->model, svmp_context_threads(context), &measured));
    const sparsity *pattern = svmp_curvature_pattern(measured);
    SVMP_CHECK(SVMP_NEW(context, H, pattern->entries));
    SVMP_CHECK(SVMP_NEW(context, score, variables * c->n));
    SVMP_CHECK(svmp_curvature_evaluate(measured, c->n, c->x, NULL, H));
    SVMP_CHECK(svmp_model_evaluate(c->model, c->n, c->x, NULL, score));
    for (size_t i = 0; i < variables; i++) {
        c->diagonal[i] = H[pattern->start[i]];
        for (size_t l = 0; l < c->n; l++) c->score[i] += score[i * c->n + l] / (double)c->n;
    }
done:
    svmp_release(context, H);
    svmp_release(context, score);
    svmp_curvature_free(measured);
    return status;
}

static svmp_status reserve(chooser *c) {
    svmp_context *context = c->model->context;
    const size_t variables = c->lowered->variables;
    SVMP_TRY(svmp_prior_reserve(c->lowered, c->n, &c->work));
    SVMP_TRY(SVMP_NEW(context, c->moved, variables * c->n));
    SVMP_TRY(SVMP_NEW(context, c->slopes, c->n));
    SVMP_TRY(SVMP_NEW(context, c->score, variables));
    SVMP_TRY(SVMP_NEW(context, c->diagonal, variables));
    SVMP_TRY(SVMP_NEW(context, c->node_of, variables));
    SVMP_TRY(SVMP_NEW(context, c->statements, c->lowered->prior_count));
    memcpy(c->moved, c->x, variables * c->n * sizeof *c->moved);
    for (size_t v = 0; v < c->lowered->node_count; v++)
        for (size_t k = 0; k < c->lowered->nodes[v].variables; k++)
            c->node_of[c->lowered->nodes[v].variable + k] = (uint32_t)v;
    return SVMP_OK;
}

svmp_status svmp_centring_choose(const svmp_model *model, size_t n, const double *x, node_coordinates *chosen) {
    chooser c = {.model = model, .lowered = model->lowered, .n = n, .x = x, .chosen = chosen};
    svmp_status status = reserve(&c);
    if (status == SVMP_OK) status = measure_curvature(&c);
    for (size_t k = 0; k < c.lowered->node_count; k++) chosen[k] = c.lowered->nodes[k].coordinates;
    for (size_t k = c.lowered->node_count; status == SVMP_OK && k-- > 0;) /* children first */
        if (c.lowered->nodes[c.lowered->by_level[k]].location_scale) choose_node(&c, c.lowered->by_level[k]);
    if (status == SVMP_OK) settle_statements(&c);
    svmp_prior_release(c.lowered, &c.work);
    void *owned[] = {c.moved, c.slopes, c.score, c.diagonal, c.node_of, c.statements};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(model->context, owned[k]);
    return status;
}

int svmp_model_has_centring_choice(const svmp_model *model) {
    if (model->lowered == NULL || svmp_model_is_gaussian(model)) return 0;
    for (size_t k = 0; k < model->lowered->node_count; k++)
        if (model->lowered->nodes[k].location_scale) return 1;
    return 0;
}
