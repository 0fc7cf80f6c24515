/* svmp_slam.h: positions from measured distances, starts for runs. In a library of its own, libsvmp_slam. */
#ifndef SVMP_SLAM_H
#define SVMP_SLAM_H

#include "svmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a start for models of distances -------------------------------------------------------- */

/* Points, some with known positions, and measured distances between some of them. */
typedef struct svmp_ranges {
    size_t points, dimension; /* 1 to 3 dimensions */
    const double *known;      /* points*dimension numbers, point by point; NaN if the position is unknown */
    size_t count;             /* the number of distances */
    const size_t *from, *to;  /* points, counted from 0 */
    const double *range;      /* distances */
} svmp_ranges;

/* Estimates the positions, points*dimension numbers, from the distances alone: shortest paths replace missing
 * distances, classical multidimensional scaling gives a map, and a least-squares similarity transformation fits it to
 * the known points, which keep their positions. The result is a start, not an estimate, because paths overestimate
 * distances. SVMP_BAD_INPUT: some points are not connected to the others, or the known points do not determine the map.
 * The cost grows with the cube of the number of points: 0.01 s for 100 points. */
SVMP_API svmp_status svmp_localise(svmp_context *context, const svmp_ranges *ranges, double *positions);

/* ---- a start for range-only SLAM ------------------------------------------------------------ */

/* A robot's odometry in the plane, and its distances to landmarks. The first pose is known. */
typedef struct svmp_odometry {
    size_t poses, landmarks; /* at least 2 and at least 1 */
    double first[3];         /* x, y and heading of the first pose */
    /* poses - 1 measured moves, each in the robot's frame before the move, and the turns after them */
    const double *ahead, *left, *turn;
    const double *known;           /* 2*landmarks positions, NaN if unknown; NULL if all are */
    size_t count;                  /* the number of distances */
    const size_t *pose, *landmark; /* of each distance, counted from 0 */
    const double *range;           /* distances */
    /* standard deviations of a move in each direction, of a turn and of a distance */
    double move_sd, turn_sd, range_sd;
} svmp_odometry;

/* How the data fit the path and the map that were found. */
typedef struct svmp_path_fit {
    double moves, turns, ranges; /* root mean squares in units of the given sd; ranges: without the outliers */
    size_t outliers;             /* distances more than 4 sd from the map */
    size_t steps, first_step;    /* steps with a move or a turn more than 4 sd from the odometry, and the first of them,
                                  * counted from 0 */
} svmp_path_fit;

/* The same for one landmark. */
typedef struct svmp_landmark_fit {
    size_t ranges, outliers;
    double other[2]; /* the next best position, such as the mirror image behind a straight path; NaN: there is none */
    double margin;   /* how much lower the log density is there; below 6 the data do not distinguish the two */
} svmp_landmark_fit;

/* Finds the path, 3*poses numbers (x, y and heading of each pose), and the map, 2*landmarks numbers. Dead reckoning
 * extends the path piece by piece; a landmark is placed as soon as its distances determine where it is; after every
 * piece, least squares with weights that fall to 0 for outliers correct everything so far (Gauss and Newton, sparse).
 * Landmarks whose position remains ambiguous are placed at the end, and have a small margin. `fit` and `each`, one
 * for each landmark, may be NULL. SVMP_BAD_INPUT: a landmark without distances. */
SVMP_API svmp_status svmp_localise_path(svmp_context *context, const svmp_odometry *data, double *path, double *map,
                                        svmp_path_fit *fit, svmp_landmark_fit *each);

#ifdef __cplusplus
}
#endif

#endif
