/* Models of a text and an R dump in memory, and their log density. */
#ifndef SVMP_TESTS_READ_DUMP_H
#define SVMP_TESTS_READ_DUMP_H

#include <math.h>
#include <string.h>

#include "model/evaluator.h"
#include "unit/support.h"

/* Returns NULL if the model is refused. */
static inline svmp_model *try_dump(svmp_context *context, const char *text, const char *dump, const svmp_reading *how) {
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    svmp_model_read_text(context, "m.bug", text, data, how, &model);
    svmp_data_free(data);
    return model;
}

/* Fails the test unless it succeeds. */
static inline svmp_model *read_dump(svmp_context *context, const char *text, const char *dump,
                                    const svmp_reading *how) {
    svmp_model *model = try_dump(context, text, dump, how);
    if (model == NULL) fail_msg("%s: %s", text, svmp_context_error(context));
    return model;
}

/* The log density at one particle. */
static inline double log_density_at(const svmp_model *model, const double *x) {
    double found = NAN;
    int known = 0;
    evaluator *e = NULL;
    assert_ok(svmp_evaluator_create(model, 1, 1, &e));
    assert_ok(svmp_evaluate_log_density(e, x, &found, &known));
    svmp_evaluator_free(e);
    return found;
}

#endif
