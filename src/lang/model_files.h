/* Files of models: each is read once, when its model is parsed. */
#ifndef SVMP_LANG_MODEL_FILES_H
#define SVMP_LANG_MODEL_FILES_H

#include "graph/graph_part.h"
#include "lang/parsed_model.h"

/* Finds the kind of the model, by the ending of the first path or else by its first words, and reads the texts of the
 * model and its data into a parsed model that is otherwise empty. Of matrices only the paths are kept:
 * svmp_matrix_parse reads them. */
svmp_status svmp_files_read(svmp_context *context, const model_files *files, parsed_model **parsed);

/* Fails unless all processes, which call this together, have read the same texts. */
svmp_status svmp_files_compare(const parsed_model *parsed);

/* The same of the k-th file, by its size and checksum. */
svmp_status svmp_file_compare(svmp_context *context, size_t k, const char *path, size_t bytes, uint64_t checksum);

/* ---- matrix_model.c: the precision of a Gaussian, and perhaps its vector b, as Matrix Market files ---- */

/* Fails unless the files are such a model. */
svmp_status svmp_matrix_check(svmp_context *context, const model_files *files);

/* Reads them. */
svmp_status svmp_matrix_parse(parsed_model *parsed);

/* Compiles them: svmp_compile, and its graph, finished. Of several processes, the first one has read the files; each
 * of the others reads them here, and keeps the rows that its own nodes need. */
svmp_status svmp_matrix_compile(const parsed_model *parsed, const graph_owners *owners, svmp_model **model);
svmp_status svmp_matrix_graph(const parsed_model *parsed, svmp_graph **graph);

#endif
