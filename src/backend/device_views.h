/* Models, kernels and step rules as the plain arrays that a device of a plug-in reads (svmp_plugin.h). */
#ifndef SVMP_BACKEND_DEVICE_VIEWS_H
#define SVMP_BACKEND_DEVICE_VIEWS_H

#include "backend/backend.h"
#include "svmp_plugin.h"

/* Why a device cannot run a factor group, as the end of "the model has ..."; NULL if it can. */
const char *svmp_device_lacks(const factor_group *group);

typedef struct viewed_model viewed_model;

/* A view of a model all of whose factor groups a device can run. It points into the model, which must live as long. */
svmp_status svmp_device_model_create(const svmp_model *model, viewed_model **made);
void svmp_device_model_free(viewed_model *m); /* NULL-safe */
const svmp_model_view *svmp_device_model_view(const viewed_model *m);

typedef struct viewed_kernel {
    svmp_kernel_view view;
    svmp_term_view term[KERNEL_TERMS_MAX];
} viewed_kernel;

/* A view of a kernel for the first n particles; its messages, if it has any, are those of the backend. Fails if a
 * device does not know a shape. */
svmp_status svmp_device_kernel_create(const backend *b, const kernel *k, size_t n, viewed_kernel **made);
void svmp_device_kernel_free(svmp_context *context, viewed_kernel *made); /* NULL-safe */

/* A view of the backend's step rule, of all zeros if it has none. Fails if a device does not know it. */
svmp_status svmp_device_step(const backend *b, svmp_step_view *view);

#endif
