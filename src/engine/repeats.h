/* The keys that repeat most, in a table of fixed size: a new key takes the place of the rarest one
 * and inherits its count as uncertain ("space saving", Metwally et al. 2005). */
#ifndef SOLVEGATE_ENGINE_REPEATS_H
#define SOLVEGATE_ENGINE_REPEATS_H

#include "engine/state.h"

struct repeat {
    struct table_node node; /* by key */
    struct blob *host;      /* owned, or NULL */
    uint64_t times, uncertain, saved_micro;
    enum type type;
    client_id client;
};

struct repeats {
    struct repeat *items; /* owned */
    uint32_t count, room;
    struct table by_key;
};

void repeats_init(struct repeats *repeats, uint32_t room, const uint64_t secret[2]);
void repeats_close(struct repeats *repeats);

/* The flight is a duplicate, and cost this much. */
void repeats_note(struct repeats *repeats, const struct flight *flight, uint64_t price_micro);

void repeats_check(const struct repeats *repeats);

#endif
