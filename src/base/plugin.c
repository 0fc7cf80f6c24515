#define _GNU_SOURCE /* dladdr */
#include "base/plugin.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_library.h"
#include "known_plugins.h"

/* The names of a plug-in, and where it was found. */
typedef struct plugin_search {
    const char *name;
    char file[64], variable[64]; /* svmp_NAME.so, SVMP_NAME */
    char path[4096];             /* of the file that was loaded, or that could not be */
    void *library;
    int global; /* whether libraries that it loads see its symbols */
    int broken;
    char words[300]; /* the system's, of the first file that is there and cannot be loaded */
} plugin_search;

static void set_names(plugin_search *s, svmp_plugin_kind kind, const char *name) {
    *s = (plugin_search){.name = name, .global = kind == SVMP_PLUGIN_PEERS};
    snprintf(s->file, sizeof s->file, "svmp_%s.so", name);
    snprintf(s->variable, sizeof s->variable, "SVMP_%s", name);
    for (char *c = s->variable; *c; c++) *c = (char)toupper((unsigned char)*c);
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void try_path(plugin_search *s, const char *path) {
    char words[sizeof s->words];
    int absent;
    if (s->library || s->broken) return;
    s->library = svmp_library_open(path, s->global, &absent, words, sizeof words);
    s->broken = s->library == NULL && !absent;
    if (s->library || s->broken) snprintf(s->path, sizeof s->path, "%s", path);
    if (s->broken) snprintf(s->words, sizeof s->words, "%s", words);
}

static void try_folder(plugin_search *s, size_t length, const char *folder) {
    char path[sizeof s->path];
    const int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, s->file);
    if (written > 0 && (size_t)written < sizeof path) try_path(s, path);
}

/* Beside the file that contains this function: libsvmp, or a program that it is linked into, unless that was found by
 * its name alone. */
static void try_beside(plugin_search *s) {
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)&svmp_plugin_find, &info) == 0 || info.dli_fname == NULL) return;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash) try_folder(s, (size_t)(slash - info.dli_fname), info.dli_fname);
}

static void look_around(plugin_search *s, char *why, size_t size) {
    const char *folder = getenv("SVMP_PLUGINS");
    if (folder && *folder) try_folder(s, strlen(folder), folder);
    try_beside(s);
    try_path(s, s->file);
    if (s->broken)
        snprintf(why, size, "The plug-in '%.150s' cannot be loaded: %s.", s->path, s->words);
    else if (s->library == NULL)
        snprintf(why, size, "The plug-in %s was not found. %s, or set %s to its path.", s->file,
                 svmp_build_has(s->name) ? "Build it with 'make' in svmp's sources"
                                         : "This build does not include it: build another one",
                 s->variable);
}

/* A path, which may be empty. */
static void try_given(plugin_search *s, const char *given, char *why, size_t size) {
    int absent;
    if (*given == '\0') {
        snprintf(why, size, "%s is empty, so the plug-in %s is not used.", s->variable, s->file);
        return;
    }
    snprintf(s->path, sizeof s->path, "%s%s", strchr(given, '/') ? "" : "./", given); /* not where the system looks */
    s->library = svmp_library_open(s->path, s->global, &absent, s->words, sizeof s->words);
    s->broken = s->library == NULL;
    if (s->broken)
        snprintf(why, size, "%s names '%.150s', which cannot be loaded (%s): it must be the path of %s, or unset.",
                 s->variable, given, s->words, s->file);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static int is_of_this_build(const svmp_plugin *plugin) {
    if (plugin->version != SVMP_PLUGIN_VERSION) return 0;
    return plugin->kind != SVMP_PLUGIN_DEVICE || (plugin->formulas && strcmp(plugin->formulas, KNOWN_FORMULAS) == 0);
}

static plugin_state check(const plugin_search *s, svmp_plugin_kind kind, const svmp_plugin **found, char *why,
                          size_t size) {
    svmp_plugin_entry_function entry = NULL;
    const svmp_plugin *plugin = svmp_library_bind(s->library, SVMP_PLUGIN_ENTRY, &entry) ? entry() : NULL;
    if (plugin == NULL)
        snprintf(why, size, "'%.300s' is not svmp's plug-in %s.", s->path, s->file);
    else if (!is_of_this_build(plugin))
        snprintf(why, size, "'%.300s' belongs to another build of svmp; build both from the same sources.", s->path);
    else if (plugin->kind != (uint32_t)kind || strcmp(plugin->name, s->name) != 0)
        snprintf(why, size, "'%.300s' is svmp's plug-in '%.50s', and not %s.", s->path, plugin->name, s->file);
    else
        return *found = plugin, PLUGIN_FOUND;
    return PLUGIN_BROKEN;
}

/* A plug-in that is linked into this library; NULL: it is to be loaded. */
static const svmp_plugin *find_linked(const char *name) {
#define LINKED(plugin)                                                                                                 \
    const svmp_plugin *svmp_##plugin##_plugin_entry(void);                                                             \
    if (strcmp(name, #plugin) == 0) return svmp_##plugin##_plugin_entry();
    LINKED_PLUGINS(LINKED)
#undef LINKED
    return (void)name, NULL;
}

plugin_state svmp_plugin_find(svmp_plugin_kind kind, const char *name, const svmp_plugin **found, char *why,
                              size_t size) {
    plugin_search s;
    set_names(&s, kind, name);
    const char *given = getenv(s.variable);
    if (given == NULL && (*found = find_linked(name)) != NULL) return PLUGIN_FOUND;
    if (given)
        try_given(&s, given, why, size);
    else
        look_around(&s, why, size);
    if (s.library) return check(&s, kind, found, why, size);
    return s.broken ? PLUGIN_BROKEN : PLUGIN_ABSENT;
}

svmp_status svmp_plugin_open(svmp_context *context, svmp_plugin_kind kind, const char *name,
                             const svmp_plugin **found) {
    char why[600];
    if (svmp_plugin_find(kind, name, found, why, sizeof why) == PLUGIN_FOUND) return SVMP_OK;
    return svmp_fail(context, SVMP_UNSUPPORTED, "%s", why);
}

/* ---- the host ---------------------------------------------------------------------------------------------------- */

static void *allocate(void *context, size_t bytes) {
    void *made = NULL;
    return svmp_allocate(context, bytes, 1, &made) == SVMP_OK ? made : NULL;
}

static void release(void *context, void *pointer) { svmp_release(context, pointer); }

static void fail(void *context, int status, const char *sentence) {
    svmp_record(context, (svmp_status)status, "%s", sentence);
}

static void log_sentence(void *context, int level, const char *sentence) {
    svmp_log(context, (svmp_log_level)level, "%s", sentence);
}

svmp_host svmp_plugin_host(svmp_context *context) {
    return (svmp_host){context, allocate, release, fail, log_sentence};
}
