/* Models from files, one reader a kind. */
#ifndef SVMP_IO_MODEL_READ_H
#define SVMP_IO_MODEL_READ_H

#include "base/context.h"

/* Matrix Market: the precision of a Gaussian, and perhaps its vector b. */
svmp_status svmp_model_read_gaussian(svmp_context *context, size_t count, const char *const *paths, svmp_model **model);

/* The language: a model text, and any number of data files; `monitors` as for svmp_model_read_monitoring. */
svmp_status svmp_model_read_language(svmp_context *context, size_t count, const char *const *paths,
                                     const char *monitors, svmp_model **model);

#endif
