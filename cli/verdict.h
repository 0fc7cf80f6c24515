/* The verdict of a run: recorded, read back and printed, the same sentence everywhere. */
#ifndef SVMP_CLI_VERDICT_H
#define SVMP_CLI_VERDICT_H

#include "front/options.h"

enum { VERDICT_TEXT = 2048 };

/* The lines "verdict = ...", "verdict_text = ...", "verdict_advice = ..." and "verdict_drift NAME = WHAT EFFECT Z" of a
 * run's record. */
void verdict_write(const svmp_verdict *verdict, FILE *file);

/* The veto of a record, if it has one and the verdict has none. That a run has not moved its particles says nothing
 * about them. */
void verdict_read_veto(const char *comments, svmp_verdict *verdict);

/* Prints the sentence and the advice, wrapped. */
void verdict_print(const svmp_verdict *verdict);

/* Prints those of a record; returns 0 if it has none. */
int verdict_print_recorded(const char *comments);

/* What changed, a line for each variable that is listed. */
void verdict_print_drifts(const svmp_verdict *verdict);

/* One word for all: "passed", "failed", "undecided" or "not examined"; with a veto "not converged". */
const char *verdict_word(const svmp_verdict *verdict);

#endif
