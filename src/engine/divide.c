#include "engine/divide.h"

#include "engine/fair.h"
#include "engine/slots.h"

#include <stdlib.h>

void divide_init(struct engine *engine)
{
    engine->slots_share = UINT32_MAX;
    if (!engine->options.store_is_shared)
        return;
    engine->members = calloc(ENGINE_NODES, sizeof *engine->members);
    engine->moved_ms = calloc(ENGINE_NODES, sizeof *engine->moved_ms);
    ASSERT(engine->members != NULL && engine->moved_ms != NULL);
}

void divide_close(struct engine *engine)
{
    free(engine->members);
    free(engine->moved_ms);
}

void divide_on_beat(struct engine *engine, const struct beat *beat)
{
    ASSERT(engine->members != NULL && beat->member_count <= ENGINE_NODES);
    engine->member_count = beat->member_count;
    if (beat->member_count > 0)
        memcpy(engine->members, beat->members, beat->member_count * sizeof *beat->members);
    divide_slots(engine);
}

/* ---- slots --------------------------------------------------------------------------------- */

void divide_slots(struct engine *engine)
{
    uint32_t demands[ENGINE_NODES];
    size_t self = ENGINE_NODES;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        demands[i] = engine->members[i].demand.slots;
        if (engine->members[i].is_self)
            self = i;
    }
    engine->slots_share = self == ENGINE_NODES
                              ? UINT32_MAX
                              : fair_share(engine->slots_plan, demands, engine->member_count, self);
}

/* ---- pools --------------------------------------------------------------------------------- */

/* Two pools with the same bit only keep a little less ready. */
static uint64_t bit_of(const struct pool *pool)
{
    return UINT64_C(1) << (pool->options.key.bytes[0] % 64);
}

uint32_t divide_pool(const struct engine *engine, const struct pool *pool)
{
    uint32_t awake = 1;
    uint32_t rank = 0;
    bool is_before = true;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct member *member = &engine->members[i];
        is_before &= !member->is_self;
        const bool is_awake = !member->is_self && (member->demand.pools & bit_of(pool)) != 0;
        awake += is_awake;
        rank += is_awake && is_before;
    }
    return fair_part(pool->options.size, awake, rank);
}

void engine_demand(const struct engine *engine, struct demand *demand)
{
    *demand = (struct demand){.slots = engine->slots_used + engine->queued};
    for (uint16_t i = 0; i < engine->pool_count; i++)
        if (!engine->pools[i].is_asleep)
            demand->pools |= bit_of(&engine->pools[i]);
}
