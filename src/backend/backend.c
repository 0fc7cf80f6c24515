#include "backend/backend.h"

#include "backend/device_backend.h"
#include "backend/exchange_rows.h"
#include "backend/node_messages.h"
#include "base/name_distance.h"
#include "base/name_list.h"
#include "base/peers.h"
#include "graph/graph_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Backend k: on the CPU, the devices of plug-ins, and the others. */
static const backend_kind *kind_at(size_t k) {
    static const backend_kind *const cpu[] = {&svmp_backend_cpu, &svmp_backend_cpu_baseline, &svmp_backend_cpu_avx2,
                                              &svmp_backend_cpu_avx512},
                                     *const others[] = {&svmp_backend_auto, &svmp_backend_ref};
    enum { CPU = sizeof cpu / sizeof *cpu, OTHERS = sizeof others / sizeof *others };
    size_t devices = 0;
    if (k < CPU) return cpu[k];
    while (svmp_device_kind(devices)) devices++;
    k -= CPU;
    if (k < devices) return svmp_device_kind(k);
    return k - devices < OTHERS ? others[k - devices] : NULL;
}

const char *svmp_backend_name(size_t k) { return kind_at(k) ? kind_at(k)->name : NULL; }

/* Adds the words of a text to `list`; `buffer` gets them. */
static size_t add_words(const char *text, char *buffer, size_t size, size_t count, size_t most, const char **list) {
    snprintf(buffer, size, "%s", text);
    for (char *word = buffer; *word && count < most;) {
        const size_t length = strcspn(word, " ");
        const int last = word[length] == '\0';
        word[length] = '\0';
        if (length) list[count++] = word;
        word += length + !last;
    }
    return count;
}

/* The name that was probably meant, also if it is another program's name for a device. Returns NULL if no name is
 * close. */
static const char *suggest(const char *name) {
    enum { MOST = 64 };
    const char *names[MOST] = {0}, *meant[MOST] = {0};
    char small[32], aliases[8][80];
    size_t length = 0, count = 0;
    for (; length < sizeof small && name[length]; length++) small[length] = (char)tolower((unsigned char)name[length]);
    for (size_t k = 0; kind_at(k) && count < MOST; k++, count++) names[count] = meant[count] = kind_at(k)->name;
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases && svmp_device_kind(k); k++) {
        const size_t first = count;
        count = add_words(svmp_device_aliases(k), aliases[k], sizeof aliases[k], count, MOST, names);
        for (size_t a = first; a < count; a++) meant[a] = svmp_device_kind(k)->name;
    }
    const char *near = svmp_name_suggest(small, length, count, names);
    for (size_t k = 0; near && k < count; k++)
        if (near == names[k]) return meant[k];
    return NULL;
}

const backend_kind *svmp_backend_find(svmp_context *context, const char *name) {
    char names[256];
    for (size_t k = 0; kind_at(k); k++)
        if (strcmp(kind_at(k)->name, name) == 0) return kind_at(k);
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
    b->columns = svmp_shared_alone(n);
    b->span = (node_span){0, model->graph->moved};
    b->threads = svmp_context_threads(context);
    b->rule = s ? s->rule : NULL;
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

svmp_status svmp_backend_edit(backend *b, backend_array which, double **values) {
    *values = array_of(b, which);
    return *values && b->local->fetch ? b->local->fetch(b, which) : SVMP_OK;
}

svmp_status svmp_backend_view(backend *b, backend_array which, const double **values) {
    return svmp_backend_edit(b, which, (double **)values);
}

svmp_status svmp_backend_commit(backend *b, backend_array which) {
    if (which == ARRAY_SD) SVMP_TRY(svmp_graph_exchange(b->model->graph, b->sd)); /* including the halo */
    if (which == ARRAY_PARTICLES) b->ahead = true;
    return b->local->store ? b->local->store(b, which) : SVMP_OK;
}

svmp_status svmp_backend_refresh(backend *b) { return b->kind->refresh ? b->kind->refresh(b) : SVMP_OK; }

bool svmp_backend_has_units(const backend *b) { return b->sd != NULL; }

void svmp_backend_free(backend *b) {
    if (b == NULL) return;
    svmp_shared_close(&b->columns);
    svmp_exchange_detach(b);
    if (b->local_state) b->local->free(b);
    svmp_evaluator_free(b->evaluator);
    svmp_release_all(b->context, b->x, b->score, b->phi, b->state[0], b->state[1]);
    svmp_messages_free(b);
    svmp_release_all(b->context, b->sd, b->z, b);
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

svmp_status svmp_backend_share(backend *all, const svmp_peers *peers, backend **own) {
    peer_columns columns;
    *own = all;
    if (peers->count == 1) return SVMP_OK;
    SVMP_TRY(svmp_context_compare(all->context, "the backend that is selected for their processors",
                                  all->runs_as ? all->runs_as : all->local->name));
    SVMP_TRY(svmp_shared_open(all->context, peers, all->n, &columns));
    const backend_kind *kind = all->local->fetch ? &svmp_backend_cpu : all->local;
    const svmp_status status = svmp_backend_create(kind, all->model, columns.count, all->seed, NULL, NULL, own);
    if (status == SVMP_OK)
        (*own)->columns = columns;
    else
        svmp_shared_close(&columns), *own = NULL;
    return svmp_agree(all->context, peers, status);
}

void svmp_backend_free_share(backend *own, const backend *all) {
    if (own != all) svmp_backend_free(own);
}

svmp_status svmp_backend_gather(backend *own, backend *all) {
    const double *from;
    double *to;
    if (own == all || !own->ahead) return SVMP_OK;
    SVMP_TRY(svmp_backend_view(own, ARRAY_PARTICLES, &from));
    SVMP_TRY(svmp_backend_edit(all, ARRAY_PARTICLES, &to));
    svmp_shared_gather(&own->columns, own->model->graph->variables, from, to);
    own->ahead = false;
    return svmp_backend_commit(all, ARRAY_PARTICLES);
}

svmp_status svmp_backend_take(backend *own, backend *all) {
    const double *from;
    double *to;
    if (own == all) return SVMP_OK;
    SVMP_TRY(svmp_backend_view(all, ARRAY_PARTICLES, &from));
    SVMP_TRY(svmp_backend_edit(own, ARRAY_PARTICLES, &to));
    svmp_shared_take(&own->columns, own->model->graph->variables, from, to);
    SVMP_TRY(svmp_backend_commit(own, ARRAY_PARTICLES));
    own->ahead = false;
    return SVMP_OK;
}

svmp_status svmp_backend_evaluator(const backend *b, evaluator **made) {
    return svmp_evaluator_create_share(b->model, b->n, b->columns.whole, b->threads, made);
}
