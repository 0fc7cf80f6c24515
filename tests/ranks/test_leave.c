/* In each of two processes: one ends while the other waits for it. The launcher notices and returns its status. */
#include <stdlib.h>

#include "svmp_parallel.h"

int main(void) {
    svmp_context *context = NULL;
    int all[2] = {0, 0};
    if (svmp_context_create(NULL, &context) != SVMP_OK || svmp_context_join(context) != SVMP_OK) return 4;
    if (svmp_context_process(context) == 1) exit(3);
    svmp_context_gather(context, sizeof *all, &(int){1}, all);
    svmp_context_free(context);
    return 0;
}
