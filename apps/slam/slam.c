#include "slam/slam.h"

#include <math.h>
#include <string.h>

enum { LEAST_PIECE = 10, MOST_PIECE = 100, LEAST_RANGES = 4 };

static const double turned = 0.2; /* a piece ends when the heading may have drifted by this angle */
static const double clear = 6;    /* a margin that distinguishes two positions, */
static const double near = 0.2;   /* and an sd, as a share of the median distance, with which a landmark is placed */
static const double outlying = 4; /* sd */
static const double believable = 0.5; /* a share of distances that must fit */

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status check(svmp_context *context, const svmp_odometry *data) {
    if (data->poses < 2 || data->landmarks < 1)
        return svmp_fail(context, SVMP_BAD_INPUT, "The data need at least two poses and a landmark.");
    const double sds[] = {data->move_sd, data->turn_sd, data->range_sd};
    for (size_t k = 0; k < 3; k++)
        if (!(sds[k] > 0 && isfinite(sds[k])))
            return svmp_fail(context, SVMP_BAD_INPUT,
                             "The standard deviations of moves, turns and ranges must be positive.");
    for (size_t t = 0; t + 1 < data->poses; t++)
        if (!isfinite(data->ahead[t] + data->left[t] + data->turn[t]))
            return svmp_fail(context, SVMP_BAD_INPUT, "Step %zu of the odometry is not finite.", t + 1);
    for (size_t e = 0; e < data->count; e++)
        if (data->pose[e] >= data->poses || data->landmark[e] >= data->landmarks || !isfinite(data->range[e]))
            return svmp_fail(
                context, SVMP_BAD_INPUT,
                "Range %zu is invalid: %g from pose %zu to landmark %zu, with %zu poses and %zu landmarks.", e + 1,
                data->range[e], data->pose[e] + 1, data->landmark[e] + 1, data->poses, data->landmarks);
    return SVMP_OK;
}

/* The distances of each landmark, by pose: counted twice, first by pose, then by landmark. */
static svmp_status list_distances(slam *j) {
    const svmp_odometry *data = j->data;
    size_t *order = NULL, *from = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(j->context, j->start, data->landmarks + 2));
    SVMP_CHECK(SVMP_NEW(j->context, j->list, data->count));
    SVMP_CHECK(SVMP_NEW(j->context, order, data->count));
    SVMP_CHECK(SVMP_NEW(j->context, from, data->poses + 1));
    for (size_t e = 0; e < data->count; e++) from[data->pose[e] + 1]++;
    for (size_t t = 0; t < data->poses; t++) from[t + 1] += from[t];
    for (size_t e = 0; e < data->count; e++) order[from[data->pose[e]]++] = e;
    for (size_t e = 0; e < data->count; e++) j->start[data->landmark[e] + 2]++;
    for (size_t k = 0; k < data->landmarks; k++) j->start[k + 2] += j->start[k + 1];
    for (size_t e = 0; e < data->count; e++) j->list[j->start[data->landmark[order[e]] + 1]++] = order[e];
done:
    svmp_release(j->context, order);
    svmp_release(j->context, from);
    return status;
}

static int is_known(const svmp_odometry *data, size_t k) {
    return data->known && isfinite(data->known[2 * k]) && isfinite(data->known[2 * k + 1]);
}

static svmp_status set_up(slam *j) {
    const svmp_odometry *data = j->data;
    SVMP_TRY(check(j->context, data));
    SVMP_TRY(list_distances(j));
    SVMP_TRY(SVMP_NEW(j->context, j->placed, data->landmarks));
    SVMP_TRY(SVMP_NEW(j->context, j->weight, data->count));
    for (size_t k = 0; k < data->landmarks; k++) {
        j->placed[k] = is_known(data, k);
        if (j->placed[k]) memcpy(j->map + 2 * k, data->known + 2 * k, 2 * sizeof *j->map);
        if (!j->placed[k] && j->start[k] == j->start[k + 1])
            return svmp_fail(j->context, SVMP_BAD_INPUT, "Landmark %zu cannot be located: no range goes to it.", k + 1);
    }
    memcpy(j->path, data->first, sizeof data->first);
    j->poses = 1;
    return SVMP_OK;
}

/* ---- piece by piece ---------------------------------------------------------------------------------------------- */

static void dead_reckon(slam *j, size_t to) {
    const svmp_odometry *data = j->data;
    for (; j->poses < to; j->poses++) {
        const size_t t = j->poses - 1;
        double *p = j->path + 3 * t;
        const double c = cos(p[2]), s = sin(p[2]);
        p[3] = p[0] + c * data->ahead[t] - s * data->left[t];
        p[4] = p[1] + s * data->ahead[t] + c * data->left[t];
        p[5] = p[2] + data->turn[t];
    }
}

static double typical_range(const slam *j, size_t k, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(j->data->range[j->list[j->start[k] + i]]);
    return sum / (double)count;
}

static size_t count_placed(const slam *j) {
    size_t count = 0;
    for (size_t k = 0; k < j->data->landmarks; k++) count += j->placed[k] != 0;
    return count;
}

/* Places the landmarks that are determined by now, or at the end all of them. Returns how many. */
static size_t place_landmarks(slam *j, size_t piece, int all) {
    const size_t drift = count_placed(j) >= 2 ? piece : j->poses;
    size_t count = 0;
    for (size_t k = 0; k < j->data->landmarks; k++) {
        if (j->placed[k]) continue;
        const observation s = svmp_slam_observe(j, k, drift);
        const int determined = s.ranges >= LEAST_RANGES && s.margin >= clear && s.inliers > believable &&
                               s.sd < near * typical_range(j, k, s.ranges);
        if (!determined && !all) continue;
        memcpy(j->map + 2 * k, s.best, sizeof s.best);
        j->placed[k] = 1;
        count++;
    }
    return count;
}

/* Landmarks that few of their distances fit are sought again from the path as it is. */
static size_t replace_landmarks(slam *j) {
    size_t count = 0;
    for (size_t k = 0; k < j->data->landmarks; k++) {
        size_t fits = 0;
        const size_t all = j->start[k + 1] - j->start[k];
        if (is_known(j->data, k)) continue;
        for (size_t i = j->start[k]; i < j->start[k + 1]; i++)
            fits += fabs(svmp_slam_misfit(j, j->list[i])) <= outlying;
        if ((double)fits > believable * (double)all) continue;
        const observation s = svmp_slam_observe(j, k, 0);
        if (s.inliers * (double)all <= (double)fits) continue;
        memcpy(j->map + 2 * k, s.best, sizeof s.best);
        count++;
    }
    return count;
}

static svmp_status travel(slam *j) {
    const double steps = turned * turned / (j->data->turn_sd * j->data->turn_sd);
    const size_t piece = steps < LEAST_PIECE ? LEAST_PIECE : steps > MOST_PIECE ? MOST_PIECE : (size_t)steps;
    while (j->poses < j->data->poses) {
        dead_reckon(j, j->data->poses - j->poses < piece ? j->data->poses : j->poses + piece);
        if (count_placed(j) > 0) SVMP_TRY(svmp_slam_solve(j));
        if (place_landmarks(j, piece, 0) > 0) SVMP_TRY(svmp_slam_solve(j));
    }
    while (place_landmarks(j, piece, 0) > 0) SVMP_TRY(svmp_slam_solve(j));
    if (place_landmarks(j, piece, 1) > 0) SVMP_TRY(svmp_slam_solve(j));
    return replace_landmarks(j) > 0 ? svmp_slam_solve(j) : SVMP_OK;
}

/* ---- how it fits ------------------------------------------------------------------------------------------------- */

static void print_fit(const slam *j, svmp_path_fit *fit) {
    const svmp_odometry *data = j->data;
    const double steps = (double)(data->poses - 1);
    double moves = 0, turns = 0, ranges = 0;
    *fit = (svmp_path_fit){0};
    for (size_t t = 0; t + 1 < data->poses; t++) {
        double z[3];
        svmp_slam_step_misfit(j, t, z);
        if (fmax(fmax(fabs(z[0]), fabs(z[1])), fabs(z[2])) > outlying && fit->steps++ == 0) fit->first_step = t;
        moves += z[0] * z[0] + z[1] * z[1];
        turns += z[2] * z[2];
    }
    for (size_t e = 0; e < data->count; e++) {
        const double z = svmp_slam_misfit(j, e);
        if (fabs(z) > outlying)
            fit->outliers++;
        else
            ranges += z * z;
    }
    fit->moves = sqrt(moves / (2 * steps));
    fit->turns = sqrt(turns / steps);
    fit->ranges = data->count > fit->outliers ? sqrt(ranges / (double)(data->count - fit->outliers)) : 0;
}

static void print_landmark(const slam *j, size_t k, svmp_landmark_fit *fit) {
    *fit = (svmp_landmark_fit){.ranges = j->start[k + 1] - j->start[k], .other = {NAN, NAN}, .margin = INFINITY};
    for (size_t i = j->start[k]; i < j->start[k + 1]; i++)
        fit->outliers += fabs(svmp_slam_misfit(j, j->list[i])) > outlying;
    if (is_known(j->data, k)) return;
    const observation s = svmp_slam_observe(j, k, 0);
    memcpy(fit->other, s.other, sizeof s.other);
    fit->margin = s.margin;
}

svmp_status svmp_localise_path(svmp_context *context, const svmp_odometry *data, double *path, double *map,
                               svmp_path_fit *fit, svmp_landmark_fit *each) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (data == NULL || path == NULL || map == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_localise_path: an argument is NULL.");
    slam j = {.context = context, .data = data, .path = path, .map = map};
    svmp_status status = set_up(&j);
    if (status == SVMP_OK) status = travel(&j);
    if (status == SVMP_OK && fit) print_fit(&j, fit);
    for (size_t k = 0; status == SVMP_OK && each && k < data->landmarks; k++) print_landmark(&j, k, &each[k]);
    svmp_release(context, j.start);
    svmp_release(context, j.list);
    svmp_release(context, j.placed);
    svmp_release(context, j.weight);
    return status;
}
