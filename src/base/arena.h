/* An arena: memory that is allocated piece by piece and freed all at once. */
#ifndef SVMP_BASE_ARENA_H
#define SVMP_BASE_ARENA_H

#include "base/context.h"

typedef struct arena_chunk arena_chunk;

typedef struct memory_arena {
    svmp_context *context;
    arena_chunk *chunks;
    size_t used; /* of the newest chunk */
} memory_arena;

/* `count` items of `size` bytes, zeroed, aligned for any type; they live as long as the arena. */
svmp_status svmp_arena_allocate(memory_arena *arena, size_t count, size_t size, void **pointer);

/* ARENA_NEW(arena, array, count): of the pointer's own type. */
#define ARENA_NEW(arena, pointer, count) svmp_arena_allocate((arena), (count), sizeof *(pointer), (void **)&(pointer))

/* Frees what was allocated after `mark`, a copy of the arena at that time. */
void svmp_arena_rewind(memory_arena *arena, const memory_arena *mark);

void svmp_arena_free(memory_arena *arena);

#endif
