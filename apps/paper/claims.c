#include "claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "paper_files.h"
#include "trial_tests.h"

enum { XS_MOST = 32, TRIALS_MOST = 4096 };
static const double lost_level = 0.35; /* of the quick version's few trials: 4 of 6 are enough, 3 are not */
static const double diverged = 3;      /* in log10: what a run that diverged counts */

typedef struct claim_context {
    const results *r;
    FILE *csv;
    size_t trials;
    double values[TRIALS_MOST];
} claim_context;

/* The claim that the mean of court->values is below `limit`. */
static void claim_below(claim_context *j, claim *c, const char *label, double limit) {
    const t_test t = t_test_below(j->trials, j->values, limit);
    add_test(c, label, t.p_below, 1 - t.p_below, t.mean, t.used);
}

/* ---- what is compared ---------------------------------------------------------------------------------------------*/

static double value(const claim_context *j, size_t trial, const char *series, const char *method, double x,
                    const char *metric) {
    const double v = results_value(j->r, trial, series, method, x, metric);
    return strcmp(metric, "variance") == 0 || strcmp(metric, "found") == 0 ? v : log10(v);
}

/* The places on the axis that a series and metric have. */
static size_t axis(const claim_context *j, const char *series, const char *metric, double xs[XS_MOST]) {
    size_t count = 0;
    for (size_t k = 0; k < j->r->count; k++) {
        const measurement *m = &j->r->rows[k];
        size_t at = 0;
        if (strcmp(m->series, series) != 0 || strcmp(m->metric, metric) != 0 || m->x == 0) continue;
        while (at < count && xs[at] != m->x) at++;
        if (at == count && count < XS_MOST) xs[count++] = m->x;
    }
    return count;
}

/* In log10; NaN: a trial without one of the two. */
static double difference(double better, double worse) {
    if (isnan(better) || isnan(worse)) return NAN;
    return (isinf(better)  ? diverged
            : isinf(worse) ? 0
                           : better) -
           (isinf(worse)    ? diverged
            : isinf(better) ? 0
                            : worse);
}

/* At every x, `better` has a lower value than `worse`, by more than `margin`. */
static void claim_lower(claim_context *j, claim *c, const char *label, const char *series, const char *better,
                        const char *worse, const char *metric, double margin) {
    double xs[XS_MOST];
    const size_t count = axis(j, series, metric, xs);
    for (size_t k = 0; k < count; k++) {
        for (size_t trial = 0; trial < j->trials; trial++)
            j->values[trial] = difference(value(j, trial, series, better, xs[k], metric),
                                          value(j, trial, series, worse, xs[k], metric));
        claim_below(j, c, label, margin);
    }
}

/* ---- figure by figure ---------------------------------------------------------------------------------------------*/

static const char *const dimensions[] = {"d=1", "d=2", "d=5", "d=10", "d=20", "d=50", "d=100"};
static const double sizes[] = {1, 2, 5, 10, 20, 50, 100};
enum { DIMENSIONS = 7 };

/* Which of the dimensions were run: all, or those of the quick version. */
static size_t dimensions_there(const claim_context *j, size_t there[DIMENSIONS]) {
    double xs[XS_MOST];
    size_t count = 0;
    for (size_t k = 0; k < DIMENSIONS; k++)
        if (axis(j, dimensions[k], "variance", xs)) there[count++] = k;
    return count;
}

static void vanilla_loses_variance(claim_context *j, claim *c) {
    double ns[XS_MOST], x[DIMENSIONS], y[DIMENSIONS];
    size_t there[DIMENSIONS];
    const size_t ds = dimensions_there(j, there), count = axis(j, "d=1", "variance", ns);
    for (size_t k = 0; k < count; k++) {
        for (size_t d = 0; d < ds; d++) {
            for (size_t t = 0; t < j->trials; t++)
                j->values[t] = value(j, t, dimensions[there[d]], "vanilla", ns[k], "variance");
            claim_below(j, c, "variance below 1", 1);
        }
        for (size_t t = 0; t < j->trials; t++) {
            for (size_t d = 0; d < ds; d++) {
                x[d] = log10(sizes[there[d]]);
                y[d] = value(j, t, dimensions[there[d]], "vanilla", ns[k], "variance");
            }
            j->values[t] = slope(ds, x, y);
        }
        claim_below(j, c, "slope of the variance in log10 d", 0);
    }
}

/* Within 0.02 of the variance at d = 1, to either side. */
static void independent_keeps_variance(claim_context *j, claim *c) {
    const double margin = 0.02;
    double ns[XS_MOST];
    size_t there[DIMENSIONS];
    const size_t ds = dimensions_there(j, there), count = axis(j, "d=1", "variance", ns);
    for (size_t k = 0; k < count; k++)
        for (size_t d = 1; d < ds; d++)
            for (int sign = -1; sign <= 1; sign += 2) {
                for (size_t t = 0; t < j->trials; t++)
                    j->values[t] = sign * (value(j, t, dimensions[there[d]], "independent", ns[k], "variance") -
                                           value(j, t, "d=1", "independent", ns[k], "variance"));
                const t_test t = t_test_below(j->trials, j->values, margin);
                add_test(c, "|variance - variance at d = 1| below 0.02", t.p_below, 1 - t.p_below, fabs(t.mean),
                         t.used);
            }
}

static void judge_1(claim_context *j) {
    claim a = {.name = "1a",
               .text = "vanilla SVGD underestimates the variance of N(0, I), more so as d grows at fixed n"};
    claim b = {.name = "1b", .text = "independent SVGD's variance does not depend on d"};
    vanilla_loses_variance(j, &a);
    independent_keeps_variance(j, &b);
    close_claim(j->csv, &a);
    close_claim(j->csv, &b);
}

/* Per trial: the slope in r of the advantage in log10 MMD. */
static void advantage_shrinks(claim_context *j, claim *c) {
    double rs[XS_MOST], y[XS_MOST];
    const size_t count = axis(j, "radius", "mmd", rs);
    for (size_t t = 0; t < j->trials; t++) {
        for (size_t k = 0; k < count; k++)
            y[k] = value(j, t, "radius", "vanilla", rs[k], "mmd") - value(j, t, "radius", "graphical", rs[k], "mmd");
        j->values[t] = slope(count, rs, y);
    }
    claim_below(j, c, "slope of log10 MMD(vanilla)/MMD(graphical) in r", 0);
}

static void judge_2(claim_context *j) {
    claim a = {.name = "2a",
               .text = "both SVGDs beat Monte Carlo on E[x], and graphical has no advantage there over vanilla"};
    claim b = {.name = "2b", .text = "graphical beats vanilla on E[x^2] at every n"};
    claim c = {.name = "2c", .text = "graphical has the best MMD of all four at every n, vanilla the worst"};
    claim d = {.name = "2d", .text = "graphical's advantage in MMD over vanilla shrinks as the graph becomes denser"};
    claim_lower(j, &a, "graphical - exact", "", "graphical", "exact", "mean", 0);
    claim_lower(j, &a, "vanilla - exact", "", "vanilla", "exact", "mean", 0);
    claim_lower(j, &a, "vanilla - graphical, below 0.1", "", "vanilla", "graphical", "mean", 0.1);
    claim_lower(j, &b, "graphical - vanilla", "", "graphical", "vanilla", "square", 0);
    claim_lower(j, &c, "graphical - exact", "", "graphical", "exact", "mmd", 0);
    claim_lower(j, &c, "graphical - langevin", "", "graphical", "langevin", "mmd", 0);
    claim_lower(j, &c, "graphical - vanilla", "", "graphical", "vanilla", "mmd", 0);
    claim_lower(j, &c, "exact - vanilla", "", "exact", "vanilla", "mmd", 0);
    claim_lower(j, &c, "langevin - vanilla", "", "langevin", "vanilla", "mmd", 0);
    advantage_shrinks(j, &d);
    close_claim(j->csv, &a);
    close_claim(j->csv, &b);
    close_claim(j->csv, &c);
    close_claim(j->csv, &d);
}

static void judge_3(claim_context *j) {
    claim a = {.name = "3a", .text = "kernels on random neighbours beat vanilla on E[x^2] and MMD at every n"};
    claim b = {.name = "3b", .text = "the combined kernel lies between the two"};
    claim_lower(j, &a, "random - vanilla, E[x^2]", "", "random", "vanilla", "square", 0);
    claim_lower(j, &a, "random - vanilla, MMD", "", "random", "vanilla", "mmd", 0);
    claim_lower(j, &b, "random - combined, E[x^2]", "", "random", "combined", "square", 0);
    claim_lower(j, &b, "combined - vanilla, E[x^2]", "", "combined", "vanilla", "square", 0);
    claim_lower(j, &b, "random - combined, MMD", "", "random", "combined", "mmd", 0);
    claim_lower(j, &b, "combined - vanilla, MMD", "", "combined", "vanilla", "mmd", 0);
    close_claim(j->csv, &a);
    close_claim(j->csv, &b);
}

/* More than half of the trials, or fewer: against a coin. */
static void claim_found(claim_context *j, claim *c, const char *method, int found) {
    double xs[XS_MOST];
    size_t count = 0, all = 0;
    if (axis(j, "", "found", xs) == 0) return;
    for (size_t t = 0; t < j->trials; t++) {
        const double v = value(j, t, "", method, xs[0], "found");
        if (isnan(v)) continue;
        all++;
        count += v > 0;
    }
    const double more = coin_at_least(all, count), fewer = coin_at_least(all, all - count);
    add_test(c, method, found ? more : fewer, found ? fewer : more, (double)count / (double)all, all);
}

static void judge_4(claim_context *j) {
    static const char *const finders[] = {"nuts", "graphical", "vanilla", "langevin"};
    static const char *const others[] = {"dpmp", "tpmp"};
    claim a = {.name = "4a",
               .text =
                   "both modes of the ambiguous sensors are found by NUTS, graphical, vanilla and Langevin (share of "
                   "trials above 1/2)"};
    claim b = {.name = "4b", .text = "and not by D-PMP, T-PMP (share of trials below 1/2)"};
    for (size_t k = 0; k < 4; k++) claim_found(j, &a, finders[k], 1);
    for (size_t k = 0; k < 2; k++) claim_found(j, &b, others[k], 0);
    close_claim(j->csv, &a);
    close_claim(j->csv, &b);
}

/* One claim: graphical beats each of the others in a metric. */
static void judge_best(claim_context *j, const char *name, const char *text, const char *series, const char *metric,
                       const char *const *others) {
    claim c = {.name = name, .text = text};
    for (; *others; others++) claim_lower(j, &c, *others, series, "graphical", *others, metric, 0);
    close_claim(j->csv, &c);
}

static void judge_5(claim_context *j) {
    static const char *const others[] = {"vanilla", "langevin", "dpmp", "tpmp", NULL};
    static const char *const starts[] = {"data", "uniform"};
    static const struct {
        const char *names[2], *text, *metric;
    } claims[] = {
        {{"5a data", "5a uniform"}, "location error: graphical beats vanilla, Langevin, D-PMP and T-PMP", "location"},
        {{"5b data", "5b uniform"}, "E[x]: graphical beats vanilla, Langevin, D-PMP and T-PMP", "mean"},
        {{"5c data", "5c uniform"}, "E[x^2]: graphical beats vanilla, Langevin, D-PMP and T-PMP", "square"},
        {{"5d data", "5d uniform"}, "MMD: graphical beats vanilla, Langevin, D-PMP and T-PMP", "mmd"},
    };
    for (size_t s = 0; s < 2; s++)
        for (size_t k = 0; k < 4; k++)
            judge_best(j, claims[k].names[s], claims[k].text, starts[s], claims[k].metric, others);
}

static void judge_6(claim_context *j) {
    static const char *const others[] = {"vanilla", "langevin", NULL};
    judge_best(j, "6a", "error against the true answers: graphical beats vanilla and Langevin", "", "truth", others);
    judge_best(j, "6b", "posterior mean: graphical beats vanilla and Langevin", "", "mean", others);
    judge_best(j, "6c", "posterior variance: graphical beats vanilla and Langevin", "", "posterior_var", others);
    judge_best(j, "6d", "MMD: graphical beats vanilla and Langevin", "", "mmd", others);
}

/* ---- the table ----------------------------------------------------------------------------------------------------*/

/* All judges' claims go to one text. */
static int judge_figure(const figure *f, const results *r, FILE *file) {
    static void (*const judges[])(claim_context * j) = {judge_1, judge_2, judge_3, judge_4, judge_5, judge_6};
    claim_context *j = calloc(1, sizeof *j);
    if (j == NULL) return task_no_memory();
    j->r = r;
    j->csv = file;
    j->trials = results_trials(r) < TRIALS_MOST ? results_trials(r) : TRIALS_MOST;
    fputs("claim,verdict,p,text,numbers\n", file);
    judges[f->number - 1](j);
    free(j);
    return 0;
}

/* The row of a claim in a text of rows "claim,verdict,p,..."; NULL: there is none. */
static const char *find_row(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, name, length) == 0 && at[length] == ',') return at + length + 1;
    return NULL;
}

/* Whether it is as the claim says, by the few trials of the quick version. */
static int still_holds(const char *row) {
    if (row == NULL || strncmp(row, "no,", 3) == 0) return 0;
    const char *p = strchr(row, ',');
    return p && strtod(p + 1, NULL) < lost_level;
}

/* The quick version's own trials or more, on problems like those of the full run. */
static int is_comparable(const paper_options *o, const figure *f) {
    return o->quick && (o->trials == 0 || o->trials >= f->quick_trials) && !(o->answers && f->inputs);
}

/* Claims that the record of the full run has as yes, and these rows do not. */
static size_t claims_lost(const figure *f, const char *claims) {
    char name[40];
    size_t lost = 0;
    for (const char *at = embedded_text(&recorded_verdicts); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *comma = strchr(at, ',');
        if (comma == NULL || at[0] != '0' + (int)f->number || strncmp(comma, ",yes,", 5) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(comma - at), at);
        if (still_holds(find_row(claims, name))) continue;
        report_error(EXIT_FAILED, "The claim %s holds in the full run, but not in this one.", name);
        lost++;
    }
    return lost;
}

int judge_claims(const paper *p, const figure *f, const results *r, size_t *lost) {
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    svmp_context *context = NULL;
    FILE *file = open_written(&text, &size);
    if (file == NULL) return task_no_memory();
    int status = judge_figure(f, r, file);
    if (!close_written(file, &text) && status == 0) status = task_no_memory();
    if (status == 0 && svmp_context_create(NULL, &context) != SVMP_OK) status = task_no_memory();
    snprintf(path, sizeof path, "%s/paper/%s_claims.csv", p->options.folder, f->name);
    if (status == 0) status = write_output(path, text, size, 1);
    if (status == 0 && is_comparable(&p->options, f)) *lost += claims_lost(f, text);
    free(text);
    svmp_context_free(context);
    return status;
}
