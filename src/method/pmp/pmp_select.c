/* Selects N of the 2N particles of a node. */
#include <math.h>

#include "maths/fast_exponential.h"
#include "method/pmp/pmp.h"

/* ---- a heap: the first item stands at its top -------------------------------------------------------------------- */

static int before(const pmp_item *a, const pmp_item *b) {
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->belief != b->belief) return a->belief > b->belief;
    return a->particle < b->particle;
}

static void sift_down(pmp_item *heap, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &heap[at])) return;
        const pmp_item item = heap[at];
        heap[at] = heap[child];
        heap[child] = item;
        at = child;
    }
}

static void heapify(pmp_item *heap, size_t count) {
    for (size_t k = count / 2; k-- > 0;) sift_down(heap, count, k);
}

static void pop(pmp_item *heap, size_t *count) {
    heap[0] = heap[--*count];
    sift_down(heap, *count, 0);
}

/* ---- T-PMP ------------------------------------------------------------------------------------------------------- */

void svmp_pmp_top(size_t count, const double *belief, size_t keep, pmp_item *heap, uint32_t *chosen) {
    size_t left = count;
    for (size_t a = 0; a < count; a++) heap[a] = (pmp_item){.belief = belief[a], .particle = (uint32_t)a};
    heapify(heap, count);
    for (size_t k = 0; k < keep; k++) {
        chosen[k] = heap[0].particle;
        pop(heap, &left);
    }
}

/* ---- D-PMP ------------------------------------------------------------------------------------------------------- */

/* The gain of a particle: sum_row max(0, psi[row] - best[row]). The sum has a fixed order, its terms decrease as best
 * increases, and rounding is monotonic: an old gain is never less than the current one. */
static double gain_of(size_t rows, const double *psi, const double *best) {
    double lane[8] = {0}, sum = 0;
    for (size_t row = 0; row < rows; row++) {
        const double more = psi[row] - best[row];
        lane[row % 8] += more > 0 ? more : 0;
    }
    for (size_t k = 0; k < 8; k++) sum += lane[k];
    return sum;
}

static void take(size_t rows, const double *psi, double *best) {
    for (size_t row = 0; row < rows; row++) best[row] = psi[row] > best[row] ? psi[row] : best[row];
}

/* Lazy greedy selection: gains only decrease, so an item that is first with a gain from this round is the best. */
void svmp_pmp_diverse(size_t count, const double *belief, size_t rows, const double *psi, size_t keep, double *best,
                      pmp_item *heap, uint32_t *chosen) {
    size_t left = 0, first = 0;
    for (size_t a = 1; a < count; a++)
        if (belief[a] > belief[first]) first = a;
    for (size_t row = 0; row < rows; row++) best[row] = psi[first * rows + row];
    chosen[0] = (uint32_t)first;

    for (size_t a = 0; a < count; a++)
        if (a != first) heap[left++] = (pmp_item){gain_of(rows, psi + a * rows, best), belief[a], (uint32_t)a, 1};
    heapify(heap, left);
    for (size_t k = 1; k < keep; k++) {
        while (heap[0].round < k) {
            heap[0].gain = gain_of(rows, psi + heap[0].particle * rows, best);
            heap[0].round = (uint32_t)k;
            sift_down(heap, left, 0);
        }
        chosen[k] = heap[0].particle;
        take(rows, psi + heap[0].particle * rows, best);
        pop(heap, &left);
    }
}

/* The messages that leave a node, before their maximum is taken: for the end s of each of its edges, particles a of the
 * node and particles c across,  Psi[a][c] = exp( psi(a, c) + foundation_s(a) - their maximum ). The rows of all ends
 * stand one after the other. */
static void fill_psi(const pmp *p, size_t v, double *psi) {
    const size_t n = 2 * p->n, from = p->pairs->ends_start[v], to = p->pairs->ends_start[v + 1], rows = (to - from) * n;
    for (size_t k = from; k < to; k++) {
        const size_t end = p->pairs->ends[k], across = end % 2 ? n : 1,
                     own = end % 2 ? 1 : n; /* strides of the table */
        const double *table = p->table + end / 2 * n * n, *foundation = p->foundation + end * n;
        double *block = psi + (k - from) * n, largest = -INFINITY;
        for (size_t a = 0; a < n; a++)
            for (size_t c = 0; c < n; c++) {
                const double sum = table[a * own + c * across] + foundation[a];
                block[a * rows + c] = sum;
                largest = sum > largest ? sum : largest;
            }
        for (size_t a = 0; a < n; a++)
            for (size_t c = 0; c < n; c++) block[a * rows + c] = svmp_exp(block[a * rows + c] - largest);
    }
}

void svmp_pmp_select(const pmp *p, size_t node, pmp_workspace *workspace) {
    const size_t n = 2 * p->n, ends = p->pairs->ends_start[node + 1] - p->pairs->ends_start[node];
    const double *belief = p->belief + node * n;
    if (p->diverse) {
        fill_psi(p, node, workspace->psi);
        svmp_pmp_diverse(n, belief, ends * n, workspace->psi, p->n, workspace->best, workspace->heap,
                         workspace->chosen);
    } else {
        svmp_pmp_top(n, belief, p->n, workspace->heap, workspace->chosen);
    }
}
