#include "store_world.h"

#include "../record_number.h"
#include "seed.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROUNDS 50
#define PATIENCE_MS 20000
#define OPEN_THINGS 100000
#define TYPICAL_PARAMS                                                                         \
    "method=userrecaptcha&googlekey=6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI&pageurl=https://" \
    "example.com/login"

/* The kinds of a solve's life, one after the other. */
static struct record nth_record(struct store_world *world, uint64_t n)
{
    static const enum record_kind kinds[] = {RECORD_FLIGHT, RECORD_ATTEMPT, RECORD_REQUEST,
                                             RECORD_SOLUTION};
    return world_record(world, kinds[n % 4], n);
}

static int report_to = -1;

static void report_durable(void *context, journal_seq seq)
{
    (void)context;
    if (write(report_to, &seq, sizeof(seq)) != (ssize_t)sizeof(seq))
        _exit(3);
}

static void ignore_state(void *context, enum store_state state, const char *why)
{
    (void)context;
    (void)state;
    (void)why;
}

/* Appends in bursts until it is killed. */
static void live_and_die(struct store_world *world, uint64_t first, uint64_t seed)
{
    const struct store_handlers handlers = {.on_durable = report_durable, .on_state = ignore_state};
    rand_init(&world->rand, seed);
    world_open(world);
    store_start(world->store, &world->loop, &handlers);
    uint64_t n = first;
    for (;;) {
        const uint64_t burst = rand_below(&world->rand, 40);
        for (uint64_t i = 0; i < burst; i++, n++) {
            struct record record = nth_record(world, n);
            store_append(world->store, n, &record);
        }
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
        (void)usleep((useconds_t)rand_below(&world->rand, 500));
    }
}

struct census {
    uint8_t *is_there; /* by name */
    uint64_t room;
    uint64_t count;
    uint64_t highest;
};

static void count_row(void *context, const struct record *record)
{
    struct census *const census = context;
    const uint64_t name = record_number(record);
    if (name >= census->room)
        return;
    census->count += census->is_there[name] == 0;
    census->is_there[name] = 1;
    if (name > census->highest)
        census->highest = name;
}

static uint64_t check_what_is_left(struct store_world *world, uint64_t durable)
{
    struct census census = {.room = 4000000};
    census.is_there = calloc(census.room, 1);
    assert_non_null(census.is_there);
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, count_row, &census), 0);
    world_close(world);
    free(census.is_there);
    if (census.highest < durable)
        fail_msg("%llu was durable, the last row is %llu", (unsigned long long)durable,
                 (unsigned long long)census.highest);
    /* A prefix: nothing is missing before the last. */
    assert_int_equal(census.count, census.highest);
    return census.highest;
}

static void what_was_durable_survives_a_kill_and_rows_are_a_prefix(void **state)
{
    struct store_world *const world = *state;
    uint64_t durable = 0;
    uint64_t last = 0;
    unsigned kills_with_news = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const uint64_t seed = rand_u64(&world->rand);
        (void)fflush(stdout);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            report_to = ends[1];
            live_and_die(world, last + 1, seed);
        }
        (void)close(ends[1]);
        /* Half of them die at any moment, the others soon after they reported something. */
        struct pollfd news = {.fd = ends[0], .events = POLLIN};
        (void)poll(&news, 1, round % 2 == 0 ? 0 : PATIENCE_MS);
        (void)usleep((useconds_t)rand_below(&world->rand, 40000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        const uint64_t before = durable;
        while (read(ends[0], &durable, sizeof(durable)) > 0)
            continue;
        (void)close(ends[0]);
        kills_with_news += durable > before;
        last = check_what_is_left(world, durable);
    }
    (void)printf("# %u kills, %u of them after something became durable, %llu rows\n", ROUNDS,
                 kills_with_news, (unsigned long long)last);
    assert_true(kills_with_news >= ROUNDS / 2);
}

static double seconds(void)
{
    return (double)uv_hrtime() / 1e9;
}

static void measure(struct store_world *world, unsigned burst)
{
    struct store_counters before, after;
    store_counters(world->store, &before);
    const double start = seconds();
    while (seconds() - start < 0.5) {
        for (unsigned i = 0; i < burst; i++) {
            struct record record = nth_record(world, world->seq + 1);
            world_append(world, &record);
        }
        while (world->durable < world->seq)
            (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
    const double took = seconds() - start;
    store_counters(world->store, &after);
    const double records = (double)(after.records - before.records);
    (void)printf("# %5u at a time: %6.0f records/s, %.3f commits per record, slowest %llu ms\n",
                 burst, records / took, (double)(after.commits - before.commits) / records,
                 (unsigned long long)after.commit_ms_max);
}

/* New records all the time, at most a thousand of them not durable. */
static void measure_stream(struct store_world *world)
{
    struct store_counters before, after;
    store_counters(world->store, &before);
    const double start = seconds();
    while (seconds() - start < 1) {
        for (unsigned i = 0; i < 16 && world->seq - world->durable < 1000; i++) {
            struct record record = nth_record(world, world->seq + 1);
            world_append(world, &record);
        }
        (void)uv_run(&world->loop,
                     world->seq - world->durable < 1000 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
    }
    world_until_durable(world, world->seq);
    const double took = seconds() - start;
    store_counters(world->store, &after);
    const double records = (double)(after.records - before.records);
    (void)printf("# as a stream:     %6.0f records/s, %.4f commits per record, slowest %llu ms\n",
                 records / took, (double)(after.commits - before.commits) / records,
                 (unsigned long long)after.commit_ms_max);
}

static void group_commit_makes_many_cheap(void **state)
{
    struct store_world *const world = *state;
    static const unsigned bursts[] = {1, 16, 128, 1024};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++)
        measure(world, bursts[i]);
    measure_stream(world);
    world_close(world);
}

static void count_only(void *context, const struct record *record)
{
    (void)record;
    ++*(uint64_t *)context;
}

static void a_hundred_thousand_open_things_load_quickly(void **state)
{
    struct store_world *const world = *state;
    static const enum record_kind kinds[] = {RECORD_FLIGHT, RECORD_ATTEMPT, RECORD_REQUEST};
    uint64_t count = 0;
    world_open(world);
    world_start(world);
    const double start = seconds();
    for (uint64_t i = 0; i < OPEN_THINGS; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct record record = world_record(world, kinds[k], rand_u64(&world->rand));
            if (record.kind == RECORD_FLIGHT) {
                blob_unref(record.flight.params);
                record.flight.params = blob_new(SLICE_OF(TYPICAL_PARAMS));
            }
            world_append(world, &record);
        }
        if (i % 1000 == 999)
            world_until_durable(world, world->seq);
    }
    world_close(world);
    const double written = seconds();
    world_open(world);
    const double opened = seconds();
    assert_int_equal(store_load(world->store, &world->clocks, count_only, &count), 0);
    const double loaded = seconds();
    world_close(world);
    assert_int_equal(count, 3 * OPEN_THINGS);
    (void)printf("# %d flights, attempts and requests each: written in %.2f s, opened and checked "
                 "in %.2f s, loaded in %.2f s\n",
                 OPEN_THINGS, written - start, opened - written, loaded - opened);
    assert_true(loaded - opened < 30);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        WORLD_CASE(what_was_durable_survives_a_kill_and_rows_are_a_prefix),
        WORLD_CASE(group_commit_makes_many_cheap),
        WORLD_CASE(a_hundred_thousand_open_things_load_quickly),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
