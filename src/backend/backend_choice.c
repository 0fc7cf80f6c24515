#include "backend/backend_choice.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/program_factors.h"

/* The size from which a device outweighs its launches, as measured in docs/gpu.md. A unit is a node times a pair of
 * particles. */
static int is_small(const svmp_model *model, double n, const kernel *k) {
    const double nodes = (double)model->graph->nodes;
    return (k ? nodes * n * n : nodes * n * 100) < 1e6;
}

static int has_functions(const svmp_model *model) {
    for (size_t g = 0; g < model->group_count; g++)
        if (svmp_program_group_bound(&model->groups[g]) == NULL) return 1;
    return 0;
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

void svmp_backend_choose(const svmp_model *model, size_t n, const kernel *k, char *why, size_t size) {
    char words[512];
    *why = '\0';
    if (model->graph->halo)
        snprintf(why, size, "the run has several processes");
    else if (is_small(model, (double)n, k))
        snprintf(why, size, "the run is small for a GPU");
    else if (has_functions(model))
        snprintf(why, size, "the model has factors given as functions, which GPUs cannot run");
    else
        switch (svmp_gpu_search(words, sizeof words)) {
        case GPU_FOUND: break;
        case GPU_ABSENT: make_clause(words, why, size); break;
        case GPU_BROKEN:
            svmp_log(model->context, SVMP_LOG_WARNING, "%s The run uses the CPU.", words);
            snprintf(why, size, "the library for GPUs cannot be used");
        }
}
