/* The backend of a run that continues from a checkpoint; another one would compute other bits. */
#include <string.h>

#include "backend/device_backend.h"
#include "base/notes.h"
#include "base/peers.h"
#include "method/method.h"
#include "run/checkpoint_file.h"
#include "run/option_table.h"
#include "run/run.h"

svmp_status svmp_run_refuse_backend(svmp_context *context, const char *path, const char *saved, const char *now) {
    return svmp_fail_notes(context, SVMP_BAD_INPUT,
                           NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_CONTINUE_WITH, "backend", saved)),
                                 svmp_either(1, svmp_advice(SVMP_NOTE_START_NEW, "init", "FILE")),
                                 svmp_advice(SVMP_NOTE_WRITE_PARTICLES, "output", "FILE")),
                           "The checkpoint '%s' has backend = %.40s, but this run has backend = %s.", path, saved, now);
}

/* The backend that the checkpoint names, the same in all processes; "" if it names none. */
static svmp_status saved_backend(svmp_context *context, const char *path, char *name, size_t size) {
    const svmp_peers *peers = context->peers;
    checkpoint file = {0};
    svmp_status status;
    const char *text = NULL;
    SVMP_CHECK(svmp_checkpoint_open(context, peers, path, &file));
    SVMP_CHECK(svmp_checkpoint_find_text(&file, CHECKPOINT_BACKEND, &text));
    snprintf(name, size, "%s", text ? text : "");
    peers->broadcast(peers, 0, size, name);
done:
    svmp_checkpoint_close(&file);
    return status;
}

svmp_status svmp_options_resume(svmp_options *options, const char *path) {
    if (options == NULL) return SVMP_BAD_CALL;
    svmp_context *context = svmp_options_context(options);
    const char *wanted = svmp_options_get(options, "backend");
    char saved[64] = "";
    if (path == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_options_resume: the path is NULL.");
    const method *chosen = svmp_method_find(context, svmp_options_get(options, "method"));
    if (chosen == NULL) return SVMP_BAD_CALL;
    const int chooses = strcmp(wanted, svmp_backend_auto.name) == 0;
    if (!chooses && (chosen->on_host || !svmp_device_is_named(wanted)))
        return SVMP_OK; /* the run is on the CPU; svmp_run_load checks it at lower cost */
    SVMP_TRY(saved_backend(context, path, saved, sizeof saved));
    if (*saved == '\0' || strcmp(saved, wanted) == 0 || strcmp(saved, svmp_backend_auto.name) == 0) return SVMP_OK;
    return chooses ? svmp_options_set(options, "backend", saved)
                   : svmp_run_refuse_backend(context, path, saved, wanted);
}
