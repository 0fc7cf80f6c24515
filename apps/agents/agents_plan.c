/* svmp agents plan: parts, keys and addresses for agents. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents_actions.h"
#include "command_table.h"
#include "front/csv_cells.h"
#include "front/memory_file.h"
#include "read_samples.h"
#include "run_arguments.h"
#include "svmp_agents.h"
#include "swarm_files.h"

typedef struct planning {
    const option_set *set;
    const char *folder, *coordinates;
    svmp_context *context;
    svmp_options *options;
    svmp_model *model;
    svmp_run *run;
    size_t nodes, count;
    uint32_t *owner;
    char **names;
    unsigned char *keys; /* of each pair: count * count, each SEAL_KEY */
    uint64_t number;
    int makes_folder; /* it was not there */
} planning;

/* ---- who has which node ------------------------------------------------------------------------------------------ */

/* A name, in which each '*' of the pattern stands for any text. */
static int matches(const char *pattern, const char *name) {
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++, name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static int add_agent(planning *p, const char *name, uint32_t *number) {
    for (uint32_t a = 0; a < p->count; a++)
        if (strcmp(p->names[a], name) == 0) return *number = a, 0;
    if (!is_swarm_name(name))
        return report_error(
            EXIT_WRONG, "The agent's name '%s' is to be that of files: use letters, digits, '.', '_' and '-'.", name);
    char **grown = realloc(p->names, (p->count + 1) * sizeof *grown);
    if (grown) p->names = grown;
    char *copy = grown ? strdup(name) : NULL;
    if (copy == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    p->names[ *number = (uint32_t)p->count++] = copy;
    return 0;
}

static int refuse_unowned(const planning *p, const char *path) {
    char name[256];
    size_t count = 0, first = p->nodes;
    for (size_t v = p->nodes; v-- > 0;)
        if (p->owner[v] == UINT32_MAX) count++, first = v;
    if (count == 0) return 0;
    svmp_model_node_name(p->model, first, name, sizeof name);
    return report_error(EXIT_WRONG,
                        "%s has no agent for %zu of the %zu nodes; the first is '%s'. A row '*,NAME' at the end "
                        "gives all others to agent NAME.",
                        path, count, p->nodes, name);
}

/* The first row whose pattern matches counts. */
static int read_groups(planning *p, const char *path) {
    static const char *const node[] = {"node", NULL}, *const agent[] = {"agent", "group", NULL};
    csv t = {0};
    size_t pattern, group;
    char name[256];
    int status = csv_read(path, &t);
    if (status) return status;
    status = csv_column(&t, path, node, &pattern);
    if (status == 0) status = csv_column(&t, path, agent, &group);
    for (size_t v = 0; v < p->nodes; v++) p->owner[v] = UINT32_MAX;
    for (size_t k = 0; k < t.rows && status == 0; k++) {
        size_t taken = 0, known = 0;
        uint32_t number = UINT32_MAX;
        for (size_t v = 0; v < p->nodes && status == 0; v++) {
            svmp_model_node_name(p->model, v, name, sizeof name);
            if (!matches(csv_cell(&t, k, pattern), name)) continue;
            known++;
            if (p->owner[v] != UINT32_MAX) continue;
            if (taken++ == 0) status = add_agent(p, csv_cell(&t, k, group), &number);
            p->owner[v] = number;
        }
        if (known == 0 && status == 0)
            status = report_error(EXIT_WRONG, "%s: the model has no node '%s'; the nodes are called as '%s'.", path,
                                  csv_cell(&t, k, pattern), svmp_model_node_name(p->model, 0, name, sizeof name));
    }
    csv_free(&t);
    return status == 0 ? refuse_unowned(p, path) : status;
}

static int divide(planning *p) {
    size_t count = 0;
    char name[24];
    uint32_t number;
    int status = read_count("agents", options_value(p->set, "agents"), 1, 100000, &count);
    if (status) return status;
    const svmp_status divided = svmp_agents_partition(p->model, count, p->owner);
    if (divided != SVMP_OK) return failed(p->context, divided);
    for (size_t a = 0; a < count && status == 0; a++) {
        snprintf(name, sizeof name, "%zu", a + 1);
        status = add_agent(p, name, &number);
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int make_folder(planning *p) {
    char *plan = swarm_path(p->folder, "plan", ".txt");
    if (plan == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    const int there = access(plan, F_OK) == 0;
    free(plan);
    if (there && !options_given(p->set, "force"))
        return report_error(EXIT_WRONG,
                            "The folder '%s' has a plan already, and its keys may be in use; --force replaces it.",
                            p->folder);
    p->makes_folder = mkdir(p->folder, 0777) == 0;
    if (p->makes_folder || errno == EEXIST) return 0;
    return report_error(EXIT_FAILED, "Cannot make the folder '%s': %s.", p->folder, strerror(errno));
}

static char *record_of(const option_set *set, const char *coordinates) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_written(&text, &size);
    if (stream == NULL) return NULL;
    for (size_t k = 0; k < set->operand_count; k++)
        fprintf(stream, "%s = %s\n", k == 0 ? "model" : "data", set->operands[k]);
    fprintf(stream, "coordinates = %s\n", coordinates);
    close_written(stream, &text);
    return text;
}

static unsigned char *key_of(const planning *p, size_t a, size_t b) {
    return p->keys + (a < b ? a * p->count + b : b * p->count + a) * SEAL_KEY;
}

static int write_keys(const planning *p, size_t which, const char *part_path) {
    svmp_part *part = NULL;
    const svmp_status read = svmp_part_read(p->context, part_path, &part); /* who the neighbours are */
    if (read != SVMP_OK) return failed(p->context, read);
    const svmp_part_about about = svmp_part_describe(part);
    const seal_keys keys = {options_given(p->set, "encrypt") != NULL, calloc(about.neighbours + 1, SEAL_KEY)};
    char *path = swarm_path(p->folder, p->names[which], ".key");
    int status = keys.key && path ? 0 : report_error(EXIT_FAILED, "Out of memory.");
    for (size_t k = 0; status == 0 && keys.key && k < about.neighbours; k++)
        memcpy(keys.key[k], key_of(p, which, about.neighbour[k]), SEAL_KEY);
    if (status == 0)
        status = keys_write(path, p->number, p->names[which], about.neighbours, about.neighbour_name, &keys);
    free(keys.key);
    free(path);
    svmp_part_free(part);
    return status;
}

static int write_parts(const planning *p) {
    char *record = record_of(p->set, p->coordinates);
    int status = record ? 0 : report_error(EXIT_FAILED, "Out of memory.");
    const svmp_agents agents = {p->count, (const char *const *)p->names,
                                p->owner, p->number,
                                record,   options_given(p->set, "until-settled") != NULL};
    for (size_t a = 0; a < p->count && status == 0; a++) {
        char *path = swarm_path(p->folder, p->names[a], ".part");
        if (path == NULL) {
            status = report_error(EXIT_FAILED, "Out of memory.");
        } else {
            const svmp_status wrote = svmp_part_write(p->run, &agents, a, path);
            status = wrote == SVMP_OK ? write_keys(p, a, path) : failed(p->context, wrote);
        }
        free(path);
    }
    free(record);
    return status;
}

static int write_text(const planning *p, const char *name, const char *ending, FILE *stream, char **text) {
    close_written(stream, text);
    char *path = swarm_path(p->folder, name, ending);
    const int status =
        *text && path ? write_output(path, *text, strlen(*text), 1) : report_error(EXIT_FAILED, "Out of memory.");
    free(path);
    free(*text);
    return status;
}

static int write_hosts(const planning *p) {
    char *text = NULL;
    size_t size = 0, port = 0;
    int status = read_count("port", options_value(p->set, "port"), 1, 65535 - p->count, &port);
    if (status) return status;
    FILE *stream = open_written(&text, &size);
    if (stream == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    fprintf(stream, "agent,host,port\n");
    for (size_t a = 0; a < p->count; a++) fprintf(stream, "%s,127.0.0.1,%zu\n", p->names[a], port + a);
    return write_text(p, "hosts", ".csv", stream, &text);
}

/* So that `svmp agents try` can run the same in one process. */
static int write_plan(const planning *p) {
    char *text = NULL, absolute[PATH_MAX], value[4096];
    size_t size = 0;
    svmp_option option;
    FILE *stream = open_written(&text, &size);
    if (stream == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t k = 0; k < p->set->operand_count; k++)
        fprintf(stream, "operand %s\n", realpath(p->set->operands[k], absolute) ? absolute : p->set->operands[k]);
    for (size_t k = 0; svmp_option_at(k, &option); k++)
        if (strcmp(option.name, "backend") != 0 && svmp_run_setting(p->run, option.name, value, sizeof value))
            fprintf(stream, "option %s %s\n", option.name, value);
    fprintf(stream, "option coordinates %s\n", p->coordinates);
    for (size_t a = 0; a < p->count; a++) fprintf(stream, "agent %s\n", p->names[a]);
    return write_text(p, "plan", ".txt", stream, &text);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int prepare(planning *p) {
    int status = open_context(p->set, &p->context);
    if (status == 0) status = options_of_run(p->set, p->context, &p->options);
    if (status) return status;
    svmp_status set = svmp_options_set(p->options, "method", options_value(p->set, "method"));
    if (set == SVMP_OK) set = svmp_options_set(p->options, "backend", "cpu");
    if (set != SVMP_OK) return failed(p->context, set);
    if (start_file(p->set))
        return report_error(EXIT_WRONG, "The option '--init' of a plan must be a start that svmp draws, not a file.");
    svmp_method method;
    set = svmp_method_describe(p->context, svmp_options_get(p->options, "method"), &method);
    if (set != SVMP_OK) return failed(p->context, set);
    p->coordinates = options_given(p->set, "coordinates") ? options_given(p->set, "coordinates") : method.coordinates;
    status = read_model(p->set, p->context, &p->model);
    if (status) return status;
    const svmp_status made = svmp_run_create(p->model, p->options, &p->run);
    if (made != SVMP_OK) return failed(p->context, made);
    p->nodes = svmp_graph_nodes(svmp_model_graph(p->model));
    p->owner = calloc(p->nodes + 1, sizeof *p->owner);
    return p->owner ? 0 : report_error(EXIT_FAILED, "Out of memory.");
}

static void print_sizes(const planning *p) {
    size_t most = 0, *nodes = calloc(p->count, sizeof *nodes);
    for (size_t v = 0; nodes && v < p->nodes; v++)
        if (++nodes[p->owner[v]] > most) most = nodes[p->owner[v]];
    printf("%zu agents for %zu nodes, at most %zu each. In %s: parts and keys of the agents, hosts.csv.\n", p->count,
           p->nodes, most, p->folder);
    printf("On the machine of agent %s:  svmp agent %s/%s.part\n", p->names[0], p->folder, p->names[0]);
    free(nodes);
}

static void release(planning *p) {
    for (size_t a = 0; a < p->count; a++) free(p->names[a]);
    free(p->names);
    free(p->owner);
    free(p->keys);
    svmp_run_free(p->run);
    svmp_model_free(p->model);
    svmp_options_free(p->options);
    svmp_context_free(p->context);
}

int agents_plan(const option_set *set) {
    planning p = {.set = set, .folder = options_given(set, "output")};
    const char *groups = options_given(set, "groups");
    if (set->operand_count == 0)
        return report_error(EXIT_WRONG, "A model is needed: svmp agents plan MODEL [DATA...].");
    if (p.folder == NULL) return report_error(EXIT_WRONG, "A folder for the plan is needed: -o swarm/.");
    if (!seal_available()) return EXIT_WRONG;
    int status = prepare(&p);
    if (status == 0) status = groups ? read_groups(&p, groups) : divide(&p);
    if (status == 0) status = make_folder(&p);
    if (status == 0) {
        seal_random(sizeof p.number, &p.number);
        p.keys = malloc(p.count * p.count * SEAL_KEY);
        if (p.keys == NULL) status = report_error(EXIT_FAILED, "Out of memory.");
    }
    if (status == 0) seal_random(p.count * p.count * SEAL_KEY, p.keys);
    if (status == 0) status = write_parts(&p);
    if (status == 0) status = write_hosts(&p);
    if (status == 0) status = write_plan(&p);
    if (status == 0) print_sizes(&p);
    if (status && p.makes_folder) rmdir(p.folder); /* if nothing was written */
    release(&p);
    return status;
}
