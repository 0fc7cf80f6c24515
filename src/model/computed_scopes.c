/* Scopes of a block: the variables that its factors depend on, directly or through rows. Factors that depend on the
 * same, or on fewer, are one factor of the graph. */
#include "model/computed_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Where sets would take more numbers than this in all, the block is one factor of all its variables: every variable
 * enters late, so that most sets are large, and hardly a blanket is larger for it. */
enum { MOST_NUMBERS = 1 << 24 };

/* A set is compared with so many of the larger ones. */
enum { MOST_COMPARED = 16 };

/* Sets of slots, ascending, each kept once. */
typedef struct scope_search {
    svmp_context *context;
    const computed_plan *plan;
    const computed_block *block;
    size_t *start; /* of each set; set_count + 1 */
    uint32_t *item;
    size_t set_count, start_capacity, item_capacity, numbers;
    uint32_t *table; /* open hash table of sets: 1 + the set */
    size_t table_size;
    uint32_t *set_of; /* row, counted from the block's first -> its set */
    uint32_t *stamp;  /* slot -> the last set that it was put in */
    uint32_t turn;
    bool *is_scope; /* of each set, */
    size_t known;   /* of the first so many */
    size_t scope_capacity;
} scope_search;

static int order_of_numbers(const void *a, const void *b) {
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static size_t size_of(const scope_search *s, uint32_t set) { return s->start[set + 1] - s->start[set]; }

static size_t place_of(const scope_search *s, uint32_t set) {
    const size_t bytes = size_of(s, set) * sizeof *s->item;
    size_t place = svmp_hash_bytes(SVMP_HASH_START, bytes, s->item + s->start[set]) & (s->table_size - 1);
    for (; s->table[place]; place = (place + 1) & (s->table_size - 1)) {
        const uint32_t other = s->table[place] - 1;
        if (size_of(s, other) == size_of(s, set) &&
            memcmp(s->item + s->start[other], s->item + s->start[set], bytes) == 0)
            break;
    }
    return place;
}

static svmp_status make_table(scope_search *s) {
    if (2 * (s->set_count + 1) <= s->table_size) return SVMP_OK;
    svmp_release(s->context, s->table);
    s->table = NULL;
    s->table_size = s->table_size ? 2 * s->table_size : 64;
    SVMP_TRY(SVMP_NEW(s->context, s->table, s->table_size));
    for (uint32_t set = 0; set < s->set_count; set++) s->table[place_of(s, set)] = set + 1;
    return SVMP_OK;
}

/* The set of all slots that are read here, directly or by rows. */
static svmp_status find_set(scope_search *s, size_t count, const uint32_t *read, uint32_t *found) {
    const size_t slots = s->block->slots, first = s->set_count ? s->start[s->set_count] : 0;
    size_t end = first;
    SVMP_TRY(make_table(s));
    SVMP_TRY(SVMP_GROW(s->context, s->start, s->start_capacity, s->set_count + 2));
    SVMP_TRY(SVMP_GROW(s->context, s->item, s->item_capacity, first + slots));
    s->start[s->set_count] = first;
    s->turn++;
    for (size_t j = 0; j < count; j++) {
        const bool row = read[j] >= slots;
        const uint32_t set = row ? s->set_of[read[j] - slots] : 0;
        const uint32_t *from = row ? s->item + s->start[set] : &read[j];
        const size_t length = row ? size_of(s, set) : 1;
        s->numbers += length;
        for (size_t k = 0; k < length; k++) {
            if (s->stamp[from[k]] == s->turn) continue;
            s->stamp[from[k]] = s->turn;
            s->item[end++] = from[k];
        }
    }
    if (end > first) qsort(s->item + first, end - first, sizeof *s->item, order_of_numbers);
    s->start[s->set_count + 1] = end;
    const size_t place = place_of(s, (uint32_t)s->set_count);
    if (s->table[place] == 0) s->table[place] = (uint32_t)++s->set_count;
    *found = s->table[place] - 1;
    return SVMP_OK;
}

/* The sets of all rows; *done: they did not become too many. */
static svmp_status find_rows(scope_search *s, bool *done) {
    const computed_plan *plan = s->plan;
    const size_t last = plan->windows[s->block[1].window].run;
    for (size_t r = plan->windows[s->block->window].run; r < last && s->numbers <= MOST_NUMBERS; r++) {
        const computed_run *run = &plan->runs[r];
        const factor_group *group = &plan->groups[run->span.group];
        for (size_t k = 0; k < run->span.count; k++)
            SVMP_TRY(find_set(s, group->slots, group->variables + (run->span.first + k) * group->slots,
                              &s->set_of[run->row + k - s->block->slots]));
    }
    *done = s->numbers <= MOST_NUMBERS;
    return SVMP_OK;
}

/* Marks the sets of factors. */
static svmp_status find_factors(scope_search *s) {
    const computed_plan *plan = s->plan;
    for (size_t f = s->block->factor; f < s->block[1].factor; f++) {
        const computed_span *span = &plan->factors[f];
        const factor_group *group = &plan->groups[span->group];
        for (size_t k = 0; k < span->count; k++) {
            uint32_t set;
            SVMP_TRY(find_set(s, group->slots, group->variables + (span->first + k) * group->slots, &set));
            SVMP_TRY(SVMP_GROW(s->context, s->is_scope, s->scope_capacity, s->set_count));
            while (s->known < s->set_count) s->is_scope[s->known++] = false;
            s->is_scope[set] = true;
        }
    }
    return SVMP_OK;
}

/* ---- the largest sets -------------------------------------------------------------------------------------------- */

typedef struct sized_set {
    size_t size;
    uint32_t set;
} sized_set;

static int larger_first(const void *a, const void *b) {
    const sized_set *one = a, *other = b;
    if (one->size != other->size) return one->size > other->size ? -1 : 1;
    return one->set < other->set ? -1 : one->set > other->set;
}

static bool is_within(const scope_search *s, uint32_t set, const bool *member) {
    size_t k = s->start[set];
    while (k < s->start[set + 1] && member[s->item[k]]) k++;
    return k == s->start[set + 1];
}

static svmp_status list_set(scope_search *s, uint32_t set, size_t *capacity, size_t *start_capacity, size_t *count,
                            index_lists *scopes) {
    const size_t from = *count ? scopes->start[*count] : 0, size = size_of(s, set);
    SVMP_TRY(SVMP_GROW(s->context, scopes->start, *start_capacity, *count + 2));
    SVMP_TRY(SVMP_GROW(s->context, scopes->item, *capacity, from + size));
    scopes->start[*count] = from;
    if (size > 0) memcpy(scopes->item + from, s->item + s->start[set], size * sizeof *s->item);
    scopes->start[++*count] = from + size;
    return SVMP_OK;
}

/* Those of factors that are not within another one, as far as this is seen. */
static svmp_status list_largest(scope_search *s, size_t *count, index_lists *scopes) {
    svmp_context *context = s->context;
    const size_t slots = s->block->slots;
    size_t sets = 0, capacity = 0, start_capacity = 0;
    sized_set *sorted = NULL;
    bool *member = NULL; /* slots of the first MOST_COMPARED */
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, sorted, s->set_count));
    SVMP_CHECK(SVMP_NEW(context, member, MOST_COMPARED * slots));
    for (uint32_t set = 0; set < s->set_count; set++)
        if (s->is_scope[set]) sorted[sets++] = (sized_set){size_of(s, set), set};
    qsort(sorted, sets, sizeof *sorted, larger_first);
    for (size_t k = 0; k < sets; k++) {
        const uint32_t set = sorted[k].set;
        bool within = false;
        for (size_t c = 0; !within && c < *count && c < MOST_COMPARED; c++)
            within = is_within(s, set, member + c * slots);
        if (within) continue;
        for (size_t e = s->start[set]; *count < MOST_COMPARED && e < s->start[set + 1]; e++)
            member[*count * slots + s->item[e]] = true;
        SVMP_CHECK(list_set(s, set, &capacity, &start_capacity, count, scopes));
    }
done:
    svmp_release(context, sorted);
    svmp_release(context, member);
    return status;
}

/* One factor of all variables. */
static svmp_status list_all(scope_search *s, size_t *count, index_lists *scopes) {
    SVMP_TRY(SVMP_NEW(s->context, scopes->start, 2));
    SVMP_TRY(SVMP_NEW(s->context, scopes->item, s->block->slots));
    for (size_t j = 0; j < s->block->slots; j++) scopes->item[j] = (uint32_t)j;
    scopes->start[1] = s->block->slots;
    *count = 1;
    return SVMP_OK;
}

svmp_status svmp_computed_block_scopes(const computed_plan *plan, size_t block, size_t *count, index_lists *scopes) {
    scope_search s = {.context = plan->context, .plan = plan, .block = &plan->blocks[block]};
    bool done = false;
    svmp_status status;
    *count = 0;
    *scopes = (index_lists){0};
    SVMP_CHECK(SVMP_NEW(s.context, s.set_of, s.block->rows));
    SVMP_CHECK(SVMP_NEW(s.context, s.stamp, s.block->slots));
    SVMP_CHECK(find_rows(&s, &done));
    if (done) SVMP_CHECK(find_factors(&s));
    SVMP_CHECK(done ? list_largest(&s, count, scopes) : list_all(&s, count, scopes));
done:
    if (status != SVMP_OK) svmp_lists_free(s.context, scopes);
    void *const arrays[] = {s.start, s.item, s.table, s.set_of, s.stamp, s.is_scope};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(s.context, arrays[k]);
    return status;
}
