#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static const char *const aspects[] = {"mean", "sd", "median", "tails", "score", "log_density", "elsewhere", "quantile"};

static const char *const vetoes[] = {"none",      "diverged",  "interrupted", "unmoved", "discrepancy",
                                     "step",      "unsettled", "few",         "r_hat",   "draws",
                                     "divergent", "energy",    "infinite",    "cut_off"};
enum { VETOES = sizeof vetoes / sizeof *vetoes, LARGEST_UNREST = SVMP_UNREST_APART };

void verdict_read_veto(const char *comments, svmp_verdict *verdict) {
    char value[300], *rest;
    if (!record_find(comments, "verdict_veto", value, sizeof value)) return;
    const size_t length = strcspn(value, " ");
    size_t k = VETOES;
    while (--k > 0 && (strlen(vetoes[k]) != length || strncmp(value, vetoes[k], length) != 0)) continue;
    if (k == SVMP_VETO_NONE || k == SVMP_VETO_UNMOVED || verdict->veto != SVMP_VETO_NONE) return;
    const double amount = strtod(value + length, &rest);
    const size_t count = strtoul(rest, &rest, 10), unrest = strtoul(rest, &rest, 10);
    svmp_verdict_veto(verdict, (svmp_veto)k, amount, rest + (*rest == ' '));
    verdict->veto_count = count;
    verdict->unrest = unrest <= LARGEST_UNREST ? (svmp_unrest)unrest : SVMP_REST;
}

const char *verdict_word(const svmp_verdict *verdict) {
    if (verdict->finding == SVMP_FAILED || verdict->veto == SVMP_VETO_NONE) return svmp_finding_text(verdict->finding);
    return verdict->veto == SVMP_VETO_FEW ? svmp_finding_text(SVMP_NOT_EXAMINED) : "not converged";
}

void verdict_write(const svmp_verdict *verdict, FILE *file) {
    char text[VERDICT_TEXT];
    fprintf(file, "verdict = %s\n", verdict_word(verdict));
    fprintf(file, "verdict_text = %s\n", svmp_verdict_sentence(verdict, text, sizeof text));
    if (*svmp_verdict_advice(verdict, text, sizeof text)) fprintf(file, "verdict_advice = %s\n", text);
    if (verdict->moves) fprintf(file, "verdict_moves = %zu\n", verdict->moves);
    if (verdict->veto != SVMP_VETO_NONE)
        fprintf(file, "verdict_veto = %s %.6g %zu %d %s\n", vetoes[verdict->veto], verdict->veto_amount,
                verdict->veto_count, (int)verdict->unrest, verdict->veto_name);
    for (size_t k = 0; k < verdict->drifts; k++) {
        const svmp_drift *d = &verdict->drift[k];
        fprintf(file, "verdict_drift %s = %s %.3g %.3g\n", d->name, aspects[d->aspect], d->effect, d->z);
    }
}

/* At most 118 columns a line, broken at blanks. */
static void print_wrapped(const char *first, const char *second) {
    enum { WIDTH = 118 };
    const char *const texts[] = {first, second};
    size_t column = 0;
    for (size_t k = 0; k < 2; k++)
        for (const char *word = texts[k]; *word; word += strspn(word, " ")) {
            const size_t length = strcspn(word, " ");
            if (column > 0 && column + 1 + length > WIDTH) {
                putchar('\n');
                column = 0;
            }
            column += (size_t)printf("%s%.*s", column ? " " : "", (int)length, word);
            word += length;
        }
    putchar('\n');
}

void verdict_print(const svmp_verdict *verdict) {
    char sentence[VERDICT_TEXT], advice[VERDICT_TEXT];
    print_wrapped(svmp_verdict_sentence(verdict, sentence, sizeof sentence),
                  svmp_verdict_advice(verdict, advice, sizeof advice));
}

int verdict_print_recorded(const char *comments) {
    char sentence[VERDICT_TEXT], advice[VERDICT_TEXT];
    if (!record_find(comments, "verdict_text", sentence, sizeof sentence)) return 0;
    if (!record_find(comments, "verdict_advice", advice, sizeof advice)) *advice = '\0';
    print_wrapped(sentence, advice);
    return 1;
}

void verdict_print_drifts(const svmp_verdict *verdict) {
    int width = (int)strlen("variable");
    for (size_t k = 0; k < verdict->drifts; k++)
        if ((int)strlen(verdict->drift[k].name) > width) width = (int)strlen(verdict->drift[k].name);
    if (verdict->drifts) printf("%-*s  %-11s %9s %9s\n", width, "variable", "what", "effect", "z");
    for (size_t k = 0; k < verdict->drifts; k++) {
        const svmp_drift *d = &verdict->drift[k];
        printf("%-*s  %-11s %+9.2g %+9.3g\n", width, d->name, aspects[d->aspect], d->effect, d->z);
    }
    if (verdict->drifting > verdict->drifts) printf("%zu more\n", verdict->drifting - verdict->drifts);
    if (verdict->drifts) putchar('\n');
}
