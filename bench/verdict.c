/* Reliability of the verdict: false alarms for exact draws, and misses over a catalogue of wrong answers.
 *
 * The posterior of a model without data is its prior, so `--init prior` gives exact independent draws. A wrong answer
 * is made from them: collapsed, shifted, with a mode or correlations lost, ...; `must` marks those with errors above
 * 0.3 sd or 25 % in sd, which must not pass at n = 100. "No verdict" is neither a pass nor an alarm.
 *
 *     bench_verdict [alarms|catalogue|power] [ROUNDS]
 *     bench_verdict held-alarms|held-catalogue|held-power [ROUNDS]    on models not used to tune thresholds
 *     bench_verdict fresh-alarms|fresh-catalogue [ROUNDS]             on models first run after all changes of tests
 *     bench_verdict one MODEL WRONG SEED          one answer in full, numbers from 0; N in the environment: particles
 */
#include "bench/verdict_cases.h"

#include "bench/bench.h" /* last: it has a variable `context` */

/* The selected models: those used to tune thresholds, or the others. */
static const target *targets = tuned;
static size_t target_count = sizeof tuned / sizeof *tuned;
static int held_out;

/* ---- exact answers ----------------------------------------------------------------------------------------------- */

static double datum(size_t k, size_t i) {
    return svmp_random_normal((random_stream){.seed = 7, .a = k, .b = 0, .purpose = RANDOM_TEST}, i);
}

/* The text of a posterior with made-up data, a factor for each observation. */
static void write_posterior(const char *kind, char *text, size_t size) {
    size_t used = 0;
    const int logistic = strcmp(kind, "logistic") == 0, counts = strcmp(kind, "counts") == 0;
    used += (size_t)snprintf(text, size,
                             logistic ? "model { for (k in 1:5) { b[k] ~ dnorm(0, 0.1) }\n"
                             : counts ? "model { mu ~ dnorm(0, 0.1)\n ls ~ dnorm(-0.5, 4)\n"
                                        "for (k in 1:10) { u[k] ~ dnorm(mu, exp(-2 * ls)) }\n"
                                      : "model { b0 ~ dnorm(0, 0.01)\n b1 ~ dnorm(0, 0.01)\n"
                                        "b2 ~ dnorm(0, 0.01)\n");
    for (size_t i = 0; i < 40 && used < size; i++) {
        const double x = datum(1, i), z = datum(2, i), w = datum(3, i), e = datum(4, i);
        if (logistic)
            used += (size_t)snprintf(text + used, size - used,
                                     "factor(%d * (b[1] + %.6f * b[2] + %.6f * b[3] + %.6f * b[4] + %.6f * b[5]) - "
                                     "log(1 + exp(b[1] + %.6f * b[2] + %.6f * b[3] + %.6f * b[4] + %.6f * b[5])))\n",
                                     x + e > 0, x, x + 0.5 * z, w, z, x, x + 0.5 * z, w, z);
        else if (counts && i < 20)
            used += (size_t)snprintf(text + used, size - used, "factor(%d * u[%zu] - exp(u[%zu]))\n",
                                     (int)fabs(2 * x + 1), i / 2 + 1, i / 2 + 1);
        else if (!counts)
            used += (size_t)snprintf(text + used, size - used, "factor(-(%.6f - b0 - %.6f * b1 - %.6f * b2)^2 / 2)\n",
                                     1 + x + e, x, x + 0.03 * z);
    }
    if (used < size) snprintf(text + used, size - used, "}\n");
}

static svmp_model *read_target(const target *t) {
    svmp_model *model = NULL;
    static char text[20000];
    if (t->nuts) write_posterior(t->text, text, sizeof text);
    must(svmp_model_read_text(context, t->name, t->nuts ? text : t->text, NULL, NULL, &model));
    return model;
}

static double modes_of(const target *t) { return strstr(t->name, "8 sd") ? 4 : strstr(t->name, "3 sd") ? 1.5 : 0; }

static svmp_run *start_run(const svmp_model *model, const char *by, const char *from, size_t n, uint64_t seed) {
    run_options options = svmp_run_options_default();
    svmp_run *run = NULL;
    options.method = by;
    options.init = from;
    if (strcmp(by, "nuts") != 0) options.particles = n;
    options.seed = seed;
    if (strcmp(by, "nuts") == 0) options.chains = n, options.draws = 2000;
    must(svmp_run_make(model, &options, &run));
    return run;
}

/* Every other one of 8,000 draws, kept for the current model. */
static svmp_particles *long_run(const target *t, const svmp_model *model) {
    static const target *of;
    static svmp_particles *kept;
    svmp_particles *draws = NULL;
    svmp_outcome outcome;
    if (of == t) return kept;
    svmp_particles_free(kept);
    kept = NULL;
    of = NULL;
    if (t == NULL) return NULL;
    svmp_run *run = start_run(model, "nuts", "normal:0.5", 4, 11);
    must(svmp_run_go(run, &outcome));
    must(run->method->result(run, &draws));
    must(svmp_particles_select(draws, svmp_particles_variables(draws), NULL, 2, &kept));
    svmp_particles_free(draws);
    svmp_run_free(run);
    of = t;
    return kept;
}

static void draw_nuts(const target *t, const svmp_model *model, svmp_run *run, size_t n, uint64_t seed) {
    svmp_particles *pool = long_run(t, model);
    const size_t count = svmp_particles_count(pool);
    for (size_t l = 0; l < n; l++) {
        const size_t k = (seed * 7919 + l * 61) % count; /* 61 and 4,000 have no common divisor */
        for (size_t i = 0; i < svmp_particles_variables(pool); i++)
            run->backend->x[i * n + l] = svmp_particles_values(pool)[i * count + k];
    }
}

static svmp_run *draw(const target *t, const svmp_model *model, size_t n, uint64_t seed) {
    const double away = modes_of(t);
    svmp_run *run =
        start_run(model, t->nuts == 2 ? "exact" : "graphical", away > 0 || t->nuts ? "normal:1" : "prior", n, seed);
    svmp_outcome outcome;
    if (t->nuts == 1) draw_nuts(t, model, run, n, seed);
    if (t->nuts == 2) must(svmp_run_go(run, &outcome));
    for (size_t l = 0; away > 0 && l < n; l++)
        run->backend->x[l] +=
            svmp_random_uniform((random_stream){.seed = seed, .a = 0, .b = 0, .purpose = RANDOM_TEST}, l) < 0.5 ? away
                                                                                                                : -away;
    return run;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

static void know_truth(const target *t, const svmp_model *model, double *mean, double *sd) {
    const size_t n = 4000, variables = svmp_graph_variables(svmp_model_graph(model));
    svmp_run *run = draw(t, model, n, 999);
    for (size_t i = 0; i < variables; i++) {
        const double *x = run->backend->x + i * n;
        double sum = 0, squares = 0;
        for (size_t l = 0; l < n; l++) sum += x[l];
        mean[i] = sum / (double)n;
        for (size_t l = 0; l < n; l++) squares += (x[l] - mean[i]) * (x[l] - mean[i]);
        sd[i] = sqrt(squares / (double)n);
    }
    svmp_run_free(run);
}

typedef struct tally {
    size_t passed, failed, undecided;
    double seconds, moves;
} tally;

static svmp_verdict last;

static void try_one(const target *t, const svmp_model *model, const wrong *w, double by, size_t n, uint64_t seed,
                    double *mean, double *sd, tally *to) {
    svmp_run *run = draw(t, model, n, seed);
    sample s = {.n = n,
                .variables = svmp_graph_variables(svmp_model_graph(model)),
                .x = run->backend->x,
                .mean = mean,
                .sd = sd,
                .seed = seed};
    if (w) w->make(&s, by);
    must(svmp_run_examine(run, 0, 0, &last));
    to->passed += last.finding == SVMP_FINDING_PASSED;
    to->failed += last.finding == SVMP_FINDING_FAILED;
    to->undecided += last.finding == SVMP_FINDING_UNDECIDED || last.finding == SVMP_FINDING_NOT_EXAMINED;
    to->seconds += last.seconds;
    to->moves += (double)last.moves;
    svmp_run_free(run);
}

/* A model with its exact answer, kept while it is the current one. */
typedef struct known {
    const target *of;
    svmp_model *model;
    double *mean, *sd;
} known;

static const known *know(const target *t) {
    static known kept;
    if (kept.of == t) return &kept;
    if (t == NULL || kept.of) {
        free(kept.mean);
        svmp_model_free(kept.model);
        kept = (known){0};
        long_run(NULL, NULL);
    }
    if (t == NULL) return NULL;
    kept.model = read_target(t);
    const size_t variables = svmp_graph_variables(svmp_model_graph(kept.model));
    kept.mean = malloc(2 * variables * sizeof *kept.mean);
    if (kept.mean == NULL) exit(1);
    kept.sd = kept.mean + variables;
    know_truth(t, kept.model, kept.mean, kept.sd);
    kept.of = t;
    return &kept;
}

static tally try_many(const target *t, const wrong *w, double by, size_t n, size_t rounds) {
    const known *k = know(t);
    tally done = {0};
    for (size_t r = 0; r < rounds; r++) try_one(t, k->model, w, by, n, 1 + r, k->mean, k->sd, &done);
    return done;
}

static int applies(const wrong *w, const target *t) {
    if (w->only) return strstr(t->name, w->only) != NULL;
    return 1;
}

static void print_alarms(size_t rounds) {
    const size_t counts[] = {20, 50, 100, 200};
    printf("Exact draws: false alarms and samples without a verdict, of %zu each\n\n", rounds);
    printf("%-28s %12s %12s %12s %12s   %s\n", "model", "n = 20", "50", "100", "200", "s, moves at 100");
    tally all = {0};
    for (size_t k = 0; k < target_count; k++) {
        double seconds = 0, moves = 0;
        printf("%-28s", targets[k].name);
        for (size_t c = 0; c < 4; c++) {
            const size_t few = strstr(targets[k].name, "1000") ? (rounds + 9) / 10 : rounds;
            const tally done = try_many(&targets[k], NULL, 0, counts[c], few);
            char cell[32];
            snprintf(cell, sizeof cell, "%zu, %zu / %zu", done.failed, done.undecided, few);
            printf(" %12s", cell);
            fflush(stdout);
            all.failed += done.failed;
            all.passed += done.passed;
            all.undecided += done.undecided;
            if (c == 2) seconds = done.seconds / (double)few, moves = done.moves / (double)few;
        }
        printf("   %.3f, %.0f\n", seconds, moves);
    }
    printf("\nAll: %zu alarms, %zu without a verdict, of %zu: %.2f %% alarms\n", all.failed, all.undecided,
           all.failed + all.passed + all.undecided,
           100 * (double)all.failed / (double)(all.failed + all.passed + all.undecided));
}

static void print_catalogue(size_t rounds) {
    size_t answers = 0, slipped = 0;
    printf("Wrong answers, n = 100: how many of %zu pass, fail, have no verdict\n\n", rounds);
    printf("%-32s %-28s %5s %5s %5s\n", "wrong", "model", "pass", "fail", "none");
    for (size_t t = 0; t < target_count; t++)
        for (size_t k = 0; k < WRONGS; k++) {
            if (!applies(&wrongs[k], &targets[t])) continue;
            const size_t few = strstr(targets[t].name, "1000") ? 1 : rounds;
            const tally done = try_many(&targets[t], &wrongs[k], wrongs[k].by, 100, few);
            printf("%-32s %-28s %5zu %5zu %5zu%s\n", wrongs[k].name, targets[t].name, done.passed, done.failed,
                   done.undecided, wrongs[k].must && done.passed ? "  MISSED" : "");
            fflush(stdout);
            answers += (size_t)wrongs[k].must;
            slipped += wrongs[k].must && done.passed;
        }
    printf("\n%zu wrong answers worse than 0.3 sd or 25 %%: %zu of them passed in some round\n", answers, slipped);
}

static void print_power(size_t rounds) {
    static const struct {
        const char *name;
        void (*make)(sample *s, double by);
        double by;
    } kinds[] = {{"all collapsed by 10 %", scale_all, 0.9}, {"all collapsed by 20 %", scale_all, 0.8},
                 {"all collapsed by 50 %", scale_all, 0.5}, {"one collapsed by 20 %", scale_one, 0.8},
                 {"one collapsed by 50 %", scale_one, 0.5}, {"all shifted by 0.2 sd", shift_all, 0.2},
                 {"all shifted by 0.5 sd", shift_all, 0.5}, {"one shifted by 0.5 sd", shift_one, 0.5},
                 {"one shifted by 1 sd", shift_one, 1},     {"one: two heaps", shape_one, 0},
                 {"all: no tails", shape_all, 1},           {"all: exponential", shape_all, 2}};
    const size_t counts[] = {20, 50, 100, 200}, models[] = {0, held_out ? 2 : 1, held_out ? 7 : 2};
    printf("Power: the share of %zu samples that fail\n\n%-32s %-28s", rounds, "wrong", "model");
    for (size_t c = 0; c < 4; c++) printf(" %8zu", counts[c]);
    printf("\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t m = 0; m < 3; m++) {
            const wrong w = {kinds[k].name, kinds[k].make, kinds[k].by, 0, NULL};
            printf("%-32s %-28s", kinds[k].name, targets[models[m]].name);
            for (size_t c = 0; c < 4; c++) {
                const tally done = try_many(&targets[models[m]], &w, w.by, counts[c], rounds);
                printf(" %8.2f", (double)done.failed / (double)rounds);
                fflush(stdout);
            }
            printf("\n");
        }
}

static void print_one(size_t t, size_t w, uint64_t seed) {
    const known *truth = know(&targets[t]);
    tally done = {0};
    char text[2000];
    const wrong *of = w < WRONGS ? &wrongs[w] : NULL;
    const char *particles = getenv("N");
    const size_t n = particles ? strtoul(particles, NULL, 10) : 100;
    try_one(&targets[t], truth->model, of, of ? of->by : 0, n, seed, truth->mean, truth->sd, &done);
    printf("%s, %s: %s\n", targets[t].name, of ? of->name : "exact draws",
           svmp_verdict_sentence(&last, text, sizeof text));
    printf("moves %zu, unmixed %zu, slowest %s %.3f, limit %.2f, %.3f s\n", last.moves, last.unmixed, last.slowest_name,
           last.slowest, last.limit, last.seconds);
    for (size_t k = 0; k < last.drifts; k++)
        printf("  %-12s aspect %d, effect %.3g, z %.3g\n", last.drift[k].name, (int)last.drift[k].aspect,
               last.drift[k].effect, last.drift[k].z);
}

int main(int count, char **arguments) {
    const char *what = count > 1 && !is_quick(count, arguments) ? arguments[1] : "";
    const size_t rounds = is_quick(count, arguments) ? 1 : count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
    if (strncmp(what, "held-", 5) == 0) {
        held_out = 1;
        targets = held;
        target_count = sizeof held / sizeof *held;
        what += 5;
    } else if (strncmp(what, "fresh-", 6) == 0) {
        targets = fresh;
        target_count = sizeof fresh / sizeof *fresh;
        what += 6;
    }
    start_context(1); /* less affected by other programs on the machine */
    if (is_quick(count, arguments)) {
        const tally done = try_many(&targets[0], &wrongs[2], 0.5, 50, 1);
        printf("%zu failed\n", done.failed);
    } else if (strcmp(what, "one") == 0 && count == 5) {
        print_one(rounds, strtoul(arguments[3], NULL, 10), strtoul(arguments[4], NULL, 10));
    } else {
        if (strcmp(what, "alarms") == 0 || *what == '\0') print_alarms(rounds ? rounds : 100);
        if (strcmp(what, "catalogue") == 0 || *what == '\0') print_catalogue(rounds ? rounds : 3);
        if (strcmp(what, "power") == 0 || *what == '\0') print_power(rounds ? rounds : 50);
    }
    know(NULL);
    svmp_context_free(context);
    return 0;
}
