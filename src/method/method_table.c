#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/name_distance.h"
#include "base/name_list.h"
#include "base/name_table.h"
#include "base/peers.h"
#include "method/method.h"

static const method *const methods[] = {
    &svmp_method_transport, &svmp_method_graphical, &svmp_method_vanilla, &svmp_method_independent, &svmp_method_random,
    &svmp_method_combined,  &svmp_method_langevin,  &svmp_method_mala,    &svmp_method_nuts,        &svmp_method_exact,
    &svmp_method_local,     &svmp_method_dpmp,      &svmp_method_tpmp,
};

const method *svmp_method_at(size_t k) { return k < sizeof methods / sizeof *methods ? methods[k] : NULL; }

const char *svmp_method_name(size_t k) { return svmp_method_at(k) ? methods[k]->name : NULL; }

const char *svmp_method_choice(size_t k) { return k == 0 ? METHOD_AUTO : svmp_method_name(k - 1); }

const method *svmp_method_auto(int in_parts, int boxed) {
    return in_parts || boxed ? &svmp_method_graphical : &svmp_method_transport;
}

svmp_status svmp_method_refuse_boxes(const svmp_run *run) {
    const svmp_model *model = run->model;
    const svmp_graph *graph = model->graph;
    char name[128];
    if (!model->boxed) return SVMP_OK;
    size_t i = 0, node = 0;
    while (!isfinite(model->lower[i]) && !isfinite(model->upper[i])) i++;
    while (svmp_graph_node_first(graph, node) + svmp_graph_node_dimension(graph, node) <= i) node++;
    return svmp_fail(run->context, SVMP_UNSUPPORTED,
                     "The method '%s' does not support boxes, and the node %s has one: projecting a chain onto a box "
                     "changes its distribution.",
                     run->method->name, svmp_model_node_name(model, node, name, sizeof name));
}

svmp_status svmp_method_describe(svmp_context *context, const char *name, svmp_method *described) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (name == NULL || described == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_method_describe: the %s is NULL.", name ? "result" : "name");
    const method *found = svmp_method_find(context, name);
    if (found == NULL) return SVMP_BAD_CALL;
    *described = (svmp_method){.name = found->name,
                               .yield = found->yield,
                               .largest = found->largest,
                               .parts = found->local,
                               .shares = found->shared,
                               .sweeps = found->sweeps,
                               .draws = found->yield == SVMP_YIELD_CHAINS ? found->draws : found->answers,
                               .fits = found->fits,
                               .arrays = found->arrays,
                               .examination = found->examination > 0 ? found->examination : METHOD_EXAMINATION,
                               .coordinates = found->coordinates ? found->coordinates : "centred"};
    return SVMP_OK;
}

const method *svmp_method_find(svmp_context *context, const char *name) {
    char names[512], near[64] = "";
    int least = INT_MAX;
    if (strcmp(name, METHOD_AUTO) == 0) return svmp_method_auto(0, 0);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        if (strcmp(methods[k]->name, name) == 0) return methods[k];
        const int same = strcasecmp(name, methods[k]->name) == 0;
        const int distance = same ? 0 : svmp_name_distance(name, strlen(name), methods[k]->name);
        if (distance >= 0 && distance < least) {
            least = distance;
            snprintf(near, sizeof near, " did you mean '%s'?", methods[k]->name);
        }
    }
    svmp_fail(context, SVMP_BAD_CALL, "Unknown method '%s';%s%s %s.", name, near,
              *near ? " Available:" : " available:", svmp_list_names(svmp_method_choice, NULL, names, sizeof names));
    return NULL;
}

const model_modes *svmp_run_modes(const svmp_run *run) {
    if (run->model->modes || run->method->modes == NULL || run->state == NULL) return run->model->modes;
    return run->method->modes(run);
}
