/* Range-only SLAM by least squares, piece by piece: the start that svmp_localise_path finds. */
#ifndef SVMP_SLAM_SLAM_H
#define SVMP_SLAM_SLAM_H

#include "base/context.h"
#include "svmp_slam.h"

typedef struct slam {
    svmp_context *context;
    const svmp_odometry *data;
    size_t poses;         /* of the path so far */
    double *path, *map;   /* the caller's */
    size_t *start, *list; /* the distances to landmark k, pose by pose: list[start[k]] ... list[start[k + 1] - 1] */
    int *placed;          /* by landmark */
    double *weight;       /* of every distance, 0 to 1 */
} slam;

/* (distance measured - distance on the map) / range_sd */
double svmp_slam_misfit(const slam *j, size_t distance);

/* The squares of the odometry's misfits of step t, in units of their sd: ahead, left, turn. */
void svmp_slam_step_misfit(const slam *j, size_t t, double misfit[3]);

/* Moves poses and placed landmarks to where the weighted squares of all misfits are least. The weights of distances
 * follow Geman and McClure, from all equal to those of 3 sd (graduated non-convexity). */
svmp_status svmp_slam_solve(slam *j);

/* Where landmark k may be, given the path so far. */
typedef struct observation {
    double best[2], other[2]; /* other: NaN if there is none */
    double margin;            /* of log densities; INFINITY: no other */
    double sd;                /* of the best, in its worst direction */
    double inliers;           /* share of its distances within 3 sd */
    size_t ranges;            /* so far */
} observation;

/* `drift`: poses after which errors of the path no longer grow; 0: the path is exact. */
observation svmp_slam_observe(const slam *j, size_t k, size_t drift);

#endif
