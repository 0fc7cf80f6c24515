/* The contract of a factor group: many instances of one factor, evaluated over blocks of (instance x particle).
 * A callback is a group of one instance; a statement in a loop of the model language is a group of many. */
#ifndef SVMP_MODEL_FACTOR_GROUP_H
#define SVMP_MODEL_FACTOR_GROUP_H

#include "base/context.h"
#include "expr/instance_view.h"

typedef struct factor_group factor_group;
struct hessian;
struct linear_predictor;

/* What came of an evaluation. */
enum {
    FACTOR_DONE = 0,
    FACTOR_FAILED,  /* a function reported failure */
    FACTOR_NAN,     /* a function returned NaN for variables that are finite */
    FACTOR_NO_VALUE /* the log value is not finite where it has to be */
};

typedef struct factor_kind {
    const char *name;

    /* Log values and gradients of `count` instances from `first` on, for n particles x[i*n + l]:
     *     value[k*n + l],  gradient[(k*slots + j)*n + l] = d value / d (variable in slot j)
     * for the k-th of these instances. Called from several threads at once, each with scratch of its own.
     * The result of an instance does not depend on `first` and `count`. The positions of its variables come only from
     * group->variables: a copy of the group with other `variables` has the same factors on another x (pairwise.h).
     * `gradient` may be NULL if the kind has `values_alone`. Returns FACTOR_DONE or what was wrong. */
    int (*evaluate)(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient);

    /* Bytes of scratch that `evaluate` needs for n particles; fewer particles may need more. */
    size_t (*scratch)(const factor_group *group, size_t n);

    /* Frees `self`, never NULL, of a group. */
    void (*free)(svmp_context *context, void *self);

    /* 0 unless the log value of every instance is a polynomial of degree at most 2 in its variables; otherwise about
     * how many operations an instance takes with its gradient. NULL: unknown. */
    size_t (*quadratic)(const factor_group *group);

    int values_alone; /* `evaluate` can leave the gradients out, which costs less */

    /* Makes the `self` of a group that has only the instances which[0], which[1], ... of this one. */
    svmp_status (*keep)(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self);

    /* The second derivatives of its instances (expr/hessian.h), made on demand. NULL: by differences of the gradients
     * (curvature.h). */
    svmp_status (*hessian)(const factor_group *group, struct hessian **made);

    /* Log values and derivatives of instances that are seen from one node each (expr/instance_view.h):
     *     value[k*n + l],  gradient[(k*count + j)*n + l] = d value / d (variable in slot j of the partial's `count`)
     * for the k-th of the view. `partial` NULL: by all slots. `value` may be NULL. Otherwise as `evaluate`. */
    int (*evaluate_view)(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient);
    size_t (*view_scratch)(const factor_group *group, const void *partial, size_t n);

    /* Makes a cheaper evaluator of the derivatives with respect to some slots only, ascending. NULL: not supported, and
     * views have one instance. */
    svmp_status (*partial)(const factor_group *group, size_t count, const uint32_t *slots, void **partial);
    void (*free_partial)(void *partial);

    /* About how many operations an instance takes with its value and these derivatives, `partial` NULL: all. */
    size_t (*operations)(const factor_group *group, const void *partial);

    /* NULL, or the linear predictor through which alone the instances read some of their slots, if there is one
     * (expr/linear_predictor.h). Then `evaluate_predicted` is as `evaluate`, but for fewer rows in place of the
     * gradient: the derivatives by the predictor and by the other slots. `value` may be NULL. */
    const struct linear_predictor *(*predictor)(const factor_group *group);
    int (*evaluate_predicted)(const factor_group *group, size_t first, size_t count, size_t n, const double *x,
                              void *scratch, double *value, double *derivative);
} factor_kind;

struct factor_group {
    const factor_kind *kind;
    size_t instances, slots;
    uint32_t *variables; /* instances * slots: the variable in each slot; a variable may occur in two */
    void *self;          /* the data of the kind */
    size_t line;         /* the line of the statement in the model text; 0: none */
    uint32_t *origin;    /* in a part of a model: instance -> its number in the whole group; NULL: the same */

    /* In a fragment of a model (graph/graph_part.h), data of the whole group; all zeros otherwise. */
    struct group_whole {
        size_t instances;
        size_t runs;     /* of instances with the same variables, one behind the other */
        char *elsewhere; /* instance -> whether another process has its first variable, and counts it */
    } whole;
};

#endif
