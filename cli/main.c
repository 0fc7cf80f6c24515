/* The command `svmp`: finds the command that is meant, reads its options, runs it. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "help.h"

static int check_operands(const command *which, const option_set *set) {
    if (set->operand_count >= which->least && set->operand_count <= which->most) return 0;
    if (set->operand_count > which->most)
        return complain(EXIT_WRONG, "Unexpected argument '%s'. Usage: svmp %s %s.", set->operands[which->most],
                        which->name, which->operands);
    return complain(EXIT_WRONG, "Missing argument. Usage: svmp %s %s.", which->name, which->operands);
}

static int run_command(const command *which, int count, char **arguments) {
    option_set set = {0};
    command_options(which, &set);
    if (which->joins) hold_speech();
    if (which->common) speak_as_launched();
    int wrong = options_parse(&set, count, arguments);
    if (wrong == 0 && options_given(&set, "help")) return speak_as_launched(), print_command_help(which), EXIT_DONE;
    if (wrong == 0) wrong = check_operands(which, &set);
    if (wrong) return which->joins ? refuse_together(wrong) : wrong;
    return which->run(&set);
}

static int dispatch(int count, char **arguments) {
    if (count < 2) {
        speak_as_launched();
        if (is_speaker()) print_help(stderr);
        return EXIT_WRONG;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return speak_as_launched(), printf("svmp %s\n%s", svmp_version(), svmp_build_parts()), EXIT_DONE;
    const int help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const command *which = help ? &command_help : find_command(name);
    return which ? run_command(which, count - 2, arguments + 2) : EXIT_WRONG;
}

/* Threads that wait spin for a millisecond by default: on a machine that others use too, that is a millisecond taken
 * from the very thread that is waited for, at every step. They shall sleep sooner. OpenMP's runtime reads this when it
 * is loaded, so the command starts itself again with it; what the user has said stands. */
static void wait_gently(char **arguments) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    char path[PATH_MAX]; /* its own, by which the process is called */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || setenv("GOMP_SPINCOUNT", "2000", 1) != 0) return;
    path[length] = '\0';
    execv(path, arguments); /* or go on as it is */
}

/* The other end of a pipe was closed: asked of the pipe, since the write that met it may be long past. */
static int reader_is_gone(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR);
}

int main(int count, char **arguments) {
    wait_gently(arguments);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like others, told by the write that meets it */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has grown as large as it may */
    signal(SIGCHLD, SIG_DFL); /* who started this may have ignored its children; this one waits for its own */
    int status = dispatch(count, arguments);
    const int lost = ferror(stdout), gone = reader_is_gone();
    errno = 0;
    if ((fclose(stdout) != 0 || lost) && status == EXIT_DONE)
        return gone || errno == EPIPE ? EXIT_FAILED /* the reader has seen enough: nobody needs to be told */
                                      : complain(EXIT_FAILED, "Cannot write to standard output%s%s.", errno ? ": " : "",
                                                 errno ? strerror(errno) : "");
    return status;
}
