/* svmp's default method on the problems of the paper's figures: one more line in each, and claims of its own. */
#ifndef SVMP_PAPER_DEFAULT_METHOD_H
#define SVMP_PAPER_DEFAULT_METHOD_H

#include "paper.h"

/* Judges what is claimed of the default method, by the summary DIR/paper/FIGURE.csv, prints it and writes
 * DIR/paper/FIGURE_default.csv. It has fewer trials than the others, whose trials need not be there: means are compared
 * with their standard errors (Welch's t test), not trial by trial. */
int judge_default(const paper *p, const figure *f);

#endif
