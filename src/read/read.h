/* Models from files, one reader a kind. */
#ifndef SVMP_READ_READ_H
#define SVMP_READ_READ_H

#include "graph/part.h"

typedef struct model_files {
    size_t count;
    const char *const *paths;                   /* at least one */
    const char *monitors;                       /* as for svmp_model_read_monitoring */
    double centring;                            /* of model texts, as for lang/lower.h: 1 leaves nodes as they are, */
    const struct node_coordinates *coordinates; /* or of each node; or NULL */
} model_files;

int svmp_path_ends_in(const char *path, const char *ending);

/* A kind of model file. */
typedef struct model_reader {
    /* The whole model, finished; with `owners`, the fragment of it (graph/part.h) that the owner's nodes need, placed
     * in the whole: of the files' numbers no others are kept. */
    svmp_status (*read)(svmp_context *context, const model_files *files, const graph_owners *owners,
                        svmp_model **model);

    /* The graph of the whole model alone, finished. */
    svmp_status (*read_graph)(svmp_context *context, const model_files *files, svmp_graph **graph);
} model_reader;

/* Matrix Market: the precision of a Gaussian, and perhaps its vector b. */
extern const model_reader svmp_gaussian_reader;

/* The language: a model text, and any number of data files. */
extern const model_reader svmp_language_reader;

/* By the ending of the first file; fails where that is of no kind. */
svmp_status svmp_model_reader_find(svmp_context *context, const model_files *files, const model_reader **found);

/* svmp_model_read_monitoring, and svmp_model_read_split. */
svmp_status svmp_read_model(svmp_context *context, const model_files *files, svmp_model **model);
svmp_status svmp_read_parts(svmp_context *context, const model_files *files, svmp_model **model, svmp_split *split);

#endif
