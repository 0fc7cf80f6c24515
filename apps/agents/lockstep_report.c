/* What an agent says of itself: on a signal, as lines of JSON, and notes about others. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "front/error_output.h"
#include "lockstep_inside.h"

volatile sig_atomic_t status_wanted;

void note(const lockstep *line, const char *format, ...) {
    char sentence[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    report_error(EXIT_DONE, "Agent '%s': %s", line->about.name, sentence);
}

static int awaited(const lockstep *line, const neighbour *p) {
    if (line->finding) return !p->has_none;
    if (line->leaving) return p->need <= line->round || p->safe <= line->round;
    return line->sending && p->received < line->round;
}

static double rate_of(const lockstep *line, double at) {
    return at > line->began ? (double)(line->round - line->began_round) / (at - line->began) : 0;
}

/* For people. */
static void print_status(const lockstep *line, double at) {
    char who[300] = "";
    for (size_t k = 0; k < line->count && strlen(who) < 200; k++)
        if (awaited(line, &line->neighbours[k]))
            snprintf(who + strlen(who), sizeof who - strlen(who), "%s%s", *who ? ", " : "", line->neighbours[k].name);
    note(line, "round %u, %.0f rounds/s, %zu neighbours, %llu bytes sent, %llu datagrams refused%s%s.",
         (unsigned)line->round, rate_of(line, at), line->count, (unsigned long long)line->tally.bytes,
         (unsigned long long)line->tally.refused, *who ? ", waits for " : "", who);
}

/* For programs: one line. */
static void print_json(const lockstep *line, double at) {
    printf("{\"agent\": \"%s\", \"round\": %u, \"durable\": %u, \"rounds_per_second\": %.1f, \"finished\": %s, "
           "\"bytes_sent\": %llu, \"datagrams_sent\": %llu, \"datagrams_received\": %llu, \"duplicates\": %llu, "
           "\"refused\": %llu, \"neighbours\": [",
           line->about.name, (unsigned)line->round, (unsigned)line->durable, rate_of(line, at),
           line->finished ? "true" : "false", (unsigned long long)line->tally.bytes,
           (unsigned long long)line->tally.sent, (unsigned long long)line->tally.received,
           (unsigned long long)line->tally.twice, (unsigned long long)line->tally.refused);
    for (size_t k = 0; k < line->count; k++) {
        const neighbour *p = &line->neighbours[k];
        printf("%s{\"agent\": \"%s\", \"awaited\": %s, \"silent\": %.2f, \"rtt\": %.4f, \"needs\": %u}", k ? ", " : "",
               p->name, awaited(line, p) ? "true" : "false", p->heard > 0 ? at - p->heard : -1, p->rtt,
               (unsigned)p->need);
    }
    printf("]}\n");
    fflush(stdout);
}

void lockstep_report(lockstep *line) {
    if (line->options.report > 0) print_json(line, now());
}

void report_if_wanted(lockstep *line) {
    const double at = now();
    if (status_wanted) {
        status_wanted = 0;
        print_status(line, at);
    }
    if (line->options.report > 0 && at - line->reported >= line->options.report) {
        line->reported = at;
        print_json(line, at);
    }
}
