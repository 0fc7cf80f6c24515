/* How far the verdict can be believed: false alarms on exact draws, and misses over a catalogue of wrong answers.
 *
 * Models without data are their own priors, so that `--init prior` gives exact independent draws. A wrong answer is
 * made from them: collapsed, shifted, with a mode or correlations lost, ...; `must` marks those that are worse than 0.3
 * sd or 25 % in sd, none of which may pass at n = 100. "No verdict" is neither a pass nor an alarm.
 *
 *     bench_verdict [alarms|catalogue|power] [ROUNDS]
 *     bench_verdict one MODEL WRONG SEED          one answer in full, numbers from 0; N in the environment: particles
 */
#include <math.h>

#include "base/random.h"
#include "method/method.h"
#include "run/options.h"

#include "bench/bench.h" /* last: it has a variable `context` */

typedef struct target {
    const char *name, *text;
} target;

/* Mixtures have no draws from a prior: they are drawn by hand. */
static const target targets[] = {
    {"normal 1", "model { x ~ dnorm(2, 4) }"},
    {"normal 20", "model { for (i in 1:20) { x[i] ~ dnorm(i, pow(10, i / 5 - 2)) } }"},
    {"chain 30, r = 0.9", "model { x[1] ~ dnorm(0, 1)\n for (i in 2:30) { x[i] ~ dnorm(0.9 * x[i-1], 1 / 0.19) } }"},
    {"pair, r = 0.99", "model { a ~ dnorm(0, 1)\n b ~ dnorm(0.99 * a, 1 / 0.0199) }"},
    {"student 10", "model { for (i in 1:10) { x[i] ~ dt(0, 1, 5) } }"},
    {"gamma, beta 10", "model { for (i in 1:5) { g[i] ~ dgamma(2, 0.1)\n b[i] ~ dbeta(2, 5) } }"},
    {"hierarchical 22", "model { mu ~ dnorm(0, 1)\n tau ~ dgamma(3, 3)\n for (i in 1:20) { x[i] ~ dnorm(mu, tau) } }"},
    {"hub 201", "model { mu ~ dnorm(0, 1)\n for (i in 1:200) { x[i] ~ dnorm(mu, 1) } }"},
    {"funnel 10", "model { v ~ dnorm(0, 1 / 9)\n for (i in 1:9) { x[i] ~ dnorm(0, exp(-v)) } }"},
    {"banana 2", "model { a ~ dnorm(0, 1)\n b ~ dnorm(a^2, 4) }"},
    {"chain 1000, r = 0.5",
     "model { x[1] ~ dnorm(0, 1)\n for (i in 2:1000) { x[i] ~ dnorm(0.5 * x[i-1], 1 / 0.75) } }"},
    {"two modes, 3 sd apart",
     "model { x ~ dflat()\n factor(log(0.5 * exp(-(x - 1.5)^2 / 2) + 0.5 * exp(-(x + 1.5)^2 / 2))) }"},
    {"two modes, 8 sd apart",
     "model { x ~ dflat()\n factor(log(0.5 * exp(-(x - 4)^2 / 2) + 0.5 * exp(-(x + 4)^2 / 2))) }"},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static svmp_model *read_target(const target *t) {
    svmp_model *model = NULL;
    must(svmp_model_read_text(context, t->name, t->text, NULL, NULL, &model));
    return model;
}

static double modes_of(const target *t) { return strstr(t->name, "8 sd") ? 4 : strstr(t->name, "3 sd") ? 1.5 : 0; }

static svmp_run *draw(const target *t, const svmp_model *model, size_t n, uint64_t seed) {
    run_options options = svmp_run_options_default();
    svmp_run *run = NULL;
    const double away = modes_of(t);
    options.method = "graphical";
    options.init = away > 0 ? "normal:1" : "prior";
    options.particles = n;
    options.seed = seed;
    must(svmp_run_make(model, &options, &run));
    for (size_t l = 0; away > 0 && l < n; l++)
        run->backend->x[l] += svmp_random_uniform((random_stream){seed, 0, 0, RANDOM_TEST}, l) < 0.5 ? away : -away;
    return run;
}

/* ---- wrong answers ----------------------------------------------------------------------------------------------- */

typedef struct sample {
    size_t n, variables;
    double *x, *mean, *sd; /* of many exact draws */
    uint64_t seed;
} sample;

static double noise(const sample *s, size_t i, size_t l) {
    return svmp_random_normal((random_stream){s->seed, 1, i, RANDOM_TEST}, l);
}

/* About the true mean. */
static void scale(sample *s, double by, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        for (size_t l = 0; l < s->n; l++) {
            double *x = &s->x[i * s->n + l];
            *x = s->mean[i] + by * (*x - s->mean[i]);
        }
}

static void scale_all(sample *s, double by) { scale(s, by, 0, s->variables); }
static void scale_one(sample *s, double by) { scale(s, by, 0, 1); }
static void freeze_last(sample *s, double by) { scale(s, by, s->variables - 1, s->variables); }

static void shift(sample *s, double by, size_t last) {
    for (size_t i = 0; i < last; i++)
        for (size_t l = 0; l < s->n; l++) s->x[i * s->n + l] += by * s->sd[i];
}

static void shift_all(sample *s, double by) { shift(s, by, s->variables); }
static void shift_one(sample *s, double by) { shift(s, by, 1); }

/* Marginals stay, correlations go: variable i takes its particles from i places further on. */
static void decouple(sample *s, double by) {
    double *row = malloc(s->n * sizeof *row);
    (void)by;
    for (size_t i = 0; row && i < s->variables; i++) {
        for (size_t l = 0; l < s->n; l++) row[l] = s->x[i * s->n + (l + 7 * i) % s->n];
        memcpy(s->x + i * s->n, row, s->n * sizeof *row);
    }
    free(row);
}

/* Some particles far away. */
static void throw_out(sample *s, double by) {
    for (size_t l = 0; l < s->n / 20; l++)
        for (size_t i = 0; i < s->variables; i++) s->x[i * s->n + l] += by * s->sd[i];
}

/* All particles are copies of the first, with a little noise. */
static void gather_in(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = s->n; l-- > 0;) s->x[i * s->n + l] = s->x[i * s->n] + by * s->sd[i] * noise(s, i, l);
}

/* Frozen at a start around 0 in nobody's units. */
static void start_only(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = 0; l < s->n; l++) s->x[i * s->n + l] = by * noise(s, i, l);
}

/* The lower tail of the first variable is cut off by reflection. */
static void cut_neck(sample *s, double by) {
    const double from = s->mean[0] + by * s->sd[0];
    for (size_t l = 0; l < s->n; l++)
        if (s->x[l] < from) s->x[l] = 2 * from - s->x[l];
}

/* Half of the particles too wide, half too narrow, so that the sd is right. */
static void reshape(sample *s, double by) {
    for (size_t i = 0; i < s->variables; i++)
        for (size_t l = 0; l < s->n; l++) {
            double *x = &s->x[i * s->n + l];
            *x = s->mean[i] + (l % 2 ? by : sqrt(2 - by * by)) * (*x - s->mean[i]);
        }
}

typedef struct wrong {
    const char *name;
    void (*make)(sample *s, double by);
    double by;
    int must;         /* worse than 0.3 sd or 25 % */
    const char *only; /* of the model's name, or NULL; "!...": of no other */
} wrong;

static const wrong wrongs[] = {
    {"all collapsed by 10 %", scale_all, 0.9, 0, NULL},  {"all collapsed by 20 %", scale_all, 0.8, 0, NULL},
    {"all collapsed by 50 %", scale_all, 0.5, 1, NULL},  {"all too wide by 50 %", scale_all, 1.5, 1, NULL},
    {"one collapsed by 50 %", scale_one, 0.5, 1, NULL},  {"one frozen", freeze_last, 0, 1, NULL},
    {"all shifted by 0.2 sd", shift_all, 0.2, 0, NULL},  {"all shifted by 0.5 sd", shift_all, 0.5, 1, NULL},
    {"one shifted by 1 sd", shift_one, 1, 1, NULL},      {"5 % of particles 8 sd away", throw_out, 8, 1, NULL},
    {"all at one point", gather_in, 0.05, 1, NULL},      {"frozen at N(0, 10)", start_only, 10, 1, NULL},
    {"half 1.35, half 0.42 sd", reshape, 1.35, 0, NULL}, {"correlations lost", decouple, 0, 1, "pair"},
    {"correlations lost", decouple, 0, 1, "chain"},      {"correlations lost", decouple, 0, 1, "hierarchical"},
    {"correlations lost", decouple, 0, 1, "hub"},        {"correlations lost", decouple, 0, 1, "banana"},
    {"correlations lost", decouple, 0, 1, "funnel"},     {"neck missing below -0.3 sd", cut_neck, -0.3, 1, "funnel"},
    {"lower half missing", cut_neck, 0, 1, NULL},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

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
    to->passed += last.finding == SVMP_PASSED;
    to->failed += last.finding == SVMP_FAILED;
    to->undecided += last.finding == SVMP_UNDECIDED || last.finding == SVMP_NOT_EXAMINED;
    to->seconds += last.seconds;
    to->moves += (double)last.moves;
    svmp_run_free(run);
}

static tally try_many(const target *t, const wrong *w, double by, size_t n, size_t rounds) {
    svmp_model *model = read_target(t);
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    double *mean = malloc(2 * variables * sizeof *mean);
    tally done = {0};
    if (mean == NULL) exit(1);
    know_truth(t, model, mean, mean + variables);
    for (size_t k = 0; k < rounds; k++) try_one(t, model, w, by, n, 1 + k, mean, mean + variables, &done);
    free(mean);
    svmp_model_free(model);
    return done;
}

static int applies(const wrong *w, const target *t) {
    if (w->only) return strstr(t->name, w->only) != NULL;
    return 1;
}

static void print_alarms(size_t rounds) {
    const size_t counts[] = {20, 50, 100, 200};
    printf("Exact draws: false alarms and samples without a verdict, of %zu each\n\n", rounds);
    printf("%-24s %12s %12s %12s %12s   %s\n", "model", "n = 20", "50", "100", "200", "s, moves at 100");
    tally all = {0};
    for (size_t k = 0; k < TARGETS; k++) {
        double seconds = 0, moves = 0;
        printf("%-24s", targets[k].name);
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
    printf("%-30s %-24s %5s %5s %5s\n", "wrong", "model", "pass", "fail", "none");
    for (size_t k = 0; k < WRONGS; k++)
        for (size_t t = 0; t < TARGETS; t++) {
            if (!applies(&wrongs[k], &targets[t])) continue;
            const size_t few = strstr(targets[t].name, "1000") ? 1 : rounds;
            const tally done = try_many(&targets[t], &wrongs[k], wrongs[k].by, 100, few);
            printf("%-30s %-24s %5zu %5zu %5zu%s\n", wrongs[k].name, targets[t].name, done.passed, done.failed,
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
                 {"one shifted by 1 sd", shift_one, 1}};
    const size_t counts[] = {20, 50, 100, 200}, models[] = {0, 1, 2};
    printf("Power: the share of %zu samples that fail\n\n%-24s %-24s", rounds, "wrong", "model");
    for (size_t c = 0; c < 4; c++) printf(" %8zu", counts[c]);
    printf("\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t m = 0; m < 3; m++) {
            const wrong w = {kinds[k].name, kinds[k].make, kinds[k].by, 0, NULL};
            printf("%-24s %-24s", kinds[k].name, targets[models[m]].name);
            for (size_t c = 0; c < 4; c++) {
                const tally done = try_many(&targets[models[m]], &w, w.by, counts[c], rounds);
                printf(" %8.2f", (double)done.failed / (double)rounds);
                fflush(stdout);
            }
            printf("\n");
        }
}

static void print_one(size_t t, size_t w, uint64_t seed) {
    svmp_model *model = read_target(&targets[t]);
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    double *mean = malloc(2 * variables * sizeof *mean);
    tally done = {0};
    char text[2000];
    if (mean == NULL) exit(1);
    know_truth(&targets[t], model, mean, mean + variables);
    const wrong *of = w < WRONGS ? &wrongs[w] : NULL;
    const char *asked = getenv("N");
    const size_t n = asked ? strtoul(asked, NULL, 10) : 100;
    try_one(&targets[t], model, of, of ? of->by : 0, n, seed, mean, mean + variables, &done);
    printf("%s, %s: %s\n", targets[t].name, of ? of->name : "exact draws",
           svmp_verdict_sentence(&last, text, sizeof text));
    printf("moves %zu, unmixed %zu, slowest %s %.3f, limit %.2f, %.3f s\n", last.moves, last.unmixed, last.slowest_name,
           last.slowest, last.limit, last.seconds);
    for (size_t k = 0; k < last.drifts; k++)
        printf("  %-12s aspect %d, effect %.3g, z %.3g\n", last.drift[k].name, (int)last.drift[k].aspect,
               last.drift[k].effect, last.drift[k].z);
    free(mean);
    svmp_model_free(model);
}

int main(int count, char **arguments) {
    const char *what = count > 1 && !is_quick(count, arguments) ? arguments[1] : "";
    const size_t rounds = is_quick(count, arguments) ? 1 : count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
    start_context(1); /* what others do on the machine counts less */
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
    svmp_context_free(context);
    return 0;
}
