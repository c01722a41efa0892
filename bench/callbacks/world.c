#include "world.h"
#include "../../tests/engine_defaults.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 1000000
/* 2026-01-01, so that days begin and end as they would. */
#define START_WALL_MS INT64_C(1767225600000)
#define MIN_TTL_MS 10000
#define PROBE_MS 200

bool world_chance(struct world *world, uint32_t per_million)
{
    return rand_below(&world->rand, 1000000) < per_million;
}

uint64_t world_exponential_ms(struct world *world, double mean_ms)
{
    /* In (0, 1], so that the logarithm exists. */
    const double drawn = (double)((rand_u64(&world->rand) >> 11) + 1) / 9007199254740992.0;
    return (uint64_t)(-log(drawn) * mean_ms + 0.5);
}

/* ---- the engine -------------------------------------------------------------------------- */

static struct engine *start_engine(const struct scenario *scenario)
{
    struct engine_options options;
    engine_options_init(&options);
    options.has_journal = true;
    options.has_callbacks = true;
    /* As in the model: the vendor has room for everybody. */
    options.slots = 10000;
    if (scenario->fallback_after_ms != 0)
        options.fallback_after_ms = scenario->fallback_after_ms;
    if (scenario->is_naive)
        options.ambiguity_window_ms = SUBMIT_TIMEOUT_MS;
    return engine_new(&options, START_MS, START_WALL_MS);
}

static void hear_answer(struct world *world, const struct answer *answer)
{
    struct figures *figures = &world->figures;
    if (answer->refusal != REFUSAL_NONE) {
        figures->refused++;
    } else if (answer->state == REQUEST_SOLVED) {
        figures->answered++;
        vendor_task_of(world, answer->text)->is_used = true;
    } else {
        figures->failed++;
    }
    ASSERT(!world->is_served[answer->caller]);
    world->is_served[answer->caller] = true;
}

/* Acknowledgements, books and letters are nobody's business here. */
static void act(struct world *world, const struct action *action)
{
    if (action->kind == ACTION_ANSWER) {
        hear_answer(world, &action->answer);
    } else if (action->kind == ACTION_SUBMIT) {
        vendor_on_submit(world, &action->call);
    } else if (action->kind == ACTION_POLL) {
        vendor_on_poll(world, &action->call);
    } else if (action->kind == ACTION_PROBE) {
        world->figures.probes++;
        heap_add(&world->heap, world->now_ms + PROBE_MS, HAPPENS_PROBE, (uint32_t)action->probe);
    } else if (action->kind == ACTION_JOURNAL) {
        world->seq = action->after;
    } else if (action->kind == ACTION_ALERT && action->alert.kind == ALERT_BREAKER_OPEN) {
        world->figures.breaker_openings++;
    }
}

static void step_once(struct world *world, struct event *event)
{
    event->now_ms = START_MS + world->now_ms;
    event->wall_ms = START_WALL_MS + (int64_t)world->now_ms;
    event->random = rand_u64(&world->rand);
    engine_step(world->engine, event);
    struct action action;
    while (engine_next_action(world->engine, &action)) {
        act(world, &action);
        action_close(&action);
    }
}

/* The disk is as fast as it can be: what was appended is safe before anything else happens. */
void world_step(struct world *world, struct event *event)
{
    const journal_seq before = world->seq;
    step_once(world, event);
    if (world->seq == before)
        return;
    struct event durable = {.kind = EVENT_DURABLE};
    durable.durable = world->seq;
    step_once(world, &durable);
}

/* ---- callers ----------------------------------------------------------------------------- */

static struct key key_number(uint64_t number)
{
    struct key key = {{0}};
    memcpy(key.bytes, &number, sizeof(number));
    return key;
}

/* One random moment after the other, each for a random key: every key has its own Poisson process. */
static void plan_next_ask(struct world *world)
{
    if (world->asked == world->setting.requests)
        return;
    const double mean_ms = (double)KEY_PERIOD_MS / world->setting.keys;
    heap_add(&world->heap, world->now_ms + world_exponential_ms(world, mean_ms), HAPPENS_ASK, 0);
}

static void ask(struct world *world)
{
    const uint32_t number = ++world->asked;
    char params[16];
    const int len = snprintf(params, sizeof(params), "R%u", (unsigned)number);
    struct event event = {.kind = EVENT_ASK};
    event.ask = (struct ask){
        .caller = number,
        .type = TYPE_TURNSTILE,
        .reuse = world->scenario.reuse,
        /* Held for longer than it has patience: it leaves by itself. */
        .hold_ms = 2 * CALLER_DEADLINE_MS,
        .min_ttl_ms = MIN_TTL_MS,
        .max_age_ms = UINT32_MAX,
        .key = key_number(rand_below(&world->rand, world->setting.keys)),
        .params = blob_new((struct slice){.data = params, .len = (size_t)len}),
    };
    world_step(world, &event);
    blob_unref(event.ask.params);
    if (!world->is_served[number])
        heap_add(&world->heap, world->now_ms + CALLER_DEADLINE_MS, HAPPENS_LEAVE, number);
    plan_next_ask(world);
}

static void leave(struct world *world, uint32_t number)
{
    if (world->is_served[number])
        return;
    world->is_served[number] = true;
    world->figures.gave_up++;
    struct event event = {.kind = EVENT_GONE};
    event.gone = number;
    world_step(world, &event);
}

/* ---- time -------------------------------------------------------------------------------- */

static void tick(struct world *world, uint64_t at_ms)
{
    if (at_ms > START_MS + world->now_ms)
        world->now_ms = at_ms - START_MS;
    struct event event = {.kind = EVENT_TICK};
    world_step(world, &event);
}

static void happen(struct world *world)
{
    const struct happening happening = heap_take(&world->heap);
    ASSERT(happening.at_ms >= world->now_ms);
    world->now_ms = happening.at_ms;
    if (happening.kind == HAPPENS_ASK)
        ask(world);
    else if (happening.kind == HAPPENS_LEAVE)
        leave(world, happening.subject);
    else
        vendor_happen(world, &happening);
}

static void *room_for(size_t count, size_t size)
{
    void *room = calloc(count, size);
    ASSERT(room != NULL);
    return room;
}

void world_run(struct world *world, const struct scenario *scenario, const struct setting *setting)
{
    *world = (struct world){.scenario = *scenario, .setting = *setting, .task_count = 1};
    if (scenario->keys != 0)
        world->setting.keys = scenario->keys;
    rand_init(&world->rand, setting->seed);
    world->task_room = setting->requests + 1024;
    world->tasks = room_for(world->task_room, sizeof(*world->tasks));
    world->is_served = room_for((size_t)setting->requests + 1, sizeof(*world->is_served));
    world->live = room_for((size_t)setting->requests + 1, sizeof(*world->live));
    world->engine = start_engine(scenario);
    plan_next_ask(world);
    while (world->heap.count > 0) {
        const uint64_t deadline_ms = engine_next_deadline(world->engine);
        if (deadline_ms <= START_MS + heap_next_ms(&world->heap))
            tick(world, deadline_ms);
        else
            happen(world);
    }
    for (uint32_t i = 1; i < world->task_count; i++)
        world->figures.unused += world->tasks[i].is_accepted && !world->tasks[i].is_used;
    engine_check(world->engine);
}

void world_close(struct world *world)
{
    engine_free(world->engine);
    heap_close(&world->heap);
    free(world->tasks);
    free(world->is_served);
    free(world->live);
}
