#define _XOPEN_SOURCE   700 /* realpath */
#define _DEFAULT_SOURCE     /* flock */

#include "checkpoint_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/error_output.h"

static const char words[] = "svmp: locked by process %ld on %63s"; /* and the end of the line */

enum { TEXT = 160, ATTEMPTS = 100 };

/* The process that holds the lock or held it last; 0 if the text names none. */
static long read_holder(int descriptor, char host[64]) {
    char text[TEXT] = "";
    long holder = 0;
    if (pread(descriptor, text, sizeof text - 1, 0) < 0) return 0;
    return sscanf(text, words, &holder, host) == 2 ? holder : 0;
}

static int write_holder(int descriptor) {
    char text[TEXT], host[64] = "";
    if (gethostname(host, sizeof host - 1) != 0 || *host == '\0') snprintf(host, sizeof host, "localhost");
    const int length = snprintf(text, sizeof text, "svmp: locked by process %ld on %s\n", (long)getpid(), host);
    return ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text, (size_t)length, 0) == length;
}

/* Somebody else's file is left as it is. */
static int is_ours(int descriptor) {
    struct stat about;
    return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
           (about.st_size == 0 || read_holder(descriptor, (char[64]){0}) != 0);
}

/* Whether the locked file is still the one at `path`: its last holder may have removed it in the meantime. */
static int is_same_file(const char *path, int descriptor) {
    struct stat here, there;
    return fstat(descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

/* The checkpoint FILE.PID.new that the last holder was killed over, known by its name and its first bytes; `lock` is
 * FILE.lock. */
static void remove_unfinished(const char *lock, long holder) {
    static const char magic[] = "svmp checkpoint\n";
    char *unfinished = NULL, found[sizeof magic] = "";
    const size_t size = strlen(lock) + 64;
    if (holder == 0 || (unfinished = malloc(size)) == NULL) return;
    snprintf(unfinished, size, "%.*s.%ld.new", (int)(strrchr(lock, '.') - lock), lock, holder);
    const int descriptor = open(unfinished, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = descriptor < 0 ? -1 : read(descriptor, found, sizeof magic - 1);
    if (got == 0 || (got > 0 && strcmp(found, magic) == 0)) unlink(unfinished);
    if (descriptor >= 0) close(descriptor);
    free(unfinished);
}

static int refuse(const char *path, int descriptor) {
    char host[64] = "?";
    const long holder = read_holder(descriptor, host);
    close(descriptor);
    if (holder == 0) return report_error(EXIT_WRONG, "The checkpoint '%s' is in use by another run.", path);
    return report_error(EXIT_WRONG,
                        "The checkpoint '%s' is in use by process %ld on %s. Wait until that run has ended, or end it.",
                        path, holder, host);
}

/* A file system without locks (flock fails with ENOLCK, ENOSYS or EOPNOTSUPP): the run goes on, but says so. */
static int go_unlocked(const char *path, int descriptor, int error) {
    close(descriptor);
    if (error != ENOLCK && error != ENOSYS && error != EOPNOTSUPP && error != EINVAL)
        return report_error(EXIT_FAILED, "Cannot lock the checkpoint '%s': %s.", path, strerror(error));
    report_error(
        EXIT_DONE,
        "warning: the checkpoint '%s' is not locked, since its file system has no locks (%s); make sure that no "
        "other run writes to it.",
        path, strerror(error));
    return 0;
}

/* One attempt: 0 and lock->held, 0 without (there are no locks here, or *again: the file has just gone), or an exit
 * status. */
static int attempt(file_lock *lock, const char *path, int *again) {
    char host[64];
    *again = 0;
    const int descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0) return report_error(EXIT_WRONG, "Cannot write '%s': %s.", lock->path, strerror(errno));
    if (!is_ours(descriptor)) {
        close(descriptor);
        return report_error(
            EXIT_WRONG, "Cannot lock the checkpoint: the lock file '%s' already exists and was not written by svmp.",
            lock->path);
    }
    int locked = 0;
    do locked = flock(descriptor, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno == EWOULDBLOCK) return refuse(path, descriptor);
    if (locked != 0) return go_unlocked(path, descriptor, errno);
    if (!is_same_file(lock->path, descriptor)) {
        close(descriptor);
        *again = 1;
        return 0;
    }
    remove_unfinished(lock->path, read_holder(descriptor, host));
    lock->descriptor = descriptor;
    lock->held = 1;
    if (write_holder(descriptor)) return 0;
    return report_error(EXIT_FAILED, "Cannot write '%s': %s.", lock->path, strerror(errno));
}

int file_lock_take(file_lock *lock, const char *path) {
    int status = 0, again = 1;
    char *place = realpath(path, NULL); /* a link and its target are one file */
    const size_t size = strlen(place ? place : path) + sizeof ".lock";
    *lock = (file_lock){.path = malloc(size)};
    if (lock->path == NULL) {
        free(place);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    snprintf(lock->path, size, "%s.lock", place ? place : path);
    for (int k = 0; k < ATTEMPTS && again && status == 0; k++) status = attempt(lock, path, &again);
    if (again && status == 0)
        status =
            report_error(EXIT_FAILED, "Cannot lock the checkpoint '%s': it is repeatedly locked by other runs.", path);
    free(place);
    return status;
}

void file_unlock(file_lock *lock) {
    if (lock->held) unlink(lock->path); /* before others can have it */
    if (lock->held) close(lock->descriptor);
    free(lock->path);
    *lock = (file_lock){0};
}
