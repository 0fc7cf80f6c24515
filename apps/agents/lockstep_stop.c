/* How agents stop together, after the same iteration, without a coordinator. What an agent says in a round has reached
 * all others after `hops` rounds, since each passes it on with its own messages.
 *
 * `stop_at` is the earliest iteration that anybody has proposed; a proposal is far enough ahead for all to hear of it.
 * Whether all averages have settled is asked after iterations in which states were kept: each agent says whether its
 * own have, and passes on whether all that it has heard of have; `hops` rounds later all know the same answer. Apart
 * from proposals, which depend on a clock, all this is a function of states alone. */
#include "lockstep_inside.h"

void write_control(const lockstep *line, unsigned char to[CONTROL]) {
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(line->stop_at >> 8 * k);
    to[4] = line->all_settled != 0;
}

void take_control(lockstep *line, const unsigned char from[CONTROL]) {
    uint32_t stop_at = 0;
    for (int k = 0; k < 4; k++) stop_at |= (uint32_t)from[k] << 8 * k;
    if (stop_at < line->stop_at) line->stop_at = stop_at;
    if (from[4] == 0) line->all_settled = 0;
}

int lockstep_agree(lockstep *line, uint32_t iteration, int asks, int votes) {
    line->iteration = iteration;
    if (line->asked > 0 && line->round - line->asked >= line->about.hops) {
        if (line->all_settled && iteration < line->stop_at) line->stop_at = iteration;
        line->asked = 0;
    }
    if (asks && votes && line->count == 0) line->stop_at = iteration; /* there is nobody to ask */
    if (asks && line->asked == 0) {
        line->asked = line->round;
        line->all_settled = votes != 0;
    }
    return lockstep_has_stopped(line);
}

int lockstep_has_stopped(const lockstep *line) { return line->iteration > 0 && line->iteration >= line->stop_at; }

int lockstep_propose_stop(lockstep *line) {
    if (line->stop_at != NEVER) return 0;
    line->stop_at = line->iteration + (uint32_t)line->about.hops + 1;
    return 1;
}
