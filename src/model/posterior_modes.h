/* Modes of a posterior that are known beforehand, with their shares: a mixture of Gaussians on the scale on which
 * particles move. A model text has them where a discrete unknown that all data depend on was summed out, and some of
 * its values lead to places that are far apart (prepare/mode_search.h). */
#ifndef SVMP_MODEL_POSTERIOR_MODES_H
#define SVMP_MODEL_POSTERIOR_MODES_H

#include <stdbool.h>

#include "base/context.h"

/* N(mean, root root'), with the share of all. */
typedef struct posterior_mode {
    double share, log_factor; /* log of the share over the Gaussian's norm */
    double *mean;             /* variables */
    double *root, *inverse;   /* of each other; variables * variables, row by row */
} posterior_mode;

typedef struct model_modes {
    size_t count, variables;
    posterior_mode *mode;
} model_modes;

/* Room for `count` modes, whose shares, means and roots the caller sets; then what follows from them. Fails as
 * SVMP_UNSUPPORTED if a root is singular. */
svmp_status svmp_modes_create(svmp_context *context, size_t count, size_t variables, model_modes **made);
svmp_status svmp_modes_finish(svmp_context *context, model_modes *modes);
void svmp_modes_free(svmp_context *context, model_modes *modes); /* NULL-safe */

/* The mode of the particle that has the share u of all particles below it. */
size_t svmp_modes_at(const model_modes *modes, double u);

/* mean + root z of a mode: `variables` numbers, `stride` apart in x. */
void svmp_modes_place(const model_modes *modes, size_t mode, const double *z, size_t stride, double *x);

/* z = root^-1 (x - mean), d numbers; returns |z|^2. */
double svmp_modes_square(const posterior_mode *mode, size_t d, const double *x, size_t stride, double *z);

/* Whether modes with at least this share fall into parts: each is near another one of its part, and more than
 * `distance` from those of other parts, in sds of both in the direction between them, on the mean. */
svmp_status svmp_modes_are_apart(svmp_context *context, const model_modes *modes, double share, double distance,
                                 bool *apart);

/* The least ratio of a variable's sd in a mode that counts to that in the mixture; 1 for NULL. */
double svmp_modes_least_width(const model_modes *modes);

/* log of the mixture's density at a point, whose numbers are `stride` apart. `workspace` has `variables` numbers. */
double svmp_modes_log_density(const model_modes *modes, const double *x, size_t stride, double *workspace);

#endif
