#include "experiments.h"

#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "default_method.h"
#include "document.h"
#include "front/error_output.h"
#include "plot.h"

static const figure *const figures[] = {&figure_1, &figure_2, &figure_3, &figure_4, &figure_5, &figure_6};
enum { FIGURES = sizeof figures / sizeof *figures };

/* The default method on the figure's problems: one more line. */
static int run_default(paper *p, const figure *f) {
    results all = {0};
    int status = run_default_trials(p, f, &all);
    if (status == 0) status = draw_figure(p, f);
    if (status == 0) status = judge_default(p, f);
    results_free(&all);
    return status;
}

static int run_figure(paper *p, const figure *f, size_t *lost) {
    results all = {0};
    if (p->options.default_alone) return run_default(p, f);
    int status = search_steps(p, f);
    if (status == 0) status = run_trials(p, f, &all);
    if (status == 0) status = judge_claims(p, f, &all, lost);
    results_free(&all);
    return status ? status : run_default(p, f);
}

static int run_real(paper *p) {
    results all = {0};
    const int status = run_trials(p, &figure_real, &all);
    results_free(&all);
    return status;
}

static int prepare(const paper *p) {
    const int status = make_folders(p);
    return status == 0 ? write_models(p) : status;
}

static int is_known(const char *what) {
    static const char *const others[] = {"all", "real", "page"};
    for (size_t k = 0; k < 3; k++)
        if (strcmp(what, others[k]) == 0) return 1;
    for (size_t k = 0; k < FIGURES; k++)
        if (strcmp(what, figures[k]->name) == 0) return 1;
    return 0;
}

/* "all" selects all figures, and the real data if --data is given. */
static int takes(const char *what, const figure *f, const paper_options *o) {
    if (strcmp(what, "all") == 0) return f != &figure_real || o->data;
    return strcmp(what, f->name) == 0;
}

static int check_figure(const paper *p, const figure *f) {
    const int status = f->check ? f->check(&p->options) : 0;
    return status ? status : check_trials(p, f);
}

/* What is wrong, before anything is run or written. */
static int check(const paper *p, const char *what) {
    const paper_options *o = &p->options;
    int status = 0;
    if (!is_known(what))
        return report_error(EXIT_WRONG, "Unknown figure '%s'; available: fig1 to fig6, all, real, page.", what);
    if (o->answers && !takes(what, &figure_6, o))
        return report_error(EXIT_WRONG, "The option '--answers' is for fig6 and all, not for %s.", what);
    if (o->data && !takes(what, &figure_real, o))
        return report_error(EXIT_WRONG, "The option '--data' is for real and all, not for %s.", what);
    for (size_t k = 0; k < FIGURES && status == 0; k++)
        if (takes(what, figures[k], o)) status = check_figure(p, figures[k]);
    return status == 0 && takes(what, &figure_real, o) ? check_figure(p, &figure_real) : status;
}

static int write_page(const paper *p) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/paper", p->options.folder);
    if (!file_there(path)) return report_error(EXIT_WRONG, "Cannot make a page: there is no folder '%s'.", path);
    return write_document(p, NULL);
}

int experiments_run(const char *what, const paper_options *options) {
    paper p = {.options = *options};
    size_t lost = 0;
    int status = check(&p, what);
    if (status) return status;
    if (strcmp(what, "page") == 0) return write_page(&p);
    pool_listen();
    status = prepare(&p);
    for (size_t k = 0; k < FIGURES && status == 0; k++)
        if (takes(what, figures[k], options)) status = run_figure(&p, figures[k], &lost);
    if (status == 0 && takes(what, &figure_real, options)) status = run_real(&p);
    if (status == 0) status = write_document(&p, what);
    if (status == EXIT_INTERRUPTED)
        report_error(
            status,
            "Interrupted. Finished trials are kept in the folder '%s' (%zu, including the search for step sizes); "
            "the same command continues from there.",
            options->folder, count_trials(&p));
    return status ? status : lost ? EXIT_FAILED : EXIT_DONE;
}
