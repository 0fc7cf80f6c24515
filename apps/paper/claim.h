/* A claim and its tests. */
#ifndef SVMP_PAPER_CLAIM_H
#define SVMP_PAPER_CLAIM_H

#include <stddef.h>
#include <stdio.h>

/* A claim is a number of tests that all have to come out as it says. yes: each of them does, at the level of 5 % (all
 * must, so no correction is due). no: some of them comes out the other way, at 5 % shared among them. Otherwise it is
 * undecided. */
typedef enum verdict { VERDICT_YES, VERDICT_NO, VERDICT_UNDECIDED } verdict;

/* Tests that belong together, such as those against one method: what the table shows as one entry. */
typedef struct group {
    char label[48];
    size_t tests;
    double worst_for, worst_against; /* the largest p of the claim, the smallest p of its opposite */
    double low, high;                /* of the means */
    size_t trials;                   /* the fewest */
} group;

typedef struct claim {
    const char *name, *text;
    group groups[16];
    size_t count, tests;
} claim;

/* One more test, of the group `label`: its p values for the claim and for its opposite, what was found in the mean, and
 * from how many trials. */
void add_test(claim *c, const char *label, double p_for, double p_against, double mean, size_t trials);

/* Judges the claim, prints it and writes its row "claim,verdict,p,text,numbers". */
void close_claim(FILE *csv, const claim *c);

#endif
