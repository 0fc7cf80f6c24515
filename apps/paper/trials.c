/* The trials of a figure: those that are there are read, the others run; and the search for step sizes on problems of
 * its own, numbered from VALIDATION on. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/csv_cells.h"
#include "front/error_output.h"
#include "front/memory_file.h"
#include "paper.h"
#include "paper_files.h"

/* A number for the candidates of a search: with others it is another search. */
static unsigned long candidates_number(const figure *f) {
    unsigned long number = 5381;
    for (const candidate_steps *c = f->methods; c && c->method; c++)
        for (size_t k = 0; k < STEPS_MOST && c->steps[k]; k++)
            for (const char *at = c->steps[k]; *at; at++) number = (33 * number + (unsigned char)*at) & 0xffffffff;
    return number;
}

/* The first part of a key: which problems, how far the methods go. */
static int make_problem_key(const paper *p, const figure *f, char *key, size_t size) {
    const uint64_t inputs = f->inputs ? f->inputs(&p->options) : 0;
    int at = snprintf(key, size, "%s seed %llu%s; %s", f->name, (unsigned long long)p->options.seed,
                      p->options.quick ? " quick" : "", f->budget);
    if (inputs) at += snprintf(key + at, size - (size_t)at, "; data %016llx", (unsigned long long)inputs);
    return at;
}

/* What a file of trials depends on: a file with another key is not used. */
static void make_key(const paper *p, const figure *f, int search, char *key, size_t size) {
    int at = make_problem_key(p, f, key, size);
    if (search && at > 0 && (size_t)at < size)
        at += snprintf(key + at, size - (size_t)at, "; candidates %lx", candidates_number(f));
    for (size_t k = 0; !search && k < p->step_count && at > 0 && (size_t)at < size; k++)
        if (strcmp(p->steps[k].figure, f->name) == 0)
            at += snprintf(key + at, size - (size_t)at, "; %s %s", p->steps[k].method, p->steps[k].step);
}

static int save(const paper *p, const char *name, const char *comment, const results *r) {
    char path[PATH_SIZE];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", p->options.folder, name);
    char *text = results_text(r, comment, &size);
    const int status = text ? write_output(path, text, size, 1) : task_no_memory();
    free(text);
    return status;
}

static int open_task(paper *p, const figure *f, size_t trial, task *t) {
    *t = (task){.paper = p, .figure = f, .trial = trial};
    if (svmp_context_create(NULL, &t->context) != SVMP_OK) return task_no_memory();
    const svmp_status status = svmp_context_set_threads(t->context, 1);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static int close_task(task *t, int status, const char *key) {
    char path[PATH_SIZE];
    size_t size = 0;
    task_path(t, "trials", t->added ? DEFAULT_METHOD : NULL, "csv", path);
    char *text = status == 0 ? results_text(&t->out, key, &size) : NULL;
    if (status == 0) status = text ? write_output(path, text, size, 1) : task_no_memory();
    free(text);
    results_free(&t->out);
    svmp_context_free(t->context);
    return status;
}

/* ---- what the folder has ------------------------------------------------------------------------------------------*/

/* Calls `visit` with each file of the folder's trials until it returns something else than 0. */
static int each_trial(const paper *p, int (*visit)(const char *name, const char *path, void *user), void *user) {
    char path[PATH_SIZE];
    int status = 0;
    snprintf(path, sizeof path, "%s/trials", p->options.folder);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && status == 0 && (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".csv") == NULL) continue;
        snprintf(path, sizeof path, "%s/trials/%s", p->options.folder, entry->d_name);
        status = visit(entry->d_name, path, user);
    }
    if (folder) closedir(folder);
    return status;
}

static int count_one(const char *name, const char *path, void *user) {
    (void)name, (void)path;
    ++*(size_t *)user;
    return 0;
}

size_t count_trials(const paper *p) {
    size_t count = 0;
    each_trial(p, count_one, &count);
    return count;
}

typedef struct comparison {
    const paper *paper;
    const figure *figure;
    char requested[512];
} comparison;

static int compare_keys(const char *name, const char *path, void *user) {
    const comparison *c = user;
    char there[512] = "";
    const size_t length = strlen(c->figure->name);
    if (strncmp(name, c->figure->name, length) != 0 || name[length] != '_') return 0;
    FILE *file = fopen(path, "r");
    const int read = file && fgets(there, sizeof there, file) && strncmp(there, "# ", 2) == 0;
    if (file) fclose(file);
    if (!read) return 0; /* damaged: it does not count */
    char *end = strstr(there, c->figure->budget);
    if (end) end += strlen(c->figure->budget);
    if (end && strncmp(end, "; data ", 7) == 0) end += 7 + strspn(end + 7, "0123456789abcdef");
    if (end) *end = '\0';
    if (strcmp(there + 2, c->requested) == 0) return 0;
    return report_error(EXIT_WRONG,
                        "The folder '%s' has trials of '%s', but '%s' was requested; use another folder (-o).",
                        c->paper->options.folder, there + 2, c->requested);
}

int check_trials(const paper *p, const figure *f) {
    comparison c = {.paper = p, .figure = f};
    make_problem_key(p, f, c.requested, sizeof c.requested);
    return each_trial(p, compare_keys, &c);
}

/* ---- trials -------------------------------------------------------------------------------------------------------*/

typedef struct trial_list {
    const figure *figure;
    int added;
    size_t *missing;
    char key[512];
} trial_list;

static int run_one(paper *p, size_t item, void *user) {
    const trial_list *list = user;
    task t;
    int status = open_task(p, list->figure, list->missing[item], &t);
    if (status) return status;
    t.added = list->added;
    return close_task(&t, list->figure->trial(&t), list->key);
}

static int read_trial(paper *p, const figure *f, size_t trial, int added, const char *key, results *all) {
    char path[PATH_SIZE];
    const task t = {.paper = p, .figure = f, .trial = trial};
    task_path(&t, "trials", added ? DEFAULT_METHOD : NULL, "csv", path);
    return results_read(path, key, all);
}

static int cannot_read(const paper *p, const figure *f, size_t trial) {
    return report_error(EXIT_FAILED, "%s: trial %zu was run, but its file in %s/trials cannot be read.", f->name,
                        trial % VALIDATION + 1, p->options.folder);
}

/* DIR/paper/FIGURE.csv: the summary of these trials; with those of the default method, below what it has of others. */
static int save_summary(const paper *p, const figure *f, int added, const results *all) {
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    csv there = {0};
    snprintf(path, sizeof path, "%s/paper/%s.csv", p->options.folder, f->name);
    char *own = results_summary(all, &size);
    if (own == NULL) return task_no_memory();
    if (added && file_there(path) && csv_read(path, &there) != 0) return free(own), EXIT_FAILED;
    FILE *file = open_written(&text, &size);
    if (file == NULL) return free(own), csv_free(&there), task_no_memory();
    const char *rows = strchr(own, '\n') + 1; /* below the header */
    fprintf(file, "%.*s", (int)(rows - own), own);
    for (size_t r = 0; r < there.rows; r++) {
        if (strcmp(csv_cell(&there, r, 1), DEFAULT_METHOD) == 0) continue;
        for (size_t c = 0; c < there.columns; c++)
            fprintf(file, "%s%s", csv_cell(&there, r, c), c + 1 < there.columns ? "," : "\n");
    }
    fputs(rows, file);
    const int status = close_written(file, &text) ? write_output(path, text, size, 1) : task_no_memory();
    free(own);
    free(text);
    csv_free(&there);
    return status;
}

static int gather(paper *p, const trial_list *list, size_t trials, results *all) {
    char name[64];
    const figure *f = list->figure;
    for (size_t k = 0; k < trials; k++)
        if (!read_trial(p, f, k, list->added, list->key, all)) return cannot_read(p, f, k);
    snprintf(name, sizeof name, "%s%s.csv", f->name, list->added ? "_" DEFAULT_METHOD : "");
    const int status = save(p, name, list->key, all);
    return status == 0 ? save_summary(p, f, list->added, all) : status;
}

static int run_list(paper *p, trial_list *list, size_t trials, results *all) {
    const figure *f = list->figure;
    size_t missing = 0;
    list->missing = calloc(trials, sizeof *list->missing);
    if (list->missing == NULL) return task_no_memory();
    for (size_t k = 0; k < trials; k++)
        if (!read_trial(p, f, k, list->added, list->key, all)) list->missing[missing++] = k;
    all->count = 0;
    const int status = missing ? run_pool(p, f->name, missing, run_one, list) : 0;
    free(list->missing);
    return status ? status : gather(p, list, trials, all);
}

int run_trials(paper *p, const figure *f, results *all) {
    const size_t own = p->options.quick ? f->quick_trials : f->trials;
    trial_list list = {.figure = f};
    make_key(p, f, 0, list.key, sizeof list.key);
    return run_list(p, &list, p->options.trials ? p->options.trials : own, all);
}

int run_default_trials(paper *p, const figure *f, results *all) {
    const size_t own = p->options.quick ? 2 : f->default_trials;
    trial_list list = {.figure = f, .added = 1};
    const int at = make_problem_key(p, f, list.key, sizeof list.key);
    snprintf(list.key + at, sizeof list.key - (size_t)at, "; " DEFAULT_METHOD);
    return run_list(p, &list, p->options.trials ? p->options.trials : own, all);
}

/* ---- steps --------------------------------------------------------------------------------------------------------*/

static int search_one(paper *p, size_t item, void *user) {
    const figure *f = user;
    task t;
    char key[512];
    results there = {0};
    make_key(p, f, 1, key, sizeof key);
    const int found = read_trial(p, f, VALIDATION + item, 0, key, &there);
    results_free(&there);
    if (found) return 0;
    int status = open_task(p, f, VALIDATION + item, &t);
    if (status) return status;
    for (const candidate_steps *c = f->methods; c->method && status == 0; c++)
        for (size_t k = 0; k < STEPS_MOST && c->steps[k] && status == 0; k++) {
            t.only = c->method;
            t.step = c->steps[k];
            status = f->trial(&t);
        }
    return close_task(&t, status, key);
}

/* The mean of log10 of the objective over problems, metrics and series. Infinite where a run has diverged. */
static double score(const figure *f, const results *r, const char *method, const char *step) {
    double sum = 0;
    size_t count = 0;
    for (size_t k = 0; k < r->count; k++) {
        const measurement *m = &r->rows[k];
        if (strcmp(m->method, method) != 0 || strcmp(m->step, step) != 0) continue;
        if (f->objective ? strcmp(m->metric, f->objective) != 0 : strcmp(m->metric, "stein") == 0) continue;
        sum += log10(m->value);
        count++;
    }
    return count && isfinite(sum) ? sum / (double)count : INFINITY;
}

static int add_step(paper *p, const char *name, const char *method, const char *step) {
    if (p->step_count == sizeof p->steps / sizeof *p->steps)
        return report_error(EXIT_FAILED, "There are too many steps.");
    chosen_step *s = &p->steps[p->step_count++];
    snprintf(s->figure, sizeof s->figure, "%s", name);
    snprintf(s->method, sizeof s->method, "%s", method);
    snprintf(s->step, sizeof s->step, "%s", step);
    return 0;
}

/* The record: a row for each candidate. */
static int choose(paper *p, const figure *f, const results *r) {
    char path[PATH_SIZE], *text = NULL;
    size_t size = 0;
    int status = 0;
    svmp_context *context = NULL;
    FILE *file = open_written(&text, &size);
    if (file == NULL || svmp_context_create(NULL, &context) != SVMP_OK) return task_no_memory();
    fputs("figure,method,step,score,chosen\n", file);
    for (const candidate_steps *c = f->methods; c->method; c++) {
        size_t best = 0;
        for (size_t k = 1; k < STEPS_MOST && c->steps[k]; k++)
            if (score(f, r, c->method, c->steps[k]) < score(f, r, c->method, c->steps[best])) best = k;
        for (size_t k = 0; k < STEPS_MOST && c->steps[k]; k++)
            fprintf(file, "%s,%s,%s,%.4f,%s\n", f->name, c->method, c->steps[k], score(f, r, c->method, c->steps[k]),
                    k == best ? "yes" : "");
        if (c->steps[0] && status == 0 && isinf(score(f, r, c->method, c->steps[best])))
            status = report_error(EXIT_FAILED, "%s: %s diverges with every step of the search.", f->name, c->method);
        if (c->steps[0] && status == 0) status = add_step(p, f->name, c->method, c->steps[best]);
    }
    snprintf(path, sizeof path, "%s/paper/%s_steps.csv", p->options.folder, f->name);
    if (!close_written(file, &text) && status == 0) status = task_no_memory();
    if (status == 0) status = write_output(path, text, size, 1);
    free(text);
    svmp_context_free(context);
    return status;
}

/* The steps that a full run has chosen and that came with this program: rows "figure,method,step,score,yes". */
static int recorded_steps(paper *p, const figure *f) {
    char line[256], figure_name[16], method[16], step[32];
    const char *text = embedded_text(&recorded_step_sizes);
    int status = 0;
    while (*text && status == 0) {
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        text += length + (text[length] != '\0');
        if (strlen(line) < 4 || strcmp(line + strlen(line) - 4, ",yes") != 0) continue;
        if (sscanf(line, "%15[^,],%15[^,],%31[^,],", figure_name, method, step) != 3) continue;
        if (strcmp(figure_name, f->name) == 0) status = add_step(p, f->name, method, step);
    }
    return status;
}

int search_steps(paper *p, const figure *f) {
    char key[512], label[64];
    results all = {0};
    if (p->options.quick) return recorded_steps(p, f);
    snprintf(label, sizeof label, "%s, steps", f->name);
    int status = run_pool(p, label, f->search_problems, search_one, (void *)(uintptr_t)f);
    make_key(p, f, 1, key, sizeof key);
    for (size_t k = 0; status == 0 && k < f->search_problems; k++)
        if (!read_trial(p, f, VALIDATION + k, 0, key, &all)) status = cannot_read(p, f, VALIDATION + k);
    if (status == 0) status = choose(p, f, &all);
    results_free(&all);
    return status;
}
