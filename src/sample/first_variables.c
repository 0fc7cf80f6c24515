/* Gathers the first variables of particles that are distributed over several processes. */
#include <string.h>

#include "base/peer_rows.h"
#include "sample/particles.h"

static const char *name_of(const void *particles, size_t variable) { return svmp_particles_name(particles, variable); }

/* Into `to`, whose room all processes have. */
static svmp_status take_first(const svmp_particles *particles, spread *s, const char **names, svmp_particles *to) {
    const svmp_peers *peers = particles->peers;
    const size_t count = particles->count, most = to->variables;
    char *text = NULL, name[1024];
    svmp_status status;
    SVMP_CHECK(svmp_spread_names(s, most, name_of, particles, &text, names));
    const double *block = svmp_spread_collect(s, (spread_block){0, most, 0, count}, count, particles->values);
    if (block) memcpy(to->values, block, most * count * sizeof *block);
    peers->broadcast(peers, 0, most * count * sizeof *to->values, to->values);
    for (size_t i = 0; i < most; i++) {
        snprintf(name, sizeof name, "%s", names && peers->rank == 0 ? names[i] : "");
        peers->broadcast(peers, 0, sizeof name, name);
        if (status == SVMP_OK) status = svmp_particles_set_name(to, i, name);
    }
    status = svmp_agree(particles->context, peers, status);
done:
    svmp_release(particles->context, text);
    return status;
}

svmp_status svmp_particles_first(const svmp_particles *particles, size_t most, svmp_particles **first) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (first == NULL || most == 0)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_first: the result is NULL or the count is 0.");
    if (most > particles->whole) most = particles->whole;
    svmp_particles *made = NULL;
    const char **names = NULL;
    spread s = {0};
    svmp_status status = svmp_particles_create(context, most, particles->count, NULL, &made);
    if (status == SVMP_OK) made->chains = particles->chains;
    if (particles->peers->count > 1) {
        if (status == SVMP_OK) status = SVMP_NEW(context, names, most);
        SVMP_CHECK(svmp_spread_open(context, particles->peers, particles->whole, particles->variables, particles->place,
                                    most * particles->count, status, &s));
        SVMP_CHECK(take_first(particles, &s, names, made));
    } else {
        SVMP_CHECK(status);
        memcpy(made->values, particles->values, most * particles->count * sizeof *made->values);
        for (size_t i = 0; i < most; i++)
            SVMP_CHECK(svmp_particles_set_name(made, i, svmp_particles_name(particles, i)));
    }
    *first = made;
    made = NULL;
done:
    svmp_spread_close(&s);
    svmp_release(context, names);
    svmp_particles_free(made);
    return status;
}
