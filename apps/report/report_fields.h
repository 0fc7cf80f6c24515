/* Large samples: which variables a page shows one by one, and its pictures of whole arrays. */
#ifndef SVMP_REPORT_REPORT_FIELDS_H
#define SVMP_REPORT_REPORT_FIELDS_H

#include <stdio.h>

#include "report_names.h"
#include "table_overview.h"

enum {
    PAGE_ALL = 6000,     /* up to this many variables are all shown one by one; of more, */
    PAGE_SOME = 2000,    /* scalars and small arrays, and elements of the others, evenly spaced */
    PAGE_CELLS = 200000, /* of all pictures together; of more, every kth element of each dimension */
};

/* The particles that the page shows one by one: *shown is new, or NULL: all. Returns 0 or an exit status. */
int choose_shown(svmp_context *context, const svmp_particles *particles, const overview *o, svmp_particles **shown);

/* How many variables there are in all, which one the page opens on, R-hat and effective draws of all if not all are
 * shown, and for every larger array of one or two dimensions its mean, sd, interval and, with a model and the
 * discrepancies of its nodes, their excess. */
int write_fields(FILE *file, svmp_context *context, const svmp_particles *particles, const svmp_particles *shown,
                 const overview *o, const svmp_model *model, const name_index *names);

#endif
