#include "claim.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "front/error_output.h"

static const double level = 0.05;

static const char *verdict_text(verdict v) {
    static const char *const texts[] = {"yes", "no", "undecided"};
    return texts[v];
}

static group *group_of(claim *c, const char *label) {
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(c->groups[k].label, label) == 0) return &c->groups[k];
    if (c->count == 16) return &c->groups[15];
    group *g = &c->groups[c->count++];
    *g = (group){.worst_against = 1, .low = INFINITY, .high = -INFINITY, .trials = SIZE_MAX};
    snprintf(g->label, sizeof g->label, "%s", label);
    return g;
}

void add_test(claim *c, const char *label, double p_for, double p_against, double mean, size_t trials) {
    group *g = group_of(c, label);
    g->tests++;
    c->tests++;
    g->worst_for = fmax(g->worst_for, p_for);
    g->worst_against = fmin(g->worst_against, p_against);
    g->low = fmin(g->low, mean);
    g->high = fmax(g->high, mean);
    g->trials = trials < g->trials ? trials : g->trials;
}

static verdict judge_group(const claim *c, const group *g) {
    if (g->worst_for < level) return VERDICT_YES;
    return g->worst_against < level / (double)c->tests ? VERDICT_NO : VERDICT_UNDECIDED;
}

static verdict judge(const claim *c) {
    int undecided = c->tests == 0;
    for (size_t k = 0; k < c->count; k++) {
        const verdict v = judge_group(c, &c->groups[k]);
        if (v == VERDICT_NO) return VERDICT_NO;
        undecided |= v == VERDICT_UNDECIDED;
    }
    return undecided ? VERDICT_UNDECIDED : VERDICT_YES;
}

static void describe(const claim *c, char *text, size_t size) {
    int at = 0;
    for (size_t k = 0; k < c->count && at >= 0 && (size_t)at < size; k++) {
        const group *g = &c->groups[k];
        const verdict v = judge_group(c, g);
        at += snprintf(text + at, size - (size_t)at, "%s%s: %s%s, %.3g", k ? "; " : "", g->label,
                       c->count > 1 ? verdict_text(v) : "", c->count > 1 ? "" : "mean", g->low);
        if (g->tests > 1 && (size_t)at < size) at += snprintf(text + at, size - (size_t)at, " to %.3g", g->high);
        if ((size_t)at < size)
            at += snprintf(text + at, size - (size_t)at, " (%s %.2g; %zu trial%s)",
                           v == VERDICT_NO ? "the other way, p ="
                           : g->tests > 1  ? "p up to"
                                           : "p =",
                           v == VERDICT_NO ? g->worst_against : g->worst_for, g->trials, plural(g->trials));
    }
}

void close_claim(FILE *csv, const claim *c) {
    char numbers[1536] = "";
    double weakest = c->tests ? 0 : 1;
    describe(c, numbers, sizeof numbers);
    for (size_t k = 0; k < c->count; k++) weakest = fmax(weakest, c->groups[k].worst_for);
    const char *said = verdict_text(judge(c));
    printf("%-10s %-9s  %s\n                      %s\n", c->name, said, c->text, numbers);
    fprintf(csv, "%s,%s,%.2g,\"%s\",\"%s\"\n", c->name, said, weakest, c->text, numbers);
}
