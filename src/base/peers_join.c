/* Joining the processes that a launcher has started, through the plug-in for MPI. */
#include "base/libm_rounding.h"
#include "base/peers.h"
#include "base/plugin.h"
#include "base/shared_library.h"

/* Whether the program itself has started MPI: its launcher may be unknown here. */
static int has_program_started_mpi(void) {
    int (*initialized)(int *) = NULL;
    int started = 0;
    return svmp_library_bind(NULL, "MPI_Initialized", &initialized) && initialized(&started) == 0 && started;
}

/* Each would do the whole run, and write the same files. */
static svmp_status refuse_strangers(svmp_context *context, const svmp_launch *launch) {
    if (!launch->connects)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "srun started %zu tasks without MPI, so each of them would do the whole run. Use srun "
                         "--mpi=pmix; for independent runs, unset SLURM_STEP_NUM_TASKS.",
                         launch->processes);
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%s started %zu processes, but each is alone in MPI and would do the whole run. Use the launcher "
                     "of the MPI that svmp was built with.",
                     launch->name, launch->processes);
}

static svmp_status refuse_without_plugin(svmp_context *context, const svmp_launch *launch, const char *why) {
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%s started %zu processes, but they cannot be connected, and each would do the whole run. %s",
                     launch->name, launch->processes, why);
}

/* The result would have the bits of no process alone, and the next run others, as nodes go elsewhere. */
static svmp_status compare_rounding(svmp_context *context) {
    char words[80];
    snprintf(words, sizeof words, "checksum %016llx of exp, log and other functions",
             (unsigned long long)svmp_rounding_checksum());
    return svmp_context_compare(context, "the rounding of the C library", words);
}

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    const svmp_launch launch = svmp_launched();
    const int started = has_program_started_mpi();
    const svmp_plugin *plugin = NULL;
    const svmp_peers *joined = NULL;
    char why[600];
    if (context->peers->count > 1)
        return svmp_fail(context, SVMP_BAD_CALL, "The context has already joined the other processes.");
    if (!started && launch.processes <= 1) return SVMP_OK;
    if (!started && !launch.connects) return refuse_strangers(context, &launch);
    if (svmp_plugin_find(SVMP_PLUGIN_PEERS, "mpi", &plugin, why, sizeof why) != PLUGIN_FOUND)
        return launch.processes > 1 ? refuse_without_plugin(context, &launch, why) : SVMP_OK;
    const svmp_host host = svmp_plugin_host(context);
    SVMP_TRY((svmp_status)plugin->join(&host, &joined));
    if (joined == NULL) return launch.processes > 1 ? refuse_strangers(context, &launch) : SVMP_OK;
    context->peers = joined;
    SVMP_TRY(svmp_context_compare(context, "the version of svmp", svmp_version()));
    return compare_rounding(context);
}
