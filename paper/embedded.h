/* Files that are part of the command: models, the record of step sizes and verdicts, the document's text. They end with
 * a zero byte. */
#ifndef SVMP_PAPER_EMBEDDED_H
#define SVMP_PAPER_EMBEDDED_H

#include "page.h"

extern const page_source model_normal, model_gaussian, model_sensors, model_crowd, model_ranges, model_rss;
extern const page_source recorded_step_sizes; /* those that the full run chose */
extern const page_source recorded_verdicts;   /* those of the full run */
extern const page_source document_text;

static inline const char *embedded_text(const page_source *file) { return (const char *)file->bytes; }

#endif
