/* Pictures, drawn by gnuplot from the summaries. */
#ifndef SVMP_PAPER_PLOT_H
#define SVMP_PAPER_PLOT_H

#include "paper.h"

/* Draws the panels of a figure: DIR/paper/NAME.svg and DIR/png/NAME.png. Where gnuplot is missing that is said, once,
 * and is no failure. */
int draw_figure(const paper *p, const figure *f);

/* A script that draws NAME twice: text is written by `body`, which is called with the file and its user data. */
typedef void (*script_body)(FILE *file, const void *user_data);
int draw_script(const paper *p, const char *name, int width, int height, script_body body, const void *user_data);

/* A text in gnuplot's quotes, whatever it has in it. */
void quote(FILE *file, const char *text);

#endif
