/* The pulse of a gateway that shares its store: says that it lives, and hears what others ended, on a thread and a
 * connection of its own, so that neither waits behind a batch. */
#ifndef SOLVEGATE_STORE_STORE_PULSE_H
#define SOLVEGATE_STORE_STORE_PULSE_H

#include "store/store_driver.h"

struct store_pulse;

/* What a beat that came through says. */
struct store_beat {
    int64_t
        sent_ms; /* when it was sent, by the machine's even clock (struct clocks): a lease is counted from here */
    /* No beat since the one before that was told failed or came late, and the connection is the same: a node whose
     * beat did not move meanwhile did not send any. */
    bool is_steady;
    const struct store_members *members; /* borrowed */
};

/* What the next beat says of this gateway's demand, and whether it must come sooner than usual. From the loop. */
void store_set_demand(struct store *store, const struct demand *demand, bool must_hurry);
/* What beats say of its configuration from now on, also before the store is started; at most STORE_PARTS_MAX, with the
 * NUL. From the loop. */
void store_set_parts(struct store *store, const char *parts);

/* All that the store is known to have lost is written again: until then beats say that it is not. From the loop. */
void store_set_mended(struct store *store);
/* Another gateway's beat said so, and it lives: nothing new is claimed until it is done. From the loop. */
void store_hold_claims(struct store *store, bool must_hold);

/* The nodes that the handlers were told of; the loop's. */
const struct store_members *store_pulse_members(const struct store *store);

/* For the port itself, all but the third from the loop: finds a member that the handlers were told of; starts the
 * thread if the store is shared, as soon as it is open (others go on with the tasks of who says nothing, however long
 * the rows take to load); ends it and waits for that, from the writer; tells the handlers what it heard; frees it. */
bool store_pulse_find(const struct store *store, uint64_t incarnation, struct store_member *member);
void store_pulse_start(struct store *store);
void store_pulse_end(struct store *store);
void store_pulse_tell(struct store *store);
void store_pulse_free(struct store *store);

#endif
