/* The verdict on a sample, printed: the same sentence everywhere. */
#ifndef SVMP_CLI_PRINT_VERDICT_H
#define SVMP_CLI_PRINT_VERDICT_H

#include "front/command_options.h"

enum { VERDICT_TEXT = 2048, VERDICT_RECORD = 8192 };

/* Prints the sentence and the advice, wrapped. */
void verdict_print(const svmp_verdict *verdict);

int verdict_is_recorded(const char *comments);

/* Prints those of the record of particles, or that these are not those of the record, if they are `whole`, of one file;
 * returns 0 if there is no verdict. */
int verdict_print_recorded(const svmp_context *context, const svmp_particles *particles, int whole);

/* For draws of chains that were not judged: prints what their R-hat, effective draws, divergences and energy say
 * against them, with advice, if they do. Returns 0 or an exit status. */
int verdict_print_refusal(svmp_context *context, const svmp_particles *particles);

/* What changed, a line for each variable that is listed. */
void verdict_print_drifts(const svmp_verdict *verdict);

/* Its first note: the result. */
svmp_note verdict_result(const svmp_verdict *verdict);

#endif
