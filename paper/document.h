/* The document: paper/document.txt with the tables and pictures of DIR/paper put in, as DIR/paper.md. */
#ifndef SVMP_PAPER_DOCUMENT_H
#define SVMP_PAPER_DOCUMENT_H

#include "paper.h"

/* A line of the text that begins with @ stands for what is made of the files:
 *     @claims FIGURE              its claims and their verdicts
 *     @verdicts                   how many claims hold, and the short list of all
 *     @numbers FIGURE METRIC      a table of means, a row a method
 *     @steps FIGURE               the steps that were chosen, and from which
 *     @trials FIGURE              how many trials there are
 *     @pictures NAME...           pictures beside each other
 *     @real                       the table of the real data */
int write_document(const paper *p);

#endif
