/* The constants of the verdict and what each means (docs/diagnostics.md). */
#ifndef SVMP_VERIFY_VERDICT_CONSTANTS_H
#define SVMP_VERIFY_VERDICT_CONSTANTS_H

#include "svmp_tools.h"

/* ---- vetoes ------------------------------------------------------------------------------------------------------ */

enum { VERDICT_FEWEST = 10 };              /* particles: with fewer, nothing is large enough to stand out from chance */
static const double least_energy = 0.3;    /* the smallest E-BFMI of chains that explore the tails */
static const double many_divergent = 0.01; /* the share of trajectories that may diverge */
static const double large_step = 0.25;     /* sd, of a last step: four of them are one sd */
static const double truncated_weight = 1e-3; /* the largest probability of the last value of a truncated sum */

/* ---- moves ------------------------------------------------------------------------------------------------------- */

enum {
    ADAPTATION_MOVES = 10, /* before the first window */
    FIRST_WINDOW = 20,     /* moves; it doubles until all variables have mixed within it */
    LEAST_MOVES = ADAPTATION_MOVES + FIRST_WINDOW,
    STAY_MOVES = 40, /* of particles that start in a mode that the others lack */
    MOST_MOVES = ADAPTATION_MOVES + 1280,
    MOST_PARTICLES = 500,    /* that are examined */
    EXAMINED_MOST = 200,     /* of chains, that are examined */
    MANY_CHAINS = 100,       /* of which one draw each is examined */
    EXAMINED_FEWEST = 20,    /* at least, if there are that many effective draws */
    ONE_THREAD = 50000,      /* numbers of all particles up to which one thread is fastest: others would mostly wait */
    LOCAL_VARIABLES = 20000, /* above this the Gaussian on the graph takes too long: local moves alone */
    WINDOW_STATES = 4        /* states of a window that quantiles are taken from */
};

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const double false_alarm = 0.02; /* the probability for exact draws, of all tests together; shared by: */
static const double rows_share = 0.6, density_share = 0.2, near_share = 0.08, others_share = 0.08,
                    together_share = 0.04;

/* The between_share (before_after.h) up to which a variable has mixed: that much of its variance may still be between
 * particles that have not met, where nothing that is wrong could be seen. Another limit, `mixed` of
 * method/transport/transport_constants.h, decides when the moves of transport may end. */
static const double examined_mixed = 0.3;

static const double far_beyond = 2;                   /* times the limit: there is no need to look further */
static const double near_limit = 0.75, precise = 0.1; /* times the limit: examined until the window's own error,
                                                       * `between_share` times that of the particles, hardly counts */

/* The smallest effects that matter (svmp_aspect). */
static const double matters[] = {
    [SVMP_ASPECT_MEAN] = 0.2,        [SVMP_ASPECT_SPREAD] = 0.2,     [SVMP_ASPECT_MEDIAN] = 0.2,
    [SVMP_ASPECT_TAILS] = 0.06,      [SVMP_ASPECT_SCORES] = 0.3,     [SVMP_ASPECT_SHAPE] = 0.25,
    [SVMP_ASPECT_LOG_DENSITY] = 0.2, [SVMP_ASPECT_CORRELATION] = 0.3};

static const double in_a_gap = 0.15; /* sd: the error of a quantile that lies between modes */
static const double clipped_at = 5;  /* sd: means of heavy-tailed values are no useful test */
static const double tail = 0.05;     /* quantiles 5 % and 95 % */

/* ---- pairs and sums of variables --------------------------------------------------------------------------------- */

enum { MOST_PAIRS = 20000 };                 /* of neighbours, and of others */
static const double large_correlation = 0.8; /* correlations above it are tested alone, not together */
enum {
    SUMS = 4, /* of the largest, and of the smallest eigenvalues */
    POWER_ITERATIONS = 12,
    MOST_NATURALS = 2000 /* values on the scale of the text that are tested, too */
};
static const double nearly_all = 0.95; /* of the squares of a sum's weights, which sum to 1: these variables name it */

/* ---- other modes and improper posteriors ------------------------------------------------------------------------- */

static const double least_missed = 0.02;     /* of the mass: a mode without particles that matters */
static const double missed_by_chance = 0.01; /* the probability of so few particles in any mode, if they are draws */
static const double share_errors = 3;        /* by so many of its standard errors a mode's share may be wrong */
static const double near_known = 3; /* sd in each variable, root mean square: a mode is the same as a known one */

enum { RAYS = 64, RAY_VARIABLES = 2000 }; /* rays, whose ends are in prepare_constants.h, and the most variables */

#endif
