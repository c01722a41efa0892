/* Placement of a new request: answered from memory, joined to a flight, given a flight of its own,
 * or refused. */
#ifndef SOLVEGATE_ENGINE_ASK_H
#define SOLVEGATE_ENGINE_ASK_H

#include "engine/state.h"

enum placement_kind {
    PLACE_SOLUTION, /* a solution is at hand */
    PLACE_JOIN,     /* a flight for this key is under way */
    PLACE_FLIGHT,   /* a new one is needed */
    PLACE_LETTER,   /* its answer was paid for and cannot be handed out: the request fails */
};

struct placement {
    enum placement_kind kind;
    enum source source;
    struct solution *solution; /* borrowed */
    struct flight *flight;     /* borrowed */
    struct letter *letter;     /* borrowed: the one that keeps the answer */
    struct solution *given;    /* owned, or NULL: a letter's solution, cached or not */
    bool is_offered;           /* memory has a solution, but the store gives it (offer.h) */
    bool is_ride;              /* the new flight waits for a stray, which is paid for already */
    bool is_replayed;
    bool is_renewed;
    uint32_t retry_after_ms; /* of a refusal: when to try again */
    struct slice code;       /* of a refusal: the vendor's code for the cause, if there is one */
};

/* Decides without changing anything; /v1/explain answers with this. */
enum refusal ask_place(const struct engine *engine, const struct ask *ask,
                       struct placement *placement);

/* True if memory has no solution for the request and only the budget or the breaker may refuse it,
 * not a full store or table. */
bool ask_would_pay(const struct placement *placement, enum refusal refusal);
/* Like ask_place(), but where a submit would be needed, a letter of the client gives its solution
 * back instead. The caller releases the reference in placement->given. */
enum refusal ask_place_at_last(struct engine *engine, const struct ask *ask,
                               struct placement *placement);

/* Turns PLACE_LETTER into PLACE_FLIGHT: the operator wants to pay for another answer. */
enum refusal ask_buy(const struct engine *engine, const struct ask *ask,
                     struct placement *placement);

void ask_on_ask(struct engine *engine, const struct ask *ask);

#endif
