#include "base/arena.h"

#include <string.h>

enum { CHUNK = 16384, ALIGNMENT = 16 };

struct arena_chunk {
    arena_chunk *older;
    size_t size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

svmp_status svmp_arena_allocate(memory_arena *arena, size_t count, size_t size, void **pointer) {
    if (count > SIZE_MAX / 4 / size) return svmp_allocate(arena->context, count, size, pointer); /* which fails */
    size_t needed = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->chunks == NULL || needed > arena->chunks->size - arena->used) {
        size_t room = needed > CHUNK ? needed : CHUNK;
        arena_chunk *chunk;
        SVMP_TRY(svmp_allocate(arena->context, 1, sizeof *chunk + room, (void **)&chunk));
        chunk->older = arena->chunks;
        chunk->size = room;
        arena->chunks = chunk;
        arena->used = 0;
    }
    *pointer = arena->chunks->bytes + arena->used;
    arena->used += needed;
    return SVMP_OK;
}

static void free_until(memory_arena *arena, const arena_chunk *last) {
    while (arena->chunks != last) {
        arena_chunk *older = arena->chunks->older;
        svmp_release(arena->context, arena->chunks);
        arena->chunks = older;
    }
}

void svmp_arena_rewind(memory_arena *arena, const memory_arena *mark) {
    free_until(arena, mark->chunks);
    arena->used = mark->used;
    if (arena->chunks) memset(arena->chunks->bytes + arena->used, 0, arena->chunks->size - arena->used);
}

void svmp_arena_free(memory_arena *arena) {
    free_until(arena, NULL);
    arena->used = 0;
}
