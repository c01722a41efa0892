#include "engine/divide.h"

#include "engine/fair.h"
#include "engine/pool.h"
#include "engine/slots.h"

#include <stdlib.h>

/* The default lease, within which a gateway beats several times. */
#define LEFT_MS 10000

/* What a node had that is no member any more: its tasks are at the vendor, its solutions are in the store, and whoever
 * adopts them may not have told yet. */
struct departed {
    node_id id;
    uint32_t held;
    uint64_t until_ms;
    uint16_t levels[DEMAND_POOLS];
};

void divide_init(struct engine *engine)
{
    engine->slots_share = UINT32_MAX;
    if (!engine->options.store_is_shared)
        return;
    engine->members = calloc(ENGINE_NODES, sizeof *engine->members);
    engine->moved_ms = calloc(ENGINE_NODES, sizeof *engine->moved_ms);
    engine->departed = calloc(ENGINE_NODES, sizeof *engine->departed);
    ASSERT(engine->members != NULL && engine->moved_ms != NULL && engine->departed != NULL);
}

void divide_close(struct engine *engine)
{
    free(engine->members);
    free(engine->moved_ms);
    free(engine->departed);
}

/* ---- who was there ------------------------------------------------------------------------- */

static void drop_departed(struct engine *engine)
{
    uint16_t kept = 0;
    for (uint16_t i = 0; i < engine->departed_count; i++)
        if (engine->departed[i].until_ms > engine->now_ms)
            engine->departed[kept++] = engine->departed[i];
    engine->departed_count = kept;
}

/* Whoever left in order was adopted at once, and its adopter tells with its next beats what it holds: a long lease is
 * not waited for. */
static uint32_t departed_ms(const struct engine *engine, const struct member *before)
{
    const uint32_t lease_ms = engine->options.lease_ms;
    return before->is_leaving && lease_ms > LEFT_MS ? LEFT_MS : lease_ms;
}

static bool had_something(const struct demand *demand)
{
    bool has_level = false;
    for (unsigned place = 0; place < DEMAND_POOLS; place++)
        has_level |= demand->levels[place] > 0;
    return demand->held > 0 || has_level;
}

static void add_departed(struct engine *engine, const struct member *before)
{
    struct departed *departed = &engine->departed[engine->departed_count++];
    *departed = (struct departed){.id = before->id,
                                  .held = before->demand.held,
                                  .until_ms = engine->now_ms + departed_ms(engine, before)};
    memcpy(departed->levels, before->demand.levels, sizeof departed->levels);
}

/* Both tables are in the order of the ids. */
static void note_departed(struct engine *engine, const struct beat *beat)
{
    uint16_t next = 0;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct member *before = &engine->members[i];
        while (next < beat->member_count && beat->members[next].id < before->id)
            next++;
        const bool is_there = next < beat->member_count && beat->members[next].id == before->id;
        if (is_there || before->is_self || !had_something(&before->demand) ||
            before->id == engine->taken_over || engine->departed_count == ENGINE_NODES)
            continue;
        add_departed(engine, before);
    }
}

/* The tasks that it had use slots of ours from now on, and its solutions are in our pools. A gateway that is back at
 * once is not counted twice. */
void divide_take_over(struct engine *engine, node_id id)
{
    engine->taken_over = id;
    for (uint16_t i = 0; i < engine->departed_count; i++)
        if (engine->departed[i].id == id)
            engine->departed[i].until_ms = engine->now_ms;
}

/* ---- slots --------------------------------------------------------------------------------- */

static uint32_t seconds_now(const struct engine *engine)
{
    return (uint32_t)((uint64_t)(engine->wall_ms / 1000) % DEMAND_SECONDS);
}

/* The same order of two nodes for whoever compares them, since both count from the same moment. */
static uint32_t seconds_since(const struct engine *engine, uint32_t waiting)
{
    if (waiting == 0)
        return 0;
    const uint32_t ago = (seconds_now(engine) - (waiting - 1)) % DEMAND_SECONDS;
    /* A clock that is a little behind. */
    return ago > DEMAND_SECONDS / 2 ? 1 : ago + 1;
}

/* Its tasks are over, and nobody has adopted them. */
static bool is_over(const struct engine *engine, uint16_t place)
{
    const struct engine_options *options = &engine->options;
    return !engine->members[place].is_self &&
           engine->now_ms - engine->moved_ms[place] >=
               (uint64_t)options->lease_ms + options->solve_timeout_ms;
}

/* Whoever left begins nothing, so nothing is kept for it. */
static bool has_part(const struct engine *engine, uint16_t place)
{
    const struct member *member = &engine->members[place];
    return member->is_self || (!member->is_leaving && !is_over(engine, place));
}

static uint64_t held_by_others(const struct engine *engine)
{
    uint64_t held = 0;
    for (uint16_t i = 0; i < engine->member_count; i++)
        if (!engine->members[i].is_self && !is_over(engine, i))
            held += engine->members[i].demand.held;
    for (uint16_t i = 0; i < engine->departed_count; i++)
        held += engine->departed[i].held;
    return held;
}

static const struct member *find_self(const struct engine *engine)
{
    for (uint16_t i = 0; i < engine->member_count; i++)
        if (engine->members[i].is_self)
            return &engine->members[i];
    return NULL;
}

static uint32_t aim_of(const struct engine *engine, const struct member *self)
{
    struct fair_wish wishes[ENGINE_NODES];
    size_t count = 0;
    size_t place = 0;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct demand *demand = &engine->members[i].demand;
        if (!has_part(engine, i))
            continue;
        if (&engine->members[i] == self)
            place = count;
        wishes[count++] = (struct fair_wish){.demand = demand->slots,
                                             .waiting = seconds_since(engine, demand->waiting)};
    }
    return fair_share(engine->slots_plan, wishes, count, place);
}

/* Of two nodes that raise what they hold at the same moment, at least one finds the other's number in
 * the store after its own was there. So nobody uses more than its own row says, nor more than the other
 * rows leave. */
void divide_slots(struct engine *engine)
{
    const struct member *self = find_self(engine);
    if (self == NULL) {
        engine->slots_share = UINT32_MAX;
        return;
    }
    const uint64_t held = held_by_others(engine);
    const uint32_t left = held < engine->slots_plan ? engine->slots_plan - (uint32_t)held : 0;
    engine->slots_aim = aim_of(engine, self);
    uint32_t share = engine->slots_aim < left ? engine->slots_aim : left;
    if (share > self->demand.held)
        share = self->demand.held;
    engine->slots_share = share;
}

/* Pools come last everywhere; but where nothing else is wanted, they want one slot, so that none stays empty. */
static uint32_t wanted(const struct engine *engine)
{
    const uint32_t wanted = engine->slots_used + engine->queued;
    return wanted == 0 && pools_are_short(engine) ? 1 : wanted;
}

void divide_watch(struct engine *engine)
{
    const bool is_starving = engine->slots_used == 0 && wanted(engine) > 0;
    if (!is_starving)
        engine->starved_s = 0;
    else if (engine->starved_s == 0)
        engine->starved_s = seconds_now(engine) + 1;
}

/* ---- pools --------------------------------------------------------------------------------- */

static unsigned place_of(const struct pool *pool)
{
    return pool->options.key.bytes[0] % DEMAND_POOLS;
}

/* Two pools with the same bit only keep a little less ready. */
static uint64_t bit_of(const struct pool *pool)
{
    return UINT64_C(1) << place_of(pool);
}

void divide_mark_pools(struct engine *engine)
{
    for (uint16_t i = 0; i < engine->pool_count; i++)
        for (uint16_t j = 0; j < engine->pool_count; j++)
            engine->pools[i].shares_bit |=
                i != j && bit_of(&engine->pools[i]) == bit_of(&engine->pools[j]);
}

static uint32_t level_of(const struct pool *pool)
{
    return pool->ready_count - pool->waning_count + pool->solving;
}

static uint32_t less(uint32_t number, uint32_t by)
{
    return number > by ? number - by : 0;
}

/* What those had of it that are no members any more, and nobody may have told yet. */
static uint32_t departed_level(const struct engine *engine, const struct pool *pool)
{
    uint32_t level = 0;
    for (uint16_t i = 0; i < engine->departed_count && !pool->shares_bit; i++)
        level += engine->departed[i].levels[place_of(pool)];
    return level;
}

/* The size is divided among those where the pool is awake, but for what the others have beyond their parts, or though
 * they sleep: also a dead one, since whoever adopts it gets that, and one that is no member any more, until its adopter
 * must have told it. Of pools that share a bit nobody knows what others have. */
static uint32_t part_of(const struct engine *engine, const struct pool *pool)
{
    uint32_t have[ENGINE_NODES + 1];
    uint32_t size = less(pool->options.size, departed_level(engine, pool));
    size_t count = 0;
    size_t self = ENGINE_NODES;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct member *member = &engine->members[i];
        const uint32_t told = pool->shares_bit ? 0 : member->demand.levels[place_of(pool)];
        if (member->is_self)
            self = count++;
        else if (is_over(engine, i))
            continue;
        else if ((member->demand.pools & bit_of(pool)) != 0)
            have[count++] = told;
        else
            size = less(size, told);
    }
    if (self == ENGINE_NODES)
        self = count++;
    have[self] = pool->shares_bit ? 0 : level_of(pool);
    return fair_fill(size, have, count, self);
}

/* A beat that tells less may be under way to the store while an older one is what is known to be there. */
static uint32_t told_of(const struct pool *pool, const struct member *self)
{
    const uint32_t row = self->demand.levels[place_of(pool)];
    return row < pool->told_least ? row : pool->told_least;
}

/* With a beat's answer the row is known again; what was told since may be there with the next one. */
static void note_answer(struct engine *engine)
{
    for (uint16_t i = 0; i < engine->member_count; i++)
        for (uint16_t j = 0; engine->members[i].is_self && j < engine->pool_count; j++)
            engine->members[i].demand.levels[place_of(&engine->pools[j])] =
                (uint16_t)told_of(&engine->pools[j], &engine->members[i]);
    for (uint16_t i = 0; i < engine->pool_count; i++)
        engine->pools[i].told_least = engine->pools[i].told_last;
}

/* As with slots: no more than the others can know of. What they have told is not divided. */
uint32_t divide_pool(const struct engine *engine, const struct pool *pool)
{
    const struct member *self = find_self(engine);
    const uint32_t part = part_of(engine, pool);
    if (self == NULL || pool->shares_bit)
        return part;
    const uint32_t told = told_of(pool, self);
    return part <= told || told == DEMAND_LEVEL_MOST ? part : told;
}

/* ---- answers ------------------------------------------------------------------------------- */

void divide_on_beat(struct engine *engine, const struct beat *beat)
{
    ASSERT(engine->members != NULL && beat->member_count <= ENGINE_NODES);
    drop_departed(engine);
    note_departed(engine, beat);
    engine->member_count = beat->member_count;
    if (beat->member_count > 0)
        memcpy(engine->members, beat->members, beat->member_count * sizeof *beat->members);
    note_answer(engine);
    divide_slots(engine);
}

/* ---- what the others hear ------------------------------------------------------------------ */

static uint32_t at_most(uint32_t number)
{
    return number < DEMAND_MOST ? number : DEMAND_MOST;
}

/* What was taken away is in use until its attempts end. */
static uint32_t held_by(const struct engine *engine)
{
    const uint32_t used = engine->slots_used;
    return at_most(engine->slots_aim > used ? engine->slots_aim : used);
}

/* Whoever sleeps keeps what it has, and begins nothing. */
static void tell_pool(const struct engine *engine, struct pool *pool, struct demand *demand)
{
    uint32_t level = level_of(pool);
    const uint32_t part = pool->is_asleep ? 0 : part_of(engine, pool);
    if (!pool->is_asleep)
        demand->pools |= bit_of(pool);
    if (pool->shares_bit)
        return;
    level = level > part ? level : part;
    pool->told_last = (uint16_t)(level < DEMAND_LEVEL_MOST ? level : DEMAND_LEVEL_MOST);
    if (pool->told_last < pool->told_least)
        pool->told_least = pool->told_last;
    demand->levels[place_of(pool)] = pool->told_last;
}

void engine_demand(struct engine *engine, struct demand *demand)
{
    *demand = (struct demand){
        .slots = at_most(wanted(engine)), .held = held_by(engine), .waiting = engine->starved_s};
    for (uint16_t i = 0; i < engine->pool_count; i++)
        tell_pool(engine, &engine->pools[i], demand);
}

/* Would a refill begin if the others knew of it? */
static bool has_unheard_pool(const struct engine *engine, const struct member *self)
{
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        const struct pool *pool = &engine->pools[i];
        const uint32_t told = told_of(pool, self);
        const uint32_t part = pool->is_asleep || pool->shares_bit ? 0 : part_of(engine, pool);
        if (level_of(pool) < part && told < part && told < DEMAND_LEVEL_MOST)
            return true;
    }
    return false;
}

/* Has it got more than the others know of, with what it has adopted? They would pay for that once more. */
static bool has_untold_level(const struct engine *engine, const struct member *self)
{
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        const struct pool *pool = &engine->pools[i];
        const uint32_t told = told_of(pool, self);
        if (!pool->shares_bit && level_of(pool) > told && told < DEMAND_LEVEL_MOST)
            return true;
    }
    return false;
}

bool engine_must_hurry(const struct engine *engine)
{
    const struct member *self = engine->members == NULL ? NULL : find_self(engine);
    if (self == NULL)
        return false;
    const uint32_t held = held_by(engine);
    const bool is_short = engine->slots_share == 0 ||
                          (engine->queued > 0 && engine->slots_used >= engine->slots_share);
    const bool is_unheard =
        self->demand.held < held || (self->demand.slots == 0 && wanted(engine) > 0);
    return self->demand.held > held || (is_short && is_unheard) || has_unheard_pool(engine, self) ||
           has_untold_level(engine, self);
}
