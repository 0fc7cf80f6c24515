/* Files that are part of the program: models, the record of step sizes and verdicts, the document's text. */
#ifndef SVMP_PAPER_PAPER_FILES_H
#define SVMP_PAPER_PAPER_FILES_H

#include "front/embedded_file.h"

extern const embedded_file model_normal, model_gaussian, model_sensors, model_crowd, model_ranges, model_rss;
extern const embedded_file recorded_step_sizes; /* those that the full run chose */
extern const embedded_file recorded_verdicts;   /* those of the full run */
extern const embedded_file document_text;

static inline const char *embedded_text(const embedded_file *file) { return (const char *)file->bytes; }

#endif
