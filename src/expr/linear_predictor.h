/* A log value that reads some of its slots only through one affine function of them, the linear predictor
 *
 *     eta = offset + sum over the slots j of coefficient_j x_j,      f(x) = g(eta, other slots):
 *
 * the rows of a regression. For many instances and particles eta is a product of two matrices, and so is the gradient
 * by these slots, coefficient_j dg/deta; a program evaluates only g. Found by structure: coefficients are expressions
 * of parameters only. */
#ifndef SVMP_EXPR_LINEAR_PREDICTOR_H
#define SVMP_EXPR_LINEAR_PREDICTOR_H

#include "expr/program.h"

typedef struct linear_predictor {
    svmp_context *context;
    size_t slots;           /* number of slots of the whole program */
    size_t count, others;   /* the numbers of slots that are read only through the predictor, and of other slots */
    uint32_t *slot, *other; /* both ascending */
    double *coefficient, *offset; /* coefficient[k*count + j] of instance k */
    program *compiled;            /* g: the predictor is in slot 0, followed by the other slots */
    bound_program *bound;
    program_partial *derivatives; /* the partial program of g, without its value */
    bool one_for_all;             /* g reads only the predictor and is the same for all instances */
} linear_predictor;

/* The instances of an evaluation: those of a view, or `count` from `first` on if it is NULL. */
typedef struct predictor_work {
    const uint32_t *variables; /* the variables of all instances of the whole program */
    const instance_view *view;
    size_t first, count, n;
    const double *x;
    void *scratch;
} predictor_work;

/* *found is NULL if there is no predictor with at least three slots. `variables`: those with which the program is
 * usually evaluated (svmp_bound_share). */
svmp_status svmp_linear_predictor_find(const bound_program *bound, const uint32_t *variables, linear_predictor **found);

/* A predictor with only the instances which[0], which[1], ... of this one. */
svmp_status svmp_linear_predictor_keep(const linear_predictor *p, size_t count, const uint32_t *which,
                                       linear_predictor **kept);

/* Writes a predictor, or NULL, to bytes, or reads it. */
void svmp_linear_predictor_pack(packing *p, size_t instances, linear_predictor **predictor);

void svmp_linear_predictor_free(linear_predictor *p); /* NULL-safe */

/* Bytes of scratch memory for n particles, with the alignment of malloc. `partial`: of g, or NULL. */
size_t svmp_linear_predictor_scratch(const linear_predictor *p, const program_partial *partial, size_t n);

/* value[k*n + l] of the k-th instance, and derivative[(k*(1 + others) + r)*n + l], r = 0: by the predictor, 1 ...: by
 * the other slots. Either may be NULL. The bits of an instance do not depend on the others and on n. */
void svmp_linear_predictor_evaluate(const linear_predictor *p, const predictor_work *work, double *value,
                                    double *derivative);

/* The same with gradient[(k*many + j)*n + l] by slots[j] of the whole program: as a factor group computes it
 * (model/factor_group.h). `partial`: of g, with the derivatives by the rows of these slots, ascending, or NULL: all. */
void svmp_linear_predictor_gradient(const linear_predictor *p, const program_partial *partial,
                                    const predictor_work *work, size_t many, const uint32_t *slots, double *value,
                                    double *gradient);

/* The row of the derivatives for a slot of the whole program, and whether it is that of the predictor; then *place is
 * the slot's index among the coefficients. */
size_t svmp_linear_predictor_row(const linear_predictor *p, uint32_t slot, bool *predicted, size_t *place);

#endif
