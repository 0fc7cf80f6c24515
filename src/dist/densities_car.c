/* GeoBUGS' conditional autoregressions. The map is data: its numbers are literals in the expressions. */
#include "dist/densities.h"

#include <math.h>

#include "dist/formula_words.h"
#include "dist/map_neighbours.h"

/* The literals of an array as numbers; the caller releases them. */
static double *numbers_of(program_builder *b, const expr_array *array) {
    double *numbers = NULL;
    const svmp_status status = SVMP_NEW(svmp_builder_context(b), numbers, array->rows);
    if (status != SVMP_OK) svmp_builder_fail(b, status, "Out of memory: cannot allocate a map.");
    for (size_t k = 0; numbers && k < array->rows; k++)
        if (!svmp_expr_is_literal(b, array->items[k], &numbers[k]))
            svmp_builder_fail(b, SVMP_BAD_CALL, "The map of a conditional autoregression must be data.");
    return numbers;
}

/* ---- car.normal: tau^((n - c)/2) exp(-tau/2 sum over pairs of w_ij (x_i - x_j)^2), of n areas with neighbours in c
 * components. On the vectors whose sum is 0, where it is a density if c is 1; its constant, which the weights decide,
 * is left out. ---- */

static expr intrinsic(program_builder *b, const car_map *map, size_t *root, expr_array value, expr tau) {
    expr sum = NUMBER(0);
    size_t e = 0, islands;
    const size_t components = svmp_car_components(map, root, &islands);
    for (size_t i = 0; i < map->areas; i++)
        for (const size_t end = e + (size_t)map->num[i]; e < end; e++) {
            const size_t j = (size_t)map->adj[e] - 1;
            if (j > i) sum = ADD(sum, MUL(NUMBER(map->weight[e]), SQUARE(SUB(value.items[i], value.items[j]))));
        }
    const double rank = (double)(map->areas - islands - components);
    return SUB(MUL(NUMBER(rank / 2), LOG(tau)), HALF(MUL(tau, sum)));
}

expr svmp_car_normal_density(program_builder *b, expr_array value, const expr_array *arguments) {
    double *adj = numbers_of(b, &arguments[0]), *weight = numbers_of(b, &arguments[1]);
    double *num = numbers_of(b, &arguments[2]);
    size_t *root = NULL;
    expr density = NUMBER(NAN);
    const svmp_status status = SVMP_NEW(svmp_builder_context(b), root, value.rows);
    if (status != SVMP_OK) svmp_builder_fail(b, status, "Out of memory: cannot allocate a map.");
    const car_map map = {value.rows, arguments[0].rows, adj, num, weight};
    if (adj && weight && num && root && svmp_builder_status(b) == SVMP_OK)
        density = intrinsic(b, &map, root, value, ARGUMENT(3));
    svmp_release_all(svmp_builder_context(b), adj, weight, num, root);
    return density;
}

/* ---- car.proper: a normal distribution of mean mu and precision tau M^-1 (I - gamma C), whose determinant is tau^n
 * prod (1 - gamma l_i) / M_i with the eigenvalues l of C ---- */

static expr proper(program_builder *b, const car_map *map, const double *m, const double *eigenvalue, expr_array value,
                   const expr_array *arguments) {
    expr tau = ARGUMENT(5), gamma = ARGUMENT(6), sum = NUMBER(0), logs = NUMBER(0);
    double constant = -0.5 * (double)map->areas * log(2 * acos(-1.0));
    size_t e = 0;
    for (size_t i = 0; i < map->areas; i++) {
        expr own = SUB(value.items[i], arguments[0].items[i]), others = NUMBER(0);
        constant -= 0.5 * log(m[i]);
        if (eigenvalue[i] != 0) logs = ADD(logs, LOG(SUB(NUMBER(1), MUL(gamma, NUMBER(eigenvalue[i])))));
        for (const size_t end = e + (size_t)map->num[i]; e < end; e++) {
            const size_t j = (size_t)map->adj[e] - 1;
            if (j > i) /* both orders of the pair */
                others = ADD(others, MUL(NUMBER(2 * map->weight[e]), SUB(value.items[j], arguments[0].items[j])));
        }
        sum = ADD(sum, MUL(NUMBER(1 / m[i]), MUL(own, SUB(own, MUL(gamma, others)))));
    }
    expr determinant = ADD(MUL(NUMBER((double)map->areas), LOG(tau)), logs);
    return ADD(NUMBER(constant), HALF(SUB(determinant, MUL(tau, sum))));
}

expr svmp_car_proper_density(program_builder *b, expr_array value, const expr_array *arguments) {
    double *c = numbers_of(b, &arguments[1]), *adj = numbers_of(b, &arguments[2]), *num = numbers_of(b, &arguments[3]);
    double *m = numbers_of(b, &arguments[4]), *eigenvalue = NULL;
    expr density = NUMBER(NAN);
    const car_map map = {value.rows, arguments[2].rows, adj, num, c};
    svmp_status status = SVMP_NEW(svmp_builder_context(b), eigenvalue, value.rows);
    const bool whole = c && adj && num && m && svmp_builder_status(b) == SVMP_OK;
    if (status == SVMP_OK && whole) status = svmp_car_eigenvalues(svmp_builder_context(b), &map, m, eigenvalue);
    if (status != SVMP_OK)
        svmp_builder_fail(b, status, "Cannot compute the eigenvalues of the matrix C of car.proper.");
    if (whole && status == SVMP_OK) density = proper(b, &map, m, eigenvalue, value, arguments);
    svmp_release_all(svmp_builder_context(b), c, adj, num, m, eigenvalue);
    return density;
}
