/* The paper's experiments: what the figures share.
 *
 * A figure is a list of trials. A trial draws a problem, seeded from (seed, figure, trial), solves it by several
 * methods, and leaves measurements: rows of a CSV file. Trials run side by side, one thread each; those that are there
 * already are not run again. Claims and pictures are made of the measurements alone.
 *
 * The output folder:
 *     models/        the model files that the runs read
 *     problems/      the data of every problem, as R dumps: svmp run models/M.bug problems/P.R is the same problem
 *     references/    long NUTS runs
 *     trials/        the measurements of every trial and of every validation problem
 *     fig2.csv       all trials of a figure
 *     paper/         what is worth keeping: summaries, step sizes, claims, pictures; paper.md is made of it */
#ifndef SVMP_PAPER_PAPER_H
#define SVMP_PAPER_PAPER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "front/error_output.h"
#include "front/output_check.h"
#include "result_rows.h"
#include "svmp_tools.h"

#define DEFAULT_METHOD "transport" /* of svmp: added to the paper's methods, with trials of its own */

enum { PATH_SIZE = 1024, STEPS_MOST = 24, METHODS_MOST = 8, VALIDATION = 1000000 };

typedef struct paper_options {
    int quick;
    int default_alone; /* the figures' own methods are not run */
    size_t trials;     /* 0: as many as the figure has */
    uint64_t seed;
    const char *folder;
    const char *answers, *truth; /* a crowd's tables for figure 6, or NULL */
    const char *data;            /* real data, or NULL */
    size_t threads;              /* trials side by side */
} paper_options;

/* A step size that was chosen: by the search, or read from the record of one. */
typedef struct chosen_step {
    char figure[16], method[16], step[32];
} chosen_step;

typedef struct paper {
    paper_options options;
    chosen_step steps[64];
    size_t step_count;
} paper;

/* A method, and the step sizes that are searched; none: it takes no step. */
typedef struct candidate_steps {
    const char *method;
    const char *steps[STEPS_MOST];
} candidate_steps;

struct task;

typedef struct figure {
    const char *name; /* "fig2" */
    unsigned number;  /* part of the key of every random number */
    size_t trials, quick_trials;
    size_t default_trials;          /* of the default method */
    const candidate_steps *methods; /* ends with a NULL method */
    size_t search_particles, search_problems;
    const char *objective;                            /* the metric that the search looks at; NULL: the mean of all */
    int (*trial)(struct task *task);                  /* returns 0, or an exit status when it has said what is wrong */
    int (*check)(const paper_options *options);       /* looks at the files that trials read, before any; or NULL */
    uint64_t (*inputs)(const paper_options *options); /* a number for the files that trials read, 0: none; or NULL */
    const char *budget;                               /* a sentence for the document */
} figure;

extern const figure figure_1, figure_2, figure_3, figure_4, figure_5, figure_6, figure_real;

/* One trial at work. In a search `only` and `step` say what is run, at `search_particles` particles. */
typedef struct task {
    paper *paper;
    const figure *figure;
    size_t trial;
    svmp_context *context; /* of its own, with one thread */
    results out;
    const char *only, *step;
    int added; /* the default method alone */
} task;

/* Whether a method is to be run in this task, and at this number of particles. */
int task_runs(const task *t, const char *method);
int task_takes(const task *t, size_t particles);

/* "complain": a failed call of the library, said; returns the exit status. */
int task_failed(const task *t, svmp_status status);

/* Says so; in the header, so that analysers, which see one file at a time, know that it is a failure. */
static inline int task_no_memory(void) {
    report_error(EXIT_FAILED, "Out of memory.");
    return EXIT_FAILED;
}

/* DIR/KIND/FIGURE_TRIAL[_PART].ENDING */
void task_path(const task *t, const char *kind, const char *part, const char *ending, char path[PATH_SIZE]);

/* Reads DIR/models/NAME.bug with these data. */
int task_model(const task *t, const char *name, const char *data_path, svmp_model **model);

/* The settings of a run; the others keep their defaults. */
typedef struct settings {
    const char *method, *step, *init; /* NULL: the default */
    size_t particles, iterations;     /* 0 iterations: the default */
    size_t chains, warmup, draws;     /* 0: the default */
    uint64_t seed;
} settings;

/* Settings of a run of a method as the task has it: seed, step; iterations and particles as given. */
settings task_options(const task *t, const char *method, size_t particles, size_t iterations);

svmp_status task_create(const task *t, const svmp_model *model, const settings *options, svmp_run **run);

/* How far a run has come: the Stein discrepancy V, and the share of nodes beyond their limit. */
typedef struct convergence {
    double v, beyond;
} convergence;

/* Runs it, from `start` or, when that is NULL, from options->init. A run that diverges gives no particles: *particles
 * is NULL, and that is no failure. `convergence` may be NULL. */
int task_run(const task *t, const svmp_model *model, const settings *options, const svmp_particles *start,
             svmp_particles **particles, convergence *c);

/* Whether the folder may take the trials of this figure: it may not when it has trials of another seed, size or
 * data, which would be overwritten. Returns 0, or an exit status when it has said so. */
int check_trials(const paper *p, const figure *f);

/* How many files of trials and of validation problems the folder has. */
size_t count_trials(const paper *p);

/* Runs all trials that are not there, and gathers DIR/FIGURE.csv and DIR/paper/FIGURE.csv. `all` receives every
 * measurement. */
int run_trials(paper *p, const figure *f, results *all);

/* The same for the trials of the default method, DIR/trials/FIGURE_TRIAL_transport.csv: the same problems, fewer of
 * them. What others have in DIR/paper/FIGURE.csv stays. */
int run_default_trials(paper *p, const figure *f, results *all);

/* Chooses the steps of a figure's methods, or takes those that were recorded. */
int search_steps(paper *p, const figure *f);

/* Runs `work` for `count` items on the paper's threads; stops early when one returns something else than 0. */
int run_pool(paper *p, const char *label, size_t count, int (*work)(paper *p, size_t item, void *user), void *user);
void pool_listen(void); /* SIGINT and SIGTERM stop the pool, and the runs in it */
int pool_stopped(void);

/* ---- folders and files --------------------------------------------------------------------------------------------*/

int make_folders(const paper *p);
int file_there(const char *path);
uint64_t file_number(const char *path, uint64_t so_far); /* a number for the contents, continued from that of others */
int write_models(const paper *p);

#endif
