/* Files for the tests of readers and writers, in a fresh folder. */
#ifndef SVMP_TEST_FILES_H
#define SVMP_TEST_FILES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static char test_folder[] = "/tmp/svmp-test-XXXXXX";

/* Every test program runs inside a folder of its own, so that files have short names. */
static inline int enter_folder(void **state) {
    (void)state;
    return mkdtemp(test_folder) == NULL || chdir(test_folder) != 0;
}

static inline size_t files_in_folder(int remove_them) {
    size_t count = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (remove_them) unlink(entry->d_name);
    }
    if (folder) closedir(folder);
    return count;
}

static inline int leave_folder(void **state) {
    (void)state;
    files_in_folder(1);
    return chdir("/") != 0 || rmdir(test_folder) != 0;
}

static inline void write_bytes(const char *path, const char *bytes, size_t size) {
    unlink(path); /* some file systems flush a file that is truncated and rewritten, which is slow */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text) { write_bytes(path, text, strlen(text)); }

/* The contents of a file as a string; free() it. */
static inline char *file_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(text && fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

#endif
