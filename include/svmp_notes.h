/* svmp_notes.h: what the library has to say, as codes and numbers; svmp.h includes it.
 *
 * A note is one statement: a fact, a warning, a refusal or a piece of advice. svmp_verdict_note and svmp_context_note
 * return notes, and svmp_note_text writes one as a sentence. Advice names options as svmp_options_set does; how a user
 * writes them ("-t 8000", "iterations=8000") is up to a function of the program, the speller.
 */
#ifndef SVMP_NOTES_H
#define SVMP_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* What a note is for. */
typedef enum svmp_note_kind {
    SVMP_FACT = 0,
    SVMP_WARNING = 1,
    SVMP_REFUSAL = 2, /* a reason not to use the numbers */
    SVMP_ADVICE = 3,  /* what to do */
    SVMP_DETAIL = 4   /* evidence for the note that it is about */
} svmp_note_kind;

/* Name, number and kind of every note. The numbers never change and are never reused. The comments say what the fields
 * `count`, `total`, `amount`, `limit` and `name` hold, if anything. */
#define SVMP_NOTE_LIST(X)                                                                                              \
    /* the result of the examination */                                                                                \
    X(NOTE_PASSED, 1, FACT)                                                                                            \
    X(NOTE_FAILED, 2, REFUSAL)                                                                                         \
    X(NOTE_DRAWS_FAILED, 3, REFUSAL)                                                                                   \
    X(NOTE_SLOW, 4, WARNING) /* count of total variables, the slowest by name, after `amount` moves */                 \
    X(NOTE_SLOW_TIME, 5, WARNING)                                                                                      \
    X(NOTE_SLOW_INTERRUPTED, 6, WARNING)                                                                               \
    X(NOTE_NOT_EXAMINED, 7, WARNING)                                                                                   \
    X(NOTE_NOT_EXAMINED_TIME, 8, WARNING)                                                                              \
    X(NOTE_NOT_EXAMINED_BOXES, 9, WARNING)                                                                             \
    X(NOTE_NOT_EXAMINED_ERROR, 10, WARNING)                                                                            \
    X(NOTE_NOT_EXAMINED_INTERRUPTED, 11, WARNING)                                                                      \
    X(NOTE_MODE_GUESSED, 12, WARNING) /* count modes whose mass is not known, the last by name */                      \
    /* vetoes: reasons that by themselves prevent a pass */                                                            \
    X(NOTE_DIVERGED, 20, REFUSAL)                                                                                      \
    X(NOTE_INTERRUPTED, 21, REFUSAL)                                                                                   \
    X(NOTE_UNMOVED, 22, REFUSAL)                                                                                       \
    X(NOTE_CHAIN_UNMOVED, 23, REFUSAL)  /* name; count of total chains */                                              \
    X(NOTE_DISCREPANCY, 24, REFUSAL)    /* count of total nodes, the worst by name; limit: 1 if others are fine */     \
    X(NOTE_LARGE_STEP, 25, REFUSAL)     /* name; amount in sd */                                                       \
    X(NOTE_NOT_SETTLED, 26, REFUSAL)    /* limit: iterations, as in the next four; these: count of total variables, */ \
    X(NOTE_AVERAGE_ERROR, 27, REFUSAL)  /* the worst by name; amount: its standard error in sd */                      \
    X(NOTE_AVERAGE_DRIFT, 28, REFUSAL)  /* in sd */                                                                    \
    X(NOTE_IDENTITY, 29, REFUSAL)       /* deviation from Stein's identity, in sd */                                   \
    X(NOTE_NOT_MIXED, 30, REFUSAL)      /* share of the variance between particles that do not mix */                  \
    X(NOTE_FEW_PARTICLES, 31, REFUSAL)  /* limit: how many are needed */                                               \
    X(NOTE_R_HAT, 32, REFUSAL)          /* amount, limit; count variables, the worst by name */                        \
    X(NOTE_FEW_DRAWS, 33, REFUSAL)      /* amount, limit: effective draws; count variables, the worst by name */       \
    X(NOTE_DIVERGENT, 34, REFUSAL)      /* count trajectories */                                                       \
    X(NOTE_LOW_ENERGY, 35, REFUSAL)     /* amount: E-BFMI, limit; count: the chain, from 1 */                          \
    X(NOTE_NOT_FINITE, 36, REFUSAL)     /* name */                                                                     \
    X(NOTE_SUM_TRUNCATED, 37, REFUSAL)  /* name; amount: the last value */                                             \
    X(NOTE_R_HAT_OF_ONE, 38, REFUSAL)   /* NOTE_R_HAT of a single chain */                                             \
    X(NOTE_UNCERTAIN_MEAN, 39, WARNING) /* count of total values, the worst by name; amount: its error in sd */        \
    X(NOTE_UNCERTAIN_SD, 40, WARNING)   /* the same; amount: relative error */                                         \
    X(NOTE_HEAVY_TAILS, 156, WARNING)   /* the same; amount: the Pareto shape */                                       \
    /* evidence */                                                                                                     \
    X(NOTE_MEAN_DIFFERS, 50, DETAIL) /* name; amount: the effect of svmp_drift, limit: its level; so in the next */    \
    X(NOTE_SD_DIFFERS, 51, DETAIL)                                                                                     \
    X(NOTE_MEDIAN_DIFFERS, 52, DETAIL)                                                                                 \
    X(NOTE_TAILS_DIFFER, 53, DETAIL)                                                                                   \
    X(NOTE_SCORE_DIFFERS, 54, DETAIL)                                                                                  \
    X(NOTE_DENSITY_DIFFERS, 55, DETAIL)                                                                                \
    X(NOTE_DENSITY_ELSEWHERE, 56, DETAIL)                                                                              \
    X(NOTE_QUANTILE_DIFFERS, 57, DETAIL)                                                                               \
    X(NOTE_CORRELATION_DIFFERS, 58, DETAIL)                                                                            \
    X(NOTE_CORRELATIONS_DIFFER, 59, DETAIL)                                                                            \
    X(NOTE_MORE_VARIABLES, 60, DETAIL) /* count of total */                                                            \
    X(NOTE_MIXED, 61, DETAIL)          /* amount: the largest R-hat; limit: the fewest effective draws */              \
    X(NOTE_UNCHANGED, 62, DETAIL)      /* count moves, amount small changes; limit: 1 if the moves are local */        \
    X(NOTE_DRAWS_UNCHANGED, 63, DETAIL)                                                                                \
    X(NOTE_SD_MULTIPLE, 64, DETAIL) /* name; amount: how many times too large */                                       \
    /* facts and warnings besides the result */                                                                        \
    X(NOTE_DO_NOT_USE, 70, WARNING)                                                                                    \
    X(NOTE_DO_NOT_USE_YET, 71, WARNING)                                                                                \
    X(NOTE_SMALL_CHANGES, 72, FACT)         /* count variables */                                                      \
    X(NOTE_DISCREPANCY_CONFIRMED, 73, FACT) /* count of total nodes */                                                 \
    X(NOTE_NOT_SEARCHED, 74, FACT)                                                                                     \
    X(NOTE_DRAWS_NOT_EXAMINED, 75, FACT)                                                                               \
    X(NOTE_ONE_CHAIN, 76, FACT)                                                                                        \
    X(NOTE_LEAVES, 77, FACT)       /* count variables that are drawn after the run */                                  \
    X(NOTE_IMPROPER, 78, WARNING)  /* name: a direction */                                                             \
    X(NOTE_VERY_WIDE, 79, WARNING) /* name: a direction */                                                             \
    X(NOTE_MODES_POSSIBLE, 80, WARNING)                                                                                \
    X(NOTE_SEVERAL_MODES, 81, WARNING)                                                                                 \
    X(NOTE_COLLINEAR, 82, WARNING)     /* name: two variables */                                                       \
    X(NOTE_DENSITY_JUMPS, 83, WARNING) /* name */                                                                      \
    X(NOTE_MODES_IF_HIGH, 85, WARNING)                                                                                 \
    X(NOTE_MODE, 90, DETAIL)        /* name near limit, with amount of the mass; value: its standard error */          \
    X(NOTE_MORE_MODES, 91, DETAIL)  /* count, with amount of the mass */                                               \
    X(NOTE_MODES_ENDED, 92, FACT)   /* total starts, in amount ways, ended in count modes */                           \
    X(NOTE_REST_PASSED, 86, FACT)   /* what is beside uncertain numbers */                                             \
    X(NOTE_IN_A_GAP, 87, FACT)      /* quantiles of count values, of name first, lie between modes */                  \
    X(NOTE_NEVER_VARIES, 88, FACT)  /* count values, name first, in amount draws */                                    \
    X(NOTE_MANY_TERMS, 84, WARNING) /* count terms of sums over discrete unknowns */                                   \
    /* advice about the model */                                                                                       \
    X(NOTE_USE_QUANTILES, 99, ADVICE)                                                                                  \
    X(NOTE_GIVE_PRIOR, 100, ADVICE) /* name */                                                                         \
    X(NOTE_GIVE_PRIORS, 101, ADVICE)                                                                                   \
    X(NOTE_GIVE_PRIOR_OR_PARENTS, 102, ADVICE) /* name */                                                              \
    X(NOTE_CHECK_PRIORS, 103, ADVICE)          /* name: count unknowns */                                              \
    X(NOTE_ONE_MODE, 104, ADVICE)                                                                                      \
    X(NOTE_SEPARATING_PRIOR, 105, ADVICE)                                                                              \
    X(NOTE_SCALE_PREDICTORS, 106, ADVICE)                                                                              \
    X(NOTE_OTHER_UNKNOWNS, 107, ADVICE)                                                                                \
    X(NOTE_NON_CENTRED, 108, ADVICE) /* option: coordinates, or none */                                                \
    X(NOTE_DISCRETE_CHANGE_POINT, 109, ADVICE)                                                                         \
    X(NOTE_OTHER_PRIORS, 110, ADVICE)                                                                                  \
    X(NOTE_LIGHTER_TAILS, 111, ADVICE)                                                                                 \
    X(NOTE_SHORTER_SUMS, 113, ADVICE)                                                                                  \
    X(NOTE_TRUNCATE_LATER, 112, ADVICE) /* amount: the value */                                                        \
    /* advice about the run */                                                                                         \
    X(NOTE_USE, 130, ADVICE) /* option; so in the following */                                                         \
    X(NOTE_COMPARE, 131, ADVICE)                                                                                       \
    X(NOTE_RUN_LONGER, 132, ADVICE)                                                                                    \
    X(NOTE_WARM_UP, 133, ADVICE)                                                                                       \
    X(NOTE_MORE_DRAWS, 134, ADVICE)                                                                                    \
    X(NOTE_MORE_PARTICLES, 135, ADVICE)                                                                                \
    X(NOTE_SMALLER_STEPS, 136, ADVICE)                                                                                 \
    X(NOTE_FALLING_STEPS, 137, ADVICE)                                                                                 \
    X(NOTE_OTHER_STARTS, 138, ADVICE)                                                                                  \
    X(NOTE_START_GAUSSIAN, 139, ADVICE)                                                                                \
    X(NOTE_ITERATE, 140, ADVICE)                                                                                       \
    X(NOTE_FINISH, 141, ADVICE) /* no option */                                                                        \
    X(NOTE_TRY_ANOTHER, 142, ADVICE)                                                                                   \
    X(NOTE_LOWER, 143, ADVICE)                                                                                         \
    X(NOTE_RAISE, 144, ADVICE)                                                                                         \
    X(NOTE_START_FROM, 145, ADVICE)                                                                                    \
    X(NOTE_WRITE_PARTICLES, 146, ADVICE)                                                                               \
    X(NOTE_WRITE_START, 147, ADVICE)                                                                                   \
    X(NOTE_CONTINUE, 148, ADVICE)                                                                                      \
    X(NOTE_OTHER_SEEDS, 149, ADVICE)                                                                                   \
    X(NOTE_PROVIDE_START, 150, ADVICE)                                                                                 \
    X(NOTE_START_NEW, 151, ADVICE)                                                                                     \
    X(NOTE_CONTINUE_WITH, 152, ADVICE)                                                                                 \
    X(NOTE_WITH, 153, ADVICE) /* joined to the advice before it */                                                     \
    X(NOTE_FEWER_PARTICLES, 154, ADVICE)                                                                               \
    X(NOTE_CLOSER_START, 155, ADVICE)

/* The code of a note. */
typedef enum svmp_code {
    SVMP_NOTE_NONE = 0,
#define SVMP_NOTE_ROW(name, number, kind) SVMP_##name = (number),
    SVMP_NOTE_LIST(SVMP_NOTE_ROW)
#undef SVMP_NOTE_ROW
} svmp_code;

/* One statement. Fields that a code does not use are 0, NaN or "". */
typedef struct svmp_note {
    svmp_code code;
    svmp_note_kind kind;
    uint32_t either;     /* advice with the same number other than 0: one of these suffices */
    size_t count, total; /* 3 of 22 variables */
    double amount, limit;
    char name[128];  /* of a variable or a node, or of several */
    char option[24]; /* "iterations", as svmp_options_set has it; "": none */
    char value[40];  /* "8000"; "": none in particular */
} svmp_note;

/* Writes an option as a user would, truncated to `size`: "-t 8000". `value` is "" if no value is meant. */
typedef void (*svmp_speller)(const char *option, const char *value, void *user_data, char *buffer, size_t size);

#endif
