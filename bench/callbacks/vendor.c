/* A vendor that solves everything in the end, and a network that loses some of what passes it. */
#include "world.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 6 s and an exponential rest of 9 s on average, of 45 s for the three in a hundred that are slow:
 * then 2 400 in a million take longer than a caller waits, as in docs/reliability.md 5.3. */
#define SOLVE_LEAST_MS 6000
#define SOLVE_REST_MS 9000.0
#define SLOW_REST_MS 45000.0
#define SLOW_PER_MILLION 30000
/* One way through the network. */
#define WAY_LEAST_MS 20
#define WAY_SPREAD_MS 80

static uint64_t way_ms(struct world *world)
{
    return WAY_LEAST_MS + rand_below(&world->rand, WAY_SPREAD_MS);
}

static uint64_t solve_ms(struct world *world)
{
    const bool is_slow = world_chance(world, SLOW_PER_MILLION);
    return SOLVE_LEAST_MS + world_exponential_ms(world, is_slow ? SLOW_REST_MS : SOLVE_REST_MS);
}

static uint32_t task_new(struct world *world)
{
    if (world->task_count == world->task_room) {
        world->task_room *= 2;
        struct task *more = realloc(world->tasks, world->task_room * sizeof(*more));
        ASSERT(more != NULL);
        world->tasks = more;
    }
    world->tasks[world->task_count] = (struct task){.is_accepted = false};
    return world->task_count++;
}

static uint32_t number_in(const char *text)
{
    return (uint32_t)strtoul(text + 1, NULL, 10);
}

struct task *vendor_task_of(struct world *world, const struct blob *text)
{
    const uint32_t number = number_in(text->data);
    ASSERT(number > 0 && number < world->task_count);
    return &world->tasks[number];
}

/* ---- what we ask of it ------------------------------------------------------------------- */

static void accept(struct world *world, uint32_t number, uint64_t at_ms)
{
    struct task *task = &world->tasks[number];
    task->is_accepted = true;
    task->solved_ms = at_ms + solve_ms(world);
    world->figures.accepted++;
    if (world->live[task->asker]++ > 0)
        world->figures.duplicates_live++;
    heap_add(&world->heap, task->solved_ms, HAPPENS_SOLVE, number);
}

void vendor_on_submit(struct world *world, const struct call *call)
{
    const uint32_t number = task_new(world);
    struct task *task = &world->tasks[number];
    const uint64_t there_ms = world->now_ms + way_ms(world);
    task->attempt = call->attempt;
    task->asker = number_in(call->params->data);
    world->figures.submits++;
    if (!world_chance(world, world->scenario.lost_requests))
        accept(world, number, there_ms);
    task->is_answered = task->is_accepted && !world_chance(world, world->scenario.lost_replies);
    heap_add(&world->heap,
             task->is_answered ? there_ms + way_ms(world) : world->now_ms + SUBMIT_TIMEOUT_MS,
             HAPPENS_REPLY, number);
}

void vendor_on_poll(struct world *world, const struct call *call)
{
    world->figures.polls++;
    heap_add(&world->heap, world->now_ms + 2 * way_ms(world), HAPPENS_POLL,
             number_in(call->task_id));
}

/* ---- what comes of it -------------------------------------------------------------------- */

static void name_task(struct vendor_result *result, uint32_t number)
{
    (void)snprintf(result->task_id, sizeof(result->task_id), "T%u", (unsigned)number);
}

static void deliver(struct world *world, enum event_kind kind, struct vendor_result *result,
                    uint32_t number)
{
    char text[16];
    if (result->outcome == OUTCOME_SOLVED) {
        const int len = snprintf(text, sizeof(text), "S%u", (unsigned)number);
        result->text = blob_new((struct slice){.data = text, .len = (size_t)len});
    }
    struct event event = {.kind = kind};
    event.result = *result;
    world_step(world, &event);
    blob_unref(result->text);
}

static void reply(struct world *world, uint32_t number)
{
    const struct task *task = &world->tasks[number];
    struct vendor_result result = {.attempt = task->attempt};
    result.outcome = task->is_answered ? OUTCOME_ACCEPTED : OUTCOME_AMBIGUOUS;
    if (task->is_answered)
        name_task(&result, number);
    deliver(world, EVENT_SUBMITTED, &result, number);
}

static void solve(struct world *world, uint32_t number)
{
    struct task *task = &world->tasks[number];
    task->is_solved = true;
    world->live[task->asker]--;
    if (!world_chance(world, world->scenario.lost_callbacks))
        heap_add(&world->heap, world->now_ms + way_ms(world), HAPPENS_CALLBACK, number);
}

static void call_back(struct world *world, uint32_t number)
{
    const struct task *task = &world->tasks[number];
    world->figures.callbacks++;
    /* Whoever knows callbacks by their task id alone does not know what this one is about. */
    if (world->scenario.is_naive && !task->is_answered)
        return;
    struct vendor_result result = {.attempt = task->attempt, .outcome = OUTCOME_SOLVED};
    name_task(&result, number);
    deliver(world, EVENT_CALLBACK, &result, number);
}

static void end_poll(struct world *world, uint32_t number)
{
    const struct task *task = &world->tasks[number];
    const bool is_lost = world_chance(world, world->scenario.lost_requests) ||
                         world_chance(world, world->scenario.lost_replies);
    struct vendor_result result = {.attempt = task->attempt};
    result.outcome = is_lost ? OUTCOME_UNHEARD : task->is_solved ? OUTCOME_SOLVED : OUTCOME_PENDING;
    name_task(&result, number);
    deliver(world, EVENT_POLLED, &result, number);
}

/* The vendor is well, whatever was lost on the way. */
static void end_probe(struct world *world, enum probe probe)
{
    struct event event = {.kind = EVENT_PROBED};
    event.probed = (struct probed){.probe = probe, .is_ok = true};
    if (probe == PROBE_BALANCE)
        memcpy(event.probed.balance, "10.0", sizeof("10.0"));
    world_step(world, &event);
}

void vendor_happen(struct world *world, const struct happening *happening)
{
    switch ((enum happening_kind)happening->kind) {
    case HAPPENS_REPLY:
        reply(world, happening->subject);
        return;
    case HAPPENS_SOLVE:
        solve(world, happening->subject);
        return;
    case HAPPENS_CALLBACK:
        call_back(world, happening->subject);
        return;
    case HAPPENS_POLL:
        end_poll(world, happening->subject);
        return;
    case HAPPENS_PROBE:
        end_probe(world, (enum probe)happening->subject);
        return;
    case HAPPENS_ASK:
    case HAPPENS_LEAVE:
        break;
    }
    UNREACHABLE();
}
