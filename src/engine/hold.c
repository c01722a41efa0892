#include "engine/hold.h"

#include "engine/errand.h"
#include "engine/find.h"
#include "engine/placed.h"
#include "engine/request.h"

/* By then the next start may be over. */
#define RESTART_MS 5000

static struct hold *make(struct engine *engine, client_id client, caller_id caller,
                         uint64_t hold_ms)
{
    slab_id id = 0;
    struct hold *hold = slab_alloc(&engine->holds, &id);
    if (hold == NULL)
        return NULL;
    share_take(&engine->shares.holds, client, 1);
    hold->client = client;
    list_init(&hold->link);
    list_init(&hold->brief);
    hold->by_caller.number = caller;
    numbers_insert(&engine->holds_by_caller, &hold->by_caller);
    wheel_timer_init(&hold->timer, TIMER_HOLD);
    if (hold_ms != WHEEL_NEVER)
        wheel_arm(&engine->wheel, &hold->timer, engine->now_ms + hold_ms);
    return hold;
}

struct hold *hold_new(struct engine *engine, struct request *request, caller_id caller,
                      uint64_t hold_ms)
{
    struct hold *hold = make(engine, request->client, caller, hold_ms);
    if (hold == NULL)
        return NULL;
    hold->request = request;
    list_append(&request->holds, &hold->link);
    return hold;
}

struct hold *hold_for_search(struct engine *engine, struct search *search, client_id client,
                             caller_id caller, uint64_t hold_ms)
{
    struct hold *hold = make(engine, client, caller, hold_ms);
    ASSERT(hold != NULL);
    hold->search = search;
    return hold;
}

struct hold *hold_for_errand(struct engine *engine, uint64_t ticket, client_id client,
                             caller_id caller, uint64_t hold_ms)
{
    struct hold *hold = caller == 0 ? NULL : make(engine, client, caller, hold_ms);
    ASSERT(hold != NULL || caller == 0);
    if (hold != NULL)
        hold->ticket = ticket;
    return hold;
}

void hold_free(struct engine *engine, struct hold *hold)
{
    struct search *search = hold->search;
    share_give(&engine->shares.holds, hold->client, 1);
    list_unlink(&hold->link);
    list_unlink(&hold->brief);
    wheel_cancel(&engine->wheel, &hold->timer);
    numbers_remove(&engine->holds_by_caller, &hold->by_caller);
    slab_free_item(&engine->holds, hold);
    if (search != NULL)
        find_on_left(engine, search);
}

void hold_on_timer(struct engine *engine, struct hold *hold)
{
    struct request *request = hold->request;
    const caller_id caller = hold->by_caller.number;
    if (hold->search != NULL) {
        find_on_hold_timer(engine, hold);
        return;
    }
    if (hold->ticket != 0) {
        errand_on_hold_timer(engine, hold);
        return;
    }
    if (request_is_unsure(request)) {
        request_give_up(engine, request);
        return;
    }
    hold_free(engine, hold);
    request_answer(engine, request, caller);
}

bool engine_dismiss_callers(struct engine *engine)
{
    slab_id id = 0;
    for (uint32_t i = 0; i < engine->options.step_batch; i++) {
        id = slab_next(&engine->holds, id);
        if (id == 0)
            return i > 0;
        struct hold *const hold = slab_get(&engine->holds, id);
        const caller_id caller = hold->by_caller.number;
        hold_free(engine, hold);
        request_refuse(engine, caller, REFUSAL_DRAINING, SLICE_NONE, RESTART_MS);
    }
    return true;
}
