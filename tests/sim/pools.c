/* The rules of pools: what was solved ahead is all there, handed out once, and never in the way of who waits. */
#include "sim.h"

#include <string.h>

#define VIEWS 256
/* As the engine has it: replaced this long before it is too old. */
#define LEAD_MS 30000
/* A pool that is to be full must have time for it. */
#define LIFE_LEAST_MS 60000

/* ---- which is whose ------------------------------------------------------------------------------ */

uint16_t pool_of_key(const struct sim *sim, uint32_t key)
{
    const uint32_t number = key / SIM_CLIENTS;
    return key < sim->plan.keys * SIM_CLIENTS && number < sim->plan.options.pool_count
               ? (uint16_t)(number + 1)
               : 0;
}

bool pool_fits(const struct sim *sim, uint32_t token_key, uint32_t key)
{
    const uint16_t pool = pool_of_key(sim, key);
    return token_key == key || (pool != 0 && sim->pool_keys[pool - 1] == token_key);
}

/* The pool whose own key this is, and nobody else's: then every row of it is the pool's. */
static int pool_alone(const struct sim *sim, uint32_t key)
{
    return key < sim->plan.keys * SIM_CLIENTS ? -1 : (int)(key - sim->plan.keys * SIM_CLIENTS);
}

static int pool_by_key(const struct sim *sim, uint32_t key)
{
    for (int i = 0; i < sim->plan.options.pool_count; i++)
        if (sim->pool_keys[i] == key)
            return i;
    return -1;
}

uint32_t pool_min_ttl_ms(const struct sim *sim, uint32_t token_key)
{
    const int pool = pool_by_key(sim, token_key);
    return pool < 0 ? 0 : sim->plan.pools[pool].min_ttl_ms;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

void pools_note_flight(struct sim *sim, const struct flight_row *row)
{
    uint64_t number;
    memcpy(&number, row->key.bytes, sizeof number);
    const int pool = pool_by_key(sim, (uint32_t)(number - 1));
    if (row->reuse != REUSE_SINGLE || pool < 0)
        return;
    sim->pool_flights++;
    sim->pool_flight_step[pool] = sim->steps;
}

void pools_note_submit(struct sim *sim, uint32_t key)
{
    if (pool_alone(sim, key) >= 0)
        sim->pool_submit_step = sim->steps;
}

static void store(struct sim *sim, struct token *token, bool is_stored)
{
    const int pool = pool_alone(sim, token->key);
    if (pool >= 0)
        sim->stored[pool] += (uint32_t)is_stored - (uint32_t)token->is_stored;
    if (pool >= 0 && token->is_bound && !is_stored) {
        sim->bound[pool]--;
        token->is_bound = false;
    }
    token->is_stored = is_stored;
}

void pools_note_solution(struct sim *sim, uint32_t token, const struct solution_row *row)
{
    if (sim->plan.options.pool_count > 0)
        store(sim, &sim->tokens[token], row->is_kept && !row->is_shared && row->handed == 0);
}

void pools_forget_solution(struct sim *sim, uint32_t token)
{
    if (sim->plan.options.pool_count > 0)
        store(sim, &sim->tokens[token], false);
}

/* Whoever asked has an idempotency key that stands for it. */
static void bind(struct sim *sim, uint64_t solution)
{
    const uint32_t place = solution == 0 ? MAP_NONE : map_get(&sim->token_by_uid, solution);
    struct token *token = place == MAP_NONE ? NULL : &sim->tokens[place];
    const int pool = token == NULL ? -1 : pool_alone(sim, token->key);
    if (pool < 0 || !token->is_stored || token->is_bound)
        return;
    token->is_bound = true;
    sim->bound[pool]++;
}

static void resize(struct plan *plan)
{
    for (int i = 0; i < SIM_POOLS && plan->other_sizes[i] != 0; i++) {
        const uint32_t size = plan->pools[i].size;
        plan->pools[i].size = plan->other_sizes[i];
        plan->other_sizes[i] = size;
    }
}

void pools_after_crash(struct sim *sim)
{
    if (sim->plan.options.pool_count == 0)
        return;
    resize(&sim->plan);
    sim->pool_flights = sim->step_pool_flights = sim->step_refills = 0;
    for (uint32_t i = 0; i < sim->token_count; i++) {
        const struct record *row = sim->tokens[i].uid == 0
                                       ? NULL
                                       : disk_find(&sim->disk, RECORD_SOLUTION, sim->tokens[i].uid);
        store(sim, &sim->tokens[i],
              row != NULL && row->solution.is_kept && !row->solution.is_shared &&
                  row->solution.handed == 0);
    }
    for (size_t i = 0; i < sim->disk.row_count; i++) {
        const struct disk_row *row = &sim->disk.rows[i];
        if (row->is_used && row->record.kind == RECORD_IDEMPOTENCY)
            bind(sim, row->record.idempotency.solution);
    }
}

/* ---- asking ------------------------------------------------------------------------------------------ */

bool pool_has_for(const struct sim *sim, const struct ask *ask)
{
    if (ask->pool == 0 || ask->reuse == REUSE_NONE || ask->has_idempotency || ask->min_ttl_ms > 0 ||
        ask->max_age_ms != UINT32_MAX || sim->has_skewed || sim->plan.size != SIZE_SMALL)
        return false;
    const uint32_t key = sim->pool_keys[ask->pool - 1];
    const int pool = pool_alone(sim, key);
    if (pool < 0)
        return false;
    for (size_t i = 0; i < sim->token_count; i++) {
        const struct token *token = &sim->tokens[i];
        if (token->key == key && token->is_stored && !token->is_bound &&
            token->expires_ms > sim->now_ms)
            return true;
    }
    return false;
}

/* ---- after each step --------------------------------------------------------------------------------- */

/* Those that cannot be what is soon replaced, with those under way, are never more than it holds. */
static void check_size(struct sim *sim, uint16_t pool, const struct pool_view *view)
{
    const struct pool_options *options = &sim->plan.pools[pool];
    uint32_t fresh = 0;
    for (size_t i = 0; i < sim->token_count; i++) {
        const struct token *token = &sim->tokens[i];
        fresh += token->key == sim->pool_keys[pool] && token->is_stored && !token->is_bound &&
                 token->expires_ms > sim->now_ms + options->min_ttl_ms + LEAD_MS;
    }
    CHECK(sim, fresh + view->solving <= options->size);
}

/* A refill starts only when nobody who could have the slot waits for one. */
static void check_nobody_waits(struct sim *sim)
{
    struct flight_view views[VIEWS];
    uint64_t cursor = 0;
    uint32_t used[SIM_CLIENTS] = {0};
    bool waits[SIM_CLIENTS] = {false};
    const size_t count = engine_list_flights(sim->engine, 0, &cursor, views, VIEWS);
    for (size_t i = 0; i < count; i++) {
        const bool is_queued = strcmp(views[i].phase, "queued") == 0;
        waits[views[i].client] |= is_queued;
        used[views[i].client] += !is_queued && strcmp(views[i].phase, "backing_off") != 0;
    }
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    for (int i = 0; i < SIM_CLIENTS; i++) {
        const uint32_t slots = sim->plan.clients[i].slots;
        /* Any of the strays may be its own, and those hold slots too. */
        CHECK(sim, !waits[i] || (slots != 0 && used[i] + gauges.strays >= slots));
    }
}

static void check_refills(struct sim *sim, const struct pool_view *views, uint64_t refills)
{
    check_nobody_waits(sim);
    /* A replay's flight has the same look; and with a clock that was set, none knows how old they are. */
    if (sim->pool_flights - sim->step_pool_flights != refills || sim->has_skewed)
        return;
    for (uint16_t i = 0; i < sim->plan.options.pool_count; i++)
        if (pool_alone(sim, sim->pool_keys[i]) >= 0 && sim->pool_flight_step[i] == sim->steps)
            check_size(sim, i, &views[i]);
}

/* Too old to be kept, and not yet gone. */
static uint32_t count_stale(const struct sim *sim, uint16_t pool)
{
    uint32_t stale = 0;
    for (size_t i = 0; i < sim->token_count; i++) {
        const struct token *token = &sim->tokens[i];
        stale += token->key == sim->pool_keys[pool] && token->is_stored &&
                 token->expires_ms <= sim->now_ms + sim->plan.pools[pool].min_ttl_ms;
    }
    return stale;
}

/* I10: whatever was paid ahead and not taken is there, in the pool or where it looks next, and nothing else. */
static void check_stock(struct sim *sim, uint16_t pool, const struct pool_view *view)
{
    const uint32_t stored = sim->stored[pool];
    if (pool_alone(sim, sim->pool_keys[pool]) < 0 || sim->has_skewed)
        return;
    const uint32_t there = view->ready + view->banked;
    CHECK(sim, there <= stored && view->ready <= 2 * view->size);
    if (there + sim->bound[pool] < stored)
        CHECK(sim, there + sim->bound[pool] + count_stale(sim, pool) >= stored);
}

void pools_check(struct sim *sim)
{
    const uint16_t count = sim->plan.options.pool_count;
    if (count == 0)
        return;
    struct pool_view views[SIM_POOLS];
    CHECK(sim, engine_list_pools(sim->engine, views, SIM_POOLS) == count);
    for (uint16_t i = 0; i < count; i++)
        check_stock(sim, i, &views[i]);
    const uint64_t refills = engine_stats(sim->engine)->pool_refills - sim->base.pool_refills;
    /* I10: each of them has a row. */
    CHECK(sim, refills <= sim->pool_flights);
    if (sim->plan.size == SIZE_SMALL && refills > sim->step_refills)
        check_refills(sim, views, refills - sim->step_refills);
    /* Nor does one that is tried again; a letter's replay is as good as a request. */
    if (sim->plan.size == SIZE_SMALL && sim->pool_submit_step == sim->steps &&
        sim->plan.strength[FAULT_LETTERS] == 0)
        check_nobody_waits(sim);
    sim->step_refills = refills;
    sim->step_pool_flights = sim->pool_flights;
}

/* ---- liveness ---------------------------------------------------------------------------------------- */

/* Where neither budget nor slots nor lifetimes forbid it. */
static bool can_be_full(const struct sim *sim, uint16_t place)
{
    const struct pool_options *pool = &sim->plan.pools[place];
    const struct engine_options *options = &sim->plan.options;
    const struct client_options *client = &sim->plan.clients[pool->client];
    const uint32_t ttl_ms = options->ttl_ms[sim->pool_keys[place] % TYPE_COUNT];
    return client->budget_per_day == UINT64_MAX && ttl_ms >= pool->min_ttl_ms + LIFE_LEAST_MS &&
           options->slots > pool->size && !options->slots_are_auto &&
           options->max_flights > pool->size && sim->plan.solve_ms <= 8000 &&
           (client->slots == 0 || client->slots > pool->size);
}

bool pools_are_full(const struct sim *sim)
{
    struct pool_view views[SIM_POOLS];
    (void)engine_list_pools(sim->engine, views, SIM_POOLS);
    for (uint16_t i = 0; i < sim->plan.options.pool_count; i++)
        if (can_be_full(sim, i) && views[i].ready < views[i].size)
            return false;
    return true;
}

void pools_demand(struct sim *sim)
{
    struct pool_view views[SIM_POOLS];
    (void)engine_list_pools(sim->engine, views, SIM_POOLS);
    for (uint16_t i = 0; i < sim->plan.options.pool_count; i++)
        if (can_be_full(sim, i) && views[i].ready < views[i].size)
            clients_come_for_new(sim, (uint32_t)i * SIM_CLIENTS, 0);
}
