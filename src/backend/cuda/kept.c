#include "backend/cuda/kept.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

int svmp_kept_folder(char *folder, size_t size) {
    const char *given = getenv("SVMP_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (given)
        length = snprintf(folder, size, "%s", given);
    else if (cache && *cache == '/') /* others are to be ignored, says its specification */
        length = snprintf(folder, size, "%s/svmp", cache);
    else if (home && *home)
        length = snprintf(folder, size, "%s/.cache/svmp", home);
    return length > 0 && (size_t)length < size;
}

static int file_path(kept_key key, char *path, size_t size) {
    char folder[PATH_BYTES];
    if (!svmp_kept_folder(folder, sizeof folder)) return 0;
    const int length = snprintf(path, size, "%s/%016llx.cubin", folder, (unsigned long long)key.name);
    return length > 0 && (size_t)length < size;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int is_header(const kept_header *h, kept_key key, size_t file) {
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->key.name == key.name && h->key.check == key.check &&
           h->bytes > 0 && file == sizeof *h + h->bytes;
}

svmp_status svmp_kept_read(svmp_context *context, kept_key key, char **image, size_t *bytes) {
    char path[PATH_BYTES];
    kept_header header;
    struct stat about;
    svmp_status status = SVMP_OK;
    *image = NULL;
    *bytes = 0;
    FILE *file = file_path(key, path, sizeof path) ? fopen(path, "rb") : NULL;
    if (file == NULL) return SVMP_OK;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) goto done;
    if (fread(&header, sizeof header, 1, file) != 1 || !is_header(&header, key, (size_t)about.st_size)) goto done;
    SVMP_CHECK(SVMP_NEW(context, *image, header.bytes));
    *bytes = header.bytes;
    if (fread(*image, 1, *bytes, file) != *bytes ||
        svmp_hash_bytes(SVMP_HASH_START, *bytes, *image) != header.hash) { /* damaged */
        svmp_release(context, *image);
        *image = NULL;
    }
done:
    fclose(file);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The folder, and the one that it is in: ~/.cache may not be there yet. */
static void make_folder(void) {
    char folder[PATH_BYTES];
    if (!svmp_kept_folder(folder, sizeof folder)) return;
    char *slash = strrchr(folder, '/');
    if (slash && slash > folder) {
        *slash = '\0';
        (void)mkdir(folder, 0700);
        *slash = '/';
    }
    (void)mkdir(folder, 0700);
}

void svmp_kept_write(kept_key key, const char *image, size_t bytes) {
    char path[PATH_BYTES], beside[PATH_BYTES + 32];
    kept_header header = {.key = key, .bytes = bytes, .hash = svmp_hash_bytes(SVMP_HASH_START, bytes, image)};
    memcpy(header.magic, magic, sizeof magic);
    if (!file_path(key, path, sizeof path)) return;
    make_folder();
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    const int descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) close(descriptor);
    int good = file && fwrite(&header, sizeof header, 1, file) == 1 && fwrite(image, 1, bytes, file) == bytes;
    if (file) good = fclose(file) == 0 && good;
    if (!good || rename(beside, path) != 0) unlink(beside);
}
