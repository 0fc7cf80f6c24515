/* Compiles a text and an R dump in one call: nodes and groups, not yet a model. */
#ifndef SVMP_TESTS_COMPILE_TEXT_H
#define SVMP_TESTS_COMPILE_TEXT_H

#include <string.h>

#include "lang/compile.h"
#include "support.h"

static inline svmp_status compile_text(svmp_context *context, const char *text, const svmp_data *data,
                                       const char *monitors, const choices *made, lowered_model **lowered) {
    const model_files files = {.name = "m.bug", .text = text, .data = data, .monitors = monitors};
    parsed_model *parsed = NULL;
    svmp_status status = svmp_parse(context, &files, &parsed);
    if (status == SVMP_OK) status = svmp_compile_nodes(parsed, made, NULL, NULL, NULL, lowered);
    svmp_parsed_free(parsed);
    return status;
}

/* Fails the test unless it succeeds. */
static inline lowered_model *compile_dump(svmp_context *context, const char *text, const char *dump,
                                          const char *monitors, const choices *made) {
    lowered_model *lowered = NULL;
    svmp_data *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    svmp_status status = svmp_data_read_text(data, "d.R", dump, strlen(dump));
    if (status == SVMP_OK) status = compile_text(context, text, data, monitors, made, &lowered);
    if (status != SVMP_OK) fail_msg("%s: %s", text, svmp_context_error(context));
    svmp_data_free(data);
    return lowered;
}

#endif
