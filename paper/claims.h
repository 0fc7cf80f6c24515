/* The paper's claims, judged by tests over trials. */
#ifndef SVMP_PAPER_CLAIMS_H
#define SVMP_PAPER_CLAIMS_H

#include "paper.h"

/* A claim is a number of tests that all have to come out as it says. yes: each of them does, at the level of 5 % (all
 * must, so no correction is due). no: some of them comes out the other way, at 5 % shared among them. Otherwise it is
 * undecided. Pairs are compared trial by trial, by Student's t of the difference of their log10; a run that diverged
 * counts as a thousand times worse than one that did not. */
typedef enum verdict { VERDICT_YES, VERDICT_NO, VERDICT_UNDECIDED } verdict;

/* Judges the claims of a figure, prints them and writes DIR/paper/FIGURE_claims.csv. In the quick version *lost counts
 * those that are 'yes' in the record of the full run, and here are 'no', missing, or have a test whose p is above 0.35:
 * what few trials can tell. Says which. */
int judge_claims(const paper *p, const figure *f, const results *r, size_t *lost);

#endif
