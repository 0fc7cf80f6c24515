/* States of chains, kept while their averages settle: a ring that thins itself. Every stride-th state is kept; when
 * there is no place for another, every second one is dropped and the stride doubles. So there are always enough states
 * that are evenly spaced over the later two thirds of the iterations, whenever these end. */
#ifndef SVMP_METHOD_TRANSPORT_KEPT_STATES_H
#define SVMP_METHOD_TRANSPORT_KEPT_STATES_H

#include "method/method.h"

typedef struct kept_states kept_states;

/* For `wanted` states of the particles, and later up to `most`, the first of them after iteration `from`; *made is NULL
 * if none is wanted. If processes share the particles, each keeps its own; `columns` must live as long. */
svmp_status svmp_kept_states_create(svmp_context *context, size_t variables, const peer_columns *columns, size_t wanted,
                                    size_t most, size_t from, kept_states **made);
void svmp_kept_states_free(kept_states *k); /* NULL-safe, like all functions here */

/* Offers the own particles x[i*n + l] after iteration `passed`, which counts from 1. */
void svmp_kept_states_offer(kept_states *k, size_t passed, const double *x);

/* Changes how many are wanted. */
void svmp_kept_states_want(kept_states *k, size_t wanted);
size_t svmp_kept_states_wanted(const kept_states *k);

/* How many evenly spaced states of the last two thirds of `passed` iterations there are: at most as many as wanted. */
size_t svmp_kept_states_count(const kept_states *k, size_t passed);

/* These states of all particles, `count` of each, oldest first: x[(i*n + l)*count + j]. Collective, as is the state. */
svmp_status svmp_kept_states_take(const kept_states *k, size_t passed, double *x);

svmp_status svmp_kept_states_state(kept_states *k, archive *a);

#endif
