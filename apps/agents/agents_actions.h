/* The actions of `svmp agents`; each returns an exit status. */
#ifndef SVMP_AGENTS_AGENTS_ACTIONS_H
#define SVMP_AGENTS_AGENTS_ACTIONS_H

#include "front/command_options.h"

/* Of a set whose first operand, the action, is taken away. */
int agents_plan(const option_set *set);
int agents_join(const option_set *set);
int agents_try(const option_set *set);

/* What a plan has been made of, beside its parts: plan.txt. */
typedef struct plan_record {
    char *text;                /* of the file; the others point into it */
    char **operands, **agents; /* model and data; names */
    char **names, **values;    /* options */
    size_t operand_count, agent_count, option_count;
} plan_record;

int plan_read(const char *folder, plan_record *plan);
void plan_free(plan_record *plan);

#endif
