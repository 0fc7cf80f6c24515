/* Deterministic nodes that are computed from deterministic nodes, however long the chain: an expression that would go
 * too deep is left (lowering->pending), what it waits for is computed first, and it is tried again. */
#include "lang/compile/compile_passes.h"

typedef struct chain {
    uint32_t *instances; /* each waits for the next */
    size_t count, capacity;
} chain;

static svmp_status push(model_lowering *lowering, chain *waiting) {
    SVMP_TRY(SVMP_GROW(lowering->context, waiting->instances, waiting->capacity, waiting->count + 1));
    waiting->instances[waiting->count++] = lowering->pending;
    lowering->instances[lowering->pending].busy = true;
    lowering->pending = NOTHING;
    return SVMP_OK;
}

static svmp_status compute_chain(model_lowering *lowering, chain *waiting) {
    SVMP_TRY(push(lowering, waiting));
    while (waiting->count > 0) {
        uint32_t last = waiting->instances[waiting->count - 1];
        svmp_status status = svmp_compute(lowering, last);
        if (lowering->pending != NOTHING) {
            SVMP_TRY(push(lowering, waiting));
            continue;
        }
        SVMP_TRY(status);
        lowering->instances[last].busy = false;
        waiting->count--;
    }
    return SVMP_OK;
}

svmp_status svmp_compute_pending(model_lowering *lowering) {
    chain waiting = {0};
    svmp_status status = compute_chain(lowering, &waiting);
    for (size_t k = 0; k < waiting.count; k++) {
        lowering->instances[waiting.instances[k]].busy = false;
        /* statements that read it report no error of their own */
        svmp_state_of(lowering, lowering->instances[waiting.instances[k]].statement)->failed = true;
    }
    svmp_release(lowering->context, waiting.instances);
    if (status != SVMP_OK) lowering->pending = NOTHING;
    return status;
}

svmp_status svmp_with_chains(model_lowering *lowering, chain_reader read, void *work) {
    svmp_status status = read(lowering, work);
    while (lowering->pending != NOTHING) {
        lowering->depth = 0;
        status = svmp_compute_pending(lowering);
        if (status == SVMP_OK) status = read(lowering, work);
    }
    return status;
}
