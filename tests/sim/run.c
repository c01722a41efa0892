/* The world's clock: what comes next happens, the engine ticks when it wants to, crashes come between effects. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

#define START_MS 10000000
/* Twenty minutes before midnight, so that many worlds see a day end. */
#define START_WALL_MS (INT64_C(1704153600000) - 1200000)
#define DAY_MS INT64_C(86400000)
/* Longer than deadlines, breaker probes and holds together (I9). */
#define HEAL_MS 4000000
#define DOWN_LONG_MS 400000
#define CRASHES_MOST 100
/* A pool is full within the first, if somebody asks once in the second. */
#define FILL_MS 1200000
#define DEMAND_MS 20000

_Noreturn void sim_fail(const struct sim *sim, const char *rule, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: seed %llu step %llu at %llu ms breaks: %s\n", file, line,
                  (unsigned long long)sim->plan.seed, (unsigned long long)sim->steps,
                  (unsigned long long)(sim->now_ms - START_MS), rule);
    abort();
}

uint64_t sim_below(struct sim *sim, uint64_t bound)
{
    return rand_below(&sim->rand, bound);
}

bool sim_coin(struct sim *sim, uint32_t permille)
{
    return permille > 0 && rand_below(&sim->rand, 1024) < permille;
}

bool sim_chance(struct sim *sim, enum fault fault)
{
    return !sim->is_healing && sim_coin(sim, sim->plan.strength[fault]);
}

bool sim_is_one_time(const struct sim *sim, uint32_t key)
{
    return sim->plan.strength[FAULT_ONE_TIME] > 0 && key < sim->plan.keys * SIM_CLIENTS &&
           key / SIM_CLIENTS % 4 == 3;
}

int64_t sim_wall_ms(const struct sim *sim)
{
    return START_WALL_MS + (int64_t)(sim->now_ms - START_MS) + sim->wall_skew_ms;
}

/* ---- the heap of moments ------------------------------------------------------------------- */

static bool is_before(const struct moment *a, const struct moment *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

void sim_at(struct sim *sim, uint64_t in_ms, struct moment moment)
{
    moment.at_ms = sim->now_ms + in_ms;
    moment.order = ++sim->order;
    sim->heap = array_grow(sim->heap, sim->heap_count, &sim->heap_room, sizeof *sim->heap);
    size_t place = sim->heap_count++;
    while (place > 0 && is_before(&moment, &sim->heap[(place - 1) / 2])) {
        sim->heap[place] = sim->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    sim->heap[place] = moment;
}

static struct moment pop(struct sim *sim)
{
    const struct moment first = sim->heap[0];
    const struct moment last = sim->heap[--sim->heap_count];
    size_t place = 0;
    for (;;) {
        size_t child = place * 2 + 1;
        if (child >= sim->heap_count)
            break;
        if (child + 1 < sim->heap_count && is_before(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!is_before(&sim->heap[child], &last))
            break;
        sim->heap[place] = sim->heap[child];
        place = child;
    }
    sim->heap[place] = last;
    return first;
}

/* ---- stepping -------------------------------------------------------------------------------- */

/* A world that does nothing but crash finds nothing more. */
bool sim_may_crash(const struct sim *sim)
{
    return sim->plan.crash_every != 0 && !sim->is_healing && sim->crashes < CRASHES_MOST;
}

bool sim_is_cut(struct sim *sim)
{
    sim->effects++;
    if (sim_may_crash(sim) && sim->effects >= sim->crash_at)
        sim->crash_now = true;
    return sim->crash_now;
}

static void plan_crash(struct sim *sim)
{
    sim->crash_at = sim->effects + 1 + sim_below(sim, UINT64_C(2) * sim->plan.crash_every);
}

void sim_step(struct sim *sim, struct event *event)
{
    ASSERT(!sim->is_stepping);
    sim->is_stepping = true;
    sim->steps++;
    event->now_ms = sim->now_ms;
    event->wall_ms = sim_wall_ms(sim);
    event->random = rand_u64(&sim->rand);
    const uint32_t day = (uint32_t)(event->wall_ms / DAY_MS);
    if (day > sim->last_day)
        sim->last_day = day;
    trace_event(sim, event);
    if (sim->reference != NULL)
        reference_event(sim, event);
    const struct event placed = places_event(sim, event);
    engine_step(sim->engine, &placed);
    sim->is_stepping = false;
    shell_take(sim);
    if (!sim->crash_now)
        check_after_step(sim);
}

static void tick(struct sim *sim)
{
    struct event event = {.kind = EVENT_TICK};
    sim_step(sim, &event);
}

/* ---- crash and restart ------------------------------------------------------------------------ */

static void go_down(struct sim *sim, size_t kept)
{
    trace_mix(sim, kept);
    shell_drop(sim);
    engine_free(sim->engine);
    sim->engine = NULL;
    disk_crash(sim, kept);
    sim->crashes++;
    sim->crash_ms = sim->now_ms;
    sim->incarnation++;
    sim->crash_now = sim->is_draining = false;
    sim->submits_out = 0;
    clients_on_crash(sim);
    ledger_after_crash(sim);
    pools_after_crash(sim);
    notices_after_crash(sim);
    const uint64_t down_ms =
        sim_chance(sim, FAULT_DOWN_LONG) ? sim_below(sim, DOWN_LONG_MS) : sim_below(sim, 2000);
    /* No program ends and starts in the same millisecond; its numbers rely on that. */
    sim->up_ms = sim->now_ms + down_ms + 1;
    sim_at(sim, down_ms + 1, (struct moment){.what = HAPPEN_UP});
}

static void crash(struct sim *sim)
{
    const size_t unsynced = sim->disk.log_count;
    const size_t kept =
        sim_chance(sim, FAULT_LOSE_ALL) ? 0 : (size_t)sim_below(sim, (uint64_t)unsynced + 1);
    trace_note(sim, "crash: %zu of %zu unsynced records survive", kept, unsynced);
    go_down(sim, kept);
}

/* The end of a drain: the last records are written, and nothing of them is lost unless the disk is full. */
static void stop(struct sim *sim)
{
    trace_note(sim, "stop");
    engine_close_books(sim->engine);
    shell_take(sim);
    if (!sim->crash_now)
        go_down(sim, sim->disk.is_full ? 0 : sim->disk.log_count);
}

static void start(struct sim *sim)
{
    sim->up_ms = sim->now_ms;
    struct engine_options options;
    places_draw(sim);
    places_options(sim, &options);
    sim->engine = engine_new(&options, sim->now_ms, sim_wall_ms(sim));
    trace_engine(sim);
    plan_crash(sim);
}

static void restart(struct sim *sim)
{
    trace_note(sim, "restart");
    start(sim);
    disk_load(sim);
    engine_check(sim->engine);
    ledger_after_restart(sim);
    check_after_restart(sim);
    tick(sim);
    /* One tick does only so much. */
    while (!sim->crash_now && engine_next_deadline(sim->engine) <= sim->now_ms)
        tick(sim);
    if (!sim->crash_now)
        ledger_after_first_tick(sim);
}

/* ---- what happens ------------------------------------------------------------------------------ */

static void happen(struct sim *sim, const struct moment *moment)
{
    if (moment->incarnation != 0 && moment->incarnation != sim->incarnation)
        return;
    switch (moment->what) {
    case HAPPEN_ARRIVE:
    case HAPPEN_NEED:
    case HAPPEN_LEAVE:
        clients_happen(sim, moment);
        return;
    case HAPPEN_SENT:
    case HAPPEN_SUBMITTED:
    case HAPPEN_POLLED:
    case HAPPEN_PROBED:
    case HAPPEN_CALLBACK:
        vendor_happens(sim, moment);
        return;
    case HAPPEN_SYNCED:
        if (sim->disk.syncing != 0)
            shell_on_synced(sim, sim->disk.syncing);
        return;
    case HAPPEN_ROOM:
        shell_set_full(sim, false);
        return;
    case HAPPEN_UP:
        restart(sim);
        return;
    case HAPPEN_NOTIFIED:
        notices_happen(sim, moment);
        return;
    case HAPPEN_STOP:
        stop(sim);
        return;
    }
    UNREACHABLE();
}

/* Faults of the machine come with any moment. */
static void misfortune(struct sim *sim)
{
    if (sim->engine == NULL)
        return;
    if (!sim->disk.is_full && sim_chance(sim, FAULT_DISK_FULL)) {
        shell_set_full(sim, true);
        sim_at(sim, sim_below(sim, 60000),
               (struct moment){.what = HAPPEN_ROOM, .incarnation = sim->incarnation});
    }
    if (sim_chance(sim, FAULT_WALL)) {
        sim->wall_skew_ms += (int64_t)sim_below(sim, 7200000) - 3600000;
        sim->has_skewed = true;
        trace_note(sim, "the wall clock jumps");
    }
    operator_acts(sim);
}

static uint64_t next_tick_ms(const struct sim *sim)
{
    return sim->engine == NULL ? UINT64_MAX : engine_next_deadline(sim->engine);
}

/* A stall: the clock jumps, and everything that waits in the sockets is heard before the timers. */
static void stall(struct sim *sim)
{
    sim->now_ms += sim_below(sim, sim_coin(sim, 512) ? 10000 : 300000);
    trace_note(sim, "stalled");
    while (sim->heap_count > 0 && sim->heap[0].at_ms <= sim->now_ms && !sim->crash_now) {
        const struct moment moment = pop(sim);
        happen(sim, &moment);
    }
    /* The slow model knows of no deadline that moves. */
    struct event event = {.kind = EVENT_STANDSTILL};
    if (!sim->plan.has_reference && !sim->crash_now && sim->engine != NULL)
        sim_step(sim, &event);
}

static void turn(struct sim *sim)
{
    const uint64_t tick_ms = next_tick_ms(sim);
    const uint64_t heap_ms = sim->heap_count == 0 ? UINT64_MAX : sim->heap[0].at_ms;
    const uint64_t next_ms = tick_ms < heap_ms ? tick_ms : heap_ms;
    ASSERT(next_ms != UINT64_MAX);
    if (next_ms > sim->now_ms)
        sim->now_ms = next_ms;
    const bool is_tie = tick_ms <= sim->now_ms && heap_ms <= sim->now_ms;
    if (tick_ms <= sim->now_ms && (!is_tie || sim_coin(sim, 512))) {
        tick(sim);
    } else {
        const struct moment moment = pop(sim);
        happen(sim, &moment);
        if (!sim->crash_now)
            misfortune(sim);
    }
    if (!sim->crash_now && sim->engine != NULL && sim_chance(sim, FAULT_STALL))
        stall(sim);
    if (operator_is_done(sim))
        stop(sim);
    if (sim->crash_now)
        crash(sim);
}

/* ---- healing ------------------------------------------------------------------------------------ */

static void heal(struct sim *sim)
{
    sim->is_healing = true;
    sim->heal_ms = sim->now_ms;
    trace_note(sim, "all faults end");
    while (sim->engine == NULL || sim->is_draining)
        turn(sim);
    shell_set_full(sim, false);
    clients_operate(sim, LETTER_DROP);
}

static bool is_quiet(const struct sim *sim)
{
    if (sim->needs_done < sim->need_count || sim->open_count > 0)
        return false;
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    return gauges.waiting == 0 && gauges.flights == 0 && gauges.callers == 0 &&
           gauges.breaker == BREAKER_CLOSED && operator_knows_plan(sim) && !notices_are_owed(sim);
}

static void await_quiet(struct sim *sim)
{
    while (!is_quiet(sim) && sim->steps < sim->step_limit) {
        CHECK(sim, sim->now_ms < sim->heal_ms + HEAL_MS);
        turn(sim);
    }
}

/* I9: a pool that somebody asks of becomes full. */
static void fill_pools(struct sim *sim)
{
    const uint64_t start_ms = sim->now_ms;
    uint64_t demand_ms = 0;
    while (!pools_are_full(sim) && sim->steps < sim->step_limit) {
        CHECK(sim, sim->now_ms < start_ms + FILL_MS);
        if (sim->now_ms >= demand_ms) {
            demand_ms = sim->now_ms + DEMAND_MS;
            pools_demand(sim);
        }
        turn(sim);
    }
}

static void live(struct sim *sim)
{
    while (sim->need_count < sim->plan.needs || sim->needs_done < sim->need_count) {
        /* Some never get what they want while the faults last. */
        if (sim->need_count == sim->plan.needs && !sim->is_healing && sim_below(sim, 64) == 0 &&
            sim->needs_done * 10 >= sim->need_count * 8)
            heal(sim);
        if (sim->steps >= sim->step_limit)
            return;
        CHECK(sim, !sim->is_healing || sim->now_ms < sim->heal_ms + HEAL_MS);
        CHECK(sim, sim->steps < UINT64_C(2000) * sim->plan.needs + 1000000);
        turn(sim);
    }
    if (!sim->is_healing)
        heal(sim);
    await_quiet(sim);
    if (sim->plan.options.pool_count > 0) {
        fill_pools(sim);
        await_quiet(sim);
    }
}

/* ---- birth and death ----------------------------------------------------------------------------- */

/* Every client has its own kind of each thing, and every second thing is the same for all. */
static void make_keys(struct sim *sim)
{
    sim->key_count = sim->plan.keys * SIM_CLIENTS + sim->plan.options.pool_count;
    sim->keys = calloc(sim->key_count, sizeof *sim->keys);
    sim->params = calloc(sim->key_count, sizeof *sim->params);
    sim->open_of_key = calloc(sim->key_count, sizeof *sim->open_of_key);
    ASSERT(sim->keys != NULL && sim->params != NULL && sim->open_of_key != NULL);
    for (uint32_t i = 0; i < sim->key_count; i++) {
        char text[48];
        const int len = snprintf(text, sizeof text, "key %u", i);
        memcpy(sim->keys[i].bytes, &(uint64_t){(uint64_t)i + 1}, sizeof(uint64_t));
        sim->params[i] = blob_new((struct slice){.data = text, .len = (size_t)len});
        sim->open_of_key[i] = MAP_NONE;
    }
}

/* A pool is for one of the first things, under a key of its own, or under the key that everybody asks for. */
static void make_pools(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->plan.options.pool_count; i++) {
        struct pool_options *pool = &sim->plan.pools[i];
        const bool is_common = i % 2 == 1;
        const uint32_t key = is_common ? i * SIM_CLIENTS : sim->plan.keys * SIM_CLIENTS + i;
        sim->pool_keys[i] = key;
        pool->key = sim->keys[key];
        pool->params = sim->params[key];
        pool->type = (enum type)(key % TYPE_COUNT);
    }
    sim->plan.options.pools = sim->plan.pools;
}

static void drop_keys(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->key_count; i++)
        blob_unref(sim->params[i]);
    free(sim->keys);
    free(sim->params);
    free(sim->open_of_key);
    sim->key_count = 0;
}

/* All that is kept from one run to the next is memory. */
static void begin(struct sim *sim, const struct plan *plan)
{
    struct sim old = *sim;
    if (old.submit_by_name.entries == NULL) {
        map_init(&old.submit_by_name);
        map_init(&old.flight_by_uid);
        map_init(&old.known_by_id);
        map_init(&old.token_by_uid);
        map_init(&old.note_by_id);
        disk_open(&old.disk);
    }
    *sim = (struct sim){
        .plan = *plan,
        .now_ms = START_MS,
        .incarnation = 1,
        .hash = plan->seed,
        .is_traced = old.is_traced,
        .step_limit = old.step_limit == 0 ? UINT64_MAX : old.step_limit,
        .heap = old.heap,
        .heap_room = old.heap_room,
        .held = old.held,
        .held_room = old.held_room,
        .disk = old.disk,
        .submits = old.submits,
        .submit_room = old.submit_room,
        .tokens = old.tokens,
        .token_room = old.token_room,
        .flights = old.flights,
        .flight_room = old.flight_room,
        .needs = old.needs,
        .need_room = old.need_room,
        .knowns = old.knowns,
        .known_room = old.known_room,
        .promises = old.promises,
        .promise_room = old.promise_room,
        .callers = old.callers,
        .caller_room = old.caller_room,
        .open_callers = old.open_callers,
        .open_room = old.open_room,
        .notes = old.notes,
        .note_room = old.note_room,
        .note_by_id = old.note_by_id,
        .asking = MAP_NONE,
        .free_key = MAP_NONE,
        .submit_by_name = old.submit_by_name,
        .flight_by_uid = old.flight_by_uid,
        .known_by_id = old.known_by_id,
        .token_by_uid = old.token_by_uid,
    };
    sim->plan.options.clients = sim->plan.clients;
    if (sim->plan.strength[FAULT_POOL] == 0)
        sim->plan.options.pool_count = 0;
    else if (sim->plan.options.pool_count > plan->keys)
        sim->plan.options.pool_count = (uint16_t)plan->keys;
    places_open(sim);
    sim->plan.has_reference &= sim->plan.options.pool_count == 0 &&
                               plan->strength[FAULT_DRAIN] == 0 && !places_change(sim) &&
                               plan->strength[FAULT_TASK_TWICE] == 0;
    plan_span(&sim->plan, &sim->spans);
    map_clear(&sim->note_by_id);
    map_clear(&sim->submit_by_name);
    map_clear(&sim->flight_by_uid);
    map_clear(&sim->known_by_id);
    map_clear(&sim->token_by_uid);
    disk_reset(&sim->disk);
    rand_init(&sim->rand, plan->seed);
    sim->first_day = sim->last_day = (uint32_t)(sim_wall_ms(sim) / DAY_MS);
    make_keys(sim);
    make_pools(sim);
}

void sim_run(struct sim *sim, const struct plan *plan)
{
    begin(sim, plan);
    start(sim);
    if (sim->plan.has_reference)
        reference_open(sim);
    sim_at(sim, 0, (struct moment){.what = HAPPEN_ARRIVE});
    live(sim);
    if (sim->steps < sim->step_limit)
        check_at_the_end(sim);
    reference_close(sim);
    shell_drop(sim);
    engine_free(sim->engine);
    sim->engine = NULL;
    drop_keys(sim);
}

void sim_close(struct sim *sim)
{
    if (sim->submit_by_name.entries == NULL)
        return;
    disk_close(&sim->disk);
    map_close(&sim->submit_by_name);
    map_close(&sim->flight_by_uid);
    map_close(&sim->known_by_id);
    map_close(&sim->token_by_uid);
    map_close(&sim->note_by_id);
    void *const owned[] = {sim->heap,    sim->held,         sim->submits, sim->tokens,
                           sim->flights, sim->needs,        sim->knowns,  sim->promises,
                           sim->callers, sim->open_callers, sim->notes};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    *sim = (struct sim){.now_ms = 0};
}
