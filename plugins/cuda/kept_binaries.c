#include "cuda/kept_binaries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

enum { PATH_BYTES = 4096 };

/* What a file begins with; the code follows. */
typedef struct kept_header {
    char magic[8];
    kept_key key;
    uint64_t bytes, hash; /* of the code */
} kept_header;
static const char magic[8] = "svmpgpu"; /* and a zero byte */

/* What files are called before they are complete. */
static const char unfinished[] = "new-XXXXXX";
enum { STALE_SECONDS = 3600 }; /* after these whoever was writing one was killed */

/* ---- the folder -------------------------------------------------------------------------------------------------- */

/* $SVMP_CACHE, unless it is relative: "~/x" would be a folder "~" wherever a run starts. */
static const char *given_folder(void) {
    const char *given = getenv("SVMP_CACHE");
    return given && (*given == '/' || *given == '\0') ? given : NULL;
}

int svmp_kept_folder(char *folder, size_t size) {
    const char *given = given_folder(), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (given)
        length = snprintf(folder, size, "%s", given);
    else if (cache && *cache == '/') /* others are to be ignored, says its specification */
        length = snprintf(folder, size, "%s/svmp", cache);
    else if (home && *home == '/')
        length = snprintf(folder, size, "%s/.cache/svmp", home);
    return length > 0 && (size_t)length < size;
}

static void file_path(const char *folder, kept_key key, char *path, size_t size) {
    snprintf(path, size, "%s/%016llx.cubin", folder, (unsigned long long)key.name);
}

/* Machine code of others is not run: what is opened must belong to this user, who alone may write to it. Returns a
 * descriptor, or NONE (errno says why), or FOREIGN. Never waits, as opening a pipe would. */
enum { NONE = -1, FOREIGN = -2 };
static int open_own(const char *path, int flags, struct stat *about) {
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (descriptor < 0) return NONE;
    if (fstat(descriptor, about) == 0 && about->st_uid == geteuid() && !(about->st_mode & (S_IWGRP | S_IWOTH)))
        return descriptor;
    close(descriptor);
    return FOREIGN;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int is_header(const kept_header *h, kept_key key, size_t file) {
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->key.name == key.name && h->key.check == key.check &&
           h->bytes > 0 && file == sizeof *h + h->bytes;
}

static svmp_status read_file(const svmp_host *host, FILE *file, size_t size, kept_key key, char **image,
                             size_t *bytes) {
    kept_header header;
    if (fread(&header, sizeof header, 1, file) != 1 || !is_header(&header, key, size)) return SVMP_OK;
    CUDA_TRY(CUDA_NEW(host, *image, header.bytes));
    *bytes = header.bytes;
    if (fread(*image, 1, *bytes, file) == *bytes && svmp_hash_bytes(SVMP_HASH_START, *bytes, *image) == header.hash)
        return SVMP_OK;
    svmp_host_release(host, *image); /* damaged */
    *image = NULL;
    return SVMP_OK;
}

/* Opens the file of a key, if it and its folder can be trusted; a warning says if they cannot. */
static int open_file(const svmp_host *host, const char *folder, kept_key key, struct stat *about) {
    char path[PATH_BYTES + 32];
    const int there = open_own(folder, O_DIRECTORY, about);
    if (there >= 0) close(there);
    if (there == FOREIGN)
        svmp_host_log(
            host, SVMP_LOG_WARNING,
            "Compiled programs are not kept in '%s': the folder belongs to another user, or others may write to "
            "it. Use 'chmod go-w', or set SVMP_CACHE to a folder of your own.",
            folder);
    if (there < 0) return there;
    file_path(folder, key, path, sizeof path);
    const int file = open_own(path, O_NOFOLLOW, about);
    if (file == FOREIGN)
        svmp_host_log(
            host, SVMP_LOG_WARNING,
            "The compiled programs in '%s' are not used: the file belongs to another user, or others may write "
            "to it.",
            path);
    return file;
}

svmp_status svmp_kept_read(const svmp_host *host, kept_key key, char **image, size_t *bytes) {
    char folder[PATH_BYTES];
    const char *given = getenv("SVMP_CACHE");
    struct stat about;
    svmp_status status = SVMP_OK;
    *image = NULL;
    *bytes = 0;
    if (given && given_folder() == NULL)
        svmp_host_log(host, SVMP_LOG_WARNING, "SVMP_CACHE is '%s', which is not an absolute path, and is ignored.",
                      given);
    if (!svmp_kept_folder(folder, sizeof folder)) return SVMP_OK;
    const int descriptor = open_file(host, folder, key, &about);
    FILE *file = descriptor >= 0 && S_ISREG(about.st_mode) ? fdopen(descriptor, "rb") : NULL;
    if (file) status = read_file(host, file, (size_t)about.st_size, key, image, bytes);
    if (file)
        fclose(file);
    else if (descriptor >= 0)
        close(descriptor);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The folder, and all that it is in; where that fails, the folder cannot be opened. */
static void make_folder(char *folder) {
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0700);
        *slash = '/';
    }
    (void)mkdir(folder, 0700);
}

/* Takes away what runs that were killed have left, and closes the folder. */
static void clear_folder(int descriptor) {
    const size_t same = strcspn(unfinished, "X");
    const time_t now = time(NULL);
    struct stat about;
    DIR *folder = fdopendir(descriptor);
    if (folder == NULL) {
        close(descriptor);
        return;
    }
    for (struct dirent *each; (each = readdir(folder)) != NULL;)
        if (strncmp(each->d_name, unfinished, same) == 0 && strlen(each->d_name) == strlen(unfinished) &&
            fstatat(descriptor, each->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && about.st_mtime + STALE_SECONDS < now)
            (void)unlinkat(descriptor, each->d_name, 0);
    closedir(folder);
}

/* Writes under a name that no other thread or process has, and renames. Returns 0, or what errno says. */
static int write_file(const char *folder, kept_key key, const char *image, size_t bytes) {
    char path[PATH_BYTES + 32], beside[PATH_BYTES + 32];
    kept_header header = {.key = key, .bytes = bytes, .hash = svmp_hash_bytes(SVMP_HASH_START, bytes, image)};
    memcpy(header.magic, magic, sizeof magic);
    file_path(folder, key, path, sizeof path);
    snprintf(beside, sizeof beside, "%s/%s", folder, unfinished);
    const int descriptor = mkstemp(beside); /* 0600 */
    if (descriptor < 0) return errno;
    (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    FILE *file = fdopen(descriptor, "wb");
    int failed = 0;
    if (file == NULL || fwrite(&header, sizeof header, 1, file) != 1 || fwrite(image, 1, bytes, file) != bytes)
        failed = errno ? errno : EIO;
    if ((file ? fclose(file) : close(descriptor)) != 0 && !failed) failed = errno;
    if (!failed && rename(beside, path) != 0) failed = errno;
    if (failed) unlink(beside);
    return failed;
}

void svmp_kept_write(const svmp_host *host, kept_key key, const char *image, size_t bytes) {
    char folder[PATH_BYTES];
    struct stat about;
    if (!svmp_kept_folder(folder, sizeof folder)) return;
    make_folder(folder);
    const int there = open_own(folder, O_DIRECTORY, &about);
    if (there == FOREIGN) return; /* who reads has said so */
    const int failed = there < 0 ? errno : write_file(folder, key, image, bytes);
    if (there >= 0) clear_folder(there);
    if (failed)
        svmp_host_log(host, given_folder() ? SVMP_LOG_WARNING : SVMP_LOG_INFO,
                      "Compiled programs cannot be kept in '%s': %s.", folder, strerror(failed));
}
