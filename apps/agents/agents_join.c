/* svmp agents join: the particles of one process from the outputs of all agents; and the record of a plan. */
#include <stdlib.h>
#include <string.h>

#include "agents_actions.h"
#include "base/comment_lines.h"
#include "command_table.h"
#include "front/netcdf_subprocess.h"
#include "svmp_agents.h"
#include "swarm_files.h"

int agents_join(const option_set *set) {
    svmp_context *context = NULL;
    svmp_particles *particles = NULL;
    char *comments = NULL, *written = NULL;
    const char *path = options_given(set, "output");
    const int force = options_given(set, "force") != NULL;
    if (set->operand_count == 0)
        return report_error(EXIT_WRONG, "Outputs of agents are needed: svmp agents join swarm/*.out -o FILE.csv.");
    if (path == NULL) return report_error(EXIT_WRONG, "An output file is needed: -o FILE.csv.");
    int status = check_output(path, OUTPUT_PARTICLES, force);
    if (status == 0) status = refuse_input(set, path);
    if (status == 0) status = open_context(set, &context);
    if (status == 0) {
        const svmp_status joined =
            svmp_outputs_join(context, set->operand_count, (const char *const *)set->operands, &particles, &comments);
        status = joined == SVMP_OK ? netcdf_write_in_subprocess(context, particles, path, comments, force, &written)
                                   : failed(context, joined);
    }
    if (status == 0)
        printf("%zu variables of %zu agents in %s\n", svmp_particles_variables(particles), set->operand_count, path);
    free(written);
    svmp_outputs_free_comments(context, comments);
    svmp_particles_free(particles);
    svmp_context_free(context);
    return status;
}

/* ---- plan.txt ---------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path) {
    char *text = NULL;
    size_t size = 0, got = 1;
    FILE *file = fopen(path, "r");
    while (file && got > 0) {
        char *grown = realloc(text, size + 65536);
        if (grown == NULL) break;
        text = grown;
        size += got = fread(text + size, 1, 65535, file);
        text[size] = '\0';
    }
    if (file) fclose(file);
    return text;
}

int plan_read(const char *folder, plan_record *plan) {
    size_t lines = 1;
    char *path = swarm_path(folder, "plan", ".txt");
    *plan = (plan_record){.text = path ? read_text(path) : NULL};
    if (plan->text == NULL) {
        const int status = report_error(EXIT_WRONG, "'%s' is not the folder of a plan: it has no plan.txt.", folder);
        free(path);
        return status;
    }
    free(path);
    for (const char *at = plan->text; *at; at++) lines += *at == '\n';
    plan->operands = calloc(4 * lines, sizeof *plan->operands);
    if (plan->operands == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    plan->agents = plan->operands + lines;
    plan->names = plan->agents + lines;
    plan->values = plan->names + lines;
    for (char *line = strtok(plan->text, "\n"); line; line = strtok(NULL, "\n")) {
        char *value = strchr(line, ' ');
        if (value == NULL) continue;
        *value++ = '\0';
        if (strcmp(line, "operand") == 0) plan->operands[plan->operand_count++] = value;
        if (strcmp(line, "agent") == 0) plan->agents[plan->agent_count++] = value;
        char *text = strcmp(line, "option") == 0 ? strchr(value, ' ') : NULL;
        if (text == NULL) continue;
        *text++ = '\0';
        plan->names[plan->option_count] = value;
        plan->values[plan->option_count++] = text;
    }
    if (plan->operand_count > 0 && plan->agent_count > 0) return 0;
    return report_error(EXIT_WRONG, "The file plan.txt in '%s' is damaged.", folder);
}

void plan_free(plan_record *plan) {
    free(plan->operands);
    free(plan->text);
    *plan = (plan_record){0};
}
