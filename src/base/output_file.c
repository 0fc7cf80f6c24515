#define _XOPEN_SOURCE 700 /* realpath */

#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static svmp_status cannot_write(const output_file *output, int error) {
    return svmp_fail(output->context, SVMP_CANNOT_WRITE, "Cannot write '%s': %s.", output->path, strerror(error));
}

static void forget_temporary(output_file *output) {
    svmp_release(output->context, output->temporary);
    output->temporary = NULL;
}

/* A new file called `temporary`, with the permissions that the user's mask gives. Returns 0, or why there is none. */
static int create_temporary(output_file *output) {
    const int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return errno;
    output->file = fdopen(descriptor, "wb");
    if (output->file) return 0;
    const int error = errno;
    close(descriptor);
    unlink(output->temporary);
    return error;
}

/* The length of the path's folder, with the slash behind it; 0: the current one. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A new file in the folder of `place`. */
static svmp_status open_temporary(output_file *output) {
    enum { ATTEMPTS = 1000, SUFFIX = 64 };
    const size_t folder = folder_length(output->place);
    SVMP_TRY(SVMP_NEW(output->context, output->temporary, folder + SUFFIX));
    memcpy(output->temporary, output->place, folder);
    int error = EEXIST;
    for (int attempt = 0; attempt < ATTEMPTS && error == EEXIST; attempt++) {
        snprintf(output->temporary + folder, SUFFIX, ".svmp-%ld-%d", (long)getpid(), attempt);
        error = create_temporary(output);
    }
    if (error == 0) return SVMP_OK;
    forget_temporary(output);
    return cannot_write(output, error);
}

/* Fills in *about if something exists at the path, and `place` unless that is not a regular file. Refuses broken links,
 * which could not be distinguished at the end from a file created by others. */
static svmp_status inspect(output_file *output, struct stat *about, int *there) {
    const size_t length = strlen(output->path);
    *there = stat(output->path, about) == 0;
    if (*there && !S_ISREG(about->st_mode)) return SVMP_OK; /* a pipe need not have a path */
    if (*there) return realpath(output->path, output->place) ? SVMP_OK : cannot_write(output, errno);
    if (errno != ENOENT) return cannot_write(output, errno);
    if (lstat(output->path, about) == 0)
        return svmp_fail(output->context, SVMP_CANNOT_WRITE, "The file '%s' is a broken symbolic link.", output->path);
    if (length >= sizeof output->place) return cannot_write(output, ENAMETOOLONG);
    memcpy(output->place, output->path, length + 1);
    return SVMP_OK;
}

/* The replacement gets the permissions of the file. */
static svmp_status keep_mode(output_file *output, const struct stat *about) {
    return fchmod(fileno(output->file), about->st_mode & 07777) == 0 ? SVMP_OK : cannot_write(output, errno);
}

svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output) {
    *output = (output_file){.context = context, .path = path};
    struct stat about;
    int there;
    SVMP_TRY(inspect(output, &about, &there));
    if (there && S_ISDIR(about.st_mode)) return cannot_write(output, EISDIR);
    if (there && !S_ISREG(about.st_mode))
        return (output->file = fopen(path, "wb")) ? SVMP_OK : cannot_write(output, errno);
    if (there && !overwrite)
        return svmp_fail(context, SVMP_CANNOT_WRITE, "The file '%s' already exists and must not be overwritten.", path);
    output->anew = !overwrite;
    SVMP_TRY(open_temporary(output));
    return there ? keep_mode(output, &about) : SVMP_OK;
}

svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output) {
    enum { ATTEMPTS = 1000, SUFFIX = 64 };
    *output = (output_file){.context = context, .path = path};
    struct stat about;
    int there, error = EEXIST;
    SVMP_TRY(inspect(output, &about, &there));
    if (there && !S_ISREG(about.st_mode)) return cannot_write(output, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    const size_t length = strlen(output->place);
    SVMP_TRY(SVMP_NEW(context, output->temporary, length + SUFFIX));
    memcpy(output->temporary, output->place, length);
    for (int attempt = 0; attempt < ATTEMPTS && error == EEXIST; attempt++) {
        snprintf(output->temporary + length, SUFFIX, attempt ? ".%ld-%d.new" : ".%ld.new", (long)getpid(), attempt);
        error = create_temporary(output);
    }
    if (error == 0) return there ? keep_mode(output, &about) : SVMP_OK;
    forget_temporary(output);
    return cannot_write(output, error);
}

svmp_status svmp_output_put(output_file *output, const char *bytes, size_t length) {
    if (length == 0) return SVMP_OK;
    return fwrite(bytes, 1, length, output->file) == length ? SVMP_OK : cannot_write(output, errno);
}

/* A file of that name was created by others while this one was written: keeps both. */
static svmp_status keep_temporary(output_file *output) {
    svmp_status status =
        svmp_fail(output->context, SVMP_CANNOT_WRITE,
                  "The file '%s' was created in the meantime and is left unchanged; the output is in '%s'.",
                  output->path, output->temporary);
    forget_temporary(output);
    return status;
}

/* A link fails where there is a file, which a rename would replace. File systems without links get the rename. */
static svmp_status put_in_place(output_file *output) {
    if (output->anew) {
        if (link(output->temporary, output->place) == 0) {
            unlink(output->temporary);
            return SVMP_OK;
        }
        if (errno == EEXIST || access(output->place, F_OK) == 0) return keep_temporary(output);
    }
    return rename(output->temporary, output->place) == 0 ? SVMP_OK : cannot_write(output, errno);
}

/* Flushes the folder, so that the new name is on disk, if the file system supports that. */
static void sync_folder(output_file *output) {
    const size_t length = folder_length(output->place);
    output->place[length] = '\0';
    const int folder = open(length ? output->place : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

svmp_status svmp_output_finish(output_file *output) {
    if (fflush(output->file) != 0) return cannot_write(output, errno);
    if (output->temporary && fsync(fileno(output->file)) != 0) return cannot_write(output, errno);
    FILE *file = output->file;
    output->file = NULL;
    if (fclose(file) != 0) return cannot_write(output, errno);
    if (output->temporary == NULL) return SVMP_OK;
    SVMP_TRY(put_in_place(output));
    sync_folder(output);
    forget_temporary(output);
    return SVMP_OK;
}

void svmp_output_close(output_file *output) {
    if (output->file) fclose(output->file);
    output->file = NULL;
    if (output->temporary == NULL) return;
    unlink(output->temporary);
    forget_temporary(output);
}

svmp_status svmp_file_write(svmp_context *context, const char *path, const void *bytes, size_t size, int overwrite) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (path == NULL || (bytes == NULL && size > 0))
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_file_write: the %s is NULL.", path ? "data" : "path");
    output_file output = {0};
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_output_open(context, path, overwrite, &output));
    SVMP_CHECK(svmp_output_put(&output, bytes, size));
    SVMP_CHECK(svmp_output_finish(&output));
done:
    svmp_output_close(&output);
    return status;
}
