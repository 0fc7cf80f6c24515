/* The data of a report page: each function writes one member `"name": value`. They return 0, or an exit status after an
 * error message. */
#ifndef SVMP_REPORT_REPORT_PARTS_H
#define SVMP_REPORT_REPORT_PARTS_H

#include "report_names.h"

/* Sizes, comments, the statistics of a sampler, and the names of the variables that are `shown` one by one. */
int write_run(FILE *file, const svmp_context *context, const svmp_particles *particles, const svmp_particles *shown,
              const char *path);

/* The series that the particles carry: the way of the run, and the discrepancy of every node. */
int write_history(FILE *file, const svmp_particles *particles);

/* What the data observe, and the model's text from `path`; nothing without a model. */
int write_data_of(FILE *file, const svmp_model *model, const char *path);

/* Replicates of the observed values, and leave-one-out cross-validation; empty where the particles or the model do not
 * allow it, or for too many observations. `paths` are those of the model and its data. */
int write_predictive(FILE *file, const svmp_model *model, const name_index *names, const svmp_particles *particles,
                     size_t count, const char *const *paths, const char *coordinates);

/* The cells of `svmp summary`, as it prints them. */
int write_summary(FILE *file, svmp_context *context, const svmp_particles *particles);

/* `shown` of the particles, evenly spaced, and of their log density, as floats around the median; *shown 0: as many as
 * fit a page that opens at once. Numbers in the table are those of all particles. */
int write_values(FILE *file, svmp_context *context, svmp_particles *particles, size_t shown);

/* Statistics, nodes and edges of the model's graph; null without a model. Every variable of the file must be one of
 * the model; variables that the file lacks (it may hold a choice) are left out. Unless `whole`, only statistics. */
int write_graph(FILE *file, const svmp_model *model, const name_index *names, const svmp_particles *particles,
                const char *path, int whole);

/* A CSV file of the columns name and value: what is true of variables, and pairs P.1, P.2 that are no variables, fixed
 * points of the map; nothing without a path. Written are those of the variables that are `listed` on the page. */
int write_truth(FILE *file, const char *truth, const name_index *names, const name_index *listed, const char *path);

#endif
