/* A lock on a checkpoint: while a run writes to it, no other run of svmp may. The lock is the file FILE.lock, locked
 * with flock(2), which ends with the process however that ends; its text says who holds it. */
#ifndef SVMP_CLI_CHECKPOINT_LOCK_H
#define SVMP_CLI_CHECKPOINT_LOCK_H

typedef struct file_lock {
    int held, descriptor;
    char *path; /* of the lock */
} file_lock;

/* Locks the file at `path`, which need not exist, until file_unlock. Removes the unfinished file that a killed holder
 * has left. Returns 0, or an exit status after an error message that names the holder. Where the file system has no
 * locks, the file stays unlocked, with a warning. */
int file_lock_take(file_lock *lock, const char *path);

/* Accepts an all-zero value. */
void file_unlock(file_lock *lock);

#endif
