/* Where a new request goes: answered from memory, joined to a flight, given its own, or refused. */
#ifndef SOLVEGATE_ENGINE_ASK_H
#define SOLVEGATE_ENGINE_ASK_H

#include "engine/state.h"

enum placement_kind {
    PLACE_SOLUTION, /* at hand */
    PLACE_JOIN,     /* a flight is under way */
    PLACE_FLIGHT,   /* a new one is needed */
};

struct placement {
    enum placement_kind kind;
    enum source source;
    struct solution *solution; /* borrowed */
    struct flight *flight;     /* borrowed */
    struct solution *given; /* owned, or NULL: out of a letter; the cache may have no room for it */
    bool is_ride;           /* the new flight waits for a task that is paid for */
    bool is_replayed;
    bool is_renewed;
    uint32_t retry_after_ms; /* of a refusal */
    struct slice code;       /* of a refusal, when the vendor has a word for the cause */
};

/* Decides and touches nothing: also what /v1/explain answers with. */
enum refusal ask_place(const struct engine *engine, const struct ask *ask,
                       struct placement *placement);

/* Is it for something that memory does not have, which neither a full store nor a full table keeps out? */
bool ask_would_pay(const struct placement *placement, enum refusal refusal);
/* The same, and where it would be paid for a letter of its client gives its solution back instead: the caller gives
 * the reference to placement->given back. */
enum refusal ask_place_at_last(struct engine *engine, const struct ask *ask,
                               struct placement *placement);

void ask_on_ask(struct engine *engine, const struct ask *ask);

#endif
