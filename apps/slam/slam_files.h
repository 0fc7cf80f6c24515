/* svmp localise --odometry: a start for range-only SLAM. */
#ifndef SVMP_SLAM_SLAM_FILES_H
#define SVMP_SLAM_SLAM_FILES_H

#include "command_table.h"

int localise_slam(const option_set *set, svmp_context *context);

/* A name that a model may have: a letter, then letters, digits, dots and underscores. */
int check_name(const option_set *set, const char *option);

#endif
