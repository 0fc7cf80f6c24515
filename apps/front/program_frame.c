#include "program_frame.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_output.h"

/* Whether the reader of a pipe has closed it. The pipe knows, even if the failed write was long ago. */
static int reader_is_gone(void) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR);
}

void program_begin(const char *program) {
    error_output_program(program);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of the write, like others */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that has grown as large as it may */
    signal(SIGCHLD, SIG_DFL); /* the parent may have ignored SIGCHLD; this program waits for its children */
}

int program_end(int status) {
    const int lost = ferror(stdout), gone = reader_is_gone();
    errno = 0;
    if ((fclose(stdout) != 0 || lost) && status == EXIT_DONE)
        return gone || errno == EPIPE ? EXIT_FAILED /* the reader has closed the pipe: no message is needed */
                                      : report_error(EXIT_FAILED, "Cannot write to standard output%s%s.",
                                                     errno ? ": " : "", errno ? strerror(errno) : "");
    return status;
}

int program_beside(const char *name, char *path, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + strlen(name) >= size) return 0;
    memcpy(slash + 1, name, strlen(name) + 1);
    return access(path, X_OK) == 0;
}
