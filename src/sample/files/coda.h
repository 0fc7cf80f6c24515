/* CODA files, as JAGS and BUGS write chains: STEMindex.txt with lines "NAME FIRST LAST", and STEMchain1.txt,
 * STEMchain2.txt ... with lines "ITERATION VALUE", where lines FIRST ... LAST are the draws of NAME. */
#ifndef SVMP_SAMPLE_FILES_CODA_H
#define SVMP_SAMPLE_FILES_CODA_H

#include "sample/particles.h"

int svmp_path_is_coda(const char *path);

/* Reads all chains in the folder of the index. */
svmp_status svmp_coda_read(svmp_context *context, const char *path, svmp_particles **particles);

#endif
