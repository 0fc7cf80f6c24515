/* What the picture of figure 4 needs to know of its layout. */
#ifndef SVMP_PAPER_FIG4_H
#define SVMP_PAPER_FIG4_H

#include "sensor_map.h"

/* Anchors, sensors, and the mirrored places of A and B; there is room for 32. */
size_t fig4_marks(map_mark *marks);

#endif
