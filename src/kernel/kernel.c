#include "kernel/kernel.h"

#include <ctype.h>
#include <string.h>

#include "base/listing.h"
#include "base/number.h"

static const kernel_shape *const shapes[] = {&svmp_shape_rbf, &svmp_shape_imq, &svmp_shape_linear};

const char *svmp_kernel_shape_name(size_t k) { return k < sizeof shapes / sizeof *shapes ? shapes[k]->name : NULL; }

const char *svmp_domain_name(size_t k) {
    static const char *const names[] = {"blanket", "self", "near", "near:K", "message", "all", "random:K"};
    return k < sizeof names / sizeof *names ? names[k] : NULL;
}

/* A piece of the kernel's text, [start, end), without blanks around it. */
typedef struct piece {
    const char *start, *end;
} piece;

static piece trimmed(const char *start, const char *end) {
    while (start < end && isspace((unsigned char)*start)) start++;
    while (start < end && isspace((unsigned char)end[-1])) end--;
    return (piece){start, end};
}

static int equals(piece p, const char *word) {
    return strlen(word) == (size_t)(p.end - p.start) && memcmp(p.start, word, strlen(word)) == 0;
}

static const char *find(piece p, char c) {
    return p.start < p.end ? memchr(p.start, c, (size_t)(p.end - p.start)) : NULL;
}

#define PIECE(p) (int)((p).end - (p).start), (p).start /* for %.*s */

/* name ":" number */
static int parse_counted(piece text, const char *name, size_t least, size_t *count) {
    const char *colon = find(text, ':');
    const size_t most = 100000;
    return colon && equals(trimmed(text.start, colon), name) && svmp_number_parse_size(colon + 1, text.end, count) &&
           *count >= least && *count <= most;
}

static svmp_status parse_domain(svmp_context *context, piece text, kernel_term *term) {
    if (equals(text, "blanket")) return term->domain = DOMAIN_BLANKET, SVMP_OK;
    if (equals(text, "all")) return term->domain = DOMAIN_ALL, SVMP_OK;
    if (equals(text, "self")) return term->domain = DOMAIN_SELF, SVMP_OK;
    if (equals(text, "message")) return term->domain = DOMAIN_MESSAGE, SVMP_OK;
    if (equals(text, "near")) return term->domain = DOMAIN_NEAR, SVMP_OK;
    if (parse_counted(text, "near", 1, &term->most)) return term->domain = DOMAIN_NEAR, SVMP_OK;
    if (parse_counted(text, "random", 0, &term->neighbours)) return term->domain = DOMAIN_RANDOM, SVMP_OK;
    char names[128];
    return svmp_fail(context, SVMP_BAD_CALL,
                     "Unknown kernel domain '%.*s': expected %s, with K from 0 (near: from 1) to 100000.", PIECE(text),
                     svmp_list_names(svmp_domain_name, "or", names, sizeof names));
}

static svmp_status parse_bandwidth(svmp_context *context, piece text, kernel_term *term) {
    char copy[64];
    size_t length = (size_t)(text.end - text.start);
    if (length >= sizeof copy) length = sizeof copy - 1; /* too long to be any: refused by its beginning */
    memcpy(copy, text.start, length);
    copy[length] = '\0';
    return svmp_bandwidth_parse(context, copy, &term->bandwidth);
}

/* shape [ "(" bandwidth ")" ] [ "/" metric ] */
static svmp_status parse_shape(svmp_context *context, piece text, kernel_term *term) {
    const char *slash = find(text, '/');
    if (slash) {
        const piece metric = trimmed(slash + 1, text.end);
        if (!equals(metric, "sd"))
            return svmp_fail(context, SVMP_BAD_CALL, "Unknown metric '%.*s' of a kernel term: expected sd, or no '/'.",
                             PIECE(metric));
        term->metric = METRIC_SD;
        text = trimmed(text.start, slash);
    }
    const char *open = find(text, '(');
    if (open && text.end[-1] == ')') {
        SVMP_TRY(parse_bandwidth(context, trimmed(open + 1, text.end - 1), term));
        text = trimmed(text.start, open);
    }
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (equals(text, shapes[k]->name)) return term->shape = shapes[k], SVMP_OK;
    char names[128];
    return svmp_fail(context, SVMP_BAD_CALL, "Unknown kernel shape '%.*s': expected %s.", PIECE(text),
                     svmp_list_names(svmp_kernel_shape_name, "or", names, sizeof names));
}

/* term = [ weight "*" ] shape [ "(" bandwidth ")" ] [ "/" metric ] "@" domain */
static svmp_status parse_term(svmp_context *context, piece text, bandwidth standard, kernel_term *term) {
    *term = (kernel_term){.weight = 1, .bandwidth = standard};
    const char *star = find(text, '*'), *at = find(text, '@');
    if (at == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "The kernel term '%.*s' has no domain: write it as shape@domain.",
                         PIECE(text));
    if (star && star < at) {
        piece weight = trimmed(text.start, star);
        if (svmp_number_parse(weight.start, weight.end, &term->weight) != NUMBER_FINITE || !(term->weight > 0))
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Invalid weight '%.*s' of a kernel term: expected a positive number.", PIECE(weight));
        text.start = star + 1;
    }
    SVMP_TRY(parse_shape(context, trimmed(text.start, at), term));
    return parse_domain(context, trimmed(at + 1, text.end), term);
}

/* Where a term ends: at the next '+' that is not the sign of an exponent (1e+3). */
static const char *term_end(const char *text) {
    for (const char *p = text; *p; p++)
        if (*p == '+' && !(p > text + 1 && (p[-1] == 'e' || p[-1] == 'E') && isdigit((unsigned char)p[-2]))) return p;
    return text + strlen(text);
}

/* Behind the terms of its domain, and those of domains before it. */
static void add_term(kernel *k, const kernel_term *term) {
    size_t at = k->count++;
    for (; at > 0 && k->terms[at - 1].domain > term->domain; at--) k->terms[at] = k->terms[at - 1];
    k->terms[at] = *term;
}

int svmp_kernel_measures(const kernel *k, kernel_metric metric) {
    for (size_t a = 0; a < k->count; a++)
        if (k->terms[a].metric == metric) return 1;
    return 0;
}

svmp_status svmp_kernel_parse(svmp_context *context, const char *text, bandwidth standard, kernel *parsed) {
    kernel made = {0};
    kernel_term term;
    for (;;) {
        const char *end = term_end(text);
        if (made.count == KERNEL_TERMS_MAX)
            return svmp_fail(context, SVMP_BAD_CALL, "A kernel can have at most %d terms.", KERNEL_TERMS_MAX);
        SVMP_TRY(parse_term(context, trimmed(text, end), standard, &term));
        add_term(&made, &term);
        if (*end == '\0') break;
        text = end + 1;
    }
    *parsed = made;
    return SVMP_OK;
}
