/* The inside of the evaluator: its plan, which evaluator_plan.c makes and evaluator.c follows. */
#ifndef SVMP_MODEL_EVALUATOR_PLAN_H
#define SVMP_MODEL_EVALUATOR_PLAN_H

#include "expr/linear_predictor.h"
#include "model/evaluator.h"

/* Every sum has a fixed order: the log density is added up part by part, a part being some instances of the groups, one
 * after the other, or some variables of the quadratic; how threads share the parts does not matter. Gradients and sums
 * are kept for one wave of parts at a time and added up, in the order of their rows, before the next wave begins. Where
 * a group has a linear predictor, the rows of an instance are the derivatives by this and by the other slots, and a
 * variable takes them times its coefficients: row times matrix. */
enum { PART_LANES = 4096, PART_VARIABLES = 256 };

/* Which own nodes a factor touches. In a part of a model those of the interior are scored before the halo is there, and
 * no factor that touches one of them reads it. */
typedef enum region { INTERIOR = 1, BOUNDARY = 2 } region;

typedef struct part {
    size_t group, first, count; /* so many instances from this one of the group on, and on into the next groups */
    size_t row;                 /* of the first instance's gradients */
    int regions;                /* that all of them touch, and no other */
} part;

/* Rows row[from] ... row[to - 1] of the evaluator, all of one wave, are added to the variable's score. */
typedef struct share {
    size_t variable, from, to;
} share;

typedef struct wave {
    size_t part, row, share; /* its first ones; they end where those of the next wave begin */
} wave;

struct evaluator {
    const svmp_model *model;
    size_t n, whole; /* particles, of this many that the order of sums is for */
    int threads;
    const size_t *group_row, *row;   /* of each group its first row; of each slot (gather_start of the model) its row */
    const double *weight;            /* NULL, or of each slot: its row counts so much */
    size_t *own_group_row, *own_row; /* where a group has a linear predictor */
    double *own_weight;
    part *parts;
    size_t group_parts, variable_parts;
    wave *waves; /* wave_count, and one more behind the last */
    size_t wave_count;
    share *shares;
    double *gradient; /* the rows of a wave */
    double *part_sum; /* a row for every part of the quadratic, then those of a wave: partial log densities */
    double **value;   /* thread -> log values of a part's instances, or one score row */
    void **scratch;   /* thread -> what a group's kind asks for */
    size_t failed;    /* the first failure of the last evaluation (model.h); FAILURE_NONE: none */
};

static inline const linear_predictor *svmp_group_predictor(const factor_group *group) {
    return group->kind->predictor ? group->kind->predictor(group) : NULL;
}

/* Rows of an instance. */
static inline size_t svmp_group_rows(const factor_group *group) {
    const linear_predictor *p = svmp_group_predictor(group);
    return p ? 1 + p->others : group->slots;
}

static inline size_t svmp_instances_per_part(size_t n) { return n < PART_LANES ? PART_LANES / n : 1; }

/* Plans parts, waves and shares: the most rows and the most parts of a wave. */
svmp_status svmp_evaluator_plan(evaluator *e, size_t *most_rows, size_t *most_parts);

#endif
