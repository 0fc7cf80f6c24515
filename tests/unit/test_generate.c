/* Generated code: compiled for the host, programs give the bits of the interpreter, for every model and for random
 * programs of all operations; compiled code is cached; without a compiler, programs are interpreted. */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/plugin.h"
#include "cuda/generate_code.h"
#include "maths/special.h"

#include "cuda/interpret_code.h"
#include "cuda/kept_binaries.h"
#include "cuda/nvrtc.h"
#include "cuda/twin_rows.h"
#include "gpu/compare.h"
#include "listed.h"
#include "simulated.h"

/* A plug-in's view of the library. */
#define HOST(context)                                                                                                  \
    (svmp_host[]) { svmp_plugin_host(context) }

static char work[] = "/tmp/svmp-test-generate-XXXXXX";

static int has_compiler(void) { return system("cc --version >/dev/null 2>&1") == 0; }

static int remove_work(void) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", work);
    return system(command);
}

/* An empty cache folder, and the library that compiles for the host. */
static int set_up(void **state) {
    (void)state;
    if (work[strlen(work) - 1] == 'X' && mkdtemp(work) == NULL) return 1;
    if (remove_work() != 0 || mkdir(work, 0700) != 0) return 1;
    unsetenv("FAKE_NVRTC_REFUSES");
    return setenv("SVMP_CACHE", work, 1) || setenv("SVMP_NVRTC", FAKE_NVRTC, 1);
}

static int tear_down(void **state) {
    (void)state;
    return remove_work();
}

/* Warnings, one after the other. */
enum { WORDS = 2000 };
static void remember(svmp_log_level level, const char *message, void *user_data) {
    char *words = user_data;
    const size_t length = strlen(words);
    if (level == SVMP_LOG_WARNING) snprintf(words + length, WORDS - length, "%s\n", message);
}

static size_t count_lines(const char *words) {
    size_t count = 0;
    for (; *words; words++) count += *words == '\n';
    return count;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Scores, velocities and steps are those of the interpreter, to the last bit. */
static void expect_bits(const svmp_model *model, const char *name, size_t n) {
    const comparison c = {.model = model,
                          .reference = &test_backend_simulated_f64,
                          .other = &test_backend_simulated_generated,
                          .kernel = "rbf@self",
                          .step = "adagrad:0.1",
                          .n = n,
                          .iterations = 2};
    differences found;
    if (compare_backends(&c, &found) != SVMP_OK) fail_msg("%s: %s", name, svmp_context_error(model->context));
    if (found.score != 0 || found.phi != 0 || found.x != 0)
        fail_msg("%s, n = %zu: score %g, phi %g, x %g", name, n, found.score, found.phi, found.x);
}

static void test_models(void **state) {
    (void)state;
    if (!has_compiler()) skip();
    size_t compiled = 0;
    for (size_t k = 0; k < ALL_MODELS; k++) {
        if (!can_read_model(all_models[k])) continue;
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, all_models[k]);
        const size_t before = test_simulated_generated;
        expect_bits(model, all_models[k][0], 5);
        compiled += test_simulated_generated > before;
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_true(compiled >= ALL_MODELS / 2); /* the others are purely Gaussian */
}

/* ---- random programs of all operations --------------------------------------------------------------------------- */

enum { INSTRUCTIONS = 40, REGISTERS = 6, SLOTS = 4, COLUMNS = 3, LITERALS = 5, INSTANCES = 3, PROGRAMS = 30 };

static size_t pick(uint64_t stream, uint64_t *k, size_t below) {
    const size_t found = (size_t)((0.5 + 0.5 * test_random(stream, (*k)++)) * (double)below);
    return found < below ? found : below - 1;
}

static uint32_t leaf(uint64_t stream, uint64_t *k) {
    switch (pick(stream, k, 3)) {
    case 0: return (uint32_t)pick(stream, k, SLOTS) | (uint32_t)PLACE_INPUT << PLACE_SHIFT;
    case 1: return (uint32_t)pick(stream, k, COLUMNS) | (uint32_t)PLACE_COLUMN << PLACE_SHIFT;
    default: return (uint32_t)pick(stream, k, LITERALS) | (uint32_t)PLACE_LITERAL << PLACE_SHIFT;
    }
}

/* clang-format off */
static uint32_t operands_of(uint32_t code) {
    switch (code) {
#define OP1(name, value, da)         case OP_##name: return 1;
#define OP2(name, value, da, db)     case OP_##name: return 2;
#define OP3(name, value, da, db, dc) case OP_##name: return 3;
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
    case CODE_COPY: return 1;
    default: return 3;
    }
}
/* clang-format on */

/* Special functions read only leaves, whose values are in their domains. All registers are written before they are
 * read, and all outputs are written at the end. */
static void random_program(uint64_t stream, program_code *p) {
    uint64_t k = 0;
    p->count = INSTRUCTIONS;
    p->slots = SLOTS;
    p->registers = REGISTERS;
    p->literal_count = LITERALS;
    p->code = calloc(INSTRUCTIONS, sizeof *p->code);
    p->literals = calloc(LITERALS, sizeof *p->literals);
    for (size_t l = 0; l < LITERALS; l++) p->literals[l] = 0.5 + 0.4 * test_random(stream, k++);
    if (stream % 5 == 0) p->literals[0] = stream % 2 ? INFINITY : 0x1.8p-1060;
    if (stream % 7 == 0) p->literals[1] = stream % 2 ? -0.0 : NAN;
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        device_instruction *here = &p->code[i];
        here->code = (uint32_t)(OP_parameter + 1 + pick(stream, &k, CODE_COPY - OP_parameter));
        here->operands = operands_of(here->code);
        p->special |= is_special(here->code);
        for (uint32_t o = 0; o < here->operands; o++) {
            const size_t written = i < REGISTERS ? i : REGISTERS;
            const int outputs = i > INSTRUCTIONS - SLOTS;
            here->operand[o] = leaf(stream, &k);
            if (is_special(here->code)) continue;
            if (written && pick(stream, &k, 3)) here->operand[o] = (uint32_t)pick(stream, &k, written);
            if (outputs && !pick(stream, &k, 4)) here->operand[o] = (uint32_t)PLACE_OUTPUT << PLACE_SHIFT;
        }
        here->out = i < REGISTERS ? i : (uint32_t)pick(stream, &k, REGISTERS);
        if (i >= INSTRUCTIONS - SLOTS) here->out = (i - (INSTRUCTIONS - SLOTS)) | (uint32_t)PLACE_OUTPUT << PLACE_SHIFT;
    }
}

typedef struct lanes {
    double x[8 * 11], columns[COLUMNS * INSTANCES], interpreted[SLOTS * INSTANCES * 11],
        generated[SLOTS * INSTANCES * 11];
    uint32_t variables[SLOTS * INSTANCES];
} lanes;

static void expect_lanes(const program_code *p, generated_args *a, lanes *here, size_t which) {
    double registers[REGISTERS];
    const program_args args = {.code = p->code,
                               .literals = p->literals,
                               .columns = here->columns,
                               .variables = here->variables,
                               .x = here->x,
                               .gradient = here->interpreted,
                               .instances = INSTANCES,
                               .n = a->n,
                               .count = (uint32_t)p->count,
                               .slots = SLOTS,
                               .outputs = SLOTS,
                               .special = p->special};
    for (size_t t = 0; t < INSTANCES * args.n; t++) run_program(&args, t, registers, 1, 1);
    for (size_t e = 0; e < SLOTS * INSTANCES * args.n; e++) {
        const double one = here->interpreted[e], other = here->generated[e];
        if (memcmp(&one, &other, sizeof one) != 0 && !(isnan(one) && isnan(other)))
            fail_msg("program %zu, number %zu: %a interpreted, %a generated", which, e, one, other);
    }
}

static void test_random_programs(void **state) {
    (void)state;
    if (!has_compiler()) skip();
    svmp_context *context = test_context(1);
    program_code programs[PROGRAMS] = {0};
    const program_code *list[PROGRAMS];
    const size_t first[] = {0, PROGRAMS / 2, PROGRAMS};
    const device_ops *ops = test_simulated_compiles;
    device *d = NULL;
    char *text = NULL, *again = NULL, *image = NULL, why[512];
    size_t bytes;
    void *kernels[2];
    nvrtc compiler;
    for (size_t g = 0; g < PROGRAMS; g++) random_program(g, &programs[g]), list[g] = &programs[g];
    assert_true(svmp_nvrtc_find(&compiler, why, sizeof why));
    assert_int_equal(ops->open(&d, 0, why, sizeof why), 0);
    for (unsigned width = 1; width <= 4; width += 3) {
        assert_ok(svmp_generate(HOST(context), 2, first, list, width, &text));
        assert_ok(svmp_generate(HOST(context), 2, first, list, width, &again));
        assert_string_equal(text, again);
        assert_ok(svmp_nvrtc_compile(HOST(context), &compiler, text, 90, &image, &bytes, why, sizeof why));
        if (image == NULL) fail_msg("%s", why);
        assert_int_equal(ops->load(d, image, bytes, 2, kernels), 0);
        for (size_t g = 0; g < PROGRAMS; g++) {
            const size_t set = g >= first[1], n = width == 1 ? 7 : 11;
            lanes here = {0};
            for (size_t e = 0; e < sizeof here.x / sizeof *here.x; e++) here.x[e] = 0.5 + 0.4 * test_random(77, e);
            for (size_t e = 0; e < COLUMNS * INSTANCES; e++) here.columns[e] = 0.5 + 0.4 * test_random(78, e);
            for (size_t e = 0; e < SLOTS * INSTANCES; e++) here.variables[e] = (uint32_t)(e * 5 % 8);
            generated_args a = {.kernel = kernels[set], .x = here.x, .n = (uint32_t)n};
            svmp_cuda_share(n, width, &a);
            for (a.count = 0; a.count < first[set + 1] - first[set]; a.count++) { /* the others have no blocks */
                a.list[a.count] = (generated_program){here.columns, here.variables, here.generated, INSTANCES};
                a.first[a.count + 1] = a.first[a.count] + (a.count == g - first[set]);
            }
            assert_int_equal(ops->launch(d, KERNEL_GENERATED, 64, &a, 1), 0);
            expect_lanes(&programs[g], &a, &here, g);
        }
        svmp_release(context, text);
        svmp_release(context, again);
        svmp_release(context, image);
    }
    ops->close(d);
    for (size_t g = 0; g < PROGRAMS; g++) free(programs[g].code), free(programs[g].literals);
    svmp_context_free(context);
}

/* ---- derivatives that share a row -------------------------------------------------------------------------------- */

static void interpret(const program_code *p, size_t n, const double *x, const double *columns, double *gradient) {
    const uint32_t variables[SLOTS] = {0, 1, 2, 3};
    double registers[REGISTERS];
    const program_args args = {.code = p->code,
                               .literals = p->literals,
                               .columns = columns,
                               .variables = variables,
                               .x = x,
                               .gradient = gradient,
                               .instances = 1,
                               .n = n,
                               .count = (uint32_t)p->count,
                               .slots = SLOTS,
                               .outputs = SLOTS};
    for (size_t l = 0; l < n; l++) run_program(&args, l, registers, 1, 1);
}

#define AT(kind, number) ((uint32_t)(number) | (uint32_t)(kind) << PLACE_SHIFT)

/* Random programs whose outputs are one value, its negative, its half, and a copy of one of these: one row with weights
 * gives the bits of four rows. */
static void test_outputs_of_one_value(void **state) {
    (void)state;
    enum { TWINS = 60, NUMBERS = 5 };
    svmp_context *context = test_context(1);
    size_t shared = 0;
    for (uint64_t g = 0; g < TWINS; g++) {
        program_code p = {0};
        double x[SLOTS * NUMBERS], columns[COLUMNS], all[SLOTS * NUMBERS], few[SLOTS * NUMBERS] = {0};
        random_program(1000 + g, &p);
        p.literals[0] = g % 2 ? 0.5 : -4;
        p.literals[1] = 0.3;
        device_instruction *last = p.code + INSTRUCTIONS - SLOTS;
        last[0] = (device_instruction){
            .code = OP_negate, .out = AT(PLACE_OUTPUT, g % 4), .operand = {(uint32_t)g % REGISTERS}, .operands = 1};
        last[1] = (device_instruction){.code = OP_multiply,
                                       .out = AT(PLACE_OUTPUT, (g + 1) % 4),
                                       .operand = {AT(PLACE_LITERAL, g % 5 == 0), (uint32_t)g % REGISTERS},
                                       .operands = 2};
        last[2] = (device_instruction){
            .code = CODE_COPY, .out = AT(PLACE_OUTPUT, (g + 2) % 4), .operand = {last[g % 2].out}, .operands = 1};
        last[3] = (device_instruction){.code = g % 3 ? OP_add : OP_negate,
                                       .out = AT(PLACE_OUTPUT, (g + 3) % 4),
                                       .operand = {last[1].out, last[0].out},
                                       .operands = g % 3 ? 2 : 1};
        for (size_t e = 0; e < SLOTS * NUMBERS; e++) x[e] = 0.5 + 0.4 * test_random(79, e);
        for (size_t e = 0; e < COLUMNS; e++) columns[e] = 0.5 + 0.4 * test_random(80, e);
        interpret(&p, NUMBERS, x, columns, all);
        assert_ok(svmp_cuda_find_twins(HOST(context), &p));
        assert_true(p.count < INSTRUCTIONS);
        interpret(&p, NUMBERS, x, columns, few);
        for (size_t j = 0; j < SLOTS; j++)
            for (size_t l = 0; l < NUMBERS; l++) {
                const double one = all[j * NUMBERS + l], other = p.rows[j].weight * few[p.rows[j].slot * NUMBERS + l];
                if (memcmp(&one, &other, sizeof one) != 0 && !(isnan(one) && isnan(other)))
                    fail_msg("program %zu, slot %zu: %a, and %a by slot %u", (size_t)g, j, one, other, p.rows[j].slot);
            }
        for (size_t j = 0; j < SLOTS; j++) shared += p.rows[j].slot != j;
        free(p.code);
        free(p.literals);
        svmp_release(context, p.rows);
    }
    assert_true(shared > 2 * TWINS - 20 && shared < 3 * TWINS);
    svmp_context_free(context);
}

/* Device threads divide by multiplication. */
static void test_division(void **state) {
    (void)state;
    const size_t shares[] = {1, 2, 3, 5, 7, 25, 32, 33, 50, 641, 999, 4096, 65537, 1000003};
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        generated_args a = {0};
        svmp_cuda_share(shares[k], 1, &a);
        assert_int_equal(a.share, shares[k]);
        for (uint64_t e = 0; e < 4000; e++) {
            const uint64_t t = e < 2000 ? e * shares[k] / 7 : INT32_MAX - (e - 2000) * (e % 13);
            if (t <= INT32_MAX) assert_int_equal(t * a.multiplier >> a.shift, t / shares[k]);
        }
    }
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static void test_cache(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const kept_key key = {0x1234, 0x5678}, other = {0x1234, 0x5679};
    const char code[] = "some machine code";
    char *image, path[200];
    size_t bytes;
    assert_ok(svmp_kept_read(HOST(context), key, &image, &bytes));
    assert_null(image);
    svmp_kept_write(HOST(context), key, code, sizeof code);
    assert_ok(svmp_kept_read(HOST(context), key, &image, &bytes));
    assert_int_equal(bytes, sizeof code);
    assert_memory_equal(image, code, bytes);
    svmp_release(context, image);
    assert_ok(svmp_kept_read(HOST(context), other, &image, &bytes)); /* whose file has the same name */
    assert_null(image);

    snprintf(path, sizeof path, "%s/%016x.cubin", work, 0x1234);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    for (long at = 0; at < about.st_size; at++) { /* any damaged byte; the file is replaced */
        FILE *file = fopen(path, "r+b");
        fseek(file, at, SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 8, file);
        fclose(file);
        assert_ok(svmp_kept_read(HOST(context), key, &image, &bytes));
        assert_null(image);
        svmp_kept_write(HOST(context), key, code, sizeof code);
    }
    for (long length = 0; length < about.st_size; length += 7) {
        assert_int_equal(truncate(path, length), 0);
        assert_ok(svmp_kept_read(HOST(context), key, &image, &bytes));
        assert_null(image);
    }
    svmp_context_free(context);
}

/* Checks whether code is cached and how many warnings were given; the last one contains `part`. */
static void expect_kept(int kept, size_t warnings, const char *part) {
    const kept_key key = {0x1234, 0x5678};
    char *image, words[WORDS] = "";
    size_t bytes;
    svmp_context *context = test_context(1);
    assert_ok(svmp_context_set_log(context, remember, words));
    assert_ok(svmp_kept_read(HOST(context), key, &image, &bytes));
    assert_int_equal(image != NULL, kept);
    if (count_lines(words) != warnings || strstr(words, part) == NULL)
        fail_msg("not %zu warnings with '%s', but '%s'", warnings, part, words);
    svmp_release(context, image);
    svmp_context_free(context);
}

static void write_kept(size_t warnings, const char *part) {
    char words[WORDS] = "";
    svmp_context *context = test_context(1);
    assert_ok(svmp_context_set_log(context, remember, words));
    svmp_kept_write(HOST(context), (kept_key){0x1234, 0x5678}, "code", 4);
    if (count_lines(words) != warnings || strstr(words, part) == NULL)
        fail_msg("not %zu warnings with '%s', but '%s'", warnings, part, words);
    svmp_context_free(context);
}

/* Files and folders that other users own or may write to are not used; nor are links and pipes, which would block. */
static void test_foreign(void **state) {
    (void)state;
    char path[200], elsewhere[200];
    snprintf(path, sizeof path, "%s/%016x.cubin", work, 0x1234);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", work);
    write_kept(0, "");
    expect_kept(1, 0, "");
    const mode_t modes[] = {0620, 0602};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(chmod(path, modes[k]), 0);
        expect_kept(0, 1, "are not used: the file belongs to another user, or others may write to it.");
    }
    write_kept(0, ""); /* replaces the file */
    expect_kept(1, 0, "");
    const mode_t folders[] = {0720, 0702};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(chmod(work, folders[k]), 0);
        expect_kept(0, 1, "the folder belongs to another user, or others may write to it.");
        write_kept(0, ""); /* nothing; the reader has already warned */
    }
    assert_int_equal(chmod(work, 0755), 0);
    expect_kept(1, 0, "");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 1, 1), 0);
        expect_kept(0, 1, "the file belongs to another user");
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(chown(work, 1, 1), 0);
        expect_kept(0, 1, "the folder belongs to another user");
        assert_int_equal(chown(work, 0, 0), 0);
    }
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    expect_kept(0, 0, "");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    expect_kept(0, 0, "");
    alarm(0);
    write_kept(0, "");
    expect_kept(1, 0, "");
}

/* If the folder cannot be written or caching is off, nothing is cached; svmp warns only if the user chose the folder.
 */
static void test_no_cache(void **state) {
    (void)state;
    char folder[300], home[200], deep[300];
    setenv("SVMP_CACHE", "", 1);
    write_kept(0, "");
    expect_kept(0, 0, "");
    setenv("SVMP_CACHE", "/dev/null/svmp", 1);
    expect_kept(0, 0, "");
    write_kept(1, "Compiled programs cannot be kept in '/dev/null/svmp': Not a directory.");
    setenv("SVMP_CACHE", "/proc/svmp", 1);
    expect_kept(0, 0, "");
    write_kept(1, "Compiled programs cannot be kept in '/proc/svmp': ");
    snprintf(deep, sizeof deep, "%s/of/many/levels", work);
    setenv("SVMP_CACHE", deep, 1);
    write_kept(0, "");
    expect_kept(1, 0, "");

    unsetenv("SVMP_CACHE");
    setenv("XDG_CACHE_HOME", "/tmp/cache", 1);
    assert_true(svmp_kept_folder(folder, sizeof folder));
    assert_string_equal(folder, "/tmp/cache/svmp");
    setenv("XDG_CACHE_HOME", "cache", 1); /* relative paths are not used */
    snprintf(home, sizeof home, "%s/home", work);
    setenv("HOME", home, 1);
    setenv("SVMP_CACHE", "~/cache", 1);
    expect_kept(0, 1, "SVMP_CACHE is '~/cache', which is not an absolute path, and is ignored.");
    write_kept(0, ""); /* makes .cache and .cache/svmp */
    snprintf(deep, sizeof deep, "%s/.cache/svmp", home);
    assert_true(svmp_kept_folder(folder, sizeof folder));
    assert_string_equal(folder, deep);
    assert_int_not_equal(access("~", F_OK), 0);
    unsetenv("SVMP_CACHE");
    unsetenv("XDG_CACHE_HOME");
    expect_kept(1, 0, "");
    setenv("HOME", "/dev/null", 1); /* not chosen for the cache by the user */
    write_kept(0, "");
    unsetenv("HOME");
    assert_false(svmp_kept_folder(folder, sizeof folder));
}

/* Threads write and read one file: a thread that has written it finds a whole file. */
enum { WRITERS = 4, WRITES = 300, CODE_BYTES = 20000 };

static void *write_and_read(void *argument) {
    size_t *missed = argument;
    const kept_key key = {0x99, 0x98};
    char *code = malloc(CODE_BYTES), *image;
    size_t bytes;
    svmp_context *context = NULL;
    *missed = WRITES;
    if (code == NULL || svmp_context_create(NULL, &context) != SVMP_OK) return free(code), NULL;
    memset(code, 7, CODE_BYTES);
    for (size_t k = 0; k < WRITES; k++) {
        svmp_kept_write(HOST(context), key, code, CODE_BYTES);
        if (svmp_kept_read(HOST(context), key, &image, &bytes) == SVMP_OK && image && bytes == CODE_BYTES &&
            memcmp(image, code, CODE_BYTES) == 0)
            --*missed;
        svmp_release(context, image);
    }
    svmp_context_free(context);
    free(code);
    return NULL;
}

static size_t count_files(void) {
    size_t count = 0;
    DIR *folder = opendir(work);
    assert_non_null(folder);
    for (struct dirent *each; (each = readdir(folder)) != NULL;) count += each->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void test_writers(void **state) {
    (void)state;
    pthread_t threads[WRITERS];
    size_t missed[WRITERS];
    for (size_t k = 0; k < WRITERS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, write_and_read, &missed[k]), 0);
    for (size_t k = 0; k < WRITERS; k++) pthread_join(threads[k], NULL);
    for (size_t k = 0; k < WRITERS; k++) assert_int_equal(missed[k], 0);
    assert_int_equal(count_files(), 1);
}

/* Old temporary files of killed runs are removed; recent ones, which may belong to a running one, and all other files
 * stay. */
static void test_temporary_files(void **state) {
    (void)state;
    const char *const names[] = {"new-a1b2C3", "new-d4e5F6", "notes"};
    const struct timespec old[2] = {{.tv_sec = time(NULL) - 4000}, {.tv_sec = time(NULL) - 4000}};
    char path[200];
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", work, names[k]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fclose(file);
        if (k != 1) assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    }
    write_kept(0, "");
    assert_int_equal(count_files(), 3);
    snprintf(path, sizeof path, "%s/%s", work, names[0]);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ---- without a compiler ------------------------------------------------------------------------------------------ */

typedef struct note {
    svmp_log_level level;
    char words[600];
} note;

static void take_note(svmp_log_level level, const char *message, void *user_data) {
    note *last = user_data;
    last->level = level;
    snprintf(last->words, sizeof last->words, "%s", message);
}

/* Interprets, with a warning that contains `part`. */
static void expect_note(svmp_log_level level, const char *part) {
    note last = {0};
    const char *const files[MODEL_FILES] = {"poisson.bug", "poisson.R"};
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context, files);
    assert_ok(svmp_context_set_log(context, take_note, &last));
    const size_t before = test_simulated_generated;
    expect_bits(model, files[0], 5);
    assert_int_equal(test_simulated_generated, before);
    if (strstr(last.words, part) == NULL) fail_msg("'%s' is not in '%s'", part, last.words);
    assert_int_equal(last.level, level);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_no_compiler(void **state) {
    (void)state;
    setenv("SVMP_CACHE", "", 1);
    setenv("SVMP_NVRTC", "", 1);
    expect_note(SVMP_LOG_INFO, "SVMP_NVRTC is empty.");
    setenv("SVMP_NVRTC", "/nowhere/libnvrtc.so", 1);
    expect_note(SVMP_LOG_WARNING, "SVMP_NVRTC is '/nowhere/libnvrtc.so': cannot open shared object file: No such file");
    setenv("SVMP_NVRTC", "libm.so.6", 1);
    expect_note(SVMP_LOG_WARNING, "libm.so.6 is not NVRTC 11.2 or newer.");
    setenv("SVMP_NVRTC", FAKE_NVRTC, 1);
    setenv("FAKE_NVRTC_REFUSES", "1", 1);
    expect_note(SVMP_LOG_WARNING, "NVRTC does not compile them: programs.cu(7): error: not today.");
}

/* The key of the only cached file, as written in it. */
static kept_key only_key(void) {
    kept_key key = {0};
    char path[600] = "";
    DIR *folder = opendir(work);
    assert_non_null(folder);
    for (struct dirent *each; (each = readdir(folder)) != NULL;)
        if (strstr(each->d_name, ".cubin")) snprintf(path, sizeof path, "%s/%s", work, each->d_name);
    closedir(folder);
    assert_int_equal(count_files(), 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0); /* after the magic word */
    assert_int_equal(fread(&key, sizeof key, 1, file), 1);
    fclose(file);
    return key;
}

/* Cached code is not compiled again, even by a compiler that would fail. Code that the device refuses is compiled once
 * and replaces the cached file. */
static void test_cached_code_is_used(void **state) {
    (void)state;
    if (!has_compiler()) skip();
    const char *const files[MODEL_FILES] = {"poisson.bug", "poisson.R"};
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context, files);
    for (int round = 0; round < 4; round++) {
        const size_t before = test_simulated_generated;
        expect_bits(model, files[0], 5);
        assert_true(test_simulated_generated > before);
        if (round % 2 == 0)
            setenv("FAKE_NVRTC_REFUSES", "1", 1);
        else
            unsetenv("FAKE_NVRTC_REFUSES");
        if (round == 1) svmp_kept_write(HOST(context), only_key(), "not code for this device", 24);
    }
    svmp_kept_write(HOST(context), only_key(), "not code for this device", 24);
    setenv("FAKE_NVRTC_REFUSES", "1", 1);
    expect_note(SVMP_LOG_WARNING, "NVRTC does not compile them: programs.cu(7): error: not today.");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Every failing allocation is survived. */
static void test_memory(void **state) {
    (void)state;
    if (!has_compiler()) skip();
    const char *text = "model { a ~ dgamma(2, 2)\n for (i in 1:5) { x[i] ~ dt(a, 1, 4) } }";
    scarce_memory memory = {.left = 1L << 40};
    svmp_context *context = scarce_context(&memory);
    svmp_model *model = NULL;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    svmp_status status = SVMP_NO_MEMORY;
    for (long left = 0; status != SVMP_OK; left++) {
        backend *b = NULL;
        memory.left = left;
        status = svmp_backend_create(&test_backend_simulated_generated, model, 3, 1, NULL, NULL, &b);
        memory.left = 1L << 40;
        if (status != SVMP_OK) assert_int_equal(status, SVMP_NO_MEMORY);
        if (status == SVMP_OK) {
            const size_t before = test_simulated_generated;
            assert_ok(b->kind->score(b));
            assert_true(test_simulated_generated > before);
            svmp_backend_free(b);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The real NVRTC, if installed: it compiles without a GPU. */
static void test_nvrtc(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    program_code programs[4] = {0};
    const program_code *list[4];
    const size_t first[] = {0, 2, 4};
    char *text = NULL, *image = NULL, why[512];
    size_t bytes;
    nvrtc compiler;
    unsetenv("SVMP_NVRTC");
    if (!svmp_nvrtc_find(&compiler, why, sizeof why)) skip();
    for (size_t g = 0; g < 4; g++) random_program(g, &programs[g]), list[g] = &programs[g];
    assert_ok(svmp_generate(HOST(context), 2, first, list, 2, &text));
    assert_ok(svmp_nvrtc_compile(HOST(context), &compiler, text, 80, &image, &bytes, why, sizeof why));
    if (image == NULL) fail_msg("%s", why);
    svmp_release(context, image);
    text[strlen(text) - 3] = '?';
    assert_ok(svmp_nvrtc_compile(HOST(context), &compiler, text, 80, &image, &bytes, why, sizeof why));
    assert_null(image);
    assert_non_null(strstr(why, "error"));
    svmp_release(context, text);
    for (size_t g = 0; g < 4; g++) free(programs[g].code), free(programs[g].literals);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_models, set_up),
        cmocka_unit_test_setup(test_random_programs, set_up),
        cmocka_unit_test_setup(test_outputs_of_one_value, set_up),
        cmocka_unit_test_setup(test_division, set_up),
        cmocka_unit_test_setup(test_cache, set_up),
        cmocka_unit_test_setup(test_no_cache, set_up),
        cmocka_unit_test_setup(test_foreign, set_up),
        cmocka_unit_test_setup(test_writers, set_up),
        cmocka_unit_test_setup(test_temporary_files, set_up),
        cmocka_unit_test_setup(test_no_compiler, set_up),
        cmocka_unit_test_setup(test_cached_code_is_used, set_up),
        cmocka_unit_test_setup(test_memory, set_up),
        cmocka_unit_test_setup(test_nvrtc, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
