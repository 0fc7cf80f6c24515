/* The files of a swarm besides parts: who is where (hosts.csv), and the keys of an agent's links (K.key). */
#ifndef SVMP_AGENTS_SWARM_FILES_H
#define SVMP_AGENTS_SWARM_FILES_H

#include <stdint.h>

#include "seal.h"

/* Reads the host and the port of the agent `name` from a file with the columns agent, host and port. Returns 0, or an
 * exit status after an error message. */
typedef struct host {
    char name[256], service[16];
} host;
int hosts_find(const char *path, const char *name, host *found);

/* The name of the first of several files that `name` of the folder is: "folder/name.ending"; free() it. */
char *swarm_path(const char *folder, const char *name, const char *ending);

/* Whether a name can be that of a file. */
int is_swarm_name(const char *name);

/* Reads the key of each neighbour's link. Returns 0, or an exit status after an error message that names the agent. */
int keys_read(const char *path, uint64_t run, const char *agent, size_t count, const char *const *neighbours,
              seal_keys *keys);

/* Writes them, for the owner of the file alone. */
int keys_write(const char *path, uint64_t run, const char *agent, size_t count, const char *const *neighbours,
               const seal_keys *keys);

#endif
