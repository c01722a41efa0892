#include "shared_world.h"

#include "../record_number.h"
#include "lines.h"

#include <stdlib.h>

/* The number of the flight that others follow, at another node. */
#define FOREIGN_FLIGHT 4711
#define SOLUTION_LIFE_MS 80000
/* No node's number: what is found is for one alone. */
#define ALONE UINT16_MAX

struct world *shared_world(const struct engine_options *options)
{
    struct engine_options shared = options == NULL ? world_options() : *options;
    shared.has_journal = true;
    shared.store_is_shared = shared.store_adopts = true;
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

/* Unless a story says what this node holds, it has said so long ago, and all that the others leave is its own, of slots
 * and of pools. */
static void hold_all(struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (members[i].is_self && members[i].demand.held == 0) {
            members[i].demand.held = DEMAND_MOST;
            for (unsigned place = 0; place < DEMAND_POOLS; place++)
                members[i].demand.levels[place] = DEMAND_LEVEL_MOST;
        }
}

void world_members(struct world *world, uint64_t ago_ms, bool is_unbroken,
                   const struct member *members, size_t count)
{
    struct member said[ENGINE_NODES];
    assert_true(count <= ENGINE_NODES);
    memcpy(said, members, count * sizeof *said);
    hold_all(said, count);
    struct event event = {.kind = EVENT_BEAT};
    event.beat.sent_ms = WORLD_START_MS + world->now_ms - ago_ms;
    event.beat.is_unbroken = is_unbroken;
    event.beat.members = said;
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
    claimed.proposal = claim->last.proposal;
    claimed.is_held = claim->last.is_held;
    claimed.has_name = claim->last.has_name;
    claimed.has_idempotency = claim->last.has_idempotency;
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

void follow_own_replayed(struct world *world, const char *flight, const char *other)
{
    const uint64_t followed = claim_named(world, other)->last.flight;
    decide(world, flight,
           (struct claimed){
               .result = CLAIM_FOLLOW, .followed = followed, .is_own = true, .is_replayed = true});
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
                               .attempt = FOUND_ATTEMPT,
                               .key = claim->key,
                               .born_wall_ms = wall_ms - age_ms,
                               .expires_wall_ms = wall_ms - age_ms + SOLUTION_LIFE_MS,
                               .attempts = 1,
                               .is_kept = true,
                               .is_shared = claim->reuse == REUSE_SHARED,
                               .task_id = "T77"};
    if (claimed.owner == ALONE) {
        claimed.owner = 0;
        row.handed = 1;
        row.is_shared = false;
    }
    if (claimed.result == CLAIM_TAKEN) {
        row.key = claim->offered;
        row.id = claimed.owner == 0 ? claim->solution : row.id;
        row.flight = claim->flight;
        row.handed = 1;
        row.is_shared = false;
    }
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

void found_alone(struct world *world, const char *flight, const char *text)
{
    find(world, flight, text, 0,
         (struct claimed){.result = CLAIM_SOLVED, .is_replayed = true, .owner = ALONE});
}

void took(struct world *world, const char *flight, const char *text)
{
    find(world, flight, text, 0, (struct claimed){.result = CLAIM_TAKEN, .owner = FOUND_NODE});
}

void took_own(struct world *world, const char *flight, const char *text)
{
    if (claim_named(world, flight)->last.solution == 0)
        fail_msg("%s proposes nothing", flight);
    find(world, flight, text, 0, (struct claimed){.result = CLAIM_TAKEN});
}

void won_and_lost(struct world *world, const char *flight)
{
    decide(world, flight, (struct claimed){.result = CLAIM_WON, .is_lost = true});
}

void told_taken(struct world *world, uint64_t number, const char *flight, const char *key)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_TAKEN;
    event.told.taken.key = key_named(key);
    event.told.taken.solution = claim_named(world, flight)->last.solution;
    world_step(world, &event);
}

static void end_draw(struct world *world, struct drawn drawn)
{
    struct event event = {.kind = EVENT_DRAWN};
    drawn.client = world->last_draw.client;
    drawn.number = world->last_draw.number;
    event.drawn = drawn;
    world_step(world, &event);
}

void drawn(struct world *world, uint64_t held, uint64_t left)
{
    end_draw(world, (struct drawn){.is_known = true, .held = held, .left = left});
}

void not_drawn(struct world *world)
{
    end_draw(world, (struct drawn){.is_known = false});
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

/* ---- other nodes ------------------------------------------------------------------------------ */

void dies_without_a_beat(struct world *world, const char *name, const char *flight)
{
    disk_crash(&world->disk, world->disk.count);
    world->will = world->disk;
    world->disk = (struct disk){0};
    if (name != NULL) {
        world->will_claim = key_named(name);
        world->will_number = claim_named(world, flight)->last.flight;
    }
    world->options.node = DEAD_NODE + 1;
    crash(world, 0);
}

void dies(struct world *world, const char *name, const char *flight)
{
    dies_without_a_beat(world, name, flight);
    beat(world, 0);
}

static int compare(const void *a, const void *b)
{
    const struct record *left = a;
    const struct record *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return record_number(left) < record_number(right) ? -1 : 1;
}

static void send_part(struct world *world, size_t first, size_t count, bool is_last)
{
    const struct adopted_claim claim = {.name = world->will_claim, .number = world->will_number};
    struct event event = {.kind = EVENT_ADOPTED};
    event.adopted = (struct adopted){.id = DEAD_NODE, .is_ours = true, .is_last = is_last};
    event.adopted.records = world->will.log + first;
    event.adopted.record_count = count;
    event.adopted.claims = &claim;
    event.adopted.claim_count = is_last && world->will_number != 0;
    world_step(world, &event);
}

static uint32_t larger(uint32_t most, const struct world *world)
{
    const uint32_t work = engine_work(world->engine);
    return work > most ? work : most;
}

/* The store has made its rows ours, so that the next crash leaves them as well; what is said of them since comes
 * later. */
static void inherit(struct world *world)
{
    struct disk all = world->will;
    for (size_t i = 0; i < world->disk.count; i++)
        disk_append(&all, &world->disk.log[i]);
    free(world->disk.log);
    world->disk = all;
    world->will = (struct disk){0};
}

uint32_t adopted(struct world *world, size_t part)
{
    const size_t count = world->will.count;
    uint32_t most = 0;
    qsort(world->will.log, count, sizeof *world->will.log, compare);
    for (size_t i = 0; i < count; i += part) {
        send_part(world, i, count - i < part ? count - i : part, count - i <= part);
        most = larger(most, world);
    }
    while (engine_next_deadline(world->engine) <= WORLD_START_MS + world->now_ms) {
        tick(world);
        most = larger(most, world);
    }
    inherit(world);
    pass(world, 1);
    return most;
}

void adopted_partly(struct world *world, size_t count)
{
    qsort(world->will.log, world->will.count, sizeof *world->will.log, compare);
    send_part(world, 0, count, false);
}

void adopted_all_but_claims(struct world *world)
{
    adopted_partly(world, world->will.count);
}

void adopted_at_last(struct world *world)
{
    send_part(world, world->will.count, 0, true);
    inherit(world);
    pass(world, 1);
}

void adopted_unseen(struct world *world)
{
    inherit(world);
    world->kept_claim = world->will_claim;
    world->kept_number = world->will_number;
    crash(world, ALL_RECORDS);
    world->kept_number = 0;
}

void not_adopted(struct world *world)
{
    struct event event = {.kind = EVENT_ADOPTED};
    event.adopted = (struct adopted){.id = DEAD_NODE, .is_last = true};
    world_step(world, &event);
}

void fenced(struct world *world)
{
    struct event event = {.kind = EVENT_FENCED};
    world_step(world, &event);
}

void told_fact(struct world *world, uint64_t number, const char *attempt, const char *task,
               const char *text)
{
    const size_t place = strtoul(attempt + 1, NULL, 10);
    struct event event = {.kind = EVENT_TOLD};
    struct vendor_result *result = &event.told.result;
    event.told.number = number;
    result->attempt = place > world->attempt_count ? 99 : world->attempts[place - 1].id;
    result->outcome = text == NULL ? OUTCOME_PENDING : OUTCOME_SOLVED;
    memcpy(result->task_id, task, strlen(task) + 1);
    result->text = text == NULL ? NULL : blob_new(slice_from(text));
    world_step(world, &event);
    blob_unref(result->text);
}
