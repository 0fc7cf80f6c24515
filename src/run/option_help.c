/* One line on every option. The names in it come from the registries:
 *
 *     {names}            the values that the option can take
 *     {shapes} {domains} the parts of a kernel
 *     {defaults}         the default value of each method
 *     {devices}          the backends of plug-ins
 */
#include <string.h>

#include "backend/device_backend.h"
#include "method/method.h"
#include "run/option_table.h"
#include "stein/kernel.h"

enum { LIST_MOST = 512 };

/* The default of an option for a method; NULL: the method does not take the option. */
static const char *own_default(const method *m, const char *option, char text[NUMBER_TEXT]) {
    const int chains = m->yield == SVMP_YIELD_CHAINS;
    if (strcmp(option, "step") == 0) return m->step;
    if (strcmp(option, "kernel") == 0) return m->kernel;
    if (strcmp(option, "init") == 0) return m->init ? m->init : METHOD_INIT;
    if (strcmp(option, "warmup") == 0) {
        snprintf(text, NUMBER_TEXT, m->sweeps ? "T/2" : "%d", METHOD_WARMUP);
        return chains ? text : NULL;
    }
    if (strcmp(option, "draws") == 0) {
        snprintf(text, NUMBER_TEXT, m->sweeps ? "at most %zu" : "%zu", chains ? m->draws : m->answers);
        return chains || m->answers ? text : NULL;
    }
    snprintf(text, NUMBER_TEXT, "%zu", m->iterations ? m->iterations : (size_t)METHOD_ITERATIONS);
    return m->yield == SVMP_YIELD_DRAWS || (chains && !m->sweeps) ? NULL : text;
}

static int same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* How many methods have this default. */
static size_t followers(const char *option, const char *value) {
    char text[NUMBER_TEXT];
    size_t count = 0;
    for (size_t k = 0; svmp_method_at(k); k++)
        count += (size_t)same(value, own_default(svmp_method_at(k), option, text));
    return count;
}

static size_t append(char list[LIST_MOST], size_t length, const char *before, const char *word) {
    return length < LIST_MOST ? length + (size_t)snprintf(list + length, LIST_MOST - length, "%s%s", before, word)
                              : length;
}

/* "transport: 2000; dpmp, tpmp: 100; others: 1000": the largest group comes last, unnamed if it has more than two. */
static void list_defaults(const char *option, char list[LIST_MOST]) {
    char here[NUMBER_TEXT], there[NUMBER_TEXT], usual[NUMBER_TEXT] = "";
    size_t length = 0, most = 2;
    for (size_t k = 0; svmp_method_at(k); k++) {
        const char *mine = own_default(svmp_method_at(k), option, here);
        const size_t count = followers(option, mine);
        if (count > most) most = count, snprintf(usual, sizeof usual, "%s", mine);
    }
    for (size_t k = 0; svmp_method_at(k); k++) {
        const char *mine = own_default(svmp_method_at(k), option, here);
        int listed = mine == NULL || same(mine, usual);
        for (size_t j = 0; j < k && !listed; j++) listed = same(mine, own_default(svmp_method_at(j), option, there));
        if (listed) continue;
        for (size_t j = k; svmp_method_at(j); j++)
            if (same(mine, own_default(svmp_method_at(j), option, there)))
                length = append(list, length, j > k ? ", " : length ? "; " : "", svmp_method_at(j)->name);
        length = append(list, length, ": ", mine);
    }
    if (*usual) append(list, length, length ? "; others: " : "", usual);
}

/* "one: an NVIDIA GPU; two: in double precision; " */
static void list_devices(char list[LIST_MOST]) {
    size_t length = 0;
    for (size_t k = 0; svmp_device_kind(k); k++) {
        length = append(list, length, svmp_device_kind(k)->name, ": ");
        length = append(list, length, svmp_device_words(k), "; ");
    }
}

static const char *list_of(const option_row *row, const char *word, size_t length, char list[LIST_MOST]) {
    *list = '\0';
    if (strncmp(word, "names", length) == 0 && row->names) svmp_list_names(row->names, "or", list, LIST_MOST);
    if (strncmp(word, "shapes", length) == 0) svmp_list_names(svmp_kernel_shape_name, "or", list, LIST_MOST);
    if (strncmp(word, "domains", length) == 0) svmp_list_names(svmp_domain_name, "or", list, LIST_MOST);
    if (strncmp(word, "devices", length) == 0) list_devices(list);
    if (strncmp(word, "defaults", length) == 0) list_defaults(row->option.name, list);
    return list;
}

const char *svmp_option_help(const char *name, char *buffer, size_t size) {
    const option_row *row = name ? svmp_option_find(name) : NULL;
    char list[LIST_MOST];
    size_t at = 0;
    if (row == NULL || buffer == NULL || size == 0) return NULL;
    for (const char *c = row->help; *c && at + 1 < size;) {
        const size_t plain = strcspn(c, "{");
        at += (size_t)snprintf(buffer + at, size - at, "%.*s", (int)plain, c);
        c += plain;
        if (*c != '{' || at + 1 >= size) continue;
        const size_t length = strcspn(++c, "}");
        at += (size_t)snprintf(buffer + at, size - at, "%s", list_of(row, c, length, list));
        c += length + 1;
    }
    return buffer;
}
