#include "base/name_table.h"

#include <string.h>

#include "svmp_tools.h"

enum { LONGEST_COMPARED = 64 };

static uint64_t hash(const char *text, size_t length) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t k = 0; k < length; k++) h = (h ^ (unsigned char)text[k]) * 1099511628211u;
    return h ^ h >> 32;
}

static int equal(const char *name, const char *text, size_t length) {
    return strncmp(name, text, length) == 0 && name[length] == 0;
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const name_table *names, const char *text, size_t length) {
    size_t slot = hash(text, length) & (names->slot_count - 1);
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

static int smallest(int a, int b) { return a < b ? a : b; }

int svmp_name_distance(const char *text, size_t length, const char *candidate) {
    size_t rows = length, columns = strlen(candidate);
    if (rows >= LONGEST_COMPARED || columns >= LONGEST_COMPARED) return -1;
    int distance[3][LONGEST_COMPARED] = {{0}}; /* rows i - 2, i - 1 and i of the edit table, in turn */
    for (size_t j = 0; j <= columns; j++) distance[0][j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int *now = distance[i % 3], *before = distance[(i + 2) % 3], *twice = distance[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            now[j] = smallest(smallest(before[j], now[j - 1]) + 1, before[j - 1] + (text[i - 1] != candidate[j - 1]));
            if (i > 1 && j > 1 && text[i - 1] == candidate[j - 2] && text[i - 2] == candidate[j - 1])
                now[j] = smallest(now[j], twice[j - 2] + 1);
        }
    }
    int result = distance[rows % 3][columns];
    size_t shorter = rows < columns ? rows : columns;
    return result <= (shorter < 3 ? 0 : shorter < 6 ? 1 : 2) ? result : -1;
}

const char *svmp_names_nearest(const name_table *names, const char *text) {
    const char *nearest = NULL;
    int least = LONGEST_COMPARED;
    for (size_t k = 0; k < names->count; k++) {
        int distance = svmp_name_distance(text, strlen(text), names->text[k]);
        if (distance > 0 && distance < least) {
            least = distance;
            nearest = names->text[k];
        }
    }
    return nearest;
}

const char *svmp_name_suggest(const char *typed, size_t length, size_t count, const char *const *names) {
    const char *nearest = NULL;
    int least = LONGEST_COMPARED;
    if (typed == NULL || names == NULL) return NULL;
    for (size_t k = 0; k < count; k++) {
        const int begins = length >= 3 && strncmp(names[k], typed, length) == 0;
        const int distance = begins ? 0 : svmp_name_distance(typed, length, names[k]);
        if (distance < 0 || distance >= least) continue;
        least = distance;
        nearest = names[k];
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
    svmp_release(context, names->text);
    svmp_release(context, names->slots);
    memset(names, 0, sizeof *names);
}
