/* The commands of svmp, and functions that they share. */
#ifndef SVMP_CLI_COMMAND_TABLE_H
#define SVMP_CLI_COMMAND_TABLE_H

#include "front/command_row.h"
#include "front/error_output.h"
#include "front/output_check.h"
#include "front/program_context.h"
#include "svmp_parallel.h"

extern const command command_run, command_verify, command_plan, command_check, command_graph, command_summary,
    command_compare, command_predict, command_simulate, command_report, command_agents, command_agent, command_localise,
    command_help, command_manual, command_completion;

/* All of them, in the order of the help. */
const command *const *commands(size_t *count);

/* The command of that name; NULL after an error message if there is none. */
const command *find_command(const char *name);

/* --coordinates, for commands that read a model. */
extern const option_row coordinates_option;

/* Reads the model given by the operands, in the coordinates of --coordinates or of --method. */
int read_model(const option_set *set, svmp_context *context, svmp_model **model);

#endif
