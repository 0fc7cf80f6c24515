/* What svmp-localise reads and writes. Each returns an exit status, after an error message if it is not 0. */
#ifndef SVMP_SLAM_SLAM_FILES_H
#define SVMP_SLAM_SLAM_FILES_H

#include "front/command_options.h"

/* Positions from distances: a start in a file of particles. */
int locate_points(const option_set *set, svmp_context *context);

/* --odometry: a start for range-only SLAM. */
int localise_slam(const option_set *set, svmp_context *context);

/* A name that a model may have: a letter, then letters, digits, dots and underscores. */
int check_name(const option_set *set, const char *option);

#endif
