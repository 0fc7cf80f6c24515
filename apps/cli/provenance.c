#include "provenance.h"

#include <string.h>

#include "base/comment_lines.h"
#include "command_table.h"
#include "run_record.h"

provenance read_provenance(svmp_context *context, const svmp_particles *particles) {
    const char *comments = svmp_particles_comments(particles);
    char value[64];
    svmp_method method;
    provenance o = {.yield = SVMP_YIELD_PARTICLES};
    if (svmp_particles_are_chains(particles))
        o.yield = SVMP_YIELD_CHAINS;
    else if (svmp_comment_find(comments, "method", value, sizeof value) &&
             svmp_method_describe(context, value, &method) == SVMP_OK && method.yield != SVMP_YIELD_CHAINS)
        o.yield = method.yield;
    o.diverged =
        svmp_comment_find(comments, "outcome", value, sizeof value) && strcmp(value, outcome_word(SVMP_DIVERGED)) == 0;
    return o;
}

void print_size(const svmp_particles *particles, svmp_yield yield) {
    const size_t n = svmp_particles_count(particles), chains = svmp_particles_chains(particles), each = n / chains;
    switch (yield) {
    case SVMP_YIELD_CHAINS: printf("%zu chain%s of %zu draw%s", chains, plural(chains), each, plural(each)); return;
    case SVMP_YIELD_DRAWS: printf("%zu independent draw%s", n, plural(n)); return;
    case SVMP_YIELD_MODES:
    case SVMP_YIELD_PARTICLES: printf("%zu particle%s", n, plural(n)); return;
    }
}

void print_caveat(svmp_yield yield) {
    if (yield == SVMP_YIELD_MODES)
        printf("The particles represent modes: their spread is not that of the posterior.\n");
    if (yield == SVMP_YIELD_DRAWS) printf("The draws are independent: the standard error of a mean is sd/sqrt(n).\n");
}
