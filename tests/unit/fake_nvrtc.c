/* A library with the functions of NVRTC that compiles C for the host with `cc`: its "machine code" is a shared object,
 * which the simulated device loads. It gets the text and the files that NVRTC would get. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 32 };
typedef struct fake_program {
    char *text, *contents[MOST_FILES], *names[MOST_FILES], *image;
    int files;
    size_t bytes;
} fake_program;

#define SHOWN __attribute__((visibility("default")))

SHOWN int nvrtcVersion(int *major, int *minor);
SHOWN int nvrtcCreateProgram(fake_program **made, const char *text, const char *name, int files,
                             const char *const *contents, const char *const *names);
SHOWN int nvrtcCompileProgram(fake_program *program, int count, const char *const *options);
SHOWN int nvrtcGetCUBINSize(fake_program *program, size_t *bytes);
SHOWN int nvrtcGetCUBIN(fake_program *program, char *to);
SHOWN int nvrtcGetProgramLogSize(fake_program *program, size_t *bytes);
SHOWN int nvrtcGetProgramLog(fake_program *program, char *to);
SHOWN int nvrtcDestroyProgram(fake_program **program);

int nvrtcVersion(int *major, int *minor) { return *major = 99, *minor = 1, 0; }

int nvrtcCreateProgram(fake_program **made, const char *text, const char *name, int files, const char *const *contents,
                       const char *const *names) {
    (void)name;
    if (files > MOST_FILES || (*made = calloc(1, sizeof **made)) == NULL) return 1;
    (*made)->text = strdup(text);
    for (int k = 0; k < files; k++) {
        (*made)->contents[k] = strdup(contents[k]);
        (*made)->names[k] = strdup(names[k]);
    }
    (*made)->files = files;
    return 0;
}

static int write_file(const char *folder, const char *name, const char *text) {
    char path[2000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) return 1;
    fputs(text, file);
    return fclose(file);
}

static int read_image(fake_program *program, const char *folder) {
    char path[2000];
    snprintf(path, sizeof path, "%s/image.so", folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 1;
    fseek(file, 0, SEEK_END);
    program->bytes = (size_t)ftell(file);
    rewind(file);
    program->image = malloc(program->bytes);
    const int failed = program->image == NULL || fread(program->image, 1, program->bytes, file) != program->bytes;
    fclose(file);
    return failed;
}

/* System headers are the host's. -fno-builtin: a compiler that evaluates a function at a literal may round differently
 * from the function. */
int nvrtcCompileProgram(fake_program *program, int count, const char *const *options) {
    char folder[] = "/tmp/svmp-fake-XXXXXX", command[1000];
    (void)count, (void)options;
    if (getenv("FAKE_NVRTC_REFUSES") || mkdtemp(folder) == NULL) return 6;
    int failed = write_file(folder, "programs.c", program->text);
    for (int k = 0; k < program->files; k++)
        if (strchr(program->names[k], '/')) failed |= write_file(folder, program->names[k], program->contents[k]);
    snprintf(command, sizeof command,
             "cc -std=gnu11 -O1 -ffp-contract=off -fno-builtin -w -shared -fPIC -Wl,-Bsymbolic -I%s -o %s/image.so "
             "%s/programs.c -lm",
             folder, folder, folder);
    failed = failed || system(command) != 0 || read_image(program, folder) != 0;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed ? 6 : 0;
}

int nvrtcGetCUBINSize(fake_program *program, size_t *bytes) { return *bytes = program->bytes, 0; }
int nvrtcGetCUBIN(fake_program *program, char *to) { return memcpy(to, program->image, program->bytes), 0; }

static const char log_text[] = "programs.cu(3): warning: hm\nprograms.cu(7): error: not today\nand more";
int nvrtcGetProgramLogSize(fake_program *program, size_t *bytes) { return (void)program, *bytes = sizeof log_text, 0; }
int nvrtcGetProgramLog(fake_program *program, char *to) {
    return (void)program, memcpy(to, log_text, sizeof log_text), 0;
}

int nvrtcDestroyProgram(fake_program **program) {
    for (int k = 0; k < (*program)->files; k++) free((*program)->contents[k]), free((*program)->names[k]);
    free((*program)->text);
    free((*program)->image);
    free(*program);
    *program = NULL;
    return 0;
}
