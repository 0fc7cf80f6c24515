/* The verdict in the record of a file: "name = value", a line each. */
#include <stdlib.h>
#include <string.h>

#include "base/comment_lines.h"
#include "base/number.h"
#include "verify/verdict_inside.h"

enum { TEXT = 2048 };

static const char *const aspects[] = {"mean",        "sd",        "median",   "tails",      "score",
                                      "log_density", "elsewhere", "quantile", "correlation"};

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

static void write_record(const svmp_verdict *verdict, char *buffer, size_t size) {
    char text[TEXT], name[2 * VERDICT_NAME];
    size_t used = 0;
    add_line(buffer, size, &used, "verdict", svmp_verdict_word(verdict));
    add_line(buffer, size, &used, "verdict_text", svmp_verdict_sentence(verdict, text, sizeof text));
    note_list advice = {0};
    svmp_verdict_advise(verdict, &advice);
    for (size_t k = 0; k < advice.count; k++) {
        snprintf(name, sizeof name, "verdict_advice %zu", k + 1);
        svmp_note_save(&advice.note[k], text, sizeof text);
        add_line(buffer, size, &used, name, text);
    }
    snprintf(text, sizeof text, "%zu", verdict->moves);
    if (verdict->moves) add_line(buffer, size, &used, "verdict_moves", text);
    snprintf(text, sizeof text, "%s %.6g %zu %s", svmp_code_name(verdict->veto, name, sizeof name),
             verdict->veto_amount, verdict->veto_count, verdict->veto_name);
    if (verdict->veto != SVMP_NOTE_NONE) add_line(buffer, size, &used, "verdict_veto", text);
    if (*verdict->improper_direction) add_line(buffer, size, &used, "verdict_endless", verdict->improper_direction);
    for (size_t k = 0; k < verdict->drifts; k++) {
        const svmp_drift *d = &verdict->drift[k];
        snprintf(name, sizeof name, "verdict_drift %s", d->name);
        snprintf(text, sizeof text, "%s %.3g %.3g", svmp_aspect_word(d->aspect), d->effect, d->z);
        add_line(buffer, size, &used, name, text);
    }
}

const char *svmp_verdict_record(const svmp_verdict *verdict, char *buffer, size_t size) {
    number_locale locale;
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (verdict == NULL || !svmp_number_try_enter(&locale)) return buffer;
    write_record(verdict, buffer, size);
    svmp_number_leave(&locale);
    return buffer;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The veto of the run. That a run has not moved its particles says nothing about them. A word that this version does
 * not know stands for the plainest veto. */
static void recall_veto(svmp_verdict *v, const char *comments) {
    char value[3 * VERDICT_NAME], *rest;
    if (!svmp_comment_find(comments, "verdict_veto", value, sizeof value)) return;
    const svmp_code found = svmp_code_find(value);
    if (found == SVMP_NOTE_UNMOVED) return;
    const double amount = strtod(value + strcspn(value, " "), &rest);
    const size_t count = strtoul(rest, &rest, 10);
    v->veto = SVMP_NOTE_NONE;
    svmp_verdict_veto(v, found == SVMP_NOTE_NONE ? SVMP_NOTE_NOT_SETTLED : found, amount, rest + (*rest == ' '));
    v->veto_count = count;
}

/* Notes "verdict_advice 1", "verdict_advice 2", ... */
static void load_advice(const char *comments, note_list *list) {
    char name[40], line[TEXT];
    svmp_note note;
    for (size_t k = 1; snprintf(name, sizeof name, "verdict_advice %zu", k),
                svmp_comment_find(comments, name, line, sizeof line) && svmp_note_load(line, &note);
         k++)
        *svmp_note_add(list, note.code) = note;
}

const char *svmp_recorded_advice(const svmp_context *context, const char *comments, char *buffer, size_t size) {
    note_list list = {0};
    number_locale locale;
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (context == NULL || comments == NULL || !svmp_number_try_enter(&locale)) return buffer;
    load_advice(comments, &list);
    svmp_number_leave(&locale);
    return svmp_notes_write(list.count, list.note, context->spell, context->spell_data, buffer, size);
}

static void recall(svmp_verdict *verdict, const char *comments) {
    char value[64];
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
    const method *of = svmp_verdict_method(verdict);
    verdict->of_draws = of && of->answers && svmp_comment_find(comments, "draws", value, sizeof value);
    if (verdict->of_draws) verdict->answered = strtoul(value, NULL, 10);
    recall_veto(verdict, comments);
    svmp_comment_find(comments, "verdict_endless", verdict->improper_direction, sizeof verdict->improper_direction);
    if (!svmp_comment_find(comments, "outcome", value, sizeof value)) return;
    if (strcmp(value, "diverged") == 0) svmp_verdict_veto(verdict, SVMP_NOTE_DIVERGED, 0, NULL);
    if (strcmp(value, "stopped") == 0) svmp_verdict_veto(verdict, SVMP_NOTE_INTERRUPTED, 0, NULL);
}

void svmp_verdict_recall(svmp_verdict *verdict, const char *comments) {
    number_locale locale;
    if (verdict == NULL || comments == NULL || !svmp_number_try_enter(&locale)) return;
    recall(verdict, comments);
    svmp_number_leave(&locale);
}
