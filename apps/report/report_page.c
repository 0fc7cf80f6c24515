#include "report_page.h"

#include <string.h>

/* Lines of page.html that stand for what is put there. */
static const char *const marks[] = {"@style@\n", "@library@\n", "@data@\n", "@script@\n"};

void page_write(FILE *file, const char *data, size_t size) {
    const embedded_file parts[] = {page_style, page_library, {(const unsigned char *)data, size}, page_script};
    const char *at = (const char *)page_html.bytes, *end = at + page_html.size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        size_t k = 0, count = sizeof marks / sizeof *marks, length = (size_t)(next - at);
        while (k < count && (strlen(marks[k]) != length || memcmp(marks[k], at, length) != 0)) k++;
        if (k < count)
            fwrite(parts[k].bytes, 1, parts[k].size, file);
        else
            fwrite(at, 1, length, file);
        at = next;
    }
}
