/* Arrays that grow with the particles are counted one by one. Other memory, per node, variable or edge, is the sum of
 * many small arrays: the numbers are the sizes of the fields named, rounded up. */
#include "run/plan_memory.h"

#include <math.h>

#include "model/evaluator.h"

enum {
    NODE = 20,       /* graph: first, node_key; its name */
    OWN_NODE = 96,   /* graph: neighbourhood_of, members; discrepancy: its bandwidth and its result */
    VARIABLE = 76,   /* variable_key, bounds, rows of the quadratic, gather_start; sums of the discrepancy */
    NEIGHBOUR = 4,   /* graph: neighbourhoods */
    ENTRY = 12,      /* quadratic: column and value */
    ROW = 12,        /* a group's variables, gather_row */
    INSTANCE = 20,   /* a group's origin, its data */
    MIDDLE = 24,     /* of a kernel's term: its last median */
    TEXT_NODE = 300, /* of a model text: the node, its names and prior, the evaluators' shares */

    /* Memory that the heap does not return, as measured: per node of an unrolled text; and, in the process that has
     * partitioned the graph, per node and neighbour. */
    TEXT_LEFT = 75,
    GRAPH_LEFT = 40,
    EDGE_LEFT = 12,
    WRITTEN = 300 /* and there, names and positions for the output file */
};

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Whether the backend keeps the matrix of some neighbourhood. */
static int keeps_matrices(const svmp_graph *graph, const backend_kind *kind, double pairs) {
    for (size_t k = 0; kind->keeps && k < graph->distinct; k++) {
        size_t variables = 0;
        for (size_t e = graph->members.start[k]; e < graph->members.start[k + 1]; e++)
            variables += svmp_graph_node_dimension(graph, graph->members.item[e]);
        if (kind->keeps(pairs, variables)) return 1;
    }
    return 0;
}

/* Numbers that grow with the square of the particles: halves of the stored kernel matrices; three for the discrepancy,
 * which uses at most 1,000 particles of a method without a kernel; counters of terms on all variables, and half of
 * these again during the summation. */
static double squares(const svmp_graph *graph, const run_demand *d) {
    const double n = (double)d->particles, pairs = n * n / 2, measured = d->kernel.count ? n : fmin(n, 1000);
    const int keeps = keeps_matrices(graph, d->backend, pairs);
    int kept = 0, repulsion = 0, radial = d->kernel.count == 0, on_all = 0, products = 0;
    for (size_t a = 0; a < d->kernel.count; a++) {
        const kernel_term *term = &d->kernel.terms[a];
        const int is_radial = term->shape->value != NULL, sees_all = term->domain == DOMAIN_ALL;
        radial |= is_radial;
        kept |= is_radial && (keeps || sees_all);
        repulsion |= kept && term->shape->repulsion != NULL;
        on_all |= sees_all;
        products |= svmp_term_multiplies(term, d->particles, graph->variables);
    }
    const double run = (kept + repulsion) * pairs + 2 * products * n * n;
    const double discrepancy = 1.5 * radial * measured * measured + (on_all + products) * n * n;
    return run + discrepancy + on_all * n * n / 2;
}

/* ---- a part ------------------------------------------------------------------------------------------------------ */

memory_rates svmp_plan_memory_rates(const svmp_model *whole, const run_demand *d) {
    const svmp_graph *graph = whole->graph;
    const double row = (double)d->particles * sizeof(double), variables = (double)graph->variables;
    const double entries = (double)whole->quadratic.start[graph->variables] / variables;
    const double gradient_rows = (double)whole->group_row[whole->group_count] / variables;
    const double scaled = svmp_kernel_measures(&d->kernel, METRIC_SD);
    double linear = 0, gathered = 0, instances = 0, messages = 0;
    for (size_t a = 0; a < d->kernel.count; a++) {
        const kernel_term *term = &d->kernel.terms[a];
        const int is_linear = term->shape->value == NULL;
        messages = fmax(messages, term->domain == DOMAIN_MESSAGE || term->domain == DOMAIN_NEAR);
        linear = fmax(linear, is_linear && term->metric == METRIC_NONE);
        if (is_linear && term->domain == DOMAIN_ALL && !svmp_term_multiplies(term, d->particles, graph->variables))
            gathered = 2 * variables; /* all of them, for the run and the discrepancy */
    }
    for (size_t g = 0; g < whole->group_count; g++) instances += (double)whole->groups[g].instances / variables;
    memory_rates rates = {
        .node = NODE,
        .own_node = OWN_NODE + MIDDLE * (double)d->kernel.count + (whole->lowered ? TEXT_NODE : 0),
        /* x, score, phi, states; x less its mean; the same in units of the sd */
        .variable = VARIABLE + row * (3 + (double)d->states + linear + scaled),
        /* and for messages: their evaluation points, the messages, and incidences of factors; an upper bound for
         * `near` */
        .own_variable =
            ENTRY * entries + ROW * gradient_rows + INSTANCE * instances + messages * (2 * row + ROW * gradient_rows),
        .neighbour = NEIGHBOUR,
        .sent = row,
        .measuring = (1 + linear + 2 * scaled) * row, /* score; x less its mean; both in units of the sd */
        .result = whole->lowered ? 2 * row : 1 * row, /* variables, and their natural values */
        .gradient_rows = gradient_rows,
        .process = sizeof(double) * squares(graph, d) + row * gathered +
                   (whole->lowered ? TEXT_LEFT : 0) * (double)graph->nodes,
        .first = GRAPH_LEFT * (double)graph->nodes + WRITTEN * variables +
                 EDGE_LEFT * (double)graph->neighbourhoods.start[graph->distinct],
        .particles = (double)d->particles,
    };
    return rates;
}

/* The gradients of a wave of factors. */
static double gradients(const memory_rates *rates, double moved_variables) {
    return sizeof(double) * fmin(rates->gradient_rows * moved_variables * rates->particles, EVALUATOR_WAVE);
}

double svmp_plan_memory(const memory_rates *rates, const part_size *part, int first) {
    const double own_nodes = (double)part->nodes, moved_variables = (double)part->variables;
    const double nodes = own_nodes + (double)part->halo_nodes,
                 variables = moved_variables + (double)part->halo_variables;
    return rates->node * nodes + rates->own_node * own_nodes + rates->variable * variables +
           rates->own_variable * moved_variables + rates->neighbour * (double)part->entries +
           rates->sent * (double)part->sent_variables +
           fmax(rates->measuring * variables, rates->result * moved_variables) + gradients(rates, moved_variables) +
           rates->process + (first ? rates->first : 0);
}
