/* Internal declarations of the local moves, shared by sweep.c and sweep_scale.c. */
#ifndef SVMP_METHOD_MOVES_SWEEP_STATE_H
#define SVMP_METHOD_MOVES_SWEEP_STATE_H

#include "method/moves/cauchy.h"
#include "method/moves/sweep.h"
#include "model/node_evaluator.h"

enum { SWEEP_BLOCK = 256 }; /* nodes of more variables have a diagonal A */

/* Rows of n numbers: of a task's nodes, or of its variables. */
typedef struct sweep_workspace {
    double *value, *value_proposed;         /* nodes */
    double *score, *score_proposed, *y, *w; /* variables */
    double *log_ratio, *uniform;            /* one row each: the log ratio, and the uniform number that decides */
    int64_t *moves;                         /* n */
    double *matrices, *squares;             /* of a task's nodes, while A is estimated: d*d numbers, and d */
} sweep_workspace;

struct sweeper {
    const svmp_model *model;
    peer_columns columns; /* the backend's */
    size_t n, colours;
    int threads;
    node_evaluator *local;
    uint32_t *period;  /* of a task: it moves in every period-th sweep; 0: never */
    double *log_step;  /* own node -> log epsilon */
    int64_t *accepted; /* own node -> the sum of acceptances of this sweep (base/peer_columns.h); -1: learns nothing */
    bool *learns;      /* own node -> whether it learns from this sweep */
    cauchy *cauchy;    /* proposals of every CAUCHY_EVERY-th move of a node; NULL: all moves are steps */
    bool *discontinuous; /* own node -> the density may be discontinuous in it; NULL: in none */
    size_t
        *factor_at; /* own node -> the start of its L, with rows of 1, 2, ... numbers; for large nodes the diagonal */
    double *factor;
    sweep_workspace *workspace; /* of each thread */
    double *spread;             /* own variable -> sd of the particles, while A is estimated; otherwise workspace */
};

/* The number of a task among those of all colours. */
static inline size_t svmp_sweep_task_number(const sweeper *s, const node_task *task) {
    size_t count, hubs;
    return (size_t)(task - svmp_node_evaluator_tasks(s->local, 0, &count, &hubs));
}

static inline size_t svmp_sweep_dimension(const sweeper *s, size_t v) {
    return s->model->graph->first[v + 1] - s->model->graph->first[v];
}

/* Row j of the node's L: numbers 0 ... j; for large nodes only number j is used. */
static inline double *svmp_sweep_factor(const sweeper *s, size_t v, size_t j) {
    return s->factor + s->factor_at[v] + (svmp_sweep_dimension(s, v) <= SWEEP_BLOCK ? j * (j + 1) / 2 : 0);
}

#endif
