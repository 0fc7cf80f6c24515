/* Pictures of the real data. */
#ifndef SVMP_PAPER_REAL_PICTURE_H
#define SVMP_PAPER_REAL_PICTURE_H

#include "crowd.h"
#include "sensors.h"

int draw_network(const paper *p, const char *name, const char *method, const network *net, svmp_particles *sample);

/* Mean and 90 % interval of each unknown answer over its truth, by both. */
int draw_crowd(const paper *p, const char *name, const crowd *c, const svmp_particles *graphical,
               const svmp_particles *nuts);

#endif
