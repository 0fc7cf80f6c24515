#include "stein/kernel.h"

#include <ctype.h>
#include <string.h>

#include "base/name_list.h"
#include "base/number.h"

static const kernel_shape *const shapes[] = {&svmp_shape_rbf, &svmp_shape_imq, &svmp_shape_linear};

const char *svmp_kernel_shape_name(size_t k) { return k < sizeof shapes / sizeof *shapes ? shapes[k]->name : NULL; }

typedef struct domain_word {
    const char *name; /* ends in :K if a number follows, which is at least `least` */
    kernel_domain domain;
    size_t least;
} domain_word;

static const domain_word domains[] = {
    {"blanket", DOMAIN_BLANKET, 0}, {"self", DOMAIN_SELF, 0}, {"near", DOMAIN_NEAR, 0},      {"near:K", DOMAIN_NEAR, 1},
    {"message", DOMAIN_MESSAGE, 0}, {"all", DOMAIN_ALL, 0},   {"random:K", DOMAIN_RANDOM, 0}};

const char *svmp_domain_name(size_t k) { return k < sizeof domains / sizeof *domains ? domains[k].name : NULL; }

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

/* Reads a name, or name ":" number for a word that ends in :K. */
static int parse_domain_word(piece text, const domain_word *word, size_t *count) {
    const size_t length = strlen(word->name), most = 100000;
    const char *colon = find(text, ':');
    if (length < 2 || word->name[length - 2] != ':') return equals(text, word->name);
    const piece name = trimmed(text.start, colon ? colon : text.start);
    return (size_t)(name.end - name.start) == length - 2 && memcmp(name.start, word->name, length - 2) == 0 &&
           svmp_number_parse_size(colon + 1, text.end, count) && *count >= word->least && *count <= most;
}

static svmp_status parse_domain(svmp_context *context, piece text, kernel_term *term) {
    for (size_t k = 0; k < sizeof domains / sizeof *domains; k++) {
        size_t count = 0;
        if (!parse_domain_word(text, &domains[k], &count)) continue;
        term->domain = domains[k].domain;
        if (term->domain == DOMAIN_NEAR) term->most = count > 0 ? count : term->most;
        if (term->domain == DOMAIN_RANDOM) term->neighbours = count;
        return SVMP_OK;
    }
    char names[128];
    return svmp_fail(context, SVMP_BAD_CALL,
                     "Unknown kernel domain '%.*s': expected %s, with K from 0 (near: from 1) to 100000.", PIECE(text),
                     svmp_list_names(svmp_domain_name, "or", names, sizeof names));
}

static svmp_status parse_bandwidth(svmp_context *context, piece text, kernel_term *term) {
    char copy[64];
    size_t length = (size_t)(text.end - text.start);
    if (length >= sizeof copy) length = sizeof copy - 1; /* too long for any word: the message shows its beginning */
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
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Unknown metric '%.*s' of a kernel term: expected '/sd' or nothing.", PIECE(metric));
        term->metric = METRIC_SD;
        text = trimmed(text.start, slash);
    }
    const char *open = find(text, '(');
    if (open && text.end[-1] == ')') {
        SVMP_TRY(parse_bandwidth(context, trimmed(open + 1, text.end - 1), term));
        text = trimmed(text.start, open);
    }
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        if (!equals(text, shapes[k]->name)) continue;
        if (open && shapes[k]->value == NULL)
            return svmp_fail(context, SVMP_BAD_CALL, "The kernel shape '%s' has no bandwidth.", shapes[k]->name);
        term->shape = shapes[k];
        return SVMP_OK;
    }
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

/* Inserts the term after those of its own and of earlier domains. */
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
