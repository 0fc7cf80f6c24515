#define _XOPEN_SOURCE 700 /* realpath */

#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 1000, SUFFIX = WHOLE_SUFFIX };

/* Writes the error; 0. */
#define refuse(output, ...) (snprintf((output)->error, sizeof(output)->error, __VA_ARGS__), 0)

static int cannot_write(whole_file *output, int error) {
    return refuse(output, "Cannot write '%.2000s': %s.", output->path, strerror(error));
}

/* A new file called `temporary`, with the permissions that the user's mask gives. Returns 0, or why there is none. */
static int create_temporary(whole_file *output) {
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
static int open_temporary(whole_file *output) {
    const size_t folder = folder_length(output->place);
    memcpy(output->temporary, output->place, folder);
    int error = EEXIST;
    for (int attempt = 0; attempt < ATTEMPTS && error == EEXIST; attempt++) {
        snprintf(output->temporary + folder, SUFFIX, ".svmp-%ld-%d", (long)getpid(), attempt);
        error = create_temporary(output);
    }
    if (error == 0) return 1;
    *output->temporary = '\0';
    return cannot_write(output, error);
}

/* Fills in *about if something exists at the path, and `place` unless that is not a regular file. Refuses broken links,
 * which could not be distinguished at the end from a file created by others. */
static int inspect(whole_file *output, struct stat *about, int *there) {
    const size_t length = strlen(output->path);
    *there = stat(output->path, about) == 0;
    if (*there && !S_ISREG(about->st_mode)) return 1; /* a pipe need not have a path */
    if (*there) return realpath(output->path, output->place) ? 1 : cannot_write(output, errno);
    if (errno != ENOENT) return cannot_write(output, errno);
    if (lstat(output->path, about) == 0)
        return refuse(output, "The file '%.2000s' is a broken symbolic link.", output->path);
    if (length >= sizeof output->place) return cannot_write(output, ENAMETOOLONG);
    memcpy(output->place, output->path, length + 1);
    return 1;
}

/* The replacement gets the permissions of the file. */
static int keep_mode(whole_file *output, const struct stat *about) {
    return fchmod(fileno(output->file), about->st_mode & 07777) == 0 ? 1 : cannot_write(output, errno);
}

int svmp_whole_open(const char *path, int overwrite, whole_file *output) {
    struct stat about;
    int there;
    *output = (whole_file){.path = path, .anew = !overwrite};
    if (!inspect(output, &about, &there)) return 0;
    if (there && S_ISDIR(about.st_mode)) return cannot_write(output, EISDIR);
    if (there && !S_ISREG(about.st_mode)) return (output->file = fopen(path, "wb")) ? 1 : cannot_write(output, errno);
    if (there && !overwrite)
        return refuse(output, "The file '%.2000s' already exists and must not be overwritten.", path);
    return open_temporary(output) && (!there || keep_mode(output, &about));
}

int svmp_whole_open_again(const char *path, whole_file *output) {
    struct stat about;
    int there, error = EEXIST;
    *output = (whole_file){.path = path};
    if (!inspect(output, &about, &there)) return 0;
    if (there && !S_ISREG(about.st_mode)) return cannot_write(output, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    const size_t length = strlen(output->place);
    memcpy(output->temporary, output->place, length);
    for (int attempt = 0; attempt < ATTEMPTS && error == EEXIST; attempt++) {
        snprintf(output->temporary + length, SUFFIX, attempt ? ".%ld-%d.new" : ".%ld.new", (long)getpid(), attempt);
        error = create_temporary(output);
    }
    if (error == 0) return !there || keep_mode(output, &about);
    *output->temporary = '\0';
    return cannot_write(output, error);
}

int svmp_whole_put(whole_file *output, const void *bytes, size_t length) {
    return length == 0 || fwrite(bytes, 1, length, output->file) == length ? 1 : cannot_write(output, errno);
}

/* A file of that name was created by others while this one was written: keeps both. */
static int keep_temporary(whole_file *output) {
    const int refused = refuse(
        output, "The file '%.2000s' was created in the meantime and is left unchanged; the output is in '%.2000s'.",
        output->path, output->temporary);
    *output->temporary = '\0';
    return refused;
}

/* A link fails where there is a file, which a rename would replace. File systems without links get the rename. */
static int put_in_place(whole_file *output) {
    if (output->anew) {
        if (link(output->temporary, output->place) == 0) {
            unlink(output->temporary);
            return 1;
        }
        if (errno == EEXIST || access(output->place, F_OK) == 0) return keep_temporary(output);
    }
    return rename(output->temporary, output->place) == 0 ? 1 : cannot_write(output, errno);
}

/* Flushes the folder, so that the new name is on disk, if the file system supports that. */
static void sync_folder(whole_file *output) {
    const size_t length = folder_length(output->place);
    output->place[length] = '\0';
    const int folder = open(length ? output->place : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

int svmp_whole_finish(whole_file *output) {
    if (fflush(output->file) != 0) return cannot_write(output, errno);
    if (*output->temporary && fsync(fileno(output->file)) != 0) return cannot_write(output, errno);
    FILE *file = output->file;
    output->file = NULL;
    if (fclose(file) != 0) return cannot_write(output, errno);
    if (*output->temporary == '\0') return 1;
    if (!put_in_place(output)) return 0;
    sync_folder(output);
    *output->temporary = '\0';
    return 1;
}

void svmp_whole_close(whole_file *output) {
    if (output->file) fclose(output->file);
    output->file = NULL;
    if (*output->temporary) unlink(output->temporary);
    *output->temporary = '\0';
}

int svmp_whole_write(const char *path, const void *bytes, size_t size, int overwrite, whole_file *output) {
    const int done =
        svmp_whole_open(path, overwrite, output) && svmp_whole_put(output, bytes, size) && svmp_whole_finish(output);
    svmp_whole_close(output);
    return done;
}
