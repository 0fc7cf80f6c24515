#include <stdlib.h>

#include "svmp_parallel.h"

/* The environment variables of launchers. Between SIGTERM and SIGKILL mpirun waits a second by default, and Slurm its
 * KillWait, 30 s by default. */
static const struct launcher {
    const char *name;
    const char *mark, *processes, *process; /* the others count where the mark is set */
    const char *setting;                    /* seconds, or NULL */
    double grace;
    int connects;
} launchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "OMPI_MCA_odls_base_sigkill_timeout", 1, 1},
    {"mpiexec", "MPI_LOCALNRANKS", "PMI_SIZE", "PMI_RANK", NULL, 1, 1}, /* of MPICH, which srun may have started */
    {"srun", "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, 30, 1},
    {"srun", "PMI_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, 30, 1},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "PMI_RANK", NULL, 1, 1},
    {"mpiexec", "MPI_LOCALNRANKS", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", NULL, 1, 1},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, 30, 0},
};

static size_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

void svmp_launch_read(svmp_launch *launch) {
    if (launch == NULL) return;
    *launch = (svmp_launch){0};
    for (const struct launcher *l = launchers; l < launchers + sizeof launchers / sizeof *launchers; l++) {
        if (getenv(l->mark) == NULL || getenv(l->processes) == NULL) continue;
        const char *setting = l->setting ? getenv(l->setting) : NULL;
        const double seconds = setting ? strtod(setting, NULL) : 0;
        *launch = (svmp_launch){number(l->processes), number(l->process),
                                seconds > 0 && seconds < 1e6 ? seconds : l->grace, l->name, l->connects};
        return;
    }
}
