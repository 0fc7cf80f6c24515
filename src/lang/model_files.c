/* Reads models from files: selects the reader, and distributes the model over several processes. */
#include "lang/model_files.h"

#include <string.h>
#include <sys/stat.h>

#include "base/name_list.h"
#include "base/number.h"
#include "base/peers.h"
#include "base/source_text.h"
#include "data/data_set.h"
#include "model/model_split.h"

int svmp_path_ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static const struct model_kind {
    const char *ending;
    const model_reader *reader;
} kinds[] = {{".bug", &svmp_language_reader},
             {".jags", &svmp_language_reader},
             {".txt", &svmp_language_reader},
             {".mtx", &svmp_gaussian_reader}};

static const char *ending_of(size_t k) { return k < sizeof kinds / sizeof *kinds ? kinds[k].ending : NULL; }

/* A text that is not a model, in the place of one: the files are in another order, or the model was left out. */
static svmp_status refuse_data(svmp_context *context, const model_files *files, const text_source *source) {
    const data_kind kind = svmp_data_kind(source->text, source->length);
    if (kind != DATA_DUMP && kind != DATA_JSON) return SVMP_OK;
    for (size_t k = 1; k < files->count; k++)
        if (svmp_data_kind_of_file(files->paths[k]) == DATA_MODEL)
            return svmp_fail(context, SVMP_BAD_INPUT, "'%s' is a data file; the model, '%s', comes first.",
                             files->paths[0], files->paths[k]);
    return svmp_fail(context, SVMP_BAD_INPUT, "'%s' is a data file; the model file comes first.", files->paths[0]);
}

static bool is_pipe(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

/* A model whose name does not say what it is. */
static svmp_status recognise(svmp_context *context, const char *path, text_source *source) {
    char endings[64];
    const bool read = is_pipe(path);
    if (read) SVMP_TRY(svmp_source_read(context, path, source));
    const data_kind kind = read ? svmp_data_kind(source->text, source->length) : svmp_data_kind_of_file(path);
    if (kind == DATA_MODEL) return read ? SVMP_OK : svmp_source_read(context, path, source);
    if (kind != DATA_OTHER || svmp_data_is_read(path, strlen(path)))
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "'%s' is a data file; the model file comes first, and its name ends in %s.", path,
                         svmp_list_names(ending_of, "or", endings, sizeof endings));
    return svmp_fail(context, SVMP_BAD_INPUT, "Unknown kind of model file '%s': expected a name that ends in %s.", path,
                     svmp_list_names(ending_of, "or", endings, sizeof endings));
}

/* By the ending of the first file, or else by its first words; fails where that is of no kind. Reads the text of a
 * model of the language, since a pipe can be read only once. */
static svmp_status find_reader(svmp_context *context, const model_files *files, const model_reader **found,
                               text_source *source) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (svmp_path_ends_in(files->paths[0], kinds[k].ending)) *found = kinds[k].reader;
    if (*found && *found != &svmp_language_reader) return SVMP_OK;
    if (svmp_path_ends_in(files->paths[0], ".stan"))
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "Cannot read the Stan program '%s': models are written in the BUGS language, in a file that "
                         "ends in .bug. See \"Coming from Stan\" in docs/language.md.",
                         files->paths[0]);
    if (*found == NULL) return *found = &svmp_language_reader, recognise(context, files->paths[0], source);
    SVMP_TRY(svmp_source_read(context, files->paths[0], source));
    return refuse_data(context, files, source);
}

static svmp_status check_call(svmp_context *context, size_t count, const char *const *paths, svmp_model *const *model) {
    if (paths == NULL || model == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read: the %s.",
                         paths ? "result is NULL" : "paths are NULL");
    for (size_t k = 0; k < count; k++)
        if (paths[k] == NULL) return svmp_fail(context, SVMP_BAD_CALL, "Path %zu of the model is NULL.", k + 1);
    return count > 0 ? SVMP_OK : svmp_fail(context, SVMP_BAD_CALL, "No model file was given.");
}

svmp_status svmp_read_model(svmp_context *context, const model_files *files, svmp_model **model) {
    const model_reader *reader = files->text ? &svmp_language_reader : NULL;
    number_locale locale = {0};
    model_files with = *files;
    text_source source = {0};
    svmp_status status;
    if (files->text == NULL) {
        SVMP_TRY(check_call(context, files->count, files->paths, model));
        SVMP_CHECK(find_reader(context, files, &reader, &source));
        with.source = &source;
    }
    SVMP_CHECK(svmp_number_enter(context, &locale));
    status = reader->read(context, &with, NULL, model);
done:
    svmp_number_leave(&locale);
    svmp_source_free(context, &source);
    return status;
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* All processes were given the same files, wherever they have them. */
static svmp_status compare_files(svmp_context *context, const model_files *files) {
    char words[32];
    snprintf(words, sizeof words, "%zu", files->count);
    SVMP_TRY(svmp_context_compare(context, "the number of files", words));
    SVMP_TRY(svmp_context_compare(context, "the monitored nodes", files->monitors ? files->monitors : "nothing"));
    for (size_t k = 0; k < files->count; k++)
        SVMP_TRY(svmp_peers_compare_file(context, k == 0 ? "model" : "data", files->paths[k]));
    return SVMP_OK;
}

/* The first process reads the graph, which is all that it needs to say whose each node is. */
static svmp_status choose_owners(svmp_context *context, const model_reader *reader, const model_files *files,
                                 uint32_t **owner, svmp_split *split) {
    const svmp_peers *t = context->peers;
    svmp_graph *graph = NULL;
    uint64_t nodes = 0;
    svmp_status status = t->rank == 0 ? reader->read_graph(context, files, &graph) : SVMP_OK;
    SVMP_CHECK(svmp_agree(context, context->peers, status));
    if (graph) nodes = graph->nodes;
    t->broadcast(t, 0, sizeof nodes, &nodes);
    SVMP_CHECK(svmp_agree(context, context->peers, SVMP_NEW(context, *owner, nodes)));
    SVMP_CHECK(svmp_split_choose(context, graph, nodes, *owner, split));
done:
    svmp_graph_free(graph);
    return status;
}

static svmp_status read_parts(svmp_context *context, const model_reader *reader, const model_files *files,
                              svmp_model **model, svmp_split *split) {
    uint32_t *owner = NULL;
    svmp_model *made = NULL;
    svmp_status status;
    SVMP_CHECK(choose_owners(context, reader, files, &owner, split));
    const graph_owners own = {owner, (uint32_t)context->peers->rank};
    SVMP_CHECK(svmp_agree(context, context->peers, reader->read(context, files, &own, &made)));
    SVMP_CHECK(svmp_split_fragment(&made, owner));
    *model = made;
    made = NULL;
done:
    svmp_model_free(made);
    svmp_release(context, owner);
    return status;
}

svmp_status svmp_read_parts(svmp_context *context, const model_files *files, svmp_model **model, svmp_split *split) {
    const model_reader *reader = NULL;
    number_locale locale = {0};
    model_files with = *files;
    text_source source = {0};
    svmp_split made;
    svmp_status status;
    if (context->peers->count == 1) {
        SVMP_TRY(svmp_read_model(context, files, model));
        return svmp_model_split(model, split);
    }
    SVMP_TRY(svmp_agree(context, context->peers, check_call(context, files->count, files->paths, model)));
    SVMP_TRY(compare_files(context, files));
    SVMP_CHECK(svmp_agree(context, context->peers, find_reader(context, files, &reader, &source)));
    with.source = &source;
    SVMP_CHECK(svmp_agree(context, context->peers, svmp_number_enter(context, &locale)));
    SVMP_CHECK(read_parts(context, reader, &with, model, &made));
    if (split) *split = made;
done:
    svmp_number_leave(&locale);
    svmp_source_free(context, &source);
    return status;
}
