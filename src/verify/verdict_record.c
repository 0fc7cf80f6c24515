/* The verdict in the record of a file: "name = value", a line each. */
#include <stdlib.h>
#include <string.h>

#include "verify/verdict_inside.h"

enum { TEXT = 2048 };

static const char *const aspects[] = {"mean",        "sd",        "median",   "tails",      "score",
                                      "log_density", "elsewhere", "quantile", "correlation"};

static const char *const vetoes[] = {"none",      "diverged",  "interrupted", "unmoved", "discrepancy",
                                     "step",      "unsettled", "few",         "r_hat",   "draws",
                                     "divergent", "energy",    "infinite",    "cut_off"};
enum { VETOES = sizeof vetoes / sizeof *vetoes, LARGEST_UNREST = SVMP_UNREST_APART };

const char *svmp_aspect_word(svmp_aspect aspect) {
    return (size_t)aspect < sizeof aspects / sizeof *aspects ? aspects[aspect] : "unknown";
}

/* Adds "name = value" if there is room for all of it. */
static void add_line(char *buffer, size_t size, size_t *used, const char *name, const char *value) {
    const size_t length = strlen(name) + strlen(" = ") + strlen(value) + strlen("\n");
    if (*used + length >= size) return;
    snprintf(buffer + *used, size - *used, "%s = %s\n", name, value);
    *used += length;
}

const char *svmp_verdict_record(const svmp_verdict *verdict, char *buffer, size_t size) {
    char text[TEXT], name[2 * VERDICT_NAME];
    size_t used = 0;
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (verdict == NULL) return buffer;
    add_line(buffer, size, &used, "verdict", svmp_verdict_word(verdict));
    add_line(buffer, size, &used, "verdict_text", svmp_verdict_sentence(verdict, text, sizeof text));
    if (*svmp_verdict_advice(verdict, text, sizeof text)) add_line(buffer, size, &used, "verdict_advice", text);
    snprintf(text, sizeof text, "%zu", verdict->moves);
    if (verdict->moves) add_line(buffer, size, &used, "verdict_moves", text);
    snprintf(text, sizeof text, "%s %.6g %zu %d %s", vetoes[verdict->veto], verdict->veto_amount, verdict->veto_count,
             (int)verdict->unrest, verdict->veto_name);
    if (verdict->veto != SVMP_VETO_NONE) add_line(buffer, size, &used, "verdict_veto", text);
    if (*verdict->improper_direction) add_line(buffer, size, &used, "verdict_endless", verdict->improper_direction);
    for (size_t k = 0; k < verdict->drifts; k++) {
        const svmp_drift *d = &verdict->drift[k];
        snprintf(name, sizeof name, "verdict_drift %s", d->name);
        snprintf(text, sizeof text, "%s %.3g %.3g", svmp_aspect_word(d->aspect), d->effect, d->z);
        add_line(buffer, size, &used, name, text);
    }
    return buffer;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The veto of the run. That a run has not moved its particles says nothing about them; a variable that a chain never
 * moved has a name. */
static void recall_veto(svmp_verdict *v, const char *comments) {
    char value[3 * VERDICT_NAME], *rest;
    if (!svmp_comment_find(comments, "verdict_veto", value, sizeof value)) return;
    const size_t length = strcspn(value, " ");
    size_t k = VETOES;
    while (--k > 0 && (strlen(vetoes[k]) != length || strncmp(value, vetoes[k], length) != 0)) continue;
    if (k == SVMP_VETO_NONE) return;
    const double amount = strtod(value + length, &rest);
    const size_t count = strtoul(rest, &rest, 10), unrest = strtoul(rest, &rest, 10);
    if (k == SVMP_VETO_UNMOVED && rest[strspn(rest, " ")] == '\0') return;
    v->veto = SVMP_VETO_NONE;
    svmp_verdict_veto(v, (svmp_veto)k, amount, rest + (*rest == ' '));
    v->veto_count = count;
    v->unrest = unrest <= LARGEST_UNREST ? (svmp_unrest)unrest : SVMP_UNREST_NONE;
}

void svmp_verdict_recall(svmp_verdict *verdict, const char *comments) {
    char value[64];
    if (verdict == NULL || comments == NULL) return;
    *verdict->method = *verdict->init = '\0';
    verdict->iterations = 0;
    if (svmp_comment_find(comments, "method", value, sizeof value))
        snprintf(verdict->method, sizeof verdict->method, "%.*s", (int)sizeof verdict->method - 1, value);
    if (svmp_comment_find(comments, "init", value, sizeof value))
        snprintf(verdict->init, sizeof verdict->init, "%.*s", (int)sizeof verdict->init - 1, value);
    if (svmp_comment_find(comments, "iterations done", value, sizeof value))
        verdict->iterations = strtoul(value, NULL, 10);
    if (svmp_comment_find(comments, "accept", value, sizeof value)) verdict->accept = strtod(value, NULL);
    if (svmp_comment_find(comments, "warmup", value, sizeof value))
        verdict->brief = svmp_warmup_is_short(svmp_verdict_method(verdict), strtoul(value, NULL, 10));
    recall_veto(verdict, comments);
    svmp_comment_find(comments, "verdict_endless", verdict->improper_direction, sizeof verdict->improper_direction);
    if (!svmp_comment_find(comments, "outcome", value, sizeof value)) return;
    if (strcmp(value, "diverged") == 0) svmp_verdict_veto(verdict, SVMP_VETO_DIVERGED, 0, NULL);
    if (strcmp(value, "stopped") == 0) svmp_verdict_veto(verdict, SVMP_VETO_INTERRUPTED, 0, NULL);
}
