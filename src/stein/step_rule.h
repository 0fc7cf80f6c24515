/* Step rules: how far to move along phi. A step is a rule (one small file each) and a rate that may fall over the run.
 *
 *     step = rule ":" rate | rule ":" from ".." to | "decay:" a "," b "," gamma
 *
 * The rate of iteration t = 0, 1, ... of T is constant, falls geometrically from `from` to `to`, or is
 * a (b + t)^(-gamma); `decay` moves like `fixed`.
 */
#ifndef SVMP_STEIN_STEP_RULE_H
#define SVMP_STEIN_STEP_RULE_H

#include "base/context.h"
#include "svmp_plugin.h"

typedef struct step_rule step_rule;

struct step_rule {
    const char *name;
    svmp_step_kind kind;
    size_t states; /* numbers kept for every scalar between iterations, at most 2; they start at 0 */
    int in_sd;     /* phi and the displacement are in units of the particles' sd (backend.h) */

    /* Turns phi into the displacement, in place, for n scalars whose states are first[l] and second[l] (NULL where the
     * rule keeps none). t = 0, 1, ... counts iterations. */
    void (*apply)(const step_rule *rule, size_t n, double rate, size_t t, double *phi, double *first, double *second);

    double decay1, decay2; /* the decay factors of the states per iteration */
    double delta;          /* added to the denominator */
};

extern const step_rule svmp_step_fixed, svmp_step_adagrad, svmp_step_rmsprop, svmp_step_adam, svmp_step_adam_sd,
    svmp_step_decay;

typedef struct step {
    const step_rule *rule;
    double from, to;    /* equal: a constant rate */
    double a, b, gamma; /* of `decay` */
} step;

/* The form of step k, "adagrad:RATE"; NULL beyond the last one. */
const char *svmp_step_name(size_t k);

svmp_status svmp_step_parse(svmp_context *context, const char *text, step *parsed);

/* The rate of iteration t of `iterations`. */
double svmp_step_rate(const step *s, size_t t, size_t iterations);

#endif
