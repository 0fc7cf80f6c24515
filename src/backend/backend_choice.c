#include "backend/backend_choice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/device_backend.h"
#include "backend/device_views.h"
#include "base/plugin.h"

/* The size from which a device outweighs its launches, as measured in docs/gpu.md. A unit is a node times a pair of
 * particles. */
static int is_small(const svmp_model *model, double n, const kernel *k) {
    const double nodes = (double)model->graph->nodes;
    return (k ? nodes * n * n : nodes * n * 100) < 1e6;
}

/* Why the model cannot run on a device; NULL if it can. */
static const char *find_lack(const svmp_model *model) {
    const char *lacks = NULL;
    for (size_t g = 0; lacks == NULL && g < model->group_count; g++) lacks = svmp_device_lacks(&model->groups[g]);
    return lacks;
}

/* The first sentence as a clause within another one: without its full stop, and with a capital only for a name. */
static void make_clause(const char *sentences, char *clause, size_t size) {
    const char *end = strstr(sentences, ". ");
    size_t length = end ? (size_t)(end - sentences) : strlen(sentences);
    if (length > 0 && sentences[length - 1] == '.') length--;
    snprintf(clause, size, "%.*s", (int)length, sentences);
    if (*clause == '\0') snprintf(clause, size, "there is no GPU");
    if (islower((unsigned char)clause[1])) clause[0] = (char)tolower((unsigned char)clause[0]);
}

/* Whether this machine has the first device that this build knows; `words`: its name, or why there is none, in
 * sentences, and lines about what belongs to it. */
static plugin_state search(char *words, size_t size) {
    const svmp_plugin *plugin = NULL;
    const backend_kind *kind = svmp_device_kind(0);
    if (kind == NULL) {
        snprintf(words, size, "This build knows no plug-in for GPUs.");
        return PLUGIN_ABSENT;
    }
    const plugin_state state = svmp_plugin_find(SVMP_PLUGIN_DEVICE, kind->plugin, &plugin, words, size);
    if (state != PLUGIN_FOUND) return state;
    return plugin->look(words, size) ? PLUGIN_FOUND : PLUGIN_ABSENT;
}

void svmp_backend_choose(const svmp_model *model, size_t n, const kernel *k, char *why, size_t size) {
    char words[1200] = "";
    const char *lack = find_lack(model);
    *why = '\0';
    if (model->graph->halo) {
        snprintf(why, size, "the run has several processes");
    } else if (is_small(model, (double)n, k)) {
        snprintf(why, size, "the run is small for a GPU");
    } else if (lack) {
        snprintf(why, size, "the model has %s, which GPUs cannot run", lack);
    } else {
        const plugin_state state = search(words, sizeof words);
        words[strcspn(words, "\n")] = '\0';
        if (state == PLUGIN_ABSENT) make_clause(words, why, size);
        if (state != PLUGIN_BROKEN) return;
        svmp_log(model->context, SVMP_LOG_WARNING, "%s The run uses the CPU.", words);
        snprintf(why, size, "the plug-in for GPUs cannot be used");
    }
}

const char *svmp_gpu_found(char *buffer, size_t size) {
    char words[1200] = "";
    if (buffer == NULL || size == 0) return NULL;
    const int found = search(words, sizeof words) == PLUGIN_FOUND;
    snprintf(buffer, size, "gpu: %s%s", found ? "" : "no. ", words);
    return buffer;
}
