/* The document: apps/paper/document.txt with the tables and pictures of DIR/paper put in, as DIR/paper.md. */
#ifndef SVMP_PAPER_DOCUMENT_H
#define SVMP_PAPER_DOCUMENT_H

#include "paper.h"

/* `own`: what was run, of a run of one's own; NULL: the page is the record of the full protocol.
 *
 * A line of the text that begins with @ stands for what is made of the files:
 *     @claims FIGURE              its claims and their verdicts
 *     @verdicts                   how many claims hold, and the short list of all
 *     @numbers FIGURE METRIC      a table of means, a row a method
 *     @steps FIGURE               the steps that were chosen, and from which
 *     @trials FIGURE              how many trials there are
 *     @pictures NAME...           pictures beside each other
 *     @noise FIGURE               the error of the references
 *     @real                       the table of the real data
 *     @run                        of a run of one's own: which
 * or for a part of the text, up to its @end:
 *     @record                     findings of the full protocol, left out of the page of a run of one's own
 *     @figure NAME                left out where the figure has not been run */
int write_document(const paper *p, const char *own);

#endif
