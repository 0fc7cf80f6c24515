/* The page of a report: its sources, embedded when svmp is built (cmake/embed.cmake), and the data of one run. */
#ifndef SVMP_REPORT_REPORT_PAGE_H
#define SVMP_REPORT_REPORT_PAGE_H

#include <stdio.h>

#include "front/embedded_file.h"

/* apps/report/page/page.html, .css and .js, and D3, whose size is 0 where the build had none. */
extern const embedded_file page_html, page_style, page_script, page_library;

/* The page with its style, its scripts and `data`, JSON that report_json.h wrote. */
void page_write(FILE *file, const char *data, size_t size);

#endif
