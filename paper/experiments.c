#include "experiments.h"

#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "command.h"
#include "document.h"
#include "plot.h"

static const figure *const figures[] = {&figure_1, &figure_2, &figure_3, &figure_4, &figure_5, &figure_6};
enum { FIGURES = sizeof figures / sizeof *figures };

static int run_figure(paper *p, const figure *f, size_t *lost) {
    results all = {0};
    int status = search_steps(p, f);
    if (status == 0) status = run_trials(p, f, &all);
    if (status == 0) status = draw_figure(p, f);
    if (status == 0) status = judge_claims(p, f, &all, lost);
    results_free(&all);
    return status;
}

static int run_real(paper *p) {
    results all = {0};
    const int status = run_trials(p, &figure_real, &all);
    results_free(&all);
    return status;
}

static int prepare(const paper *p) {
    svmp_context *context = NULL;
    int status = make_folders(p);
    if (status == 0 && svmp_context_create(NULL, &context) != SVMP_OK) status = task_no_memory();
    if (status == 0) status = write_models(p, context);
    svmp_context_free(context);
    return status;
}

static int is_known(const char *what) {
    static const char *const others[] = {"all", "real", "page"};
    for (size_t k = 0; k < 3; k++)
        if (strcmp(what, others[k]) == 0) return 1;
    for (size_t k = 0; k < FIGURES; k++)
        if (strcmp(what, figures[k]->name) == 0) return 1;
    return 0;
}

int experiments_run(const char *what, const paper_options *options) {
    paper p = {.options = *options};
    size_t lost = 0;
    if (!is_known(what))
        return complain(EXIT_WRONG, "There is no figure '%s': there are fig1 to fig6, all, real and page.", what);
    if (strcmp(what, "real") == 0 && options->data == NULL)
        return complain(EXIT_WRONG, "Real data are no part of svmp: --data DIR says where they are.");
    if (strcmp(what, "page") == 0) return write_document(&p);
    pool_listen();
    int status = prepare(&p);
    for (size_t k = 0; k < FIGURES && status == 0; k++)
        if (strcmp(what, "all") == 0 || strcmp(what, figures[k]->name) == 0) status = run_figure(&p, figures[k], &lost);
    if (status == 0 && options->data) status = run_real(&p);
    if (status == 0) status = write_document(&p);
    return status ? status : lost ? EXIT_FAILED : EXIT_DONE;
}
