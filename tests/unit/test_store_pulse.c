#include "store/store_demand.h"
#include "store/store_private.h"
#include "store/store_pulse.h"
#include "store/store_writer.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

/* A server that counts beats. */
static struct {
    uv_mutex_t mutex;
    unsigned beats;
    unsigned open;               /* backends */
    char parts[STORE_PARTS_MAX]; /* as the latest beat says */
} server;

static void count(int backends, unsigned beats)
{
    uv_mutex_lock(&server.mutex);
    server.open += (unsigned)backends;
    server.beats += beats;
    uv_mutex_unlock(&server.mutex);
}

static struct store_backend *make(void)
{
    struct store_backend *const made = calloc(1, sizeof(*made));
    assert_non_null(made);
    count(1, 0);
    return made;
}

static enum store_opening fake_lock(const struct store_place *place, const char *address,
                                    struct store_backend **backend, struct buf *mistake)
{
    (void)place;
    (void)address;
    (void)mistake;
    *backend = make();
    (*backend)->node = 1;
    (*backend)->incarnation = 1;
    return STORE_OPENED;
}

static enum store_opening fake_open(struct store_backend *backend, struct buf *mistake)
{
    (void)backend;
    (void)mistake;
    return STORE_OPENED;
}

static void fake_close(struct store_backend *backend)
{
    free(backend);
    count(-1, 0);
}

static struct store_backend *fake_make_pulse(const struct store_backend *backend)
{
    struct store_backend *const pulse = make();
    pulse->driver = backend->driver;
    return pulse;
}

static enum store_result fake_beat(struct store_backend *pulse, const struct demand *demand,
                                   struct store_members *members)
{
    (void)demand;
    members->count = 0;
    uv_mutex_lock(&server.mutex);
    memcpy(server.parts, pulse->parts, sizeof server.parts);
    uv_mutex_unlock(&server.mutex);
    count(0, 1);
    return STORE_DONE;
}

static enum store_result fake_wait(struct store_backend *pulse, int fd, int timeout_ms,
                                   void (*on_woken)(void *context, const struct key *name),
                                   void *context)
{
    (void)pulse;
    (void)on_woken;
    (void)context;
    struct pollfd item = {.fd = fd, .events = POLLIN};
    (void)poll(&item, 1, timeout_ms);
    return STORE_DONE;
}

static const struct store_sharing sharing = {
    .make_pulse = fake_make_pulse, .pulse_beat = fake_beat, .pulse_wait = fake_wait};
static const struct store_driver fake = {
    .name = "fake", .lock = fake_lock, .open = fake_open, .close = fake_close, .sharing = &sharing};

static unsigned beats_so_far(void)
{
    uv_mutex_lock(&server.mutex);
    const unsigned beats = server.beats;
    uv_mutex_unlock(&server.mutex);
    return beats;
}

static struct store *open_fake(uint32_t heartbeat_ms)
{
    const struct store_place place = {.url = "fake:", .node = "me", .heartbeat_ms = heartbeat_ms};
    static const struct store_names names = {.context = NULL};
    struct store *store;
    struct buf mistake;
    assert_int_equal(uv_mutex_init(&server.mutex), 0);
    buf_init(&mistake, 256);
    assert_int_equal(store_lock_with(&fake, &place, &store, &mistake), STORE_OPENED);
    assert_int_equal(beats_so_far(), 0);
    assert_int_equal(store_open(store, &names, &mistake), STORE_OPENED);
    buf_close(&mistake);
    return store;
}

static void close_fake(struct store *store)
{
    store_free(store);
    assert_int_equal(server.open, 0);
    uv_mutex_destroy(&server.mutex);
    server.beats = 0;
}

static void wait_for_beat(unsigned number)
{
    for (unsigned left = 2000; beats_so_far() < number; left--) {
        assert_int_not_equal(left, 0);
        uv_sleep(5);
    }
}

static void wait_for_beats(unsigned more)
{
    wait_for_beat(beats_so_far() + more);
}

/* What the next beat but one says: the next may have been on its way. */
static void expect_parts(const char *parts)
{
    wait_for_beats(2);
    uv_mutex_lock(&server.mutex);
    assert_string_equal(server.parts, parts);
    uv_mutex_unlock(&server.mutex);
}

/* Otherwise the others would go on with the tasks of one that takes longer than its lease to load its rows, and it
 * would start over for ever. */
static void a_gateway_says_that_it_lives_as_soon_as_it_has_joined(void **state)
{
    (void)state;
    struct store *const store = open_fake(5);
    wait_for_beats(3);
    close_fake(store);
}

/* The others wait with what seems to be free until it has written again what was lost. */
static void a_loss_is_said_until_it_is_mended(void **state)
{
    (void)state;
    struct store *const store = open_fake(5);
    store_set_parts(store, "clients:1");
    expect_parts("clients:1");
    store->backend->losses = 1;
    store_publish(store);
    expect_parts("clients:1 rewriting:1");
    /* The loop has not even heard of it. */
    store_set_mended(store);
    expect_parts("clients:1 rewriting:1");
    store->reported_facts.losses = 1;
    store_set_mended(store);
    expect_parts("clients:1");
    close_fake(store);
}

static void whoever_must_hurry_does_not_wait_for_its_next_beat(void **state)
{
    (void)state;
    struct store *const store = open_fake(3600000);
    const struct demand demand = {.slots = 1};
    wait_for_beat(1);
    store_set_demand(store, &demand, true);
    wait_for_beat(2);
    store_set_demand(store, &demand, false);
    store_set_demand(store, &demand, true);
    wait_for_beat(3);
    close_fake(store);
}

static void levels_are_read_as_they_were_written(void **state)
{
    (void)state;
    char text[STORE_LEVELS_MAX];
    char parts[STORE_PARTS_MAX];
    struct demand written = {.slots = 0};
    struct demand read = {.levels = {7}};
    store_demand_write_levels(&written, text);
    assert_string_equal(text, "");
    store_demand_read_levels("dedup:1", &read);
    assert_memory_equal(read.levels, written.levels, sizeof read.levels);
    for (unsigned i = 0; i < DEMAND_POOLS; i++)
        written.levels[i] = (uint16_t)(i * 65);
    written.levels[63] = DEMAND_LEVEL_MOST;
    store_demand_write_levels(&written, text);
    (void)snprintf(parts, sizeof parts, "pools:0123456789abcdef" STORE_PARTS_REWRITING "%s", text);
    store_demand_read_levels(parts, &read);
    assert_memory_equal(read.levels, written.levels, sizeof read.levels);
    /* Who has damaged it is believed as far as it makes sense. */
    store_demand_read_levels(" ready:101!00", &read);
    assert_int_equal(read.levels[1], 1);
    assert_int_equal(read.levels[0], 0);
    store_demand_read_levels(" ready:10", &read);
    assert_int_equal(read.levels[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gateway_says_that_it_lives_as_soon_as_it_has_joined),
        cmocka_unit_test(a_loss_is_said_until_it_is_mended),
        cmocka_unit_test(whoever_must_hurry_does_not_wait_for_its_next_beat),
        cmocka_unit_test(levels_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
