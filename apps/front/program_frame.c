#include "program_frame.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_output.h"

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

void program_begin(const char *program, char **arguments) {
    error_output_program(program);
    wait_gently(arguments);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like others, told by the write that meets it */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has grown as large as it may */
    signal(SIGCHLD, SIG_DFL); /* who started this may have ignored its children; this one waits for its own */
}

int program_end(int status) {
    const int lost = ferror(stdout), gone = reader_is_gone();
    errno = 0;
    if ((fclose(stdout) != 0 || lost) && status == EXIT_DONE)
        return gone || errno == EPIPE ? EXIT_FAILED /* the reader has seen enough: nobody needs to be told */
                                      : report_error(EXIT_FAILED, "Cannot write to standard output%s%s.",
                                                     errno ? ": " : "", errno ? strerror(errno) : "");
    return status;
}
