#include "experiments.h"

#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "command.h"
#include "plot.h"

static const figure *const figures[] = {&figure_1, &figure_2, &figure_3, &figure_4, &figure_5, &figure_6};
enum { FIGURES = sizeof figures / sizeof *figures };

static int run_figure(paper *p, const figure *f) {
    results all = {0};
    int status = f->methods ? search_steps(p, f) : 0;
    if (status == 0) status = run_trials(p, f, &all);
    if (status == 0) status = draw_figure(p, f);
    if (status == 0) status = judge_claims(p, f, &all);
    results_free(&all);
    return status;
}

int experiments_run(const char *what, const paper_options *options) {
    paper p = {.options = *options};
    svmp_context *context = NULL;
    pool_listen();
    int status = make_folders(&p);
    if (status == 0 && svmp_context_create(NULL, &context) != SVMP_OK) status = task_no_memory();
    if (status == 0) status = write_models(&p, context);
    svmp_context_free(context);
    int known = 0;
    for (size_t k = 0; k < FIGURES && status == 0; k++) {
        if (strcmp(what, "all") != 0 && strcmp(what, figures[k]->name) != 0) continue;
        known = 1;
        status = run_figure(&p, figures[k]);
    }
    if (status == 0 && strcmp(what, "real") == 0) {
        known = 1;
        results all = {0};
        status = run_trials(&p, &figure_real, &all);
        results_free(&all);
    }
    if (status == 0 && !known) return complain(EXIT_WRONG, "There is no figure '%s'.", what);
    return status;
}
