/* Programs as text: CUDA C++ that NVRTC compiles when a run starts, or plain C. The same programs give the same text.
 */
#ifndef SVMP_CUDA_GENERATE_CODE_H
#define SVMP_CUDA_GENERATE_CODE_H

#include "cuda/cuda_host.h"
#include "cuda/device_program.h"

/* Where the derivative of a slot is: in the row of a slot, and times what (twin_rows.h). */
typedef struct slot_row {
    uint32_t slot;
    double weight;
} slot_row;

/* The instructions of a program, on the host. */
typedef struct program_code {
    device_instruction *code;
    double *literals;
    slot_row *rows; /* one for each slot; NULL: each has its own */
    size_t count, literal_count;
    uint32_t slots, registers;
    int special;
} program_code;

void svmp_program_code_free(const svmp_host *host, program_code *p);

/* Whether two programs are the same, so that one text is enough. */
int svmp_generate_same(const program_code *p, const program_code *q);

/* Text with a kernel `generated_S` for each set S: programs first[S] ... first[S + 1] - 1 of `list`, which know their
 * numbers in it from their blocks. Each thread has `width` particles. The caller releases the text. */
svmp_status svmp_generate(const svmp_host *host, size_t sets, const size_t *first, const program_code *const *list,
                          unsigned width, char **text);

#endif
