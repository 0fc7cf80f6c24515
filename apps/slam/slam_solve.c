/* Least squares on the graph of poses and landmarks: Gauss-Newton steps with Levenberg's damping, by a sparse Cholesky
 * factorisation.
 *
 *     misfits of step t   (ahead - (c dx + s dy)) / move_sd,   (left - (c dy - s dx)) / move_sd,   c, s of heading t
 *                         (turn - (heading t+1 - heading t)) / turn_sd
 *     of a distance       (range - |position - landmark|) / range_sd
 *
 * The weight of a distance with misfit z is (m/(z^2 + m))^2, m = 9 mu; mu falls from where all weights are nearly equal
 * to 1 (graduated non-convexity, Yang and others 2020). */
#include <math.h>
#include <string.h>

#include "maths/sparse_factor.h"
#include "slam/slam.h"

enum { MOST_VARIABLES = 6, STEPS = 3, LAST_STEPS = 20 };

static const double scale = 9; /* 3 sd, squared */

double svmp_slam_misfit(const slam *j, size_t e) {
    const svmp_odometry *data = j->data;
    const double *p = j->path + 3 * data->pose[e], *q = j->map + 2 * data->landmark[e];
    return (data->range[e] - hypot(p[0] - q[0], p[1] - q[1])) / data->range_sd;
}

void svmp_slam_step_misfit(const slam *j, size_t t, double misfit[3]) {
    const svmp_odometry *data = j->data;
    const double *p = j->path + 3 * t, *q = p + 3, c = cos(p[2]), s = sin(p[2]), dx = q[0] - p[0], dy = q[1] - p[1];
    misfit[0] = (data->ahead[t] - (c * dx + s * dy)) / data->move_sd;
    misfit[1] = (data->left[t] - (c * dy - s * dx)) / data->move_sd;
    misfit[2] = (data->turn[t] - (q[2] - p[2])) / data->turn_sd;
}

/* The equations H step = g, and where they are in the pattern. */
typedef struct equations {
    slam *j;
    sparsity pattern;
    factorisation *factor;
    size_t order, landmarks; /* variables; and where those of landmarks begin */
    size_t count, capacity;  /* of places */
    sparse_place *places;    /* while the pattern is made */
    uint32_t *entry;         /* of each place, in the order in which the misfits are visited */
    double *H, *g, *damped, *step, *path, *map;
} equations;

/* Variables of pose t and of landmark k; SIZE_MAX: it does not move. */
static size_t pose_variable(size_t t) { return t == 0 ? SIZE_MAX : 3 * (t - 1); }

static int is_fixed(const slam *j, size_t k) {
    return !j->placed[k] || (j->data->known && !isnan(j->data->known[2 * k]));
}

static size_t landmark_variable(const equations *q, size_t k) {
    return is_fixed(q->j, k) ? SIZE_MAX : q->landmarks + 2 * k;
}

/* One misfit and its negative derivatives: places are noted while there is no pattern, and added to afterwards. */
static svmp_status add(equations *q, size_t count, const size_t *variable, const double *slope, double weight,
                       double misfit) {
    for (size_t a = 0; a < count; a++) {
        if (variable[a] == SIZE_MAX) continue;
        if (q->entry) q->g[variable[a]] += weight * slope[a] * misfit;
        for (size_t b = 0; b <= a; b++) {
            if (variable[b] == SIZE_MAX) continue;
            if (q->entry) {
                q->H[q->entry[q->count++]] += weight * slope[a] * slope[b];
                continue;
            }
            SVMP_TRY(SVMP_GROW(q->j->context, q->places, q->capacity, q->count + 1));
            q->places[q->count++] = (sparse_place){(uint32_t)variable[a], (uint32_t)variable[b]};
        }
    }
    return SVMP_OK;
}

static svmp_status visit_step(equations *q, size_t t) {
    const slam *j = q->j;
    const double *p = j->path + 3 * t, c = cos(p[2]), s = sin(p[2]), dx = p[3] - p[0], dy = p[4] - p[1];
    const double move = 1 / j->data->move_sd, turn = 1 / j->data->turn_sd;
    const size_t from = pose_variable(t), to = pose_variable(t + 1);
    const size_t heading = from == SIZE_MAX ? SIZE_MAX : from + 2;
    const size_t all[5] = {from, from == SIZE_MAX ? SIZE_MAX : from + 1, heading, to, to + 1};
    double misfit[3];
    svmp_slam_step_misfit(j, t, misfit);
    SVMP_TRY(
        add(q, 5, all, (double[5]){-c * move, -s * move, (c * dy - s * dx) * move, c * move, s * move}, 1, misfit[0]));
    SVMP_TRY(
        add(q, 5, all, (double[5]){s * move, -c * move, -(c * dx + s * dy) * move, -s * move, c * move}, 1, misfit[1]));
    return add(q, 2, (size_t[2]){heading, to + 2}, (double[2]){-turn, turn}, 1, misfit[2]);
}

static svmp_status visit_distance(equations *q, size_t e) {
    const slam *j = q->j;
    const svmp_odometry *data = j->data;
    if (data->pose[e] >= j->poses || !j->placed[data->landmark[e]]) return SVMP_OK;
    const double *p = j->path + 3 * data->pose[e], *m = j->map + 2 * data->landmark[e], dx = p[0] - m[0],
                 dy = p[1] - m[1];
    const double d = fmax(hypot(dx, dy), 1e-6 * data->range_sd), each = 1 / (d * data->range_sd);
    const size_t at = pose_variable(data->pose[e]), of = landmark_variable(q, data->landmark[e]);
    const size_t all[4] = {at, at == SIZE_MAX ? SIZE_MAX : at + 1, of, of == SIZE_MAX ? SIZE_MAX : of + 1};
    return add(q, 4, all, (double[4]){dx * each, dy * each, -dx * each, -dy * each}, j->weight[e],
               svmp_slam_misfit(j, e));
}

static svmp_status visit_all(equations *q) {
    q->count = 0;
    for (size_t t = 0; t + 1 < q->j->poses; t++) SVMP_TRY(visit_step(q, t));
    for (size_t e = 0; e < q->j->data->count; e++) SVMP_TRY(visit_distance(q, e));
    return SVMP_OK;
}

static svmp_status prepare(equations *q) {
    slam *j = q->j;
    svmp_context *context = j->context;
    uint32_t *entry = NULL;
    q->landmarks = 3 * (j->poses - 1);
    q->order = q->landmarks + 2 * j->data->landmarks;
    SVMP_TRY(visit_all(q));
    SVMP_TRY(SVMP_NEW(context, entry, q->count));
    const svmp_status made = svmp_sparsity_create(context, q->order, q->count, q->places, entry, &q->pattern);
    q->entry = entry;
    SVMP_TRY(made);
    SVMP_TRY(svmp_factorisation_create(context, &q->pattern, &q->factor));
    SVMP_TRY(SVMP_NEW(context, q->H, q->pattern.entries));
    SVMP_TRY(SVMP_NEW(context, q->damped, q->pattern.entries));
    SVMP_TRY(SVMP_NEW(context, q->g, q->order));
    SVMP_TRY(SVMP_NEW(context, q->step, q->order));
    SVMP_TRY(SVMP_NEW(context, q->path, 3 * j->poses));
    return SVMP_NEW(context, q->map, 2 * j->data->landmarks);
}

static void release(equations *q) {
    svmp_context *context = q->j->context;
    void *const all[] = {q->places, q->entry, q->H, q->damped, q->g, q->step, q->path, q->map};
    svmp_factorisation_free(q->factor);
    svmp_sparsity_free(context, &q->pattern);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) svmp_release(context, all[k]);
}

/* Half the weighted squares. */
static double cost(const slam *j) {
    double sum = 0, z[3];
    for (size_t t = 0; t + 1 < j->poses; t++) {
        svmp_slam_step_misfit(j, t, z);
        sum += z[0] * z[0] + z[1] * z[1] + z[2] * z[2];
    }
    for (size_t e = 0; e < j->data->count; e++) {
        if (j->data->pose[e] >= j->poses || !j->placed[j->data->landmark[e]]) continue;
        const double misfit = svmp_slam_misfit(j, e);
        sum += j->weight[e] * misfit * misfit;
    }
    return 0.5 * sum;
}

static void move_by_step(equations *q) {
    slam *j = q->j;
    memcpy(q->path, j->path, 3 * j->poses * sizeof *q->path);
    memcpy(q->map, j->map, 2 * j->data->landmarks * sizeof *q->map);
    for (size_t k = 0; k < q->landmarks; k++) j->path[3 + k] += q->step[k];
    for (size_t k = 0; k < 2 * j->data->landmarks; k++) j->map[k] += q->step[q->landmarks + k];
}

static void move_back(equations *q) {
    memcpy(q->j->path, q->path, 3 * q->j->poses * sizeof *q->path);
    memcpy(q->j->map, q->map, 2 * q->j->data->landmarks * sizeof *q->map);
}

/* (H + damping diag H) step = g. What no misfit moves has a diagonal of 0, and stays. */
static svmp_status find_step(equations *q, double damping, int *found) {
    size_t bad;
    memcpy(q->damped, q->H, q->pattern.entries * sizeof *q->H);
    memcpy(q->step, q->g, q->order * sizeof *q->g);
    for (size_t i = 0; i < q->order; i++) {
        double *diagonal = &q->damped[q->pattern.start[i]];
        *diagonal = *diagonal > 0 ? *diagonal * (1 + damping) : 1;
    }
    SVMP_TRY(svmp_factorise(q->factor, q->damped, &bad));
    *found = bad == SIZE_MAX;
    return *found ? svmp_factorisation_solve(q->factor, 1, 1, q->step) : SVMP_OK;
}

/* Steps with weights that stay. */
static svmp_status descend(equations *q, int steps, double *damping) {
    double here = cost(q->j);
    for (int k = 0; k < steps && *damping < 1e8; k++) {
        int found;
        memset(q->H, 0, q->pattern.entries * sizeof *q->H);
        memset(q->g, 0, q->order * sizeof *q->g);
        SVMP_TRY(visit_all(q));
        SVMP_TRY(find_step(q, *damping, &found));
        if (found) move_by_step(q);
        const double there = found ? cost(q->j) : INFINITY;
        if (!(there <= here)) {
            if (found) move_back(q);
            *damping *= 10;
            continue;
        }
        const double gain = here - there;
        here = there;
        *damping = fmax(*damping / 10, 1e-9);
        if (gain < 1e-6 * (1 + here)) break;
    }
    return SVMP_OK;
}

static void weigh(slam *j, double mu) {
    for (size_t e = 0; e < j->data->count; e++) {
        const double z = svmp_slam_misfit(j, e), share = scale * mu / (z * z + scale * mu);
        j->weight[e] = share * share;
    }
}

static double largest_square(const slam *j) {
    double largest = 0;
    for (size_t e = 0; e < j->data->count; e++) {
        if (j->data->pose[e] >= j->poses || !j->placed[j->data->landmark[e]]) continue;
        const double z = svmp_slam_misfit(j, e);
        largest = fmax(largest, z * z);
    }
    return largest;
}

svmp_status svmp_slam_solve(slam *j) {
    equations q = {.j = j};
    double damping = 1e-6;
    svmp_status status;
    SVMP_CHECK(prepare(&q));
    for (double mu = fmax(2 * largest_square(j) / scale, 1); mu > 1; mu /= 3) {
        weigh(j, mu);
        damping = 1e-6;
        SVMP_CHECK(descend(&q, STEPS, &damping));
    }
    for (int k = 0; k < LAST_STEPS; k++) {
        const double before = cost(j);
        weigh(j, 1);
        damping = 1e-6;
        SVMP_CHECK(descend(&q, STEPS, &damping));
        if (fabs(before - cost(j)) < 1e-6 * (1 + before)) break;
    }
done:
    release(&q);
    return status;
}
