#define _XOPEN_SOURCE 700 /* realpath */

#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static svmp_status cannot_write(const output_file *output, int error) {
    return svmp_fail(output->context, SVMP_CANNOT_WRITE, "The file '%s' could not be written: %s.", output->path,
                     strerror(error));
}

/* A new file in the folder of `place`, with the permissions that the user's mask gives. */
static svmp_status open_beside(output_file *output) {
    enum { ATTEMPTS = 1000, SUFFIX = 64 };
    const char *slash = strrchr(output->place, '/');
    size_t folder = slash ? (size_t)(slash - output->place) + 1 : 0;
    SVMP_TRY(SVMP_NEW(output->context, output->beside, folder + SUFFIX));
    memcpy(output->beside, output->place, folder);
    int descriptor = -1;
    for (int attempt = 0; attempt < ATTEMPTS && descriptor < 0; attempt++) {
        snprintf(output->beside + folder, SUFFIX, ".svmp-%ld-%d", (long)getpid(), attempt);
        descriptor = open(output->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor >= 0 && (output->file = fdopen(descriptor, "wb")) != NULL) return SVMP_OK;

    int error = errno;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(output->beside);
    }
    svmp_release(output->context, output->beside);
    output->beside = NULL;
    return cannot_write(output, error);
}

svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output) {
    *output = (output_file){.context = context, .path = path};
    struct stat about;
    if (stat(path, &about) != 0) {
        if (errno != ENOENT) return cannot_write(output, errno);
        size_t length = strlen(path) + 1;
        if (length > sizeof output->place) return cannot_write(output, ENAMETOOLONG);
        memcpy(output->place, path, length);
        return open_beside(output);
    }
    if (S_ISDIR(about.st_mode)) return cannot_write(output, EISDIR);
    if (!S_ISREG(about.st_mode)) return (output->file = fopen(path, "wb")) ? SVMP_OK : cannot_write(output, errno);
    if (!overwrite)
        return svmp_fail(context, SVMP_CANNOT_WRITE, "The file '%s' exists already and is not to be overwritten.",
                         path);
    if (realpath(path, output->place) == NULL) return cannot_write(output, errno);
    SVMP_TRY(open_beside(output));
    return fchmod(fileno(output->file), about.st_mode & 07777) == 0 ? SVMP_OK : cannot_write(output, errno);
}

svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output) {
    *output = (output_file){.context = context, .path = path};
    struct stat about;
    const int there = stat(path, &about) == 0;
    if (!there && errno != ENOENT) return cannot_write(output, errno);
    if (there && !S_ISREG(about.st_mode)) return cannot_write(output, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    const size_t length = strlen(path);
    if (!there && length >= sizeof output->place) return cannot_write(output, ENAMETOOLONG);
    if (!there) memcpy(output->place, path, length + 1);
    if (there && realpath(path, output->place) == NULL) return cannot_write(output, errno);

    const size_t size = strlen(output->place) + sizeof ".new";
    SVMP_TRY(SVMP_NEW(context, output->beside, size));
    snprintf(output->beside, size, "%s.new", output->place);
    unlink(output->beside);
    int descriptor = open(output->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 && (output->file = fdopen(descriptor, "wb")) != NULL) return SVMP_OK;
    int error = errno;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(output->beside);
    }
    svmp_release(context, output->beside);
    output->beside = NULL;
    return cannot_write(output, error);
}

svmp_status svmp_output_put(output_file *output, const char *bytes, size_t length) {
    if (length == 0) return SVMP_OK;
    return fwrite(bytes, 1, length, output->file) == length ? SVMP_OK : cannot_write(output, errno);
}

svmp_status svmp_output_finish(output_file *output) {
    if (fflush(output->file) != 0) return cannot_write(output, errno);
    if (output->beside && fsync(fileno(output->file)) != 0) return cannot_write(output, errno);
    FILE *file = output->file;
    output->file = NULL;
    if (fclose(file) != 0) return cannot_write(output, errno);
    if (output->beside == NULL) return SVMP_OK;
    if (rename(output->beside, output->place) != 0) return cannot_write(output, errno);
    svmp_release(output->context, output->beside);
    output->beside = NULL;
    return SVMP_OK;
}

void svmp_output_close(output_file *output) {
    if (output->file) fclose(output->file);
    output->file = NULL;
    if (output->beside == NULL) return;
    unlink(output->beside);
    svmp_release(output->context, output->beside);
    output->beside = NULL;
}

svmp_status svmp_file_write(svmp_context *context, const char *path, const void *bytes, size_t size, int overwrite) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (path == NULL || (bytes == NULL && size > 0))
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_file_write was given no %s.", path ? "bytes" : "path");
    output_file output = {0};
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_output_open(context, path, overwrite, &output));
    SVMP_CHECK(svmp_output_put(&output, bytes, size));
    SVMP_CHECK(svmp_output_finish(&output));
done:
    svmp_output_close(&output);
    return status;
}
