/* Finds the kind of a model by its files, and reads these. */
#include "lang/model_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/name_list.h"
#include "base/peers.h"
#include "lang/compile/compile_passes.h"

/* ---- kinds ---------------------------------------------------------------------------------------------------- */

static const char *const endings[] = {".bug", ".jags", ".txt", ".mtx"};

enum { TEXTS = 3 }; /* the first of them are of model texts */

static const char *ending_at(size_t k) { return k < sizeof endings / sizeof *endings ? endings[k] : NULL; }

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static bool has_text_ending(const char *path) {
    for (size_t k = 0; k < TEXTS; k++)
        if (ends_in(path, endings[k])) return true;
    return false;
}

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

/* A file whose name does not say what it is must be a model by its first words. */
static svmp_status recognise(svmp_context *context, const char *path, text_source *source) {
    struct stat about;
    char list[64];
    data_kind kind = DATA_OTHER;
    if (stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode))) {
        SVMP_TRY(svmp_source_read(context, path, source));
        kind = svmp_data_kind(source->text, source->length);
    }
    if (kind == DATA_MODEL) return SVMP_OK;
    if (kind == DATA_OTHER && !svmp_data_is_read(path, strlen(path)))
        return svmp_fail(context, SVMP_BAD_INPUT, "Unknown kind of model file '%s': expected a name that ends in %s.",
                         path, svmp_list_names(ending_at, "or", list, sizeof list));
    return svmp_fail(context, SVMP_BAD_INPUT,
                     "'%s' is a data file; the model file comes first, and its name ends in %s.", path,
                     svmp_list_names(ending_at, "or", list, sizeof list));
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static svmp_status read_model_text(svmp_context *context, const model_files *files, text_source *source) {
    const char *path = files->paths[0];
    if (ends_in(path, ".stan"))
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "Cannot read the Stan program '%s': models are written in the BUGS language, in a file that "
                         "ends in .bug. See \"Coming from Stan\" in docs/language.md.",
                         path);
    if (!has_text_ending(path)) return recognise(context, path, source);
    SVMP_TRY(svmp_source_read(context, path, source));
    return refuse_data(context, files, source);
}

static svmp_status read_texts(parsed_model *made, const model_files *files) {
    svmp_context *context = made->context;
    const size_t count = files->text ? 1 : files->count;
    SVMP_TRY(SVMP_NEW(context, made->texts, count));
    made->text_count = count;
    if (files->text) return svmp_source_copy(context, files->name, files->text, strlen(files->text), made->texts);
    SVMP_TRY(read_model_text(context, files, made->texts));
    for (size_t k = 1; k < files->count; k++) SVMP_TRY(svmp_source_read(context, files->paths[k], &made->texts[k]));
    return SVMP_OK;
}

static svmp_status keep_paths(parsed_model *made, const model_files *files) {
    SVMP_TRY(svmp_matrix_check(made->context, files));
    SVMP_TRY(SVMP_NEW(made->context, made->matrix_paths, files->count));
    for (; made->matrix_count < files->count; made->matrix_count++)
        SVMP_TRY(
            svmp_duplicate(made->context, files->paths[made->matrix_count], &made->matrix_paths[made->matrix_count]));
    return SVMP_OK;
}

static svmp_status check_paths(svmp_context *context, const model_files *files) {
    if (files->text || files->parsed) return SVMP_OK;
    if (files->paths == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_read: the paths are NULL.");
    for (size_t k = 0; k < files->count; k++)
        if (files->paths[k] == NULL) return svmp_fail(context, SVMP_BAD_CALL, "Path %zu of the model is NULL.", k + 1);
    return files->count > 0 ? SVMP_OK : svmp_fail(context, SVMP_BAD_CALL, "No model file was given.");
}

svmp_status svmp_files_read(svmp_context *context, const model_files *files, parsed_model **parsed) {
    parsed_model *made = NULL;
    svmp_status status;
    SVMP_TRY(check_paths(context, files));
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    if (files->monitors) SVMP_CHECK(svmp_duplicate(context, files->monitors, &made->monitors));
    if (files->statements) SVMP_CHECK(svmp_duplicate(context, files->statements, &made->statements));
    if (files->given) SVMP_CHECK(svmp_particles_by_name(files->given, &made->given.sorted));
    if (files->given) made->given.count = files->given->variables;
    made->simulated = files->simulated;
    made->fresh = files->fresh;
    made->text = files->parsed;
    made->text_is_given = files->parsed != NULL;
    const bool matrix = files->paths && ends_in(files->paths[0], ".mtx");
    if (matrix) SVMP_CHECK(keep_paths(made, files));
    if (!matrix && files->parsed == NULL) SVMP_CHECK(read_texts(made, files));
    *parsed = made;
    return SVMP_OK;
done:
    svmp_parsed_free(made);
    return status;
}

/* ---- several processes ---------------------------------------------------------------------------------------- */

static svmp_status compare_file(svmp_context *context, size_t k, const char *path, const char *words) {
    char whose[300];
    snprintf(whose, sizeof whose, "the %s '%.250s'", k == 0 ? "model" : "data", path);
    return svmp_context_compare(context, whose, words);
}

svmp_status svmp_file_compare(svmp_context *context, size_t k, const char *path, size_t bytes, uint64_t checksum) {
    char words[64];
    snprintf(words, sizeof words, "%zu bytes, checksum %016llx", bytes, (unsigned long long)checksum);
    return compare_file(context, k, path, words);
}

/* The files themselves are compared when they are read. */
static svmp_status compare_access(svmp_context *context, size_t k, const char *path) {
    char words[200] = "readable";
    if (access(path, R_OK) != 0) snprintf(words, sizeof words, "unreadable (%s)", strerror(errno));
    return compare_file(context, k, path, words);
}

svmp_status svmp_files_compare(const parsed_model *parsed) {
    for (size_t k = 0; k < parsed->matrix_count; k++)
        SVMP_TRY(compare_access(parsed->context, k, parsed->matrix_paths[k]));
    for (size_t k = 0; k < parsed->text_count; k++) {
        const text_source *text = &parsed->texts[k];
        const uint64_t checksum = svmp_hash_bytes(SVMP_HASH_START, text->length, text->text);
        SVMP_TRY(svmp_file_compare(parsed->context, k, text->path, text->length, checksum));
    }
    return SVMP_OK;
}
