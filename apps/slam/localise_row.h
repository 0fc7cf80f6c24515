#ifndef SVMP_SLAM_LOCALISE_ROW_H
#define SVMP_SLAM_LOCALISE_ROW_H

#include "front/command_row.h"

extern const command command_localise;

#endif
