/* The paper's claims, judged by tests over trials. */
#ifndef SVMP_PAPER_CLAIMS_H
#define SVMP_PAPER_CLAIMS_H

#include "paper.h"

/* Pairs are compared trial by trial, by Student's t of the difference of their log10; a run that diverged counts as a
 * thousand times worse than one that did not. */

/* Judges the claims of a figure, prints them and writes DIR/paper/FIGURE_claims.csv. In the quick version *lost counts
 * those that are 'yes' in the record of the full run, and here are 'no', missing, or have a test whose p is above 0.35:
 * what a few trials can show. Says which. */
int judge_claims(const paper *p, const figure *f, const results *r, size_t *lost);

#endif
