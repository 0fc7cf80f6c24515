/* A landmark from its distances to poses: circles around pairs of poses cross at candidates, the candidate that
 * explains the distances best is refined, and so is its rival: the mirror image in the line that the path follows, or
 * the best candidate far from it. */
#include <math.h>

#include "slam/slam.h"

enum { PICKS = 16, REFINEMENTS = 30 };

static const double freedom = 3; /* of the t distribution of a distance: outliers count little */

/* One distance as it is seen here: the sd includes how far the path may have drifted since the first. */
typedef struct circle {
    double x, y, radius, sd;
} circle;

static circle circle_of(const slam *j, size_t e, size_t first, size_t drift) {
    const svmp_odometry *data = j->data;
    const double *p = j->path + 3 * data->pose[e], *q = j->path + 3 * first;
    const size_t steps = data->pose[e] - first;
    const double m = (double)(steps < drift ? steps : drift);
    const double away = hypot(p[0] - q[0], p[1] - q[1]) * data->turn_sd;
    const double variance = data->range_sd * data->range_sd + m * (data->move_sd * data->move_sd + away * away / 3);
    return (circle){p[0], p[1], data->range[e], sqrt(variance)};
}

/* A landmark's distances so far. */
typedef struct view {
    const slam *j;
    const size_t *list;
    size_t count, drift;
} view;

static circle circle_at(const view *v, size_t k) {
    return circle_of(v->j, v->list[k], v->j->data->pose[v->list[0]], v->drift);
}

static double log_density(const view *v, const double at[2]) {
    double sum = 0;
    for (size_t k = 0; k < v->count; k++) {
        const circle c = circle_at(v, k);
        const double z = (hypot(at[0] - c.x, at[1] - c.y) - c.radius) / c.sd;
        sum -= (freedom + 1) / 2 * log1p(z * z / freedom) + log(c.sd);
    }
    return sum;
}

/* The crossings of two circles; where they do not meet, the point between them, twice. */
static void cross(const circle *one, const circle *other, double at[2][2]) {
    const double dx = other->x - one->x, dy = other->y - one->y, d = hypot(dx, dy);
    const double along =
        d > 0 ? (d * d + one->radius * one->radius - other->radius * other->radius) / (2 * d) : one->radius;
    const double ux = d > 0 ? dx / d : 1, uy = d > 0 ? dy / d : 0;
    const double up = sqrt(fmax(one->radius * one->radius - along * along, 0));
    for (int side = 0; side < 2; side++) {
        at[side][0] = one->x + along * ux - (side ? up : -up) * uy;
        at[side][1] = one->y + along * uy + (side ? up : -up) * ux;
    }
}

/* H = J'WJ and g = J'W residual of the two coordinates. */
static void linearise(const view *v, const double at[2], double H[3], double g[2]) {
    H[0] = H[1] = H[2] = g[0] = g[1] = 0;
    for (size_t k = 0; k < v->count; k++) {
        const circle c = circle_at(v, k);
        const double dx = at[0] - c.x, dy = at[1] - c.y, d = fmax(hypot(dx, dy), 1e-9 * c.sd);
        const double z = (c.radius - d) / c.sd, w = (freedom + 1) / (freedom + z * z) / (c.sd * c.sd);
        H[0] += w * dx * dx / (d * d);
        H[1] += w * dx * dy / (d * d);
        H[2] += w * dy * dy / (d * d);
        g[0] += w * dx / d * (c.radius - d);
        g[1] += w * dy / d * (c.radius - d);
    }
}

/* Climbs by reweighted least squares; returns the log density. */
static double refine(const view *v, double at[2]) {
    double here = log_density(v, at), damping = 1e-6;
    for (int k = 0; k < REFINEMENTS && damping < 1e6; k++) {
        double H[3], g[2];
        linearise(v, at, H, g);
        const double a = H[0] * (1 + damping), c = H[2] * (1 + damping), determinant = a * c - H[1] * H[1];
        if (!(determinant > 0)) break;
        const double step[2] = {(c * g[0] - H[1] * g[1]) / determinant, (a * g[1] - H[1] * g[0]) / determinant};
        const double next[2] = {at[0] + step[0], at[1] + step[1]}, there = log_density(v, next);
        if (!(there >= here)) {
            damping = fmax(10 * damping, 1e-3);
            continue;
        }
        const double gain = there - here;
        at[0] = next[0], at[1] = next[1], here = there, damping /= 10;
        if (gain < 1e-9 * (1 + fabs(here))) break;
    }
    return here;
}

/* The mirror image in the line through the poses' middle, along their main direction. */
static void mirror(const view *v, const double at[2], double image[2]) {
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    const double each = 1 / (double)v->count;
    for (size_t k = 0; k < v->count; k++) {
        const circle c = circle_at(v, k);
        x += each * c.x, y += each * c.y;
    }
    for (size_t k = 0; k < v->count; k++) {
        const circle c = circle_at(v, k);
        xx += (c.x - x) * (c.x - x), xy += (c.x - x) * (c.y - y), yy += (c.y - y) * (c.y - y);
    }
    const double angle = 0.5 * atan2(2 * xy, xx - yy), ux = cos(angle), uy = sin(angle);
    const double along = (at[0] - x) * ux + (at[1] - y) * uy;
    image[0] = 2 * (x + along * ux) - at[0];
    image[1] = 2 * (y + along * uy) - at[1];
}

/* The best candidate that is at least `apart` from `from`; returns its log density, -INFINITY if there is none. */
static double choose(const view *v, const double *from, double apart, double best[2]) {
    const size_t picks = v->count < PICKS ? v->count : PICKS;
    double highest = -INFINITY;
    for (size_t a = 0; a < picks; a++)
        for (size_t b = 0; b < a; b++) {
            const circle one = circle_at(v, a * v->count / picks), two = circle_at(v, b * v->count / picks);
            double at[2][2];
            cross(&one, &two, at);
            for (int side = 0; side < 2; side++) {
                if (from && hypot(at[side][0] - from[0], at[side][1] - from[1]) < apart) continue;
                const double value = log_density(v, at[side]);
                if (value > highest) highest = value, best[0] = at[side][0], best[1] = at[side][1];
            }
        }
    return highest;
}

/* The rival of the best, if it does not climb to the same place. */
static void find_other(const view *v, double height, double apart, observation *s) {
    double rivals[2][2], highest = -INFINITY;
    mirror(v, s->best, rivals[0]);
    const int count = choose(v, s->best, apart, rivals[1]) > -INFINITY ? 2 : 1;
    for (int k = 0; k < count; k++) {
        const double there = refine(v, rivals[k]);
        if (hypot(rivals[k][0] - s->best[0], rivals[k][1] - s->best[1]) < apart || !(there > highest)) continue;
        highest = there;
        s->other[0] = rivals[k][0], s->other[1] = rivals[k][1];
        s->margin = fmax(height - there, 0);
    }
}

/* The sd in the worst direction, and how many distances fit. */
static void measure(const view *v, observation *s) {
    double H[3], g[2], nearest = INFINITY;
    size_t inside = 0;
    linearise(v, s->best, H, g);
    const double least = (H[0] + H[2]) / 2 - hypot((H[0] - H[2]) / 2, H[1]);
    for (size_t k = 0; k < v->count; k++) {
        const circle c = circle_at(v, k);
        inside += fabs(hypot(s->best[0] - c.x, s->best[1] - c.y) - c.radius) < 3 * c.sd;
        nearest = fmin(nearest, c.radius);
    }
    s->sd = least > 1e-12 * (H[0] + H[2]) ? 1 / sqrt(least) : INFINITY;
    s->inliers = (double)inside / (double)v->count;
}

observation svmp_slam_observe(const slam *j, size_t k, size_t drift) {
    view v = {.j = j, .list = j->list + j->start[k], .drift = drift};
    observation s = {.other = {NAN, NAN}, .margin = INFINITY, .sd = INFINITY};
    const size_t all = j->start[k + 1] - j->start[k];
    while (v.count < all && j->data->pose[v.list[v.count]] < j->poses) v.count++;
    s.ranges = v.count;
    if (v.count == 0) return s;
    const circle first = circle_at(&v, 0);
    const double *pose = j->path + 3 * j->data->pose[v.list[0]];
    s.best[0] = first.x + first.radius * cos(pose[2]); /* of one distance: ahead */
    s.best[1] = first.y + first.radius * sin(pose[2]);
    s.margin = 0;
    if (v.count == 1) return s;
    choose(&v, NULL, 0, s.best);
    const double height = refine(&v, s.best);
    measure(&v, &s);
    s.margin = INFINITY;
    find_other(&v, height, fmax(6 * first.sd, 1e-3 * first.radius), &s);
    return s;
}
