/* The models of models/ for unit tests, by their row of gpu/models.h. */
#ifndef SVMP_TESTS_LISTED_H
#define SVMP_TESTS_LISTED_H

#include <stdio.h>

#include "gpu/models.h"
#include "support.h"

static svmp_model *read_model(svmp_context *context, const char *const *files) {
    char paths[MODEL_FILES][1000];
    const char *list[MODEL_FILES];
    size_t count = 0;
    for (; count < MODEL_FILES && files[count]; count++) {
        snprintf(paths[count], sizeof paths[count], "%s/%s", SVMP_MODELS, files[count]);
        list[count] = paths[count];
    }
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, list, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    return model;
}

#endif
