/* The writer and a server that goes away: when it asks again, and what it counts. */
#include "seed.h"
#include "store/store_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <uv.h>

#define MS_NS UINT64_C(1000000)
#define TRIES_MAX 16
#define PATIENCE_MS 30000

/* A server in memory; the writer's thread is its only caller. */
static struct {
    enum store_result answers[TRIES_MAX]; /* to the first calls of write() and beat() */
    unsigned tries;
    uint64_t at_ns[TRIES_MAX];
    uint64_t reconnects;
} server;

static enum store_result answer(struct store_backend *backend)
{
    if (server.tries == TRIES_MAX)
        return STORE_DONE;
    const unsigned place = server.tries++;
    server.at_ns[place] = uv_hrtime();
    (void)snprintf(backend->why, sizeof(backend->why), "the test ordered it");
    backend->reconnects = server.reconnects;
    return server.answers[place];
}

static enum store_opening fake_lock(const struct store_place *place, const char *address,
                                    struct store_backend **backend, struct buf *mistake)
{
    (void)place;
    (void)address;
    (void)mistake;
    *backend = calloc(1, sizeof(**backend));
    assert_non_null(*backend);
    return STORE_OPENED;
}

static enum store_opening fake_open(struct store_backend *backend, struct buf *mistake)
{
    (void)backend;
    (void)mistake;
    return STORE_OPENED;
}

static enum store_result fake_write(struct store_backend *backend, const struct store_batch *batch)
{
    (void)batch;
    return answer(backend);
}

static void fake_close(struct store_backend *backend)
{
    free(backend);
}

static const struct store_driver fake = {
    .name = "fake", .lock = fake_lock, .open = fake_open, .write = fake_write, .close = fake_close};
static struct store_driver fake_with_beat;

struct world {
    uv_loop_t loop;
    struct store *store;
    journal_seq durable;
    enum store_state state;
    bool is_closed;
};

static const char *name_of(void *context, client_id client)
{
    (void)context;
    (void)client;
    return "alice";
}

static void on_durable(void *context, journal_seq seq)
{
    ((struct world *)context)->durable = seq;
}

static void on_state(void *context, enum store_state state, const char *why)
{
    (void)why;
    ((struct world *)context)->state = state;
}

static void on_closed(void *context)
{
    ((struct world *)context)->is_closed = true;
}

static void start(struct world *world, const struct store_driver *driver)
{
    const struct store_place place = {.url = "fake:"};
    const struct store_names names = {.context = world, .name_of = name_of};
    const struct store_handlers handlers = {
        .context = world, .on_durable = on_durable, .on_state = on_state};
    struct buf mistake;
    *world = (struct world){.durable = 0};
    buf_init(&mistake, 256);
    assert_int_equal(uv_loop_init(&world->loop), 0);
    assert_int_equal(store_lock_with(driver, &place, &world->store, &mistake), STORE_OPENED);
    assert_int_equal(store_open(world->store, &names, &mistake), STORE_OPENED);
    store_start(world->store, &world->loop, &handlers);
    buf_close(&mistake);
}

static void append(struct world *world, journal_seq seq)
{
    struct record record = {.kind = RECORD_REQUEST, .is_drop = true};
    store_append(world->store, seq, &record);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
}

/* Turns the loop until it is so; fails after half a minute. */
static void turn_until(struct world *world, bool (*is_so)(const struct world *world))
{
    uv_timer_t tick;
    const uint64_t start_ns = uv_hrtime();
    assert_int_equal(uv_timer_init(&world->loop, &tick), 0);
    assert_int_equal(uv_timer_start(&tick, on_tick, 1, 5), 0);
    while (!is_so(world)) {
        assert_true(uv_hrtime() - start_ns < PATIENCE_MS * MS_NS);
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&tick, NULL);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
}

static bool is_durable(const struct world *world)
{
    return world->durable > 0;
}

static bool is_away(const struct world *world)
{
    return world->state == STORE_AWAY;
}

static bool is_back(const struct world *world)
{
    return world->state == STORE_WRITABLE;
}

static bool is_closed(const struct world *world)
{
    return world->is_closed;
}

static void end(struct world *world)
{
    store_close(world->store, on_closed, world);
    turn_until(world, is_closed);
    store_free(world->store);
    (void)uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&world->loop), 0);
}

static void order(const enum store_result *answers, unsigned count)
{
    memset(&server, 0, sizeof(server));
    memcpy(server.answers, answers, count * sizeof(*answers));
}

static uint64_t pause_ms(unsigned after)
{
    return (server.at_ns[after + 1] - server.at_ns[after]) / MS_NS;
}

static void a_server_that_is_away_is_asked_soon_and_then_less_and_less_often(void **state)
{
    struct world world;
    (void)state;
    order((const enum store_result[]){STORE_RETRY, STORE_RETRY, STORE_RETRY, STORE_RETRY}, 4);
    start(&world, &fake);
    append(&world, 1);
    turn_until(&world, is_durable);
    assert_int_equal(server.tries, 5);
    for (unsigned i = 0; i < 4; i++)
        assert_true(pause_ms(i) >= 50u << i);
    /* At most 0.1 + 0.2 + 0.4 s if nothing else holds the machine. */
    assert_true(server.at_ns[3] - server.at_ns[0] < 2500 * MS_NS);
    end(&world);
}

static void the_pauses_begin_anew_once_the_server_was_back(void **state)
{
    struct world world;
    (void)state;
    order((const enum store_result[]){STORE_RETRY, STORE_RETRY, STORE_RETRY, STORE_RETRY,
                                      STORE_DONE, STORE_RETRY, STORE_DONE},
          7);
    start(&world, &fake);
    append(&world, 1);
    turn_until(&world, is_durable);
    world.durable = 0;
    append(&world, 2);
    turn_until(&world, is_durable);
    assert_int_equal(server.tries, 7);
    /* The fifth pause would be 0.8 s at least. */
    assert_true(pause_ms(5) < 700);
    end(&world);
}

static void a_full_disk_is_asked_every_second(void **state)
{
    struct world world;
    (void)state;
    order((const enum store_result[]){STORE_NO_ROOM, STORE_NO_ROOM}, 2);
    start(&world, &fake);
    append(&world, 1);
    turn_until(&world, is_durable);
    assert_int_equal(server.tries, 3);
    assert_in_range(pause_ms(0), 1000, 1900);
    assert_in_range(pause_ms(1), 1000, 1900);
    end(&world);
}

static void a_quiet_server_that_went_away_is_asked_in_the_same_way_and_counted(void **state)
{
    struct world world;
    struct store_counters counters;
    (void)state;
    order((const enum store_result[]){STORE_RETRY, STORE_RETRY, STORE_DONE}, 3);
    server.reconnects = 3;
    fake_with_beat = fake;
    fake_with_beat.beat = answer;
    start(&world, &fake_with_beat);
    turn_until(&world, is_away);
    turn_until(&world, is_back);
    assert_int_equal(server.tries, 3);
    assert_true(pause_ms(1) < 900);
    store_counters(world.store, &counters);
    assert_int_equal(counters.reconnects, 3);
    end(&world);
}

static void batches_are_counted_by_their_size(void **state)
{
    struct world world;
    struct store_counters counters;
    (void)state;
    /* The second batch is what gathered while the first could not be written. */
    order((const enum store_result[]){STORE_RETRY}, 1);
    start(&world, &fake);
    append(&world, 1);
    turn_until(&world, is_away);
    for (journal_seq seq = 2; seq <= 41; seq++)
        append(&world, seq);
    turn_until(&world, is_durable);
    while (world.durable < 41)
        (void)uv_run(&world.loop, UV_RUN_ONCE);
    store_counters(world.store, &counters);
    assert_int_equal(histogram_count(&counters.batch_sizes), 2);
    assert_int_equal(histogram_sum_ms(&counters.batch_sizes), 41);
    assert_int_equal(counters.batch_sizes.counts[0], 1);
    assert_int_equal(histogram_count(&counters.round_trips), 2);
    end(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_is_away_is_asked_soon_and_then_less_and_less_often),
        cmocka_unit_test(the_pauses_begin_anew_once_the_server_was_back),
        cmocka_unit_test(a_full_disk_is_asked_every_second),
        cmocka_unit_test(a_quiet_server_that_went_away_is_asked_in_the_same_way_and_counted),
        cmocka_unit_test(batches_are_counted_by_their_size),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
