/* The part of an agent (svmp_agents.h): what its file holds, its run, and what it has collected. */
#ifndef SVMP_RUN_AGENT_PART_INSIDE_H
#define SVMP_RUN_AGENT_PART_INSIDE_H

#include "base/packing.h"
#include "run/option_table.h"
#include "run/run.h"
#include "svmp_agents.h"
#include "svmp_plugin.h"

enum { PART_OPTIONS = 24 }; /* at most */

struct svmp_part {
    svmp_context *context;
    svmp_part_about about;
    char *name, **neighbour_name, *record;
    char *option_name[PART_OPTIONS], *option_text[PART_OPTIONS];
    size_t option_count;
    double *start; /* of own variables */
    size_t start_count;
    svmp_model *model;
    svmp_peers peers; /* one process in all but rows */

    svmp_run *run;
    evaluator *evaluator;
    double *natural;      /* outputs * n, workspace */
    int64_t *words;       /* n exact sums, workspace */
    size_t collected;     /* states that are in these: */
    packing values, sums; /* natural values, and the part's share of the log density */
    packing saved;        /* the state, of svmp_part_save */
    svmp_part_monitor after;
    void *user_data;
    svmp_status status; /* of what the monitor has done */
};

/* A file of packed bytes: magic, version of svmp, contents, checksum. `svmp_packed_read` fails unless all three are
 * right; `bytes` are then to be released. */
svmp_status svmp_packed_write(packing *p, const char *path);
void svmp_packed_begin(svmp_context *context, const char *magic, packing *p);
svmp_status svmp_packed_read(svmp_context *context, const char *magic, const char *kind, const char *path, packing *p);

#define PART_MAGIC   "svmp part 1\n"
#define OUTPUT_MAGIC "svmp output 1\n"

/* An exact sum as EXACT_WORDS integers. */
void svmp_pack_sum(packing *p, int64_t *words);

/* The number of variables that a part reports. */
size_t svmp_part_outputs(const svmp_part *part);

#endif
