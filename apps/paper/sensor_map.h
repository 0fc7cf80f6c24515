/* Maps: contours of the particles of each sensor, anchors as crosses, the truth marked. */
#ifndef SVMP_PAPER_SENSOR_MAP_H
#define SVMP_PAPER_SENSOR_MAP_H

#include "paper.h"

/* Marks of a map: places with a gnuplot point type, and a label or NULL. */
typedef struct map_mark {
    double x, y;
    int point;
    const char *label;
} map_mark;

/* Draws particles of points x.I.1, x.I.2 as contours of a smoothed density; `width` smooths. The last `strong` points
 * are drawn in another colour. */
int draw_map(const paper *p, const char *name, const char *title, svmp_particles *sample, double width, size_t strong,
             const map_mark *marks, size_t mark_count);

/* Figure 4, from the particles of its first trial. */
int draw_maps(const paper *p);

#endif
