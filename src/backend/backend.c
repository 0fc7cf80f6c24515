#include "backend/backend.h"

#include "backend/exchange_rows.h"
#include "backend/node_messages.h"
#include "base/name_distance.h"
#include "base/name_list.h"
#include "base/peers.h"
#include "graph/graph_rows.h"

#include <ctype.h>
#include <string.h>

static const backend_kind *const kinds[] = {
    &svmp_backend_cpu,  &svmp_backend_cpu_baseline, &svmp_backend_cpu_avx2, &svmp_backend_cpu_avx512,
    &svmp_backend_cuda, &svmp_backend_cuda_f64,     &svmp_backend_auto,     &svmp_backend_ref};

const char *svmp_backend_name(size_t k) { return k < sizeof kinds / sizeof *kinds ? kinds[k]->name : NULL; }

/* The name that was probably meant; NULL: none. Other programs' names for a GPU mean `cuda`. */
static const char *suggest(const char *name) {
    static const char *const elsewhere[] = {"gpu", "nvidia", "cuda-f32"};
    enum { KINDS = sizeof kinds / sizeof *kinds, ELSEWHERE = sizeof elsewhere / sizeof *elsewhere };
    const char *names[KINDS + ELSEWHERE];
    char small[32];
    size_t length = 0;
    for (; length < sizeof small && name[length]; length++) small[length] = (char)tolower((unsigned char)name[length]);
    for (size_t k = 0; k < KINDS; k++) names[k] = kinds[k]->name;
    for (size_t k = 0; k < ELSEWHERE; k++) names[KINDS + k] = elsewhere[k];
    const char *near = svmp_name_suggest(small, length, KINDS + ELSEWHERE, names);
    for (size_t k = 0; near && k < ELSEWHERE; k++)
        if (near == elsewhere[k]) near = svmp_backend_cuda.name;
    return near;
}

const backend_kind *svmp_backend_find(svmp_context *context, const char *name) {
    char names[256];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k]->name, name) == 0) return kinds[k];
    const char *near = suggest(name);
    svmp_fail(context, SVMP_BAD_CALL, "Unknown backend '%s';%s%s%s %s.", name, near ? " did you mean '" : "",
              near ? near : "",
              near ? "'? Available:" : " available:", svmp_list_names(svmp_backend_name, NULL, names, sizeof names));
    return NULL;
}

static svmp_status fill(backend *b, const kernel *k, const step *s) {
    svmp_context *context = b->context;
    const size_t variables = b->model->graph->variables, wanted = 3 + (s ? s->rule->states : 0);
    double **arrays[] = {&b->x, &b->score, &b->phi, &b->state[0], &b->state[1]};
    SVMP_TRY(svmp_require_memory(context, (double)wanted * (double)variables * (double)b->n * sizeof(double),
                                 "these particles need"));
    for (size_t a = 0; a < wanted; a++)
        SVMP_TRY(svmp_allocate(context, variables, b->n * sizeof(double), (void **)arrays[a]));
    if ((k && svmp_kernel_measures(k, METRIC_SD)) || (s && s->rule->in_sd)) {
        SVMP_TRY(SVMP_NEW(context, b->sd, variables));
        SVMP_TRY(svmp_allocate(context, variables, b->n * sizeof(double), (void **)&b->z));
    }
    return b->local->alloc(b, k);
}

svmp_status svmp_backend_create(const backend_kind *kind, const svmp_model *model, size_t n, uint64_t seed,
                                const kernel *k, const step *s, backend **made) {
    svmp_context *context = model->context;
    svmp_status status;
    backend *b = NULL;
    const svmp_status workspace = SVMP_NEW(context, b, 1);
    if (workspace == SVMP_OK)
        *b = (backend){.kind = kind, .local = kind, .context = context, .model = model, .n = n, .seed = seed};
    SVMP_CHECK(svmp_model_agree(model, workspace));
    b->span = (node_span){0, model->graph->moved};
    b->threads = svmp_context_threads(context);
    SVMP_CHECK(svmp_messages_create(b, k));
    SVMP_CHECK(svmp_model_agree(model, fill(b, k, s)));
    SVMP_CHECK(svmp_exchange_attach(b));
    *made = b;
    return SVMP_OK;
done:
    svmp_backend_free(b);
    return status;
}

static double *array_of(const backend *b, backend_array which) {
    double *const arrays[] = {[ARRAY_PARTICLES] = b->x,         [ARRAY_SCORE] = b->score,          [ARRAY_PHI] = b->phi,
                              [ARRAY_STEP_FIRST] = b->state[0], [ARRAY_STEP_SECOND] = b->state[1], [ARRAY_SD] = b->sd};
    return arrays[which];
}

svmp_status svmp_backend_view(backend *b, backend_array which, const double **values) {
    *values = array_of(b, which);
    return *values && b->local->fetch ? b->local->fetch(b, which) : SVMP_OK;
}

svmp_status svmp_backend_edit(backend *b, backend_array which, double **values) {
    *values = array_of(b, which);
    return *values && b->local->fetch ? b->local->fetch(b, which) : SVMP_OK;
}

svmp_status svmp_backend_commit(backend *b, backend_array which) {
    if (which == ARRAY_SD) SVMP_TRY(svmp_graph_bring(b->model->graph, b->sd)); /* including the halo */
    return b->local->store ? b->local->store(b, which) : SVMP_OK;
}

svmp_status svmp_backend_refresh(backend *b) { return b->kind->refresh ? b->kind->refresh(b) : SVMP_OK; }

void svmp_backend_free(backend *b) {
    if (b == NULL) return;
    svmp_exchange_detach(b);
    if (b->local_state) b->local->free(b);
    svmp_evaluator_free(b->evaluator);
    svmp_release(b->context, b->x);
    svmp_release(b->context, b->score);
    svmp_release(b->context, b->phi);
    svmp_release(b->context, b->state[0]);
    svmp_release(b->context, b->state[1]);
    svmp_messages_free(b);
    svmp_release(b->context, b->sd);
    svmp_release(b->context, b->z);
    svmp_release(b->context, b);
}
