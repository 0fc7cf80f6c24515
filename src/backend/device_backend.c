/* A backend on the device of a plug-in: the device gets views of the model (device_views.h) and keeps the particles;
 * here are the copies in the memory of this process, and the count of the steps that are queued. */
#include "backend/device_backend.h"

#include <math.h>
#include <string.h>

#include "backend/device_views.h"
#include "base/notes.h"
#include "base/peers.h"
#include "base/plugin.h"
#include "known_plugins.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define KIND(plugin, name, words, aliases) DEVICE_KIND(name, plugin, NULL),
static const backend_kind kinds[] = {KNOWN_DEVICE(KIND) /* */ {0}};
#undef KIND

static const struct device_names {
    const char *words, *aliases;
} names[] = {
#define NAMES(plugin, name, words, aliases) {words, aliases},
    KNOWN_DEVICE(NAMES) /* */ {NULL, NULL}
#undef NAMES
};

enum { KINDS = sizeof kinds / sizeof *kinds - 1 };

const backend_kind *svmp_device_kind(size_t k) { return k < KINDS ? &kinds[k] : NULL; }
const char *svmp_device_words(size_t k) { return k < KINDS ? names[k].words : NULL; }
const char *svmp_device_aliases(size_t k) { return k < KINDS ? names[k].aliases : NULL; }

bool svmp_device_is_named(const char *name) {
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0) return true;
    return false;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

typedef struct device_link {
    const svmp_device *device;
    svmp_device_particles particles;
    viewed_model *model;
    viewed_kernel *measured; /* the kernel of the discrepancy; NULL: not computed yet */
    unsigned fresh;          /* arrays whose copy here is that of the device: bit 1 << backend_array */
    size_t last_t;           /* the iteration of the last step */
} device_link;

static device_link *link_of(const backend *b) { return b->local_state; }

/* Calls that a device does not support go to another backend. */
static void fail_with_advice(void *context, int status, const char *sentence) {
    if (status == SVMP_UNSUPPORTED)
        svmp_record_notes(context, (svmp_status)status, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")), "%s",
                          sentence);
    else
        svmp_record(context, (svmp_status)status, "%s", sentence);
}

static svmp_status refuse_factors(const backend *b) {
    const svmp_model *model = b->model;
    for (size_t g = 0; g < model->group_count; g++) {
        const char *lacks = svmp_device_lacks(&model->groups[g]);
        if (lacks)
            return svmp_fail_notes(b->context, SVMP_UNSUPPORTED, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")),
                                   "The backend '%s' cannot run this model: it has %s.", b->local->name, lacks);
    }
    return SVMP_OK;
}

/* Loads the plug-in, unless the kind has a device. */
static svmp_status find_device(const backend *b, const svmp_device **found) {
    const backend_kind *kind = b->local;
    const svmp_plugin *plugin = NULL;
    *found = kind->device;
    if (kind->device) return SVMP_OK;
    SVMP_TRY(svmp_plugin_open(b->context, SVMP_PLUGIN_DEVICE, kind->plugin, &plugin));
    for (const svmp_device *const *d = plugin->devices; *d; d++)
        if (strcmp((*d)->name, kind->name) == 0) return *found = *d, SVMP_OK;
    return svmp_fail(b->context, SVMP_UNSUPPORTED, "The plug-in '%s' has no backend '%s'.", plugin->name, kind->name);
}

static svmp_status refuse_memory(const backend *b, const svmp_device_particles *made) {
    const double gib = 1024.0 * 1024 * 1024;
    return svmp_fail_notes(b->context, SVMP_NO_MEMORY,
                           NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_FEWER_PARTICLES, "particles", NULL)),
                                 svmp_either(1, svmp_advice(SVMP_NOTE_USE, "backend", "cpu"))),
                           "Out of memory on %s: this run needs at least %.3g GiB more, but only %.3g GiB are free.",
                           made->device, made->lacks / gib, made->free / gib);
}

/* Makes b->local_state. `particles.lacks` is above 0 if the memory of the device is too small: that is no error yet. */
static svmp_status open_device(backend *b, const kernel *k, svmp_device_particles *particles) {
    device_link *link = NULL;
    viewed_kernel *view = NULL;
    svmp_device_request request = {.backend = b->local->name,
                                   .host = svmp_plugin_host(b->context),
                                   .keeps_sd = b->sd != NULL,
                                   .n = b->n,
                                   .seed = b->seed,
                                   .process = b->model->graph->peers->local};
    svmp_status status;
    request.host.fail = fail_with_advice;
    *particles = (svmp_device_particles){0};
    SVMP_TRY(SVMP_NEW(b->context, link, 1));
    b->local_state = link;
    SVMP_CHECK(find_device(b, &link->device));
    SVMP_CHECK(refuse_factors(b));
    SVMP_CHECK(svmp_device_step(b, &request.step));
    SVMP_CHECK(svmp_device_model_create(b->model, &link->model));
    if (k) SVMP_CHECK(svmp_device_kernel_create(b, k, b->n, &view));
    request.model = svmp_device_model_view(link->model);
    request.kernel = view ? &view->view : NULL;
    status = (svmp_status)link->device->open(&request, &link->particles);
    *particles = link->particles;
done:
    svmp_device_kernel_free(b->context, view);
    if (status != SVMP_OK) svmp_device_free(b);
    return status;
}

svmp_status svmp_device_alloc(backend *b, const kernel *k) {
    svmp_device_particles made;
    const svmp_status status = open_device(b, k, &made);
    return status == SVMP_NO_MEMORY && made.lacks > 0 ? refuse_memory(b, &made) : status;
}

void svmp_device_free(backend *b) {
    device_link *link = link_of(b);
    if (link->particles.state) link->device->close(link->particles.state);
    svmp_device_model_free(link->model);
    svmp_device_kernel_free(b->context, link->measured);
    svmp_release(b->context, link);
    b->local_state = NULL;
}

/* ---- `auto` ------------------------------------------------------------------------------------------------------ */

/* Memory of a device that others use, or that is less than that of the host, is no reason not to run. */
static svmp_status alloc_auto(backend *b, const kernel *k) {
    svmp_device_particles made;
    b->kind = b->local = &kinds[0]; /* as svmp_backend_choose has found */
    const svmp_status status = open_device(b, k, &made);
    if (status != SVMP_NO_MEMORY || made.lacks <= 0) return status;
    svmp_log(b->context, SVMP_LOG_WARNING, "There is not enough free memory on %s; the run uses the CPU.", made.device);
    b->kind = b->local = &svmp_backend_cpu;
    return b->local->alloc(b, k);
}

const backend_kind svmp_backend_auto = {.name = "auto", .alloc = alloc_auto};

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

_Static_assert((int)ARRAY_PARTICLES == SVMP_ARRAY_PARTICLES && (int)ARRAY_PHI == SVMP_ARRAY_PHI &&
                   (int)ARRAY_STEP_SECOND == SVMP_ARRAY_STEP_SECOND && (int)ARRAY_SD == SVMP_ARRAY_SD,
               "the same numbers");

static double *copy_of(const backend *b, backend_array which) {
    double *const copies[] = {[ARRAY_PARTICLES] = b->x,         [ARRAY_SCORE] = b->score,          [ARRAY_PHI] = b->phi,
                              [ARRAY_STEP_FIRST] = b->state[0], [ARRAY_STEP_SECOND] = b->state[1], [ARRAY_SD] = b->sd};
    return copies[which];
}

static void forget(backend *b, backend_array which) { link_of(b)->fresh &= ~(1u << which); }

static svmp_status fetch(backend *b, backend_array which) {
    device_link *link = link_of(b);
    if (link->fresh & 1u << which) return SVMP_OK;
    SVMP_TRY((svmp_status)link->device->fetch(link->particles.state, (svmp_device_array)which, 0,
                                              b->model->graph->variables, copy_of(b, which)));
    link->fresh |= 1u << which;
    return SVMP_OK;
}

svmp_status svmp_device_fetch(backend *b, backend_array which) {
    SVMP_TRY(svmp_device_await(b));
    return fetch(b, which);
}

svmp_status svmp_device_store(backend *b, backend_array which) {
    device_link *link = link_of(b);
    SVMP_TRY(svmp_device_await(b));
    link->fresh |= 1u << which;
    return (svmp_status)link->device->store(link->particles.state, (svmp_device_array)which, 0,
                                            b->model->graph->variables, copy_of(b, which));
}

svmp_status svmp_device_fetch_rows(backend *b, size_t first, size_t last) {
    const device_link *link = link_of(b);
    SVMP_TRY(svmp_device_await(b));
    if (first == last || link->fresh & 1u << ARRAY_PARTICLES) return SVMP_OK;
    return (svmp_status)link->device->fetch(link->particles.state, SVMP_ARRAY_PARTICLES, first, last,
                                            b->x + first * b->n);
}

svmp_status svmp_device_store_rows(backend *b, size_t first, size_t last) {
    const device_link *link = link_of(b);
    if (first == last) return SVMP_OK;
    return (svmp_status)link->device->store(link->particles.state, SVMP_ARRAY_PARTICLES, first, last,
                                            b->x + first * b->n);
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* A finite score that is too large for the device: its number, or SIZE_MAX. */
static size_t find_too_large(const backend *b) {
    const size_t total = b->model->graph->moved_variables * b->n;
    const double most = link_of(b)->particles.largest_score;
    size_t found = SIZE_MAX;
    for (size_t at = 0; at < total; at++) {
        if (!isfinite(b->score[at])) return SIZE_MAX;
        if (fabs(b->score[at]) > most && found == SIZE_MAX) found = at;
    }
    return found;
}

/* The error of a step whose particles are not all finite. */
static svmp_status fail_not_finite(backend *b, size_t t) {
    const device_link *link = link_of(b);
    char name[128];
    const backend_array read[] = {ARRAY_PARTICLES, ARRAY_SCORE, ARRAY_PHI};
    for (size_t k = 0; k < 3; k++) {
        forget(b, read[k]);
        SVMP_TRY(fetch(b, read[k]));
    }
    const size_t at = link->device->precise ? find_too_large(b) : SIZE_MAX;
    if (at != SIZE_MAX)
        return svmp_fail_notes(
            b->context, SVMP_NOT_FINITE,
            NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_SMALLER_STEPS, "step", NULL)),
                  svmp_either(1, svmp_advice(SVMP_NOTE_CLOSER_START, "init", NULL)),
                  svmp_either(1, svmp_advice(SVMP_NOTE_USE, "backend", link->device->precise))),
            "The score of %s is %g in particle %zu at iteration %zu, too large for single precision.",
            svmp_model_variable_name(b->model, at / b->n, name, sizeof name), b->score[at], at % b->n + 1, t + 1);
    if (b->evaluator == NULL) SVMP_TRY(svmp_evaluator_create(b->model, b->n, b->threads, &b->evaluator));
    return svmp_host_not_finite(b, t);
}

/* Takes the outcome of the oldest step in the queue. Steps after one that failed did nothing, and are forgotten with
 * it. `current`: whether the last step is still that of the caller. */
static svmp_status take_outcome(backend *b, size_t current) {
    const device_link *link = link_of(b);
    int wrong = 0;
    SVMP_TRY((svmp_status)link->device->outcome(link->particles.state, &b->largest, &wrong));
    const size_t t = link->last_t - (b->queued - 1);
    b->past[t % BACKEND_MOST_QUEUED] = b->largest;
    if (!wrong) return b->queued--, SVMP_OK;
    link->device->take_back(link->particles.state, b->queued);
    b->rolled_back += b->queued - current;
    b->queued = 0;
    b->moved = 0;
    return fail_not_finite(b, t);
}

svmp_status svmp_device_await(backend *b) {
    while (b->queued > 0) SVMP_TRY(take_outcome(b, 0));
    return SVMP_OK;
}

static void forget_step(backend *b) {
    const backend_array changed[] = {ARRAY_PARTICLES, ARRAY_PHI, ARRAY_STEP_FIRST, ARRAY_STEP_SECOND};
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++) forget(b, changed[k]);
}

void svmp_device_take_back(backend *b) {
    forget_step(b);
    link_of(b)->device->take_back(link_of(b)->particles.state, 1);
}

/* ---- an iteration ------------------------------------------------------------------------------------------------ */

svmp_status svmp_device_score(backend *b) {
    forget(b, ARRAY_SCORE);
    return (svmp_status)link_of(b)->device->score(link_of(b)->particles.state);
}

svmp_status svmp_device_stein(backend *b, const kernel *k, size_t t) {
    (void)k; /* as it was when the backend was made */
    forget(b, ARRAY_PHI);
    forget(b, ARRAY_SD);
    return (svmp_status)link_of(b)->device->stein(link_of(b)->particles.state, t);
}

/* A step was queued. */
static svmp_status finish(backend *b, size_t t) {
    device_link *link = link_of(b);
    const size_t most = link->particles.most_queued;
    forget_step(b);
    link->last_t = t;
    b->moved = 1;
    b->queued++;
    while (b->queued > b->most_queued || b->queued > most) SVMP_TRY(take_outcome(b, 1));
    return SVMP_OK;
}

svmp_status svmp_device_move(backend *b, const step *s, double rate, size_t t) {
    const device_link *link = link_of(b);
    (void)s; /* as it was when the backend was made */
    SVMP_TRY((svmp_status)link->device->step(link->particles.state, rate, t, b->most_queued == 0));
    return finish(b, t);
}

svmp_status svmp_device_diffuse(backend *b, double rate, size_t t) {
    const device_link *link = link_of(b);
    SVMP_TRY((svmp_status)link->device->diffuse(link->particles.state, rate, t, b->most_queued == 0));
    return finish(b, t);
}

svmp_status svmp_device_measure(backend *b, const kernel *k, size_t count, size_t t, svmp_stein_measure *measured) {
    device_link *link = link_of(b);
    if (link->device->measure == NULL) return SVMP_UNSUPPORTED;
    SVMP_TRY(svmp_device_await(b));
    if (link->measured == NULL) SVMP_TRY(svmp_device_kernel_create(b, k, count, &link->measured));
    return (svmp_status)link->device->measure(link->particles.state, &link->measured->view, count, t, measured);
}
