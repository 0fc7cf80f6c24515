#include "stein/step_rule.h"

#include <math.h>
#include <string.h>

#include "base/name_list.h"
#include "base/number.h"

static const struct {
    const step_rule *rule;
    const char *form; /* as written by the user */
} rules[] = {{&svmp_step_adagrad, "adagrad:RATE"}, {&svmp_step_rmsprop, "rmsprop:RATE"},
             {&svmp_step_adam, "adam:RATE"},       {&svmp_step_adam_sd, "adam-sd:RATE"},
             {&svmp_step_fixed, "fixed:RATE"},     {&svmp_step_decay, "decay:A,B,GAMMA"}};

const char *svmp_step_name(size_t k) { return k < sizeof rules / sizeof *rules ? rules[k].form : NULL; }

static int parse_positive(const char *start, const char *end, double *value) {
    return svmp_number_parse(start, end, value) == NUMBER_FINITE && *value > 0;
}

/* rate | from ".." to */
static int parse_rate(const char *text, step *s) {
    const char *end = text + strlen(text), *dots = strstr(text, "..");
    if (dots) return parse_positive(text, dots, &s->from) && parse_positive(dots + 2, end, &s->to);
    if (!parse_positive(text, end, &s->from)) return 0;
    s->to = s->from;
    return 1;
}

/* a "," b "," gamma */
static int parse_decay(const char *text, step *s) {
    const char *end = text + strlen(text), *comma = strchr(text, ',');
    const char *second = comma ? strchr(comma + 1, ',') : NULL;
    return second && parse_positive(text, comma, &s->a) && parse_positive(comma + 1, second, &s->b) &&
           parse_positive(second + 1, end, &s->gamma);
}

svmp_status svmp_step_parse(svmp_context *context, const char *text, step *parsed) {
    char names[256];
    const char *colon = strchr(text, ':');
    for (size_t k = 0; colon && k < sizeof rules / sizeof *rules; k++) {
        step made = {.rule = rules[k].rule};
        if (strlen(made.rule->name) != (size_t)(colon - text) ||
            memcmp(made.rule->name, text, (size_t)(colon - text)) != 0)
            continue;
        if (!(made.rule == &svmp_step_decay ? parse_decay : parse_rate)(colon + 1, &made)) break;
        *parsed = made;
        return SVMP_OK;
    }
    return svmp_fail(context, SVMP_BAD_CALL,
                     "Invalid step '%s': expected %s; RATE is a number or FROM..TO, and all numbers must be positive.",
                     text, svmp_list_names(svmp_step_name, "or", names, sizeof names));
}

double svmp_step_rate(const step *s, size_t t, size_t iterations) {
    if (s->rule == &svmp_step_decay) return s->a * pow(s->b + (double)t, -s->gamma);
    if (s->from == s->to || iterations < 2) return s->from;
    return s->from * pow(s->to / s->from, (double)t / (double)(iterations - 1));
}
