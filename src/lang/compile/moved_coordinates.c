/* Nodes of location-scale families, moved in other coordinates than their own.
 *
 * Let u be the node on the whole line (its logarithm, of dlnorm), with location m and scale s that depend on other
 * unknowns, and P = 1/s^2. What is moved is z:
 *
 *     centred        u = z
 *     not centred    u = m + P^-1/2 z
 *     between        u = (J e + P m)/(J + P) + (J + P)^-1/2 z
 *
 * For a normal prior, and data that say of u what a Gaussian of precision J and mean e says, the last one is mean and
 * standard deviation of u given m and s: z is standard normal, whatever they are. J = 0 is not centred, and so is it
 * where s is small; where s is large it is centred but for e and J. With the Jacobian (J + P)^-1/2 the density of u is
 * that of
 *
 *     z ~ the same family, with location J (m - e) (J + P)^-1/2 and scale (1 + J/P)^1/2,
 *
 * which is all that is left of the node's own factor. In terms of the argument tau, s = tau^p: P is tau or its square.
 */
#include "lang/compile/moved_coordinates.h"

#include <math.h>

#include "dist/formula_words.h"

/* ---- whether ---------------------------------------------------------------------------------- */

static bool depends(const model_lowering *lowering, const value *argument) {
    for (size_t k = argument->first; k < argument->first + argument->count; k++)
        if (!svmp_item_known(lowering->items[k])) return true;
    return false;
}

/* On the whole line, but for the 0 of dlnorm: not truncated, not censored. */
static bool is_free(const model_lowering *lowering, const lowered_node *node) {
    if (node->transform == TRANSFORM_LINE) return true;
    if (node->transform != TRANSFORM_ABOVE || node->distribution->support != SUPPORT_POSITIVE) return false;
    for (size_t k = node->output; k < node->output + node->outputs; k++)
        if (!svmp_item_known(lowering->lower[k]) || lowering->lower[k].number != 0) return false;
    return true;
}

svmp_status svmp_coordinates_choose(model_lowering *lowering, const evaluated_distribution *evaluated, size_t elements,
                                    size_t which, lowered_node *node) {
    node->coordinates.centring = 1;
    if (svmp_distribution_location_scale(node->distribution) == NULL || node->outputs < elements ||
        !is_free(lowering, node))
        return SVMP_OK;
    if (!depends(lowering, &evaluated->arguments[0]) && !depends(lowering, &evaluated->arguments[1])) return SVMP_OK;
    /* a chain stays as it is: its last link would depend on all others */
    node->location_scale = !svmp_leads_to_itself(lowering, lowering->statement);
    if (!node->location_scale) return SVMP_OK;
    node->coordinates.centring = lowering->choices->centring;
    if (lowering->choices->coordinates) node->coordinates = lowering->choices->coordinates[which];
    return SVMP_OK;
}

/* ---- how ---------------------------------------------------------------------------------------- */

/* Element `part` of an argument that all elements share, or that has one for each. */
static svmp_status build_argument(model_lowering *lowering, const value *argument, size_t part, expr *built) {
    return svmp_item_build(lowering, lowering->items[argument->first + (argument->count == 1 ? 0 : part)], built);
}

/* A number of the node's own, which instances of one structure do not share. */
static svmp_status build_number(model_lowering *lowering, double number, expr *built) {
    return svmp_item_build(lowering, svmp_item_number(number), built);
}

/* u = origin + z / root, and the arguments of the density of z. */
typedef struct moved_parts {
    expr origin, root, location, tau;
} moved_parts;

static svmp_status build_parts(model_lowering *lowering, const lowered_node *node, expr m, expr tau,
                               moved_parts *parts) {
    program_builder *b = lowering->builder;
    const bool square = svmp_distribution_location_scale(node->distribution)->power == -1;
    const node_coordinates *known = &node->coordinates;
    expr information, centre, both, precision = square ? SQUARE(tau) : tau;
    if (node->coordinates.centring == 0) {
        *parts = (moved_parts){m, square ? tau : SQRT(tau), NUMBER(0), NUMBER(1)};
        return svmp_builder_status(b);
    }
    SVMP_TRY(build_number(lowering, known->information, &information));
    SVMP_TRY(build_number(lowering, known->centre, &centre));
    SVMP_TRY(build_number(lowering, known->information * known->centre, &both));
    expr sum = ADD(information, precision), ratio = DIV(precision, sum);
    parts->origin = DIV(ADD(both, MUL(precision, m)), sum);
    parts->root = SQRT(sum);
    parts->location = DIV(MUL(information, SUB(m, centre)), parts->root);
    parts->tau = square ? SQRT(ratio) : ratio; /* whose power p is the scale of z */
    return svmp_builder_status(b);
}

svmp_status svmp_coordinates_build(model_lowering *lowering, const lowered_node *node, expr *variables) {
    program_builder *b = lowering->builder;
    value arguments[2];
    for (size_t k = 0; k < 2; k++) SVMP_TRY(svmp_expand(lowering, lowering->statement->arguments[k], &arguments[k]));
    for (size_t k = 0; k < node->variables; k++) {
        const size_t part = lowering->result->parts[node->output + k];
        moved_parts parts = {0};
        expr location, tau;
        SVMP_TRY(build_argument(lowering, &arguments[0], part, &location));
        SVMP_TRY(build_argument(lowering, &arguments[1], part, &tau));
        SVMP_TRY(build_parts(lowering, node, location, tau, &parts));
        variables[k] = ADD(parts.origin, DIV(variables[k], parts.root));
    }
    return svmp_builder_status(b);
}

/* Not centred, z has the location 0 and tau = 1, and what these arguments depend on is not even looked at. */
static svmp_status expand_moved(model_lowering *lowering, const lowered_node *node, value *arguments) {
    const ast_statement *statement = lowering->statement;
    for (size_t k = 0; k < statement->argument_count; k++) {
        if (node->coordinates.centring > 0 || k >= 2) {
            SVMP_TRY(svmp_expand(lowering, statement->arguments[k], &arguments[k]));
            continue;
        }
        arguments[k] = (value){.first = lowering->item_count, .count = 1, .shape = svmp_vector_shape(1)};
        SVMP_TRY(svmp_push(lowering, svmp_item_literal(k == 0 ? 0 : 1)));
    }
    return SVMP_OK;
}

svmp_status svmp_coordinates_density(model_lowering *lowering, const lowered_node *node, expr *picked, expr *density) {
    program_builder *b = lowering->builder;
    const distribution *family =
        svmp_distribution_find(svmp_distribution_location_scale(node->distribution)->on_the_line);
    const size_t count = lowering->statement->argument_count;
    value arguments[DISTRIBUTION_ARGUMENTS];
    *density = NUMBER(0);
    SVMP_TRY(expand_moved(lowering, node, arguments));
    for (size_t k = 0; k < node->variables; k++) {
        expr *own = picked + k * (count + 1), *z = own + count;
        expr_array built[DISTRIBUTION_ARGUMENTS];
        for (size_t j = 0; j < count; j++) {
            SVMP_TRY(build_argument(lowering, &arguments[j], lowering->result->parts[node->output + k], &own[j]));
            built[j] = (expr_array){1, 1, &own[j]};
        }
        if (node->coordinates.centring > 0) {
            moved_parts parts = {0};
            SVMP_TRY(build_parts(lowering, node, own[0], own[1], &parts));
            own[0] = parts.location;
            own[1] = parts.tau;
        }
        SVMP_TRY(svmp_input(lowering, (uint32_t)(node->variable + k), z));
        *density = ADD(*density, svmp_distribution_log_density(b, family, (expr_array){1, 1, z}, built, NULL, true));
    }
    return svmp_builder_status(b);
}
