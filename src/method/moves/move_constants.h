/* The constants of the exact moves and what each means (docs/local.md). */
#ifndef SVMP_METHOD_MOVES_MOVE_CONSTANTS_H
#define SVMP_METHOD_MOVES_MOVE_CONSTANTS_H

/* ---- trajectories ------------------------------------------------------------------------------------------------ */

enum {
    MOST_LEAPS = 64,         /* steps of a trajectory */
    TRIED_TRAJECTORIES = 24, /* that alternate between the leapfrog and turning */
    EXPENSIVE_ENTRIES = 200  /* of the Cholesky factor for each variable: trajectories cost too much above that */
};
static const double first_step = 0.5, largest_step = 1.4, wanted_acceptance = 0.8;
static const double turning_gain = 2; /* turning is used if its step is this many times longer: the leapfrog follows
                                       * heavy tails better */
static const double quarter_period = 1.57079632679489661923;

/* ---- local moves ------------------------------------------------------------------------------------------------- */

/* Scores of the model that a sweep may cost, if trajectories are made, too, until the cost of these is known. */
static const double first_sweep_budget = 8;
static const double sweep_acceptance = 0.6; /* to which epsilon is adapted */
static const double cauchy_stretch = 8;     /* of every other Cauchy proposal */
static const double most_log_step = 46;     /* of epsilon: e^46 is 1e20 */
static const double difference_step = 1e-4; /* of the particles' sd: the step of finite differences of scores */
enum {
    CAUCHY_EVERY = 4,     /* every fourth move of a node is a Cauchy proposal */
    LENGTH_SEARCHES = 12, /* of the length for differences, where the particles do not vary */
    MANY_ROUNDS = 100,    /* a sweep with this many rounds, */
    MANY_SCORES = 10      /* or at the cost of this many scores, is expensive */
};

/* ---- adaptation of a step size by dual averaging, as in Hoffman and Gelman (2014) ---------------------------------
 */

static const double averaging_gamma = 0.05, averaging_delay = 10, averaging_kappa = 0.75;

/* ---- jumps between modes ----------------------------------------------------------------------------------------- */

static const double least_proposed = 0.05; /* share of the proposals of a mode */
enum { MODE_HALVINGS = 30 };               /* of the way from a draw without a finite density to the mean of its mode */

#endif
