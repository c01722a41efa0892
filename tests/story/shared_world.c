#include "shared_world.h"

#include "lines.h"

#include <stdlib.h>

/* The number of the flight that others follow, at another node. */
#define FOREIGN_FLIGHT 4711
#define FOREIGN_ATTEMPT 4712
#define SOLUTION_LIFE_MS 80000

struct world *shared_world(const struct engine_options *options)
{
    struct engine_options shared = options == NULL ? world_options() : *options;
    shared.has_journal = true;
    shared.store_is_shared = true;
    shared.node = shared.node == 0 ? 1 : shared.node;
    struct world *world = world_new(&shared);
    world->hides_records = true;
    return world;
}

struct world *leased_world(const struct engine_options *options)
{
    struct engine_options leased = options == NULL ? world_options() : *options;
    leased.lease_ms = LEASE_MS;
    leased.lease_margin_ms = LEASE_MARGIN_MS;
    return shared_world(&leased);
}

void beat(struct world *world, uint64_t ago_ms)
{
    struct event event = {.kind = EVENT_BEAT};
    event.beat.sent_ms = WORLD_START_MS + world->now_ms - ago_ms;
    world_step(world, &event);
}

void world_members(struct world *world, const struct member *members, size_t count)
{
    struct event event = {.kind = EVENT_BEAT};
    event.beat.sent_ms = WORLD_START_MS + world->now_ms;
    event.beat.members = members;
    event.beat.member_count = (uint16_t)count;
    world_step(world, &event);
}

static struct world_claim *claim_named(struct world *world, const char *name)
{
    const size_t number = strtoul(name + 1, NULL, 10);
    if (name[0] != 'f' || number == 0 || number > world->claim_count)
        fail_msg("nobody has heard of flight %s", name);
    return &world->claims[number - 1];
}

static void decide(struct world *world, const char *flight, struct claimed claimed)
{
    struct world_claim *claim = claim_named(world, flight);
    if (!claim->is_asking)
        fail_msg("%s does not ask for anything", flight);
    claim->is_asking = false;
    claimed.flight = claim->last.flight;
    claimed.ticket = claim->last.ticket;
    claimed.has_name = claim->last.has_name;
    claimed.name = claim->last.name;
    struct event event = {.kind = EVENT_CLAIMED};
    event.claimed = claimed;
    world_step(world, &event);
}

void won(struct world *world, const char *flight)
{
    decide(world, flight, (struct claimed){.result = CLAIM_WON});
}

void unavailable(struct world *world, const char *flight)
{
    decide(world, flight, (struct claimed){.result = CLAIM_UNAVAILABLE});
}

void mismatch(struct world *world, const char *flight)
{
    decide(world, flight, (struct claimed){.result = CLAIM_MISMATCH});
}

void follow(struct world *world, const char *flight)
{
    decide(world, flight, (struct claimed){.result = CLAIM_FOLLOW, .followed = FOREIGN_FLIGHT});
}

void follow_solving(struct world *world, const char *flight)
{
    decide(
        world, flight,
        (struct claimed){.result = CLAIM_FOLLOW, .followed = FOREIGN_FLIGHT, .is_solving = true});
}

void follow_own(struct world *world, const char *flight, const char *other)
{
    const uint64_t followed = claim_named(world, other)->last.flight;
    decide(world, flight,
           (struct claimed){.result = CLAIM_FOLLOW, .followed = followed, .is_own = true});
}

void follow_replayed(struct world *world, const char *flight)
{
    decide(
        world, flight,
        (struct claimed){.result = CLAIM_FOLLOW, .followed = FOREIGN_FLIGHT, .is_replayed = true});
}

void remembered(struct world *world, const char *flight, enum error_class class, const char *code)
{
    struct claimed claimed = {.result = CLAIM_REFUSED, .class = class, .attempts = 2};
    memcpy(claimed.code, code, strlen(code) + 1);
    decide(world, flight, claimed);
}

static void find(struct world *world, const char *flight, const char *text, uint32_t age_ms,
                 struct claimed claimed)
{
    const struct claim *claim = &claim_named(world, flight)->last;
    const int64_t wall_ms = WORLD_START_WALL_MS + (int64_t)world->now_ms;
    struct solution_row row = {.id = FOREIGN_FLIGHT + 512,
                               .flight = FOREIGN_FLIGHT,
                               .attempt = FOREIGN_ATTEMPT,
                               .key = claim->key,
                               .born_wall_ms = wall_ms - age_ms,
                               .expires_wall_ms = wall_ms - age_ms + SOLUTION_LIFE_MS,
                               .attempts = 1,
                               .is_kept = true,
                               .is_shared = claim->reuse == REUSE_SHARED,
                               .task_id = "T77"};
    row.text = blob_new(slice_from(text));
    claimed.solution = &row;
    decide(world, flight, claimed);
    blob_unref(row.text);
}

void found(struct world *world, const char *flight, const char *text, uint32_t age_ms)
{
    find(world, flight, text, age_ms, (struct claimed){.result = CLAIM_SOLVED});
}

void found_replayed(struct world *world, const char *flight, const char *text, uint32_t age_ms)
{
    find(world, flight, text, age_ms,
         (struct claimed){.result = CLAIM_SOLVED, .is_replayed = true});
}

void took(struct world *world, const char *flight, const char *text)
{
    find(world, flight, text, 0, (struct claimed){.result = CLAIM_TAKEN});
}

void woken(struct world *world, const char *name)
{
    struct event event = {.kind = EVENT_WOKEN};
    event.woken = key_named(name);
    world_step(world, &event);
}

struct world *shared_world_with_task(void)
{
    struct engine_options options = world_options();
    options.solve_timeout_ms = 20000;
    options.has_callbacks = true;
    struct world *world = shared_world(&options);
    ask(world, "ann", .key = "K");
    won(world, "f1");
    accepted(world, "a1", "T1");
    return world;
}

void crash_with_claim(struct world *world, const char *name, const char *flight)
{
    world->kept_claim = key_named(name);
    world->kept_number = claim_named(world, flight)->last.flight;
    crash(world, ALL_RECORDS);
    world->kept_number = 0;
}
