/* Real data: a network of ultra-wideband radios, one of received signal strengths, and two crowds; graphical SVGD
 * beside NUTS. There is no validation problem of the same kind, so the step is the one with the lowest Stein
 * discrepancy. A "trial" is a data set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "front/csv_cells.h"
#include "front/error_output.h"
#include "nuts_reference.h"
#include "paper_measure.h"
#include "real_picture.h"
#include "sensors.h"

enum { PARTICLES = 100, ITERATIONS = 6000, CHAINS = 4, PURPOSE_CONTROLS = 1, PURPOSE_START = 2 };
static const char *const steps[] = {"adagrad:0.05", "adagrad:0.1", "adagrad:0.2",
                                    "adagrad:0.5",  "adagrad:1",   "adam:0.05..0.001"};

/* ---- networks -----------------------------------------------------------------------------------------------------
 */

/* The row of a node's name. */
static size_t find(const csv *t, size_t column, const char *name) {
    size_t r = 0;
    while (r < t->rows && strcmp(csv_cell(t, r, column), name) != 0) r++;
    return r;
}

/* Positions, the named anchors first; `order` is row -> point. */
static int read_nodes(const char *path, const char *const *anchors, network *net, csv *nodes, size_t **order) {
    static const char *const x_names[] = {"x_m", NULL}, *const y_names[] = {"y_m", NULL};
    size_t x = 0, y = 0;
    int status = csv_read(path, nodes);
    if (status == 0) status = csv_column(nodes, path, x_names, &x);
    if (status == 0) status = csv_column(nodes, path, y_names, &y);
    if (status) return status;
    *net = (network){.points = nodes->rows, .position = calloc(2 * nodes->rows, sizeof *net->position)};
    *order = calloc(nodes->rows + 1, sizeof **order);
    if (net->position == NULL || *order == NULL) return task_no_memory();
    for (; anchors[net->anchors]; net->anchors++) {
        const size_t row = find(nodes, 0, anchors[net->anchors]);
        if (row == nodes->rows)
            return report_error(EXIT_WRONG, "%s: node '%s' is missing.", path, anchors[net->anchors]);
        (*order)[row] = net->anchors + 1;
    }
    size_t next = net->anchors;
    for (size_t r = 0; r < nodes->rows && status == 0; r++) {
        if ((*order)[r] == 0) (*order)[r] = ++next;
        double *place_ = net->position + 2 * (--(*order)[r]);
        status = csv_number(nodes, path, r, x, &place_[0]);
        if (status == 0) status = csv_number(nodes, path, r, y, &place_[1]);
    }
    return status;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* One range for each pair: the median of all samples of both directions, of those up to `reach`. */
static int read_ranges(const char *path, const char *column, double reach, const csv *nodes, const size_t *order,
                       network *net) {
    const char *const names[] = {column, NULL};
    const size_t n = net->points;
    csv t = {0};
    size_t value = 0, *from = NULL, *to = NULL;
    double *sample = NULL, *pair = NULL;
    int status = csv_read(path, &t);
    if (status == 0) status = csv_column(&t, path, names, &value);
    if (status == 0) {
        from = calloc(t.rows, sizeof *from), to = calloc(t.rows, sizeof *to);
        sample = calloc(t.rows, sizeof *sample), pair = calloc(t.rows, sizeof *pair);
        net->from = calloc(n * n, sizeof *net->from), net->to = calloc(n * n, sizeof *net->to);
        net->range = calloc(n * n, sizeof *net->range);
        if (!from || !to || !sample || !pair || !net->from || !net->to || !net->range) status = task_no_memory();
    }
    for (size_t r = 0; r < t.rows && status == 0; r++) {
        const size_t a = find(nodes, 0, csv_cell(&t, r, 0)), b = find(nodes, 0, csv_cell(&t, r, 1));
        if (a == n || b == n) status = report_error(EXIT_WRONG, "%s:%zu: the node is not in the list.", path, r + 2);
        from[r] = a < n && b < n && order[a] < order[b] ? order[a] : order[b];
        to[r] = a < n && b < n && order[a] < order[b] ? order[b] : order[a];
        if (status == 0) status = csv_number(&t, path, r, value, &sample[r]);
    }
    for (size_t i = 0; i < n && status == 0; i++)
        for (size_t j = i + 1; j < n; j++) {
            size_t count = 0;
            for (size_t r = 0; r < t.rows; r++)
                if (from[r] == i && to[r] == j) pair[count++] = sample[r];
            const double range = count ? median(pair, count) : 0;
            if (j < net->anchors || count == 0 || range > reach) continue;
            net->from[net->count] = i;
            net->to[net->count] = j;
            net->range[net->count++] = range;
        }
    free(from);
    free(to);
    free(sample);
    free(pair);
    csv_free(&t);
    return status;
}

/* ---- a data set ----------------------------------------------------------------------------------------------------
 */

typedef struct data_set {
    const char *name, *folder;
    const char *nodes, *ranges, *column; /* of a network, */
    const char *anchors[8];
    double reach, spread, noise; /* ranges used; of the start; a first guess of sigma */
    const char *model;
    const char *value; /* of a crowd: the column of the answers */
    size_t controls;
} data_set;

static const data_set sets[] = {
    {.name = "uwb",
     .folder = "dwm1001_uwb_network",
     .nodes = "campus_sport_nodes.csv",
     .ranges = "campus_sport_ranges.csv",
     .column = "range_m",
     .anchors = {"DW4984", "DW43EB", "DW4848"},
     .reach = INFINITY,
     .spread = 0.5,
     .noise = 0.1,
     .model = "ranges"},
    {.name = "rss",
     .folder = "patwari_rss_44",
     .nodes = "nodes.csv",
     .ranges = "pairs.csv",
     .column = "range_rss_m",
     .anchors = {"0", "10", "35", "43"},
     .reach = INFINITY,
     .spread = 1,
     .noise = 0.4,
     .model = "rss"},
    {.name = "groceries", .folder = "grocery_prices", .value = "estimate", .controls = 3},
    {.name = "calories", .folder = "calorie_counts", .value = "estimate_initial", .controls = 9},
};
enum { SETS = sizeof sets / sizeof *sets };

typedef struct problem {
    network net;
    crowd people;
    svmp_model *model;
} problem;

/* The truth of a variable x.I.K or x.I; NaN for others. */
static double truth_of(const problem *p, const char *name) {
    char *end;
    if (strncmp(name, "x.", 2) != 0) return NAN;
    const size_t i = strtoul(name + 2, &end, 10) - 1;
    return *end == '.' ? p->net.position[2 * i + (end[1] == '2')] : p->people.truth[i];
}

static int load_network(const task *t, const data_set *s, problem *p) {
    char path[PATH_SIZE];
    csv nodes = {0};
    size_t *order = NULL;
    const char *data = t->paper->options.data;
    snprintf(path, sizeof path, "%s/%s/%s", data, s->folder, s->nodes);
    int status = read_nodes(path, s->anchors, &p->net, &nodes, &order);
    snprintf(path, sizeof path, "%s/%s/%s", data, s->folder, s->ranges);
    if (status == 0) status = read_ranges(path, s->column, s->reach, &nodes, order, &p->net);
    p->net.logarithms = strcmp(s->model, "rss") == 0;
    if (status == 0) status = network_model(t, &p->net, s->model, &p->model);
    free(order);
    csv_free(&nodes);
    return status;
}

/* Prices and calories: logarithms, less the mean of the answers. */
static int load_crowd(const task *t, const data_set *s, problem *p) {
    char answers[PATH_SIZE], truth[PATH_SIZE];
    double mean = 0;
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_CONTROLS);
    snprintf(answers, sizeof answers, "%s/%s/answers.csv", t->paper->options.data, s->folder);
    snprintf(truth, sizeof truth, "%s/%s/truth.csv", t->paper->options.data, s->folder);
    int status = crowd_read(answers, truth, s->value, &p->people);
    if (status) return status;
    crowd *c = &p->people;
    size_t kept = 0;
    for (size_t k = 0; k < c->count; k++) { /* an answer of 0 has no logarithm */
        if (c->answer[k] <= 0) continue;
        c->question[kept] = c->question[k];
        c->worker[kept] = c->worker[k];
        c->answer[kept] = log(c->answer[k]);
        mean += c->answer[kept++];
    }
    c->count = kept;
    mean /= (double)kept;
    for (size_t k = 0; k < kept; k++) c->answer[k] -= mean;
    for (size_t q = 0; q < c->questions; q++) c->truth[q] = log(c->truth[q]) - mean;
    crowd_choose_controls(&d, c, s->controls);
    return crowd_model(t, c, 0, &p->model);
}

/* ---- runs ----------------------------------------------------------------------------------------------------------
 */

/* Networks start from their ranges, bias near 0 and sigma near a guess. Crowds start from N(0, 1): NULL. */
static int make_start(const task *t, const data_set *s, const problem *p, size_t count, svmp_particles **start) {
    *start = NULL;
    if (s->nodes == NULL) return 0;
    svmp_particles *places = NULL;
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_START);
    const size_t all = svmp_graph_variables(svmp_model_graph(p->model));
    int status = network_start(t, &p->net, count, s->spread, &places);
    if (status) return status;
    svmp_status made = svmp_particles_create(t->context, all, count, NULL, start);
    for (size_t i = 0; i < all && made == SVMP_OK; i++) {
        const int placed = i < svmp_particles_variables(places);
        char name[64];
        svmp_model_variable_name(p->model, i, name, sizeof name);
        made = svmp_particles_set_name(*start, i, placed ? svmp_particles_name(places, i) : name);
        for (size_t l = 0; l < count; l++) {
            const double z = placed ? 0 : dice_normal(&d);
            svmp_particles_values(*start)[i * count + l] = placed ? svmp_particles_values(places)[i * count + l]
                                                           : strcmp(name, "sigma") == 0 ? s->noise * exp(0.3 * z)
                                                                                        : 0.1 * z;
        }
    }
    svmp_particles_free(places);
    return made == SVMP_OK ? 0 : task_failed(t, made);
}

/* Error of the means, share of the truths within the 90 % intervals, their mean width. */
static int add_rows(task *t, const problem *p, place where, const svmp_particles *sample) {
    double squares = 0, inside = 0, width = 0, count = 0;
    for (size_t i = 0; i < svmp_particles_variables(sample); i++) {
        svmp_moments m;
        const double truth = truth_of(p, svmp_particles_name(sample, i));
        if (isnan(truth)) continue;
        const svmp_status status = svmp_particles_moments(sample, i, &m);
        if (status != SVMP_OK) return task_failed(t, status);
        squares += (m.mean - truth) * (m.mean - truth);
        inside += truth >= m.q05 && truth <= m.q95;
        width += m.q95 - m.q05;
        count++;
    }
    int status = add_value(t, where, "error", sqrt((p->net.points ? 2 : 1) * squares / count));
    if (status == 0) status = add_value(t, where, "coverage", inside / count);
    return status ? status : add_value(t, where, "width", width / count);
}

static int run_graphical(task *t, const data_set *s, const problem *p, svmp_particles **best) {
    double lowest = INFINITY, beyond = 1;
    const char *chosen = NULL;
    svmp_particles *start = NULL;
    int status = make_start(t, s, p, PARTICLES, &start);
    for (size_t k = 0; k < sizeof steps / sizeof *steps && status == 0; k++) {
        settings options = task_options(t, "graphical", PARTICLES, ITERATIONS);
        svmp_particles *sample = NULL;
        convergence reached = {INFINITY, 1};
        options.step = steps[k];
        status = task_run(t, p->model, &options, start, &sample, &reached);
        if (status == 0 && sample && reached.v < lowest) {
            svmp_particles *keep = *best;
            *best = sample, sample = keep;
            lowest = reached.v, beyond = reached.beyond, chosen = steps[k];
        }
        svmp_particles_free(sample);
    }
    svmp_particles_free(start);
    if (status == 0 && *best == NULL) return report_error(EXIT_FAILED, "real, %s: every step size diverged.", s->name);
    const place where = {s->name, "graphical", chosen, PARTICLES};
    if (status == 0) status = add_rows(t, p, where, *best);
    return status ? status : add_value(t, where, "beyond", beyond);
}

static int run_nuts(task *t, const data_set *s, const problem *p, reference *nuts) {
    svmp_particles *start = NULL;
    int status = make_start(t, s, p, CHAINS, &start);
    const reference_plan plan = {.start = start,
                                 .init = "normal:0.5",
                                 .chains = CHAINS,
                                 .warmup = 1000,
                                 .draws = 2000,
                                 .most = 128000,
                                 .kept = 2000};
    if (status == 0) status = reference_get(t, p->model, plan, nuts);
    svmp_particles_free(start);
    const place where = {s->name, "nuts", NULL, 0};
    if (status == 0) status = add_rows(t, p, where, nuts->draws);
    return status ? status : add_value(t, where, "rhat", nuts->r_hat);
}

static int draw(const task *t, const data_set *s, const problem *p, svmp_particles *graphical, svmp_particles *nuts) {
    if (s->nodes) {
        const int status = draw_network(t->paper, s->name, "SVGD (graphical)", &p->net, graphical);
        return status ? status : draw_network(t->paper, s->name, "NUTS", &p->net, nuts);
    }
    return draw_crowd(t->paper, s->name, &p->people, graphical, nuts);
}

static int check(const paper_options *o) {
    char path[PATH_SIZE];
    if (o->data == NULL)
        return report_error(EXIT_WRONG, "Real data are not part of svmp; use --data DIR to say where they are.");
    for (size_t s = 0; s < SETS; s++) {
        snprintf(path, sizeof path, "%s/%s", o->data, sets[s].folder);
        if (file_there(path)) return 0;
    }
    return report_error(EXIT_WRONG, "The folder '%s' has none of the data sets: %s, %s, %s, %s.", o->data,
                        sets[0].folder, sets[1].folder, sets[2].folder, sets[3].folder);
}

static uint64_t inputs(const paper_options *o) {
    char path[PATH_SIZE];
    uint64_t number = 0;
    for (size_t s = 0; s < SETS; s++) {
        const char *const files[] = {sets[s].nodes ? sets[s].nodes : "answers.csv",
                                     sets[s].nodes ? sets[s].ranges : "truth.csv"};
        for (size_t k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "%s/%s/%s", o->data, sets[s].folder, files[k]);
            number = file_number(path, number);
        }
    }
    return number;
}

static int trial(task *t) {
    char path[PATH_SIZE];
    problem p = {0};
    svmp_particles *graphical = NULL;
    reference nuts = {0};
    if (t->trial >= SETS) return 0;
    const data_set *s = &sets[t->trial];
    snprintf(path, sizeof path, "%s/%s", t->paper->options.data, s->folder);
    if (!file_there(path)) {
        fprintf(stderr, "svmp-paper: left out '%s', which does not exist\n", path);
        return 0;
    }
    int status = s->nodes ? load_network(t, s, &p) : load_crowd(t, s, &p);
    if (status == 0) status = run_graphical(t, s, &p, &graphical);
    if (status == 0) status = run_nuts(t, s, &p, &nuts);
    if (status == 0) status = draw(t, s, &p, graphical, nuts.draws);
    svmp_particles_free(graphical);
    reference_free(&nuts);
    svmp_model_free(p.model);
    network_free(&p.net);
    crowd_free(&p.people);
    return status;
}

const figure figure_real = {
    .name = "real",
    .number = 7,
    .trials = SETS,
    .quick_trials = SETS,
    .trial = trial,
    .check = check,
    .inputs = inputs,
    .budget = "6000 score evaluations a particle",
};
