/* What an attempt needs only while no flight waits for it: it listens for late news, and may be a stray.
 * Most attempts in memory have a flight, so it lies aside. */
#ifndef SOLVEGATE_ENGINE_VIGIL_H
#define SOLVEGATE_ENGINE_VIGIL_H

#include "engine/state.h"

struct vigil {
    struct attempt *attempt; /* its owner */
    struct list link; /* engine's listening list, oldest first; of a restored one not at once */
    /* In one table or none: strays_by_key while it may still be solved, unheard_by_key while nobody
     * knows whether it is paid for (stray.h). */
    struct table_node by_key;
    struct wheel_timer expiry;
    slab_id origin;      /* its last flight's slab id, to find it again while it retries, or 0 */
    uint64_t flight_uid; /* that flight's number in the journal */
    uint64_t let_go_ms;
    uint64_t slot_since_ms; /* of a stray: since when it holds a slot */
    uint64_t claim;         /* of a stray: number of the claim that it keeps, or 0 */
};

/* Takes the attempt from its flight, whose key, number and place it remembers. */
void vigil_begin(struct engine *engine, struct attempt *attempt);
/* The same for a restored attempt, whose row names key and flight. */
void vigil_begin_of_row(struct engine *engine, struct attempt *attempt,
                        const struct attempt_row *row);
/* Forgets all that; the attempt must be in no table any more. */
void vigil_end(struct engine *engine, struct attempt *attempt);

/* The key of its flight, by which a late solution is banked. */
const struct key *attempt_key(const struct attempt *attempt);
uint64_t attempt_flight_uid(const struct attempt *attempt);
/* The flight that it solves, or that made it and goes on without it; NULL if that has ended. */
struct flight *attempt_origin(const struct engine *engine, const struct attempt *attempt);

#endif
