#include "default_method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "trial_tests.h"

enum { SERIES, METHOD, STEP, X, METRIC, MEAN, ERROR, TRIALS };

typedef struct bench {
    csv summary;
    FILE *csv;
} bench;

typedef struct entry {
    double mean, error;
    size_t trials;
} entry;

/* Of a method at the place of row r; no trials: there is none. */
static entry entry_of(const bench *b, size_t r, const char *series, const char *method) {
    const csv *s = &b->summary;
    for (size_t k = 0; k < s->rows; k++)
        if (strcmp(csv_cell(s, k, SERIES), series) == 0 && strcmp(csv_cell(s, k, METHOD), method) == 0 &&
            strcmp(csv_cell(s, k, X), csv_cell(s, r, X)) == 0 &&
            strcmp(csv_cell(s, k, METRIC), csv_cell(s, r, METRIC)) == 0)
            return (entry){strtod(csv_cell(s, k, MEAN), NULL), strtod(csv_cell(s, k, ERROR), NULL),
                           strtoul(csv_cell(s, k, TRIALS), NULL, 10)};
    return (entry){NAN, NAN, 0};
}

/* Whether row r is of the default method, in this series and metric. */
static int is_own(const bench *b, size_t r, const char *series, const char *metric) {
    const csv *s = &b->summary;
    return strcmp(csv_cell(s, r, METHOD), DEFAULT_METHOD) == 0 && strcmp(csv_cell(s, r, SERIES), series) == 0 &&
           strcmp(csv_cell(s, r, METRIC), metric) == 0;
}

/* A few problems may be alike by chance. They are among those of the other method: the standard error of the default's
 * mean is at least what the spread over all of them gives. */
static double p_below(const entry *own, const entry *its, double limit) {
    const double spread = its->error * sqrt((double)its->trials / (double)own->trials);
    const int theirs = spread > own->error;
    return welch_below(own->mean, theirs ? spread : own->error, theirs ? its->trials : own->trials, its->mean,
                       its->error, its->trials, limit);
}

/* At every x the default method is lower than another, which may be of another series, by more than -limit. */
static void claim_lower(const bench *b, claim *c, const char *series, const char *of, const char *other,
                        const char *metric, double limit) {
    for (size_t r = 0; r < b->summary.rows; r++) {
        if (!is_own(b, r, series, metric)) continue;
        const entry own = entry_of(b, r, series, DEFAULT_METHOD), its = entry_of(b, r, of, other);
        if (own.trials == 0 || its.trials == 0) continue;
        const double p = own.trials > 1 ? p_below(&own, &its, limit) : 0.5;
        add_test(c, other, p, 1 - p, own.mean - its.mean, own.trials);
    }
}

static void judge_against(const bench *b, const char *name, const char *text, const char *series, const char *of,
                          const char *metric, double limit, const char *const *others) {
    claim c = {.name = name, .text = text};
    for (; *others; others++) claim_lower(b, &c, series, of, *others, metric, limit);
    close_claim(b->csv, &c);
}

static void judge_best(const bench *b, const char *name, const char *text, const char *series, const char *metric,
                       double limit, const char *const *others) {
    judge_against(b, name, text, series, series, metric, limit, others);
}

/* |variance at d - variance at d = 1| < 0.02, at every n: two tests each. */
static void judge_1(const bench *b) {
    const double margin = 0.02;
    claim c = {.name = "default 1", .text = "the default's variance does not depend on d"};
    for (size_t r = 0; r < b->summary.rows; r++) {
        const char *series = csv_cell(&b->summary, r, SERIES);
        if (strcmp(series, "d=1") == 0 || !is_own(b, r, series, "variance")) continue;
        const entry own = entry_of(b, r, series, DEFAULT_METHOD), one = entry_of(b, r, "d=1", DEFAULT_METHOD);
        const double above = welch_below(own.mean, own.error, own.trials, one.mean, one.error, one.trials, margin),
                     below = welch_below(one.mean, one.error, one.trials, own.mean, own.error, own.trials, margin);
        add_test(&c, "|variance - variance at d = 1| below 0.02", fmax(above, below), 1 - fmax(above, below),
                 fabs(own.mean - one.mean), own.trials);
    }
    close_claim(b->csv, &c);
}

static void judge_2(const bench *b) {
    static const char *const graphical[] = {"graphical", NULL}, *const others[] = {"graphical", "vanilla", "exact",
                                                                                   "langevin", NULL};
    judge_best(b, "default 2a", "E[x]: the default beats all others", "", "log10 mean", 0, others);
    judge_best(b, "default 2b", "E[x^2]: at least ten times below graphical at every n", "", "log10 square", -1,
               graphical);
    judge_best(b, "default 2b'", "E[x^2]: the default beats all others", "", "log10 square", 0, others);
    judge_best(b, "default 2c", "MMD: the default beats all others", "", "log10 mmd", 0, others);
    judge_best(b, "default 2d", "MMD on denser graphs: the default beats graphical at every r", "radius", "log10 mmd",
               0, graphical);
}

static void judge_3(const bench *b) {
    static const char *const others[] = {"random", "combined", "vanilla", "exact", "langevin", NULL};
    judge_best(b, "default 3a", "E[x]: the default beats all others", "", "log10 mean", 0, others);
    judge_best(b, "default 3b", "E[x^2]: the default beats all others", "", "log10 square", 0, others);
    judge_best(b, "default 3c", "MMD: the default beats all others", "", "log10 mmd", 0, others);
}

static void judge_4(const bench *b) {
    claim c = {.name = "default 4",
               .text = "both modes of the ambiguous sensors are found by the default (share of trials above 1/2)"};
    for (size_t r = 0; r < b->summary.rows; r++) {
        if (!is_own(b, r, "", "found")) continue;
        const entry own = entry_of(b, r, "", DEFAULT_METHOD);
        const size_t found = (size_t)lround(own.mean * (double)own.trials);
        add_test(&c, DEFAULT_METHOD, coin_at_least(own.trials, found), coin_at_least(own.trials, own.trials - found),
                 own.mean, own.trials);
    }
    close_claim(b->csv, &c);
}

static void judge_5(const bench *b) {
    static const char *const others[] = {"graphical", "vanilla", "langevin", "dpmp", "tpmp", NULL};
    static const char *const starts[] = {"data", "uniform", "own"}, *const theirs[] = {"data", "uniform", "uniform"};
    static const struct {
        const char *metric, *text;
    } claims[] = {
        {"location", "location error: the default beats all others"},
        {"log10 mean", "E[x]: the default beats all others"},
        {"log10 square", "E[x^2]: the default beats all others"},
        {"log10 mmd", "MMD: the default beats all others"},
    };
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 0; k < 4; k++) {
            char name[64], text[128];
            snprintf(name, sizeof name, "default 5%c %s", (int)('a' + k), starts[s]);
            snprintf(text, sizeof text, "%s%s", claims[k].text, s == 2 ? " from their uniform start" : "");
            judge_against(b, name, text, starts[s], theirs[s], claims[k].metric, 0, others);
        }
}

static void judge_6(const bench *b) {
    static const char *const others[] = {"graphical", "vanilla", "langevin", NULL};
    judge_best(b, "default 6a", "error against the true answers: the default beats all others", "", "log10 truth", 0,
               others);
    judge_best(b, "default 6b", "posterior mean: the default beats all others", "", "log10 mean", 0, others);
    judge_best(b, "default 6c", "posterior variance: the default beats all others", "", "log10 posterior_var", 0,
               others);
    judge_best(b, "default 6d", "MMD: the default beats all others", "", "log10 mmd", 0, others);
}

int judge_default(const paper *p, const figure *f) {
    static void (*const judges[])(const bench *b) = {judge_1, judge_2, judge_3, judge_4, judge_5, judge_6};
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    bench b = {0};
    svmp_context *context = NULL;
    snprintf(path, sizeof path, "%s/paper/%s.csv", p->options.folder, f->name);
    int status = csv_read(path, &b.summary);
    if (status) return status;
    b.csv = open_written(&text, &size);
    if (b.csv == NULL) return csv_free(&b.summary), task_no_memory();
    fputs("claim,verdict,p,text,numbers\n", b.csv);
    judges[f->number - 1](&b);
    status = close_written(b.csv, &text) ? 0 : task_no_memory();
    if (status == 0 && svmp_context_create(NULL, &context) != SVMP_OK) status = task_no_memory();
    snprintf(path, sizeof path, "%s/paper/%s_default.csv", p->options.folder, f->name);
    if (status == 0) status = write_output(path, text, size, 1);
    free(text);
    csv_free(&b.summary);
    svmp_context_free(context);
    return status;
}
