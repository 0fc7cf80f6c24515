#include "method/moves/marginal_move.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "maths/sparse_factor.h"
#include "model/computed.h"
#include "model/curvature.h"
#include "model/evaluator.h"
#include "model/node_prior.h"

enum { MOST_HYPERPARAMETERS = 8, LEAST_NODES = 5, NEWTON_STEPS = 20, NEWTON_HALVINGS = 20, MOST_ENTRIES = 50 };

static const double spread = 1;          /* log w of a move is uniform within this of the one that adapts */
static const double few_failures = 0.01; /* of the proposals: far in the tails there is no Gaussian */
static const double wanted_acceptance = 0.3;
static const double prior_draws = 5;             /* as many as the covariance before counts */
static const double tiny = 1e-3, crossing = 0.2; /* of w */
static const double near = 1e-3;                 /* the square of the last Newton step, in units of the curvature */

/* The Gaussian of u at a point. */
typedef struct conditional {
    double *mean, log_determinant; /* of A */
    whitening *whitening;
} conditional;

struct marginal_move {
    svmp_context *context;
    evaluator *evaluator;
    curvature *curvature;
    sparsity pattern; /* of A */
    factorisation *factor;
    size_t hyperparameters, order;
    size_t hyperparameter[MOST_HYPERPARAMETERS];
    uint32_t *variable;                                       /* of u: `order` variables of the model */
    size_t *entry;                                            /* entry of A -> entry of the model's curvature */
    double *start;                                            /* of u: where Newton's method begins */
    double root[MOST_HYPERPARAMETERS * MOST_HYPERPARAMETERS]; /* L */
    double scale[MOST_HYPERPARAMETERS];                       /* of the steps of each */
    double log_width, proposals, failures, draws, average[MOST_HYPERPARAMETERS],
        products[MOST_HYPERPARAMETERS * MOST_HYPERPARAMETERS];
    double *H, *A, *score, *step, *z, *u, *to;
    conditional here, there;
    double known[MOST_HYPERPARAMETERS]; /* the hyperparameters of `here` */
    bool is_known;
};

/* ---- which ------------------------------------------------------------------------------------------------------- */

/* Whether a node follows: one variable, x itself, of a location-scale family. */
static bool can_follow(const lowered_node *node) {
    return svmp_distribution_location_scale(node->distribution) && node->transform == TRANSFORM_LINE &&
           node->variables == 1 && node->coordinates.centring == 1;
}

/* Four points for each node, two that differ in the variables that follow, and these with one variable shifted, tell
 * whether a node's location only adds that
 * variable, and its scale does not read it: then the Gaussian of u includes it. */
enum { POINTS = 4 };

typedef struct addition_test {
    const lowered_model *lowered;
    prior_workspace work;
    double *x; /* x[i * POINTS + l] */
} addition_test;

static bool is_added(addition_test *test, const lowered_node *node, size_t i) {
    static const double rounding = 1e-9;
    moved_line line[POINTS];
    double *x = test->x + i * POINTS;
    x[1] = x[0] + 1;
    x[3] = x[2] + 1;
    svmp_prior_evaluate(test->lowered, node, POINTS, test->x, &test->work);
    x[1] = x[0];
    x[3] = x[2];
    for (size_t l = 0; l < POINTS; l++)
        line[l] = svmp_prior_location_scale(test->lowered, node, POINTS, l, 0, &test->work);
    const double here = line[1].origin - line[0].origin, there = line[3].origin - line[2].origin;
    return fabs(here - there) <= rounding * (fabs(here) + fabs(there)) && line[0].root == line[1].root &&
           line[2].root == line[3].root;
}

static svmp_status create_test(const svmp_model *model, const double *mean, const bool *follows, addition_test *test) {
    test->lowered = model->lowered;
    SVMP_TRY(svmp_prior_reserve(model->lowered, POINTS, &test->work));
    SVMP_TRY(svmp_allocate(model->context, model->graph->variables, POINTS * sizeof(double), (void **)&test->x));
    for (size_t i = 0; i < model->graph->variables; i++)
        for (size_t l = 0; l < POINTS; l++)
            test->x[i * POINTS + l] = mean[i] + (l < 2 || !follows[i] ? 0 : 0.3 + 0.1 * (double)(i % 7));
    return SVMP_OK;
}

static const uint32_t *read_by(const lowered_model *lowered, const lowered_node *node, size_t *count) {
    const lowered_values *values = &lowered->priors[node->prior].values;
    *count = svmp_program_slots(values->program);
    return values->variables + node->instance * *count;
}

/* follows[i]: whether variable i is of a node that follows and reads others. */
static void find_followers(const lowered_model *lowered, bool *follows) {
    for (size_t k = 0; k < lowered->node_count; k++) {
        size_t count;
        const lowered_node *node = &lowered->nodes[k];
        read_by(lowered, node, &count);
        if (can_follow(node)) follows[node->variable] = count > 0;
    }
}

/* readers[i]: how many nodes that follow read variable i otherwise than as a term of their location. */
static void count_readers(addition_test *test, size_t *readers) {
    for (size_t k = 0; k < test->lowered->node_count; k++) {
        size_t count;
        const lowered_node *node = &test->lowered->nodes[k];
        const uint32_t *read = read_by(test->lowered, node, &count);
        for (size_t j = 0; can_follow(node) && j < count; j++)
            if (read[j] < test->lowered->variables && readers[read[j]] < LEAST_NODES && !is_added(test, node, read[j]))
                readers[read[j]]++;
    }
}

/* Whether a node is one of those on whose scale others depend, given which their density is far from Gaussian: the log
 * of a standard deviation, a probability. */
static bool is_hub(const svmp_model *model, size_t which) {
    const index_lists *lists = &model->graph->neighbourhoods;
    const uint32_t list = model->graph->neighbourhood_of[which];
    return model->lowered->nodes[which].transform != TRANSFORM_LINE &&
           lists->start[list + 1] - lists->start[list] > LEAST_NODES;
}

/* Returns whether any nodes follow, and there are few enough hyperparameters. place[i]: 1 + the index of variable i in
 * u, or 0. */
static bool divide(marginal_move *m, const svmp_model *model, const size_t *readers, const bool *follows,
                   uint32_t *place) {
    bool any = false;
    for (size_t v = 0; v < model->lowered->node_count; v++) {
        const lowered_node *node = &model->lowered->nodes[v];
        const bool hub = is_hub(model, v);
        for (size_t i = node->variable; i < node->variable + node->variables; i++) {
            const bool read = readers[i] >= LEAST_NODES && !follows[i];
            any = any || read;
            if ((read || hub) && m->hyperparameters == MOST_HYPERPARAMETERS) return false;
            if (read || hub)
                m->hyperparameter[m->hyperparameters++] = i;
            else
                place[i] = 1;
        }
    }
    for (size_t i = 0; i < model->graph->variables; i++)
        if (place[i]) {
            m->variable[m->order++] = (uint32_t)i;
            place[i] = (uint32_t)m->order;
        }
    return any && m->order > 0;
}

static svmp_status choose(marginal_move *m, const svmp_model *model, const double *mean, uint32_t *place,
                          bool *possible) {
    addition_test test = {0};
    size_t *readers = NULL;
    bool *follows = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(m->context, readers, model->graph->variables));
    SVMP_CHECK(SVMP_NEW(m->context, follows, model->graph->variables));
    find_followers(model->lowered, follows);
    SVMP_CHECK(create_test(model, mean, follows, &test));
    SVMP_CHECK(SVMP_NEW(m->context, m->variable, model->graph->variables));
    count_readers(&test, readers);
    *possible = divide(m, model, readers, follows, place);
done:
    svmp_prior_release(model->lowered, &test.work);
    svmp_release(m->context, test.x);
    svmp_release(m->context, readers);
    svmp_release(m->context, follows);
    return status;
}

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* The entries of the model's curvature between variables of u, which are in the same order. */
static svmp_status make_pattern(marginal_move *m, const uint32_t *place) {
    const sparsity *whole = svmp_curvature_pattern(m->curvature);
    SVMP_TRY(SVMP_NEW(m->context, m->pattern.start, m->order + 1));
    SVMP_TRY(SVMP_NEW(m->context, m->pattern.row, whole->entries));
    SVMP_TRY(SVMP_NEW(m->context, m->entry, whole->entries));
    m->pattern.order = m->order;
    for (size_t j = 0; j < m->order; j++) {
        for (size_t e = whole->start[m->variable[j]]; e < whole->start[m->variable[j] + 1]; e++) {
            if (place[whole->row[e]] == 0) continue;
            m->pattern.row[m->pattern.entries] = place[whole->row[e]] - 1;
            m->entry[m->pattern.entries++] = e;
        }
        m->pattern.start[j + 1] = m->pattern.entries;
    }
    return svmp_factorisation_create(m->context, &m->pattern, &m->factor);
}

/* L <- its factor, L of a covariance; where rounding leaves none, a variance stays. */
static void factorise(size_t k, double *L) {
    for (size_t j = 0; j < k; j++) {
        const double sd = sqrt(L[j * k + j]);
        for (size_t c = 0; c < j; c++) L[j * k + j] -= L[j * k + c] * L[j * k + c];
        L[j * k + j] = L[j * k + j] > 0 ? sqrt(L[j * k + j]) : sd;
        for (size_t i = j + 1; i < k; i++) {
            for (size_t c = 0; c < j; c++) L[i * k + j] -= L[i * k + c] * L[j * k + c];
            L[i * k + j] /= L[j * k + j];
        }
    }
}

void svmp_marginal_move_scale(marginal_move *m, size_t which, double factor) {
    for (size_t i = 0; i < m->hyperparameters; i++) m->scale[i] = i == which % m->hyperparameters ? factor : 1;
}

/* L of the hyperparameters' covariance in q. */
static svmp_status find_root(marginal_move *m, gaussian *q, double *column) {
    const size_t k = m->hyperparameters, variables = svmp_gaussian_pattern(q)->order;
    for (size_t j = 0; j < k; j++) {
        memset(column, 0, variables * sizeof *column);
        column[m->hyperparameter[j]] = 1;
        SVMP_TRY(svmp_gaussian_solve(q, 1, column));
        for (size_t i = 0; i < k; i++) m->root[i * k + j] = column[m->hyperparameter[i]];
    }
    factorise(k, m->root);
    m->log_width = log(2.4 / sqrt((double)k));
    for (size_t i = 0; i < k; i++) m->scale[i] = 1;
    return SVMP_OK;
}

static svmp_status create_conditional(marginal_move *m, conditional *made) {
    SVMP_TRY(SVMP_NEW(m->context, made->mean, m->order));
    return svmp_whitening_create(m->context, m->order, svmp_factorisation_triangle(m->factor), made->mean,
                                 &made->whitening);
}

/* The evaluation, and a first factor, allocate what later ones need. */
static svmp_status set_up(marginal_move *m, const svmp_model *model, gaussian *q) {
    const size_t variables = model->graph->variables;
    const double *mean = svmp_gaussian_mean(q);
    double **const vectors[] = {&m->start, &m->step, &m->z, &m->u};
    size_t bad;
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) SVMP_TRY(SVMP_NEW(m->context, *vectors[k], m->order));
    SVMP_TRY(SVMP_NEW(m->context, m->H, svmp_curvature_pattern(m->curvature)->entries));
    SVMP_TRY(SVMP_NEW(m->context, m->A, m->pattern.entries));
    SVMP_TRY(SVMP_NEW(m->context, m->score, variables));
    SVMP_TRY(SVMP_NEW(m->context, m->to, variables));
    SVMP_TRY(svmp_evaluator_create(model, 1, 1, &m->evaluator));
    SVMP_TRY(find_root(m, q, m->score));
    SVMP_TRY(svmp_curvature_evaluate(m->curvature, 1, mean, NULL, m->H));
    for (size_t i = 0; i < m->order; i++) {
        m->start[i] = mean[m->variable[i]];
        m->A[m->pattern.start[i]] = 1;
    }
    SVMP_TRY(svmp_factorise(m->factor, m->A, &bad));
    SVMP_TRY(svmp_factorisation_solve(m->factor, 1, 1, m->step));
    SVMP_TRY(create_conditional(m, &m->here));
    return create_conditional(m, &m->there);
}

/* Whether second derivatives are exact: those by differences can fail, and there is no sentence for it here. */
static bool has_derivatives(const svmp_model *model) {
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].kind->hessian == NULL || svmp_computed_group_is(&model->groups[g])) return false;
    return model->lowered != NULL;
}

svmp_status svmp_marginal_move_create(const svmp_model *model, gaussian *q, marginal_move **made) {
    svmp_context *context = model->context;
    marginal_move *m = NULL;
    uint32_t *place = NULL;
    bool possible = false;
    svmp_status status;
    *made = NULL;
    if (!has_derivatives(model)) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, m, 1));
    m->context = context;
    SVMP_CHECK(SVMP_NEW(context, place, model->graph->variables));
    SVMP_CHECK(choose(m, model, svmp_gaussian_mean(q), place, &possible));
    if (!possible) goto done;
    SVMP_CHECK(svmp_curvature_create(model, 1, &m->curvature));
    SVMP_CHECK(make_pattern(m, place));
    SVMP_CHECK(set_up(m, model, q));
    if (svmp_factorisation_entries(m->factor) > MOST_ENTRIES * m->order) goto done;
    *made = m;
    m = NULL;
done:
    svmp_release(context, place);
    svmp_marginal_move_free(m);
    return status;
}

static void free_conditional(svmp_context *context, conditional *made) {
    svmp_release(context, made->mean);
    svmp_whitening_free(context, made->whitening);
}

void svmp_marginal_move_free(marginal_move *m) {
    if (m == NULL) return;
    svmp_context *context = m->context;
    void *const arrays[] = {m->pattern.start, m->pattern.row, m->variable, m->entry, m->start, m->H, m->A,
                            m->score,         m->step,        m->z,        m->u,     m->to,    m};
    free_conditional(context, &m->here);
    free_conditional(context, &m->there);
    svmp_factorisation_free(m->factor);
    svmp_curvature_free(m->curvature);
    svmp_evaluator_free(m->evaluator);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
}

/* ---- the Gaussian of u ------------------------------------------------------------------------------------------- */

/* Adds the step to u in x, halved until the log density rises above `value`. */
static bool climb(marginal_move *m, double *x, double value) {
    double length = 1, next;
    for (size_t i = 0; i < m->order; i++) x[m->variable[i]] += m->step[i];
    for (int k = 0; k < NEWTON_HALVINGS; k++) {
        if (svmp_evaluate_silently(m->evaluator, x, &next, NULL) != 0) return false;
        if (next > value) return true;
        length *= 0.5;
        for (size_t i = 0; i < m->order; i++) x[m->variable[i]] -= length * m->step[i];
    }
    return false;
}

/* A Newton step of u in x; *square becomes g' A^-1 g. Returns whether A is positive definite and the density rises. */
static bool newton_step(marginal_move *m, double *x, double *square) {
    double value;
    size_t bad;
    *square = 0;
    if (svmp_evaluate_silently(m->evaluator, x, &value, m->score) != 0) return false;
    if (svmp_curvature_evaluate(m->curvature, 1, x, NULL, m->H) != SVMP_OK) return false;
    for (size_t e = 0; e < m->pattern.entries; e++) m->A[e] = m->H[m->entry[e]];
    if (svmp_factorise(m->factor, m->A, &bad) != SVMP_OK || bad != SIZE_MAX) return false;
    for (size_t i = 0; i < m->order; i++) m->step[i] = m->score[m->variable[i]];
    if (svmp_factorisation_solve(m->factor, 1, 1, m->step) != SVMP_OK) return false;
    for (size_t i = 0; i < m->order; i++) *square += m->step[i] * m->score[m->variable[i]];
    if (!isfinite(*square)) return false;
    if (*square > near) return climb(m, x, value);
    for (size_t i = 0; i < m->order; i++) x[m->variable[i]] += m->step[i];
    return true;
}

/* From a start that does not depend on u, so that the Gaussian is a function of the other variables. x is m
 * afterwards. */
static bool find_conditional(marginal_move *m, double *x, conditional *found) {
    double square = INFINITY;
    for (size_t i = 0; i < m->order; i++) x[m->variable[i]] = m->start[i];
    for (int k = 0; k < NEWTON_STEPS && square > near; k++)
        if (!newton_step(m, x, &square)) return false;
    if (!(square <= near)) return false;
    for (size_t i = 0; i < m->order; i++) found->mean[i] = x[m->variable[i]];
    found->log_determinant = svmp_factorisation_log_determinant(m->factor);
    svmp_whitening_set(found->whitening, svmp_factorisation_triangle(m->factor), found->mean);
    return true;
}

/* ---- the move ---------------------------------------------------------------------------------------------------- */

/* Whether m->here is the Gaussian given the hyperparameters of x. */
static bool is_here(const marginal_move *m, const double *x) {
    for (size_t k = 0; k < m->hyperparameters; k++)
        if (!(m->known[k] == x[m->hyperparameter[k]])) return false;
    return m->is_known;
}

static void know(marginal_move *m, const double *x) {
    for (size_t k = 0; k < m->hyperparameters; k++) m->known[k] = x[m->hyperparameter[k]];
    m->is_known = true;
}

const whitening *svmp_marginal_move_coordinates(marginal_move *m, const double *x) {
    if (is_here(m, x)) return m->here.whitening;
    memcpy(m->to, x, svmp_curvature_pattern(m->curvature)->order * sizeof *x);
    m->is_known = false;
    if (!find_conditional(m, m->to, &m->here)) return NULL;
    know(m, x);
    return m->here.whitening;
}

/* Numbers of the stream below MOST_HYPERPARAMETERS are normal, the next two uniform. */
static void propose(marginal_move *m, random_stream stream, const double *x, double *to) {
    const size_t k = m->hyperparameters;
    const double width = exp(m->log_width + spread * (2 * svmp_random_uniform(stream, MOST_HYPERPARAMETERS + 1) - 1));
    for (size_t i = 0; i < k; i++) {
        double step = 0;
        for (size_t j = 0; j <= i; j++) step += m->root[i * k + j] * svmp_random_normal(stream, j);
        to[m->hyperparameter[i]] = x[m->hyperparameter[i]] + width * m->scale[i] * step;
    }
}

/* u' = m' + R' R^-1 (u - m) */
static void follow(marginal_move *m, const double *x) {
    for (size_t i = 0; i < m->order; i++) m->u[i] = x[m->variable[i]];
    svmp_whitening_coordinates(m->here.whitening, m->step, m->u, m->z);
    svmp_whitening_point(m->there.whitening, m->step, m->z, m->u);
    for (size_t i = 0; i < m->order; i++) m->to[m->variable[i]] = m->u[i];
}

/* The log of the ratio; m->to is the proposal. -INFINITY: there is none. */
static double log_ratio(marginal_move *m, random_stream stream, const double *x) {
    double before, after;
    if (svmp_evaluate_silently(m->evaluator, x, &before, NULL) != 0) return -INFINITY;
    if (svmp_marginal_move_coordinates(m, x) == NULL) return -INFINITY;
    memcpy(m->to, x, svmp_curvature_pattern(m->curvature)->order * sizeof *x);
    propose(m, stream, x, m->to);
    m->proposals++;
    if (!find_conditional(m, m->to, &m->there)) return m->failures++, -INFINITY;
    follow(m, x);
    if (svmp_evaluate_silently(m->evaluator, m->to, &after, NULL) != 0) return -INFINITY;
    const double ratio = after - before + 0.5 * (m->here.log_determinant - m->there.log_determinant);
    return isnan(ratio) ? -INFINITY : ratio;
}

int svmp_marginal_move(marginal_move *m, uint64_t seed, size_t iteration, size_t chain, double gain, double *x) {
    const random_stream stream = {.seed = seed, .purpose = RANDOM_MARGINAL_MOVE, .a = iteration, .b = chain};
    const double ratio = log_ratio(m, stream, x);
    if (gain > 0) m->log_width += gain * (fmin(1, exp(ratio)) - wanted_acceptance);
    if (!(log(svmp_random_uniform(stream, MOST_HYPERPARAMETERS)) < ratio)) return 0;
    memcpy(x, m->to, svmp_curvature_pattern(m->curvature)->order * sizeof *x);
    const conditional left = m->here;
    m->here = m->there;
    m->there = left;
    know(m, x);
    return 1;
}

const uint32_t *svmp_marginal_move_variables(const marginal_move *m, size_t *count) {
    *count = m->order;
    return m->variable;
}

int svmp_marginal_move_is_useless(const marginal_move *m) { return m->log_width < log(tiny); }

int svmp_marginal_move_crosses(const marginal_move *m) {
    return m->failures <= few_failures * m->proposals &&
           m->log_width > log(crossing / sqrt((double)m->hyperparameters));
}

/* ---- adaptation -------------------------------------------------------------------------------------------------- */

void svmp_marginal_move_learn(marginal_move *m, const double *x) {
    const size_t k = m->hyperparameters;
    double away[MOST_HYPERPARAMETERS];
    m->draws++;
    for (size_t i = 0; i < k; i++) {
        away[i] = x[m->hyperparameter[i]] - m->average[i];
        m->average[i] += away[i] / m->draws;
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) m->products[i * k + j] += away[i] * away[j] * (1 - 1 / m->draws);
}

void svmp_marginal_move_adapt(marginal_move *m) {
    const size_t k = m->hyperparameters;
    double covariance[MOST_HYPERPARAMETERS * MOST_HYPERPARAMETERS] = {0};
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            for (size_t c = 0; c <= i && c <= j; c++) covariance[i * k + j] += m->root[i * k + c] * m->root[j * k + c];
            covariance[i * k + j] =
                (prior_draws * covariance[i * k + j] + m->products[i * k + j]) / (prior_draws + m->draws);
        }
    factorise(k, covariance);
    memcpy(m->root, covariance, k * k * sizeof *covariance);
    m->draws = m->proposals = m->failures = 0;
    memset(m->average, 0, sizeof m->average);
    memset(m->products, 0, sizeof m->products);
}

svmp_status svmp_marginal_move_state(marginal_move *m, archive *a) {
    const size_t k = m->hyperparameters;
    SVMP_TRY(svmp_archive_real(a, "marginal width", &m->log_width));
    SVMP_TRY(svmp_archive_reals(a, "marginal factor", k * k, m->root));
    SVMP_TRY(svmp_archive_real(a, "marginal proposals", &m->proposals));
    SVMP_TRY(svmp_archive_real(a, "marginal failures", &m->failures));
    SVMP_TRY(svmp_archive_real(a, "marginal draws", &m->draws));
    SVMP_TRY(svmp_archive_reals(a, "marginal average", k, m->average));
    return svmp_archive_reals(a, "marginal products", k * k, m->products);
}
