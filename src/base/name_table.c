#include "base/name_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/name_distance.h"

static int equal(const char *name, const char *text, size_t length) {
    return strncmp(name, text, length) == 0 && name[length] == 0;
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const name_table *names, const char *text, size_t length) {
    size_t slot = svmp_table_hash(length, text) & (names->slot_count - 1);
    while (names->slots[slot] != NAMES_NONE && !equal(names->text[names->slots[slot]], text, length))
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

uint32_t svmp_names_find(const name_table *names, const char *text, size_t length) {
    return names->slot_count == 0 ? NAMES_NONE : names->slots[slot_of(names, text, length)];
}

static void number_slots(name_table *names) {
    memset(names->slots, 0xFF, names->slot_count * sizeof *names->slots);
    for (size_t k = 0; k < names->count; k++)
        names->slots[slot_of(names, names->text[k], strlen(names->text[k]))] = (uint32_t)k;
}

static svmp_status grow_table(svmp_context *context, name_table *names) {
    if (2 * (names->count + 1) <= names->slot_count) return SVMP_OK;
    size_t wanted = names->slot_count ? 2 * names->slot_count : 16;
    uint32_t *slots;
    SVMP_TRY(SVMP_NEW(context, slots, wanted));
    svmp_release(context, names->slots);
    names->slots = slots;
    names->slot_count = wanted;
    number_slots(names);
    return SVMP_OK;
}

svmp_status svmp_names_add(svmp_context *context, name_table *names, const char *text, size_t length,
                           uint32_t *number) {
    SVMP_TRY(grow_table(context, names));
    size_t slot = slot_of(names, text, length);
    if (names->slots[slot] == NAMES_NONE) {
        SVMP_TRY(SVMP_GROW(context, names->text, names->text_capacity, names->count + 1));
        char *copy;
        SVMP_TRY(SVMP_NEW(context, copy, length + 1));
        memcpy(copy, text, length);
        names->text[names->count] = copy;
        names->slots[slot] = (uint32_t)names->count++;
    }
    *number = names->slots[slot];
    return SVMP_OK;
}

const char *svmp_names_nearest(const name_table *names, const char *text) {
    const char *nearest = NULL;
    int least = NAME_LONGEST_COMPARED;
    for (size_t k = 0; k < names->count; k++) {
        int distance = svmp_name_distance(text, strlen(text), names->text[k]);
        if (distance > 0 && distance < least) {
            least = distance;
            nearest = names->text[k];
        }
    }
    return nearest;
}

void svmp_names_truncate(svmp_context *context, name_table *names, size_t count) {
    if (count >= names->count) return;
    while (names->count > count) svmp_release(context, names->text[--names->count]);
    number_slots(names);
}

void svmp_names_free(svmp_context *context, name_table *names) {
    for (size_t k = 0; k < names->count; k++) svmp_release(context, names->text[k]);
    svmp_release_all(context, names->text, names->slots);
    memset(names, 0, sizeof *names);
}
