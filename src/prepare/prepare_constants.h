/* The constants of the preparation of a model and of the starts, and what each means (docs/coordinates.md). */
#ifndef SVMP_PREPARE_PREPARE_CONSTANTS_H
#define SVMP_PREPARE_PREPARE_CONSTANTS_H

/* ---- the Gaussian on the graph ----------------------------------------------------------------------------------- */

enum {
    GAUSSIAN_STARTS = 6,
    PRIOR_STARTS = 100,  /* draws of the priors that are tried if no other start has a finite density */
    FEW_DRAWS = 32,      /* while starts are compared */
    MANY_DRAWS = 64,     /* for the best of them */
    LARGE_MODEL = 5000,  /* variables from which starts are expensive: two that come as high are enough, and steps whose
                            gain does not count are not tried */
    ASCENT_STEPS = 150,  /* at most, of one ascent */
    STEP_TRIALS = 12,    /* step lengths tried in one of them */
    PULLS = 12,          /* towards a point with a finite density */
    SIGN_STEPS = 120,    /* of the ascent by signs */
    START_HALVINGS = 40, /* of the way from a start without a finite density to the mean or the mode */
    MODE_STARTS = 4      /* of the start `map` */
};
static const double ridge = 1e-3; /* of the diagonal of A, added to a curvature without its negative eigenvalues */
static const double first_sign_step = 0.25, sign_step_grows = 1.25, sign_step_shrinks = 0.5;

/* ---- improper directions ----------------------------------------------------------------------------------------- */

enum { RAY_ENDS = 3 };                                    /* distances along a ray at which the density is compared */
static const double ray_ends[RAY_ENDS] = {30, 300, 3000}; /* sd */
static const double negligible_fall = 10;   /* the log density below that of the centre: lower values do not matter */
static const double suspicious_width = 1e5; /* ratio of the sd along a direction to that given the others */
static const double resolved_width = 1e13;  /* the largest such ratio that is not affected by rounding */

/* ---- choices ----------------------------------------------------------------------------------------------------- */

enum {
    CHOICE_DRAWS = 64, /* of the Gaussian on the graph */

    /* Limits on the terms of all sums together. Sums are made longer up to MOST_TERMS where the posterior reaches their
     * ends, and up to FEW_TERMS where only its tails may. Above MANY_TERMS there is a warning that a run is slow. */
    MOST_TERMS = 20000,
    FEW_TERMS = 4000,
    MANY_TERMS = 50000,

    /* Modes are searched for up to this many variables, combinations of values, and combinations times observations
     * times variables. */
    MODE_VARIABLES = 50,
    MODE_COMBINATIONS = 200,
    MODE_WORK = 100000
};

/* A node is not centred if the share of the data is below the first limit, and centred above the second. All nodes of a
 * statement are centred if, on average, a node moves with its location and scale by less than `small_move` of its
 * conditional sd, unless the mean share is below `weak_data`. */
static const double least_data = 0.02, most_data = 0.95, small_move = 0.06, weak_data = 0.3;

/* Draws of the Gaussian are near the posterior; those `tail_spread` times as far from its mean are where its tails may
 * be, which are often longer than those of a Gaussian. A count has weight at its end if that of the last value, times
 * the number of values, is above one of these, on the mean over the draws; the verdict asks for `truncated_weight`
 * (verify/verdict_constants.h). Beyond the end of a shorter sum no more than `no_weight` may be left of the far draws.
 */
static const double near_weight = 1e-4, far_weight = 1e-2, no_weight = 1e-8, tail_spread = 2;

/* Modes with less than `least_mode` are left out; those with `main_mode` count. The others are starting points of
 * jumps: a jump is accepted from places that the mixture has. */
static const double least_mode = 1e-100, main_mode = 0.01;
static const double apart_modes = 4; /* sd, in the direction between two modes: then they are apart */

/* ---- the search for modes by mass ---------------------------------------------------------------------------------
 * Measured on 110 multimodal and 36 unimodal models by a prototype, and by bench/verdict/run. */

enum {
    MODE_PRIOR_DRAWS = 32, /* starts of the first round */
    MODE_WIDE_DRAWS = 32,
    MODE_LINE_MAXIMA = 24,
    MODE_PERMUTATIONS = 8,
    MODE_RESIDUALS = 16, /* of MODE_RESIDUAL_DRAWS, of which the log density alone is evaluated */
    MODE_RESIDUAL_DRAWS = 1000,
    MODE_AGAIN_PRIORS = 24, /* of later rounds; and from each new mode: */
    MODE_AGAIN_WIDE = 8,
    MODE_AGAIN_MAXIMA = 8,
    MODE_AGAIN_PERMUTATIONS = 3,
    MODE_ROUNDS = 6,
    MODE_FROM = 4,          /* new modes of a round from which the search goes on */
    MODE_LINES = 100,       /* nodes along which lines are scanned, */
    MODE_LINE_DRAWS = 5,    /* and draws of q */
    MODE_SHORT_ARRAY = 12,  /* elements that are permuted */
    MODE_WEIGHT_DRAWS = 64, /* at each mode */
    MODE_NEWTON_STEPS = 25,
    MODE_FITS = 8,   /* modes, the heaviest, that get a Gaussian by its bound because their weights are too unequal */
    MODE_SPIKES = 2, /* ends that are no maximum and get a Gaussian by its bound */
    MOST_MODES = 64,
    MIXTURE_VARIABLES = 300, /* between whose modes particles jump: their roots are full matrices */
    CLIMB_STEPS = 50,
    DIP_POINTS = 15, /* between two points, where the density is compared */
    DIP_MODES = 3    /* the nearest of an end, between which and the end it is */
};
static const double climb_gain = 2e-3; /* two steps with less end a climb */
static const double wide_scales[] = {1.5, 4, 10, 30}, wide_scatter = 0.3;
static const double line_steps[] = {1.5, 2,  3,  4,  6,   8,   11,  16, /* sd, on both sides */
                                    22,  32, 45, 64, 100, 200, 500, 1000, 2000, 5000, 10000};
static const double newton_end = 2e-3, no_maximum_decrement = 0.05; /* of g'A^-1 g */
static const double same_distance = 4, least_dip = 0.2; /* squared, in the metric of a mode; of the log density */
static const double merge_distance = 6.25;              /* squared, in both metrics */
static const double counted_log_mass = 6;               /* below the largest: the search goes on from it */
static const double spike_bound = 5, kept_log_mass = 9; /* below that of q; below the largest: it is weighed */
static const double fair_efficiency = 0.1, least_share = 5e-3; /* of importance weights; of the mass of all */

#endif
