/* Internal declarations of the verdict. */
#ifndef SVMP_VERIFY_VERDICT_INSIDE_H
#define SVMP_VERIFY_VERDICT_INSIDE_H

#include "base/notes.h"
#include "method/method.h"

enum { VERDICT_DRIFTS = 10, VERDICT_NAME = 128, VERDICT_METHOD = 64, VERDICT_MODES = 6 };

/* One of several modes: its share of the mass, the standard error of this, and the value of the variable in which the
 * modes differ most. */
typedef struct verdict_mode {
    double share, error, value;
} verdict_mode;

/* The result of an examination. */
typedef enum svmp_finding {
    SVMP_FINDING_NOT_EXAMINED,
    SVMP_FINDING_PASSED, /* exact moves change the particles no more than they would change exact draws */
    SVMP_FINDING_FAILED,
    SVMP_FINDING_UNDECIDED /* the moves mixed too slowly to tell */
} svmp_finding;

/* Why the particles were not examined, or why the examination was cut short. */
typedef enum svmp_unexamined {
    SVMP_UNEXAMINED_NONE,
    SVMP_UNEXAMINED_UNASKED,
    SVMP_UNEXAMINED_TIME, /* the seconds ran out: before the first window, or before all variables had mixed */
    SVMP_UNEXAMINED_BOXES,
    SVMP_UNEXAMINED_FAILED,     /* the context has the error */
    SVMP_UNEXAMINED_INTERRUPTED /* the monitor stopped it */
} svmp_unexamined;

struct svmp_verdict {
    svmp_context *context; /* that it was created in; NULL: it lives elsewhere */
    svmp_finding finding;
    svmp_unexamined unexamined;
    svmp_code veto;               /* the first that applies */
    double veto_amount;           /* as in the note; of SVMP_NOTE_DISCREPANCY: how many nodes fail */
    char veto_name[VERDICT_NAME]; /* the worst node or variable */
    size_t nodes;                 /* of the whole model */
    size_t particles, variables;  /* that were examined; variables of the whole model */
    size_t moves;                 /* of every particle; 0: not examined */
    double seconds;               /* that the examination took */
    double limit;                 /* the |z| that counts, given how many tests there are */
    double excess;                /* the largest |z| over its limit, of a test that matters; at most 1 if none fails */
    size_t unmixed;               /* variables whose particles have not mixed */
    double slowest; /* for the worst: the variance of the particles' own averages over that of all, at most 0.3 to
                       tell */
    char slowest_name[VERDICT_NAME];
    size_t drifting;                  /* variables that fail; with the log density alone: 0 */
    size_t beyond;                    /* nodes beyond the limits of their discrepancy */
    size_t small;                     /* variables that change by more than chance explains, but too little to matter */
    size_t drifts;                    /* how many are listed: */
    svmp_drift drift[VERDICT_DRIFTS]; /* those that fail, the largest |z| first */
    size_t iterations;                /* of the run, for the advice; 0: unknown */
    char method[VERDICT_METHOD], init[32]; /* of the run, for the advice; "": unknown */
    size_t veto_count;                     /* how many variables, chains or draws are concerned */
    size_t leaves; /* variables that are drawn after the run, given the others: exactly, so not examined */
    char improper_direction[VERDICT_NAME]; /* a direction along which the density does not fall; "": none was found */
    char flat[VERDICT_NAME];               /* unknowns without a proper prior; "": there are none */
    int proper;                            /* whether all unknowns have proper priors; 0: not known, or they do not */
    char jumping[VERDICT_NAME];            /* of chains: a variable in which the density may jump; "": there is none */
    char ridge[VERDICT_NAME]; /* two variables that are nearly one, by their correlation: "a and b"; "": there are none
                               */
    int nested;   /* whether the prior of some unknown depends on others, in the coordinates in which they move */
    int searched; /* whether other modes were searched for: from this many */
    size_t starts, ways, ends;        /* starts, chosen in so many ways, which ended in so many modes */
    size_t modes;                     /* between which particles jumped, or in which they are: 0 or several, of which */
    verdict_mode mode[VERDICT_MODES]; /* these are the heaviest */
    char mode_name[VERDICT_NAME];     /* the variable in which they differ most */
    size_t answered;                  /* draws of the answer, whose numbers may be uncertain; 0: unknown */
    size_t constant;                  /* derived values that are the same in all of them, and the first */
    char constant_name[VERDICT_NAME];
    size_t gapped; /* values with a quantile between modes, and the first */
    char gapped_name[VERDICT_NAME];
    size_t guessed;                  /* modes without particles whose mass is not known: they may have any */
    char guessed_name[VERDICT_NAME]; /* the variable in which the last of them is farthest */
    int local;                       /* by local moves alone */
    int of_draws;                    /* draws of chains were examined, one of each */
    size_t chains;                   /* how many the draws are of; 0: of none. Then these are known: */
    size_t each;                     /* draws of each */
    double accept;                   /* the target of the steps' adaptation; 0: unknown */
    int brief;                       /* the warm-up was too short to adapt by all of its windows */
    size_t every;                    /* every so many of their draws are nearly independent: those are examined */
    double r_hat;                    /* the largest of a variable, */
    double draws;                    /* and the fewest effective draws */
};

/* svmp_run_examine, of `count` other particles x[i*count + l] of the own variables; NULL: those of the run. `verdict`
 * says whether by local moves alone. */
svmp_status svmp_examine_values(const svmp_run *run, size_t count, const double *x, double seconds, size_t moves,
                                svmp_verdict *verdict);

/* A variable that some chains never moved in all their draws, which R-hat need not show: that of the most chains, and
 * how many these are; how many variables there are of the kind. SIZE_MAX: none, or the chains are too short to tell.
 * `draws` are of the variables that move. */
size_t svmp_chains_unmoved(const svmp_particles *draws, size_t *chains, size_t *variables);

/* Whether a method says that it has not settled. */
static inline int svmp_veto_is_unsettled(svmp_code veto) {
    return veto >= SVMP_NOTE_NOT_SETTLED && veto <= SVMP_NOTE_NOT_MIXED;
}

/* Whether some numbers are not known well enough, though nothing is wrong with the draws. */
static inline int svmp_veto_is_uncertain(svmp_code veto) {
    return veto == SVMP_NOTE_UNCERTAIN_MEAN || veto == SVMP_NOTE_UNCERTAIN_SD || veto == SVMP_NOTE_HEAVY_TAILS;
}

/* Whether the density does not fall in some direction, and the verdict has to say so. */
int svmp_verdict_is_endless(const svmp_verdict *verdict);

/* Describes the modes that a method jumped between, or others: share[k] of the mass and its standard error. */
void svmp_verdict_set_modes(const svmp_model *model, const model_modes *modes, const mode_share *share,
                            svmp_verdict *verdict);
svmp_status svmp_verdict_describe_modes(const svmp_run *run, svmp_verdict *verdict);

/* Adds the notes of the result, and of what to do. */
void svmp_verdict_result(const svmp_verdict *verdict, note_list *list);
void svmp_verdict_advise(const svmp_verdict *verdict, note_list *list);

/* NULL: unknown, as of particles from elsewhere. */
const method *svmp_verdict_method(const svmp_verdict *verdict);

/* Whether the windows of a whole chain's adaptation are cut short. */
int svmp_warmup_is_short(const method *of, size_t warmup);

/* The name of a direction along which the density does not fall, of `count` particles x of a run, NULL: its own; "":
 * none was found. An improper posterior has one, unless it is curved. */
svmp_status svmp_run_improper_direction(const svmp_run *run, size_t count, const double *x, char *name, size_t size);

/* The name of a variable as the table has it; "p.1 to p.4" of one that is no element by itself, as of a simplex. That
 * of a node of several elements. */
void svmp_verdict_variable_name(const svmp_model *model, size_t variable, char *name, size_t size);
void svmp_verdict_node_name(const svmp_model *model, size_t node, char *name, size_t size);

/* An empty verdict on a run. */
void svmp_verdict_describe(const svmp_run *run, svmp_verdict *verdict);

#endif
