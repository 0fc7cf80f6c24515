/* Processes that share the chains of a run, simulated by threads: the same bits for any number of them, also if a
 * checkpoint is continued by another number. */
#include <string.h>

#include "base/hash.h"
#include "base/peer_columns.h"
#include "method/method.h"
#include "sample/particles.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"
#include "verify/verdict_inside.h"

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum { ROWS = 5 };

static double number(size_t r, size_t l) { return 100 * (double)r + (double)l; }

/* Every column is gathered from its owner; sums count each once. */
static void gather_rows(test_process *p) {
    const size_t whole = *(const size_t *)p->script;
    peer_columns c;
    p->status = svmp_shared_open(p->context, &p->peers, whole, &c);
    if (p->status != SVMP_OK) return;
    double own[ROWS * 12], all[ROWS * 12], back[ROWS * 12];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t l = 0; l < c.count; l++) own[r * c.count + l] = number(r, c.first + l);
    svmp_shared_gather(&c, ROWS, own, all);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t l = 0; l < whole; l++) assert_near(all[r * whole + l], number(r, l), 0);
    svmp_shared_take(&c, ROWS, all, back);
    assert_memory_equal(back, own, ROWS * c.count * sizeof *own);
    int64_t sum = 0;
    for (size_t l = 0; l < c.count; l++) sum += (int64_t)(c.first + l);
    svmp_shared_sum(&c, 1, &sum);
    assert_int_equal(sum, whole * (whole - 1) / 2);
    svmp_shared_close(&c);
}

static void test_columns(void **state) {
    (void)state;
    for (size_t processes = 1; processes <= MOST_PROCESSES; processes++)
        for (size_t whole = 1; whole <= 12; whole++) {
            test_process group[MOST_PROCESSES];
            size_t next = 0;
            for (size_t rank = 0; rank < processes; rank++) {
                size_t first, count;
                svmp_shared_find(whole, processes, rank, &first, &count);
                if (processes <= whole) assert_int_equal(first, next);
                for (size_t l = first; l < first + count && processes <= whole; l++)
                    assert_int_equal(svmp_shared_owner(whole, processes, l), rank);
                next = first + count;
            }
            assert_int_equal(next, whole);
            run_processes(processes, gather_rows, &whole, group);
            for (size_t p = 0; p < processes; p++) assert_ok(group[p].status);
            end_processes(processes, group);
        }
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef struct script {
    const char *paths[3], *method;
    size_t particles, iterations, chains, warmup, draws;
    const char *resume; /* a checkpoint to continue from, or NULL */
    const char *save;   /* where to save one after `middle` iterations, or NULL */
    size_t middle;
    uint64_t *hash; /* of each process: of all that is reported */
} script;

static uint64_t hash_particles(uint64_t hash, const svmp_particles *p) {
    hash = svmp_hash_bytes(hash, p->variables * p->count * sizeof *p->values, p->values);
    for (size_t k = 0; k < p->statistic_count; k++)
        hash = svmp_hash_bytes(hash, p->count * sizeof(double), p->statistics[k].values);
    for (size_t k = 0; k < p->series_count; k++)
        hash = svmp_hash_bytes(hash, p->series[k].count * sizeof(double), p->series[k].values);
    return hash;
}

static svmp_status hash_result(const svmp_run *run, uint64_t *hash) {
    svmp_particles *draws = NULL;
    svmp_verdict v = {0};
    SVMP_TRY(svmp_run_draws(run, &draws));
    *hash = hash_particles(SVMP_HASH_START, draws);
    if (draws->compressed) *hash = hash_particles(*hash, draws->compressed);
    svmp_particles_free(draws);
    SVMP_TRY(svmp_run_examine(run, 0, 40, &v));
    v.seconds = 0;
    v.context = NULL;
    *hash = svmp_hash_bytes(*hash, sizeof v, &v);
    return SVMP_OK;
}

/* Stops a run after some iterations. */
static int stop_at(const svmp_progress *now, void *user_data) { return now->iteration >= *(const size_t *)user_data; }

static svmp_status go(test_process *p, const script *s, svmp_model **model, svmp_run **run) {
    const size_t count = s->paths[2] ? 3 : s->paths[1] ? 2 : 1;
    const svmp_reading how = {.coordinates = "auto"};
    run_options options = svmp_run_options_default();
    svmp_outcome outcome;
    size_t middle = s->middle;
    options.method = s->method;
    if (s->particles) options.particles = s->particles;
    options.iterations = s->iterations ? s->iterations : SVMP_METHODS_OWN;
    options.chains = s->chains ? s->chains : options.chains;
    options.warmup = s->warmup ? s->warmup : SVMP_METHODS_OWN;
    options.draws = s->draws ? s->draws : SVMP_METHODS_OWN;
    SVMP_TRY(svmp_model_read_shared(p->context, count, s->paths, &how, model));
    SVMP_TRY(svmp_run_make(*model, &options, run));
    if (s->resume) SVMP_TRY(svmp_run_load(*run, s->resume));
    if (s->save) {
        SVMP_TRY(svmp_run_set_monitor(*run, stop_at, &middle));
        SVMP_TRY(svmp_run_go(*run, &outcome));
        return svmp_run_save(*run, s->save);
    }
    SVMP_TRY(svmp_run_go(*run, &outcome));
    return hash_result(*run, &s->hash[p->peers.rank]);
}

static void run_process(test_process *p) {
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    p->status = go(p, p->script, &model, &run);
    svmp_run_free(run);
    svmp_model_free(model);
}

/* All processes have the same result, whose hash is returned. */
static uint64_t hash_of(script s, size_t processes) {
    uint64_t hash[MOST_PROCESSES] = {0};
    test_process group[MOST_PROCESSES];
    s.hash = hash;
    run_processes(processes, run_process, &s, group);
    for (size_t p = 0; p < processes; p++) {
        if (group[p].status != SVMP_OK)
            fail_msg("%s, %s: %s", s.paths[0], s.method, svmp_context_error(group[p].context));
        assert_true(hash[p] == hash[0]);
    }
    end_processes(processes, group);
    return hash[0];
}

#define MODEL(name) SVMP_MODELS "/" name
#define WORDS(name) SVMP_MODELS "/../tests/peer/words/" name

/* A hierarchical model, other coordinates, discrete unknowns, two modes, a density with jumps, a recursion, unknowns
 * that are sorted, and a Gaussian. */
static const script scripts[] = {
    {.paths = {MODEL("hierarchical.bug"), MODEL("hierarchical.csv"), MODEL("hierarchical.json")},
     .method = "transport",
     .particles = 23},
    {.paths = {MODEL("schools_centred.bug"), MODEL("schools.R")}, .method = "transport", .particles = 40},
    {.paths = {WORDS("regimes.bug"), WORDS("regimes.R")}, .method = "transport", .particles = 9, .iterations = 160},
    {.paths = {"two.bug"}, .method = "transport", .particles = 30},
    {.paths = {"jump.bug"}, .method = "transport", .particles = 21, .iterations = 300},
    {.paths = {WORDS("arma.bug"), WORDS("arma.R")}, .method = "transport", .particles = 9, .iterations = 160},
    {.paths = {WORDS("clusters.bug"), WORDS("clusters.R")}, .method = "transport", .particles = 9, .iterations = 160},
    {.paths = {MODEL("grid.mtx"), MODEL("grid_b.mtx")}, .method = "transport", .particles = 5, .iterations = 150},
    {.paths = {MODEL("schools_centred.bug"), MODEL("schools.R")},
     .method = "nuts",
     .chains = 5,
     .warmup = 60,
     .draws = 30},
    {.paths = {MODEL("schools.bug"), MODEL("schools.R")}, .method = "mala", .particles = 13, .iterations = 40},
};

static void write_models(void) {
    write_text("two.bug", "model { x ~ dnorm(0, 0.01)\n y ~ dnorm(x, 4)\n factor(-8 * pow(x * x - 9, 2) / 36) }\n");
    write_text("jump.bug", "model { x ~ dnorm(0, 1)\n y ~ dnorm(step(x), 4) }\n");
}

static void test_bits(void **state) {
    (void)state;
    write_models();
    for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++) {
        const uint64_t alone = hash_of(scripts[k], 1);
        for (size_t processes = 2; processes <= (k % 3 == 0 ? 4 : 3); processes++)
            if (hash_of(scripts[k], processes) != alone)
                fail_msg("%s, %s: %zu processes have another result", scripts[k].paths[0], scripts[k].method,
                         processes);
    }
}

/* More processes than particles, or chains. */
static void test_idle(void **state) {
    (void)state;
    script few = {
        .paths = {MODEL("schools.bug"), MODEL("schools.R")}, .method = "transport", .particles = 3, .iterations = 140};
    const uint64_t alone = hash_of(few, 1);
    assert_true(hash_of(few, 5) == alone);
    few = (script){
        .paths = {MODEL("schools.bug"), MODEL("schools.R")}, .method = "nuts", .chains = 2, .warmup = 40, .draws = 20};
    assert_true(hash_of(few, 1) == hash_of(few, 5));
}

static uint64_t hash_file(const char *path) {
    uint64_t hash = SVMP_HASH_START;
    char block[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;) hash = svmp_hash_bytes(hash, size, block);
    fclose(file);
    return hash;
}

/* Saved by three processes and by one the file is the same, and two continue as one would. Not that of NUTS, whose
 * chains are ahead by a time. */
static void test_checkpoints(void **state) {
    (void)state;
    write_models();
    static const size_t chosen[] = {0, 3, 8, 9};
    for (size_t j = 0; j < sizeof chosen / sizeof *chosen; j++) {
        script s = scripts[chosen[j]];
        const uint64_t alone = hash_of(s, 1);
        for (size_t processes = 1; processes <= 3; processes += 2) {
            s.middle = strcmp(s.method, "transport") == 0 ? 90 : 30;
            s.save = processes == 1 ? "one.svmp" : "three.svmp";
            s.resume = NULL;
            hash_of(s, processes);
            s.resume = s.save;
            s.save = NULL;
            assert_true(hash_of(s, 2) == alone);
            assert_true(hash_of(s, 1) == alone);
        }
        if (strcmp(s.method, "nuts") != 0) assert_true(hash_file("one.svmp") == hash_file("three.svmp"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_idle), cmocka_unit_test(test_checkpoints)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
