#include "model/leaf_order.h"

#include <math.h>
#include <stdlib.h>

svmp_status svmp_leaf_order_reserve(const lowered_model *lowered, uint64_t all, size_t n, const uint64_t *number,
                                    leaf_order *order) {
    size_t elements = 0;
    if (all == 0) return SVMP_OK;
    *order = (leaf_order){.strata = svmp_strata(all), .n = n, .number = number};
    for (size_t k = 0; k < lowered->prior_count; k++) {
        const lowered_prior *prior = &lowered->priors[k];
        if (prior->leaf && prior->rows * prior->columns > elements) elements = prior->rows * prior->columns;
    }
    SVMP_TRY(SVMP_NEW(lowered->context, order->particles, n));
    return svmp_allocate(lowered->context, elements, n * sizeof *order->places, (void **)&order->places);
}

void svmp_leaf_order_release(const lowered_model *lowered, leaf_order *order) {
    svmp_release(lowered->context, order->particles);
    svmp_release(lowered->context, order->places);
}

static int by_key(const void *a, const void *b) {
    const ordered_particle *left = a, *right = b;
    if (left->key < right->key || left->key > right->key) return left->key < right->key ? -1 : 1;
    return (left->l > right->l) - (left->l < right->l);
}

static int is_varied(size_t n, const double *row) {
    for (size_t l = 1; l < n; l++)
        if (row[l] < row[0] || row[l] > row[0]) return 1;
    return 0;
}

/* The first argument of an element that differs between particles, usually a mean; NULL where none does. */
static const double *find_key(const lowered_prior *prior, size_t n, size_t element, const double *values) {
    for (size_t j = 0; j < prior->arguments; j++) {
        const size_t count = prior->argument_rows[j] * prior->argument_columns[j];
        const double *row = values + (element < count ? element : 0) * n;
        if (is_varied(n, row)) return row;
        values += count * n;
    }
    return NULL;
}

static void sort(leaf_order *order, const double *key) {
    ordered_particle *all = order->particles;
    for (size_t l = 0; l < order->n; l++)
        all[l] = (ordered_particle){key == NULL ? 0 : isnan(key[l]) ? INFINITY : key[l], l};
    if (key) qsort(all, order->n, sizeof *all, by_key);
}

void svmp_leaf_order_find(const lowered_model *lowered, const lowered_node *leaf, const prior_workspace *work,
                          leaf_order *order) {
    const lowered_prior *prior = &lowered->priors[leaf->prior];
    const size_t elements = prior->rows * prior->columns;
    for (size_t k = 0; k < elements; k++) {
        sort(order, find_key(prior, order->n, k, work->prior));
        for (size_t i = 0; i < order->n; i++) order->places[order->particles[i].l * elements + k] = order->number[i];
    }
}
