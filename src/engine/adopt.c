#include "engine/adopt.h"

#include "engine/divide.h"
#include "engine/lease.h"
#include "engine/recover.h"

/* ---- who is dead --------------------------------------------------------------------------- */

static const struct member *find_member(const struct engine *engine, node_id id, uint64_t *moved_ms)
{
    for (uint16_t i = 0; i < engine->member_count; i++) {
        if (engine->members[i].id != id)
            continue;
        *moved_ms = engine->moved_ms[i];
        return &engine->members[i];
    }
    return NULL;
}

void adopt_watch(struct engine *engine, const struct beat *beat)
{
    uint64_t moved_ms[ENGINE_NODES];
    for (uint16_t i = 0; i < beat->member_count; i++) {
        uint64_t before_ms = 0;
        const struct member *before = find_member(engine, beat->members[i].id, &before_ms);
        /* While the store was away, nobody's beat could move. */
        const bool has_stopped =
            before != NULL && before->beat == beat->members[i].beat && beat->is_unbroken;
        moved_ms[i] = has_stopped ? before_ms : engine->now_ms;
    }
    memcpy(engine->moved_ms, moved_ms, beat->member_count * sizeof *moved_ms);
}

static bool is_dead(const struct engine *engine, uint16_t place)
{
    const struct member *member = &engine->members[place];
    return !member->is_self && (member->is_leaving || engine->now_ms - engine->moved_ms[place] >=
                                                          engine->options.lease_ms);
}

bool adopt_is_other_alive(const struct engine *engine, uint16_t node)
{
    for (uint16_t i = 0; i < engine->member_count; i++)
        if (engine->members[i].node == node)
            return !engine->members[i].is_self && !is_dead(engine, i);
    return false;
}

/* The other node may have had as much as this one may have. */
static bool has_room(const struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    return engine->flights.used <= engine->flights.capacity - options->max_flights &&
           engine->requests.used <= engine->requests.capacity - options->max_requests &&
           engine->idempotency.used <= engine->idempotency.capacity - options->max_idempotency;
}

void adopt_one(struct engine *engine)
{
    if (!engine->options.store_adopts)
        return;
    if (engine->options.lease_ms == 0 || engine->adopting != 0 || engine->is_draining ||
        !lease_is_valid(engine) || !has_room(engine))
        return;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        if (!is_dead(engine, i))
            continue;
        const struct member *member = &engine->members[i];
        TRACE(engine, "adopts node %llu", (unsigned long long)member->id);
        engine->adopting = member->id;
        struct adopt *adopt = &engine_push(engine, ACTION_ADOPT)->adopt;
        adopt->id = member->id;
        adopt->beat = member->beat;
        return;
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

void adopt_on_adopted(struct engine *engine, const struct adopted *adopted)
{
    if (adopted->id != engine->adopting)
        return;
    if (!adopted->is_ours) {
        engine->adopting = 0;
        return;
    }
    recovery_begin(engine);
    for (size_t i = 0; i < adopted->record_count; i++)
        engine_restore(engine, &adopted->records[i]);
    for (size_t i = 0; i < adopted->claim_count; i++)
        engine_restore_claim(engine, &adopted->claims[i].name, adopted->claims[i].number);
    engine->work += (uint32_t)(adopted->record_count + adopted->claim_count);
    if (adopted->is_last)
        recovery_complete(engine);
}

bool adopt_has_work(const struct engine *engine)
{
    return engine->adopting != 0 && recovery_is_complete(engine);
}

void adopt_work(struct engine *engine)
{
    if (!adopt_has_work(engine) || !recovery_go_on(engine, engine->options.step_batch))
        return;
    divide_take_over(engine, engine->adopting);
    engine->adopting = 0;
}
