/* The program `svmp-localise`, which `svmp localise` starts. */
#include "front/program_context.h"
#include "front/program_frame.h"
#include "slam/localise_row.h"
#include "slam/slam_files.h"

static int run(const option_set *set) {
    svmp_context *context = NULL;
    int status = open_context(set, &context);
    if (status == 0)
        status = options_given(set, "odometry") ? localise_slam(set, context) : locate_points(set, context);
    svmp_context_free(context);
    return status;
}

int main(int count, char **arguments) {
    command here = command_localise;
    here.program = NULL;
    here.run = run;
    program_begin("svmp");
    return program_end(run_command(&here, count - 1, arguments + 1));
}
