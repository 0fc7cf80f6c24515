/* Readers of models: one for each kind of file, and texts in memory. */
#ifndef SVMP_LANG_MODEL_FILES_H
#define SVMP_LANG_MODEL_FILES_H

#include <stdbool.h>

#include "graph/graph_part.h"
#include "svmp_parallel.h"

typedef struct model_files {
    size_t count;
    const char *const *paths;                   /* at least one, or none where there is a text */
    const char *name, *text;                    /* of a text in memory; NULL: there are files */
    const struct text_source *source;           /* the text of the first path; NULL: not read yet */
    const svmp_data *data;                      /* of such a text; NULL: no data */
    const char *monitors;                       /* as in svmp_reading */
    double centring;                            /* of model texts, as in lang/compile.h: 1 leaves nodes as they are, */
    const struct node_coordinates *coordinates; /* or the coordinates of each node; NULL: none */
    const uint32_t *ends;                       /* of open sums, as in lang/compile.h; NULL: none, */
    const uint32_t *fixed;                      /* states of discrete unknowns, as in lang/compile.h; NULL: none */
    bool totals;                                /* sums of them are unknowns by themselves */
    bool *sums;                                 /* set where a sum is refused; may be NULL */
    bool strict;                                /* tables must be small */
    bool brief;                                 /* and whether they begin short */
    double store_above;                         /* which elements of '<-' are stored, as in lang/compile.h */
} model_files;

int svmp_path_ends_in(const char *path, const char *ending);

/* A kind of model file. */
typedef struct model_reader {
    /* Reads the whole model, finished; with `owners`, only the fragment (graph/graph_part.h) that the nodes of this
     * process need, placed in the whole. */
    svmp_status (*read)(svmp_context *context, const model_files *files, const graph_owners *owners,
                        svmp_model **model);

    /* Reads only the graph of the whole model, finished. */
    svmp_status (*read_graph)(svmp_context *context, const model_files *files, svmp_graph **graph);
} model_reader;

/* Matrix Market: the precision of a Gaussian, and perhaps its vector b. */
extern const model_reader svmp_gaussian_reader;

/* The language: a model text, and any number of data files. */
extern const model_reader svmp_language_reader;

/* The whole model, and the part of this process: svmp_model_read and svmp_model_read_split in given coordinates. */
svmp_status svmp_read_model(svmp_context *context, const model_files *files, svmp_model **model);
svmp_status svmp_read_parts(svmp_context *context, const model_files *files, svmp_model **model, svmp_split *split);

#endif
