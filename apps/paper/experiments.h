/* What main.c calls. */
#ifndef SVMP_PAPER_EXPERIMENTS_H
#define SVMP_PAPER_EXPERIMENTS_H

#include "paper.h"

/* "fig1" ... "fig6", "all", "real" or "page". Returns the exit status, having said what is wrong. */
int experiments_run(const char *what, const paper_options *options);

#endif
