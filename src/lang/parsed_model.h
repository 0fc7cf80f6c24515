/* A model as parsed: its text, its data, and all that follows from the two before anything is chosen: loops are
 * unrolled, it is known who defines which element, what the data alone decide is computed, and which unknowns nothing
 * observed depends on. Each file is read once, into memory, so that it may be a pipe. lang/compile.h makes models of
 * it.
 */
#ifndef SVMP_LANG_PARSED_MODEL_H
#define SVMP_LANG_PARSED_MODEL_H

#include <stdbool.h>

#include "svmp_parallel.h"

/* The source of a model. */
typedef struct model_files {
    size_t count;
    const char *const *paths; /* of the model and of its data, or none if there is a text */
    const char *name, *text;  /* of a text in memory; NULL: there are files */
    svmp_text *parsed;        /* such a text, parsed, which must live as long as the parsed model; NULL: none */
    const svmp_data *data;    /* of a text, which must live as long as the parsed model; NULL: no data */
    const char *monitors, *statements; /* as in svmp_reading */
    const svmp_particles *given;
    bool simulated, fresh;
} model_files;

/* Immutable: models may be compiled from it in any order, each as if it were the only one. */
typedef struct parsed_model parsed_model;

/* Reports every independent error of the text and the data that can be found before a model is compiled. `files` and
 * the strings in it are not needed afterwards. The kind of the model follows from the ending of the first path, or else
 * from its first words. */
svmp_status svmp_parse(svmp_context *context, const model_files *files, parsed_model **parsed);
void svmp_parsed_free(parsed_model *parsed); /* NULL-safe */

/* The context that a text was parsed in, in which its models are made. */
svmp_context *svmp_text_context(const svmp_text *text);

/* Whether it is a model text, which can be compiled with choices; a matrix has none. */
bool svmp_parsed_is_text(const parsed_model *parsed);

/* The same in several processes, all of which call this: reads the files, and fails unless they are the same
 * everywhere. The first process parses them before the others, which do so in svmp_parse_others, so that errors are
 * reported once. */
svmp_status svmp_parse_first(svmp_context *context, const model_files *files, parsed_model **parsed);
svmp_status svmp_parse_others(parsed_model *parsed);

#endif
