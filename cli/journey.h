/* svmp localise --odometry: a start for range-only SLAM. */
#ifndef SVMP_CLI_JOURNEY_H
#define SVMP_CLI_JOURNEY_H

#include "command.h"

int locate_journey(const option_set *set, svmp_context *context);

/* A name that a model may have: a letter, then letters, digits, dots and underscores. */
int check_name(const option_set *set, const char *option);

#endif
