/* Sensor networks: positions, anchors, noisy distances within reach. */
#ifndef SVMP_PAPER_SENSORS_H
#define SVMP_PAPER_SENSORS_H

#include "paper.h"
#include "paper_random.h"

/* Anchors are the first points. */
typedef struct network {
    size_t anchors, points;
    double *position; /* where they truly are, point by point */
    size_t count;     /* ranges */
    size_t *from, *to;
    double *range;
    double sigma;   /* of the ranges; 0: unknown to the model */
    int logarithms; /* the model takes those of the ranges */
} network;

/* Measures all pairs nearer than `reach`, but those of two anchors. */
int network_measure(network *net, dice *d, double reach, double sigma);
void network_free(network *net);

/* Writes the data of a model ("sensors", "ranges" or "rss"), and reads the model with them. */
int network_model(const task *t, const network *net, const char *name, svmp_model **model);

/* `count` particles of the sensors: at `position` (all points, point by point), each moved by sd times a normal. */
int network_particles(const task *t, const network *net, const double *position, size_t count, double sd,
                      svmp_particles **particles);

/* A start from the ranges alone (svmp_localise). */
int network_start(const task *t, const network *net, size_t count, double sd, svmp_particles **particles);

#endif
