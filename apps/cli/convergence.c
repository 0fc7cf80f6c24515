#include "convergence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- measuring --------------------------------------------------------------------------------------------------- */

/* The order of nodes from the worst: NaN comes last. */
static double badness(const svmp_discrepancy *d) {
    const double excess = svmp_discrepancy_excess(d);
    return isnan(excess) ? -1 : excess;
}

/* Whether a comes before b: it is worse, or as bad and earlier in the graph. */
static int before(const node_discrepancy *a, const node_discrepancy *b) {
    const double left = badness(&a->discrepancy), right = badness(&b->discrepancy);
    return left > right || (left == right && a->node < b->node);
}

static void keep_worst(convergence *c, const node_discrepancy *node) {
    size_t at = c->worst_count;
    while (at > 0 && before(node, &c->worst[at - 1])) at--;
    if (at == WORST_NODES) return;
    if (c->worst_count < WORST_NODES) c->worst_count++;
    memmove(&c->worst[at + 1], &c->worst[at], (c->worst_count - at - 1) * sizeof *c->worst);
    c->worst[at] = *node;
}

/* Measures this process's own nodes. */
static convergence measure(svmp_run *run, const svmp_model *model, svmp_discrepancy *nodes) {
    const svmp_graph *graph = svmp_model_graph(model);
    convergence c = {.largest_step = NAN, .relative_step = NAN, .nodes = svmp_graph_own(graph)};
    c.known = svmp_run_measure(run, &c.total, nodes) == SVMP_OK;
    for (size_t v = 0; c.known && v < c.nodes; v++) {
        node_discrepancy node = {.node = svmp_graph_node_in_whole(graph, v), .discrepancy = nodes[v]};
        svmp_model_node_name(model, v, node.name, NODE_NAME);
        c.beyond += svmp_discrepancy_excess(&nodes[v]) > 1;
        keep_worst(&c, &node);
    }
    if (!c.known) return c;
    svmp_movement moved;
    if (svmp_run_last_movement(run, &moved) != SVMP_OK) return c;
    c.largest_step = moved.largest;
    c.relative_step = moved.relative;
    c.relative_variable = svmp_graph_variable_in_whole(graph, moved.variable);
    svmp_model_variable_name(model, moved.variable, c.relative_name, sizeof c.relative_name);
    return c;
}

/* Whether the variable that another process has moved farthest is the farthest of all, or as far and earlier. */
static int is_farther(const convergence *c, const convergence *other) {
    return isnan(c->relative_step) || other->relative_step > c->relative_step ||
           (other->relative_step == c->relative_step && other->relative_variable < c->relative_variable);
}

/* Adds what another process has measured. */
static void merge(convergence *c, const convergence *other) {
    c->known &= other->known;
    c->nodes += other->nodes;
    c->beyond += other->beyond;
    for (size_t k = 0; k < other->worst_count; k++) keep_worst(c, &other->worst[k]);
    c->largest_step = fmax(c->largest_step, other->largest_step);
    if (!is_farther(c, other)) return;
    c->relative_step = other->relative_step;
    c->relative_variable = other->relative_variable;
    memcpy(c->relative_name, other->relative_name, sizeof c->relative_name);
}

convergence convergence_measure(const svmp_context *context, svmp_run *run, const svmp_model *model,
                                svmp_discrepancy *nodes) {
    convergence c = measure(run, model, nodes);
    const size_t processes = svmp_context_processes(context);
    convergence *all = calloc(processes, sizeof *all);
    if (svmp_context_any(context, all == NULL) || all == NULL) {
        c.known = 0;
    } else {
        svmp_context_gather(context, sizeof c, &c, all);
        c = all[0];
        for (size_t k = 1; k < processes; k++) merge(&c, &all[k]);
    }
    free(all);
    return c;
}

/* Three digits are enough to colour a node by, and keep the line short. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return strtod(text, NULL);
}

svmp_status convergence_attach(const svmp_context *context, const convergence *c, const svmp_model *model,
                               const svmp_discrepancy *nodes, svmp_particles *particles) {
    if (!c->known) return SVMP_OK;
    const svmp_graph *graph = svmp_model_graph(model);
    const size_t own = svmp_graph_own(graph);
    const int first = svmp_context_process(context) == 0; /* which writes them */
    const size_t whole = first ? c->nodes : 0;
    double *ratio = calloc(whole + own + 1, sizeof *ratio), *excess = calloc(whole + own + 1, sizeof *excess);
    svmp_status status = svmp_context_any(context, ratio == NULL || excess == NULL) ? SVMP_NO_MEMORY : SVMP_OK;
    for (size_t v = 0; status == SVMP_OK && ratio && excess && v < own; v++) {
        ratio[whole + v] = rounded(nodes[v].ratio);
        excess[whole + v] = rounded(svmp_discrepancy_excess(&nodes[v]));
    }
    if (status == SVMP_OK) status = svmp_graph_collect(graph, ratio + whole, first ? ratio : NULL);
    if (status == SVMP_OK) status = svmp_graph_collect(graph, excess + whole, first ? excess : NULL);
    if (status == SVMP_OK && first)
        status = svmp_particles_set_series(particles, "node_ksd_ratio", "node", c->nodes, ratio);
    if (status == SVMP_OK && first)
        status = svmp_particles_set_series(particles, "node_excess", "node", c->nodes, excess);
    free(ratio);
    free(excess);
    return svmp_context_any(context, status != SVMP_OK) && status == SVMP_OK ? SVMP_NO_MEMORY : status;
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

void convergence_write(const convergence *c, FILE *file) {
    if (!c->known) return;
    if (!isfinite(c->total.v)) return;
    fprintf(file, "ksd_u = %.6g\nksd_v = %.6g\nksd_ratio = %.6g\n", c->total.u, c->total.v, c->total.ratio);
    fprintf(file, "ksd_beyond = %zu of %zu\n", c->beyond, c->nodes);
    for (size_t k = 0; k < c->worst_count; k++) {
        const svmp_discrepancy *d = &c->worst[k].discrepancy;
        fprintf(file, "ksd_node %s = %.6g %.6g %.6g %.6g %.6g %.6g\n", c->worst[k].name, d->u, d->v, d->ratio, d->limit,
                d->moment_z, d->moment_limit);
    }
    if (!isnan(c->largest_step)) fprintf(file, "last_step = %.6g\n", c->largest_step);
    if (!isnan(c->relative_step)) fprintf(file, "last_step_sd = %.6g %s\n", c->relative_step, c->relative_name);
}

/* A line without its end; `text` moves on to the next one. 0 when there is none. */
static int next_line(const char **text, char *line, size_t size) {
    if (**text == '\0') return 0;
    const size_t length = strcspn(*text, "\n"), kept = length < size ? length : size - 1;
    memcpy(line, *text, kept);
    line[kept] = '\0';
    *text += length + ((*text)[length] == '\n');
    return 1;
}

/* The text behind "name = ", or NULL. */
static char *value_of(char *line, const char *name) {
    const size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && strncmp(line + length, " = ", 3) == 0 ? line + length + 3 : NULL;
}

static void read_node(convergence *c, char *line) {
    static const char start[] = "ksd_node ";
    char *equals = strstr(line, " = ");
    if (strncmp(line, start, sizeof start - 1) != 0 || equals == NULL || c->worst_count == WORST_NODES) return;
    node_discrepancy *node = &c->worst[c->worst_count];
    *equals = '\0';
    char *rest = equals + 3;
    svmp_discrepancy *d = &node->discrepancy;
    double *numbers[] = {&d->u, &d->v, &d->ratio, &d->limit, &d->moment_z, &d->moment_limit};
    for (size_t k = 0; k < 6; k++) *numbers[k] = strtod(rest, &rest);
    snprintf(node->name, sizeof node->name, "%.*s", NODE_NAME - 1, line + sizeof start - 1);
    c->worst_count++;
}

static void read_counts(convergence *c, char *text) {
    c->beyond = strtoul(text, &text, 10);
    if (strncmp(text, " of ", 4) == 0) c->nodes = strtoul(text + 4, NULL, 10);
}

static void read_relative(convergence *c, char *text) {
    c->relative_step = strtod(text, &text);
    snprintf(c->relative_name, sizeof c->relative_name, "%.*s", NODE_NAME - 1, text + (*text == ' '));
}

convergence convergence_read(const char *comments) {
    convergence c = {.total = {NAN, NAN, NAN, NAN}, .largest_step = NAN, .relative_step = NAN};
    char line[1024], *value;
    while (next_line(&comments, line, sizeof line)) {
        if ((value = value_of(line, "ksd_u"))) c.total.u = strtod(value, NULL);
        if ((value = value_of(line, "ksd_v"))) c.total.v = strtod(value, NULL);
        if ((value = value_of(line, "ksd_ratio"))) c.total.ratio = strtod(value, NULL);
        if ((value = value_of(line, "ksd_beyond"))) read_counts(&c, value);
        if ((value = value_of(line, "last_step"))) c.largest_step = strtod(value, NULL);
        if ((value = value_of(line, "last_step_sd"))) read_relative(&c, value);
        read_node(&c, line);
    }
    c.known = !isnan(c.total.v) && c.nodes > 0;
    return c;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void print_worst(const convergence *c) {
    int width = (int)strlen("worst nodes");
    for (size_t k = 0; k < c->worst_count; k++)
        if ((int)strlen(c->worst[k].name) > width) width = (int)strlen(c->worst[k].name);
    printf("%-*s  %11s %11s %11s %11s %11s %11s\n", width, "worst nodes", "KSD U", "KSD V", "ratio", "limit",
           "moment z", "limit");
    for (size_t k = 0; k < c->worst_count; k++) {
        const svmp_discrepancy *d = &c->worst[k].discrepancy;
        printf("%-*s  %11.3g %11.3g %11.3g %11.3g %11.3g %11.3g%s\n", width, c->worst[k].name, d->u, d->v, d->ratio,
               d->limit, d->moment_z, d->moment_limit, svmp_discrepancy_excess(d) > 1 ? "  fails" : "");
    }
}

void print_convergence(const convergence *c, int worst) {
    if (!c->known) return;
    if (!isfinite(c->total.v)) {
        printf("KSD: undefined, because scores or distances between particles are not finite\n");
        return;
    }
    printf("KSD: V %.3g", c->total.v);
    if (!isnan(c->total.u)) printf(", U %.3g", c->total.u);
    if (!isnan(c->total.ratio) && c->beyond == 0)
        printf("; V is %.2g times its expected value for exact draws", c->total.ratio);
    if (!isnan(c->largest_step)) printf("; last step at most %.2g", c->largest_step);
    if (!isnan(c->relative_step)) printf(", %.2g sd (%s)", c->relative_step, c->relative_name);
    putchar('\n');
    if (worst && c->worst_count && !isnan(c->total.ratio)) {
        putchar('\n');
        print_worst(c);
        putchar('\n');
    }
}
