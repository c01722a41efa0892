#include "engine/lease.h"

#include "engine/aside.h"
#include "engine/claim.h"

void lease_on_beat(struct engine *engine, const struct beat *beat)
{
    const uint64_t until_ms = beat->sent_ms + engine->options.lease_ms;
    /* Replies may overtake each other. */
    if (until_ms > engine->lease_until_ms + engine->options.lease_margin_ms)
        engine->lease_until_ms = until_ms - engine->options.lease_margin_ms;
    if (!lease_is_valid(engine))
        return;
    list_splice(&engine->waking, &engine->unhanded);
    lease_work(engine);
}

void lease_await_claim(struct engine *engine, struct flight *flight)
{
    if (!flight_is_unleased(flight))
        list_append(&engine->unleased, &aside_of(engine, flight)->unleased);
}

void lease_await_hand_out(struct engine *engine, struct flight *flight)
{
    list_unlink(&flight->link);
    list_append(&engine->unhanded, &flight->link);
}

bool lease_has_work(const struct engine *engine)
{
    return !list_is_empty(&engine->unleased) && lease_is_valid(engine);
}

void lease_work(struct engine *engine)
{
    for (uint32_t left = engine->options.step_batch; left > 0 && lease_has_work(engine); left--) {
        struct list *first = list_first(&engine->unleased);
        list_unlink(first);
        claim_send_again(engine, CONTAINER_OF(first, struct aside, unleased)->flight);
    }
}
