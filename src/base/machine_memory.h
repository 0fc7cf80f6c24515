/* The resources of the machine, or of the part of it that this process may use. */
#ifndef SVMP_BASE_MACHINE_MEMORY_H
#define SVMP_BASE_MACHINE_MEMORY_H

/* The least of the machine's memory, the limit of the process's control group (a container, a job of a batch system)
 * and that of the process (ulimit), in bytes. */
double svmp_machine_memory(void);

/* Whether the process may use less than the machine has. */
int svmp_machine_is_limited(void);

/* The limit in a file of a control group, "max" or a number of bytes; INFINITY: there is none. */
double svmp_machine_limit(const char *path);

#endif
