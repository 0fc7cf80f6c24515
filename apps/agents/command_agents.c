/* svmp agents: plans a run of many machines, joins its outputs, and tries it on one machine. */
#include <string.h>

#include "agents_actions.h"
#include "command_table.h"
#include "run_arguments.h"

static const option_row rows[] = {
    {"method", 'm', "M", "local", "plan: local, graphical, independent, random or langevin", "Method"},
    {"groups", 0, "FILE", "", "plan: CSV file with columns node and agent; a * in node stands for any text", "Plan"},
    {"agents", 0, "N", "4", "plan: without --groups, the number of agents", "Plan"},
    {"port", 0, "P", "20001", "plan: the port of the first agent in hosts.csv", "Plan"},
    {"until-settled", 0, NULL, "", "stop together once all averages have settled", "Plan"},
    {"encrypt", 0, NULL, "", "encrypt what agents send", "Plan"},
    {"output", 'o', "PATH", "", "plan: the folder; join: the file, .csv or .nc", "Output"},
    {"force", 'f', NULL, "", "replace what is there", "Output"},
    {"loss", 0, "PERCENT", "0", "try: datagrams that are lost", "Try"},
    {"burst", 0, "MS", "0", "try: mean length of bursts of loss; 0: each datagram by itself", "Try"},
    {"delay", 0, "MS", "0", "try: how late datagrams are", "Try"},
    {"jitter", 0, "MS", "0", "try: and at most so much later, in another order", "Try"},
    {"twice", 0, "PERCENT", "0", "try: datagrams that come twice", "Try"},
    {"damage", 0, "PERCENT", "0", "try: datagrams in which a bit is wrong", "Try"},
    {"watch", 0, NULL, "", "try: show in the terminal where each agent is", "Try"},
    {"kill", 0, "N", "0", "kill agents so often, and start them again", "Try"},
    {"lose", 0, "N", "0", "so often also lose the state folder", "Try"},
    {"keepers", 0, "K", "0", "neighbours that keep an agent's state", "Try"},
    {"time", 0, "S", "0", "one agent asks all to stop after S seconds", "Try"},
    {"every", 0, "N", "64", "try: rounds between two states of an agent", "Try"},
};

static void options(option_set *set) {
    static const char *const taken[] = {"kernel",     "bandwidth", "step",   "init", "particles",
                                        "iterations", "seed",      "warmup", "draws"};
    options_add_run(set, sizeof taken / sizeof *taken, taken);
    options_add(set, 1, &coordinates_option);
    options_add(set, sizeof rows / sizeof *rows, rows);
}

static int run(const option_set *set) {
    static const struct {
        const char *name;
        int (*act)(const option_set *set);
    } actions[] = {{"plan", agents_plan}, {"join", agents_join}, {"try", agents_try}};
    option_set rest = *set;
    rest.operands++;
    rest.operand_count--;
    for (size_t k = 0; k < sizeof actions / sizeof *actions; k++)
        if (strcmp(set->operands[0], actions[k].name) == 0) return actions[k].act(&rest);
    return report_error(EXIT_WRONG, "Unknown action '%s': svmp agents plan, join or try.", set->operands[0]);
}

const command command_agents = {
    .name = "agents",
    .operands = "plan|join|try FILE...",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Plan, join and try a run of agents",
    .text =
        ".B plan\nreads the model, and writes a part, a key and an address for each agent into a folder. Each agent "
        "runs on\nits own machine by\n.BR \"svmp agent\" ,\nand needs only its neighbours.\n.B join\nmakes one file "
        "of their outputs, which has the same bits as that of\n.B svmp run\nwith the same options.\n.B try\nruns all "
        "agents on this machine through a bad network, and compares the result with one process.\n",
    .options = options,
    .run = run,
};
