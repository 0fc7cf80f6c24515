/* Several processes simulated by threads: each has its own context, and collective calls use shared memory. If one has
 * ended, or makes a different call, while others wait for it, the program reports it and aborts. */
#ifndef SVMP_TEST_SIMULATED_PROCESSES_H
#define SVMP_TEST_SIMULATED_PROCESSES_H

#include "base/peers.h"
#include "unit/support.h"

enum { MOST_PROCESSES = 7 };

typedef struct process_group process_group;

typedef struct test_process {
    process_group *group;
    svmp_peers peers;
    svmp_context *context;
    void (*body)(struct test_process *p);
    const void *script;
    svmp_status status;
    size_t calls;    /* collective calls */
    long made, live; /* allocations so far, of memory or a locale; and unreleased ones of memory */
    long scarce;     /* the allocation that fails, counted from 1; 0: none */
    long lost, late; /* receives that found no rows, or those of the previous round */
} test_process;

/* Runs `body` in `count` processes; allocation `scarce` of process `failing_process` fails. */
void run_processes(size_t count, void (*body)(test_process *), const void *script, test_process *group);
void run_processes_scarce(size_t count, void (*body)(test_process *), const void *script, size_t failing_process,
                          long scarce, test_process *group);

/* The same over lossy links: a process may receive no rows of a neighbour, or those of the previous round, and has to
 * try again. */
void run_processes_lossy(size_t count, void (*body)(test_process *), const void *script, test_process *group);

/* Frees the contexts and checks that all memory has been released. */
void end_processes(size_t count, test_process *group);

#endif
