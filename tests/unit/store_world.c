#include "store_world.h"

#include <ftw.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "seed.h"

#define DEADLINE_MS 30000
#define BEAT_MS 200

static const char *const clients[WORLD_CLIENTS] = {"alpha", "beta"};

static const char *name_of(void *context, client_id client)
{
    (void)context;
    return clients[client];
}

static bool find(void *context, struct slice name, client_id *client)
{
    const struct store_world *const world = context;
    for (client_id i = 0; i < (world->is_beta_gone ? 1 : WORLD_CLIENTS); i++) {
        *client = i;
        if (slice_equals(name, slice_from(clients[i])))
            return true;
    }
    return false;
}

void world_init(struct store_world *world, const struct store_kit *kit)
{
    *world = (struct store_world){.kit = kit, .driver = kit->driver, .beat_ms = BEAT_MS};
    const char *const base = getenv("TMPDIR");
    (void)snprintf(world->directory, sizeof(world->directory), "%s/solvegate-store-XXXXXX",
                   base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(world->directory));
    rand_init(&world->rand, seed_value());
    world->clocks = (struct clocks){.wall_ms = WORLD_NOW, .even_ms = 3600000, .boot = "one"};
    assert_int_equal(uv_loop_init(&world->loop), 0);
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

void world_end(struct store_world *world)
{
    assert_null(world->store);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    /* A server that has just ended may still have a file removed or made in it. */
    for (int left = 50; nftw(world->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0; left--) {
        assert_int_not_equal(left, 0);
        uv_sleep(20);
    }
}

int world_set_up(void **state)
{
    static struct store_world world;
    world_init(&world, *state == NULL ? store_kits[0] : *state);
    world.kit->begin(&world);
    *state = &world;
    return 0;
}

int world_tear_down(void **state)
{
    struct store_world *const world = *state;
    world->kit->end(world);
    world_end(world);
    return 0;
}

enum store_opening world_try(struct store_world *world, struct buf *mistake)
{
    const struct store_names names = {.context = world, .name_of = name_of, .find = find};
    char url[2 * PATH_MAX];
    world->kit->url(world, url, sizeof(url));
    const struct store_place place = {.url = url,
                                      .prefix = "solvegate_test",
                                      .allow_async = world->allow_async,
                                      .patience_ms = world->patience_ms,
                                      .beat_ms = world->beat_ms,
                                      .node = world->node,
                                      .lease_ms = 10000,
                                      .heartbeat_ms = 2000};
    enum store_opening opening = store_lock_with(world->driver, &place, &world->store, mistake);
    if (opening == STORE_OPENED)
        opening = store_open(world->store, &names, mistake);
    if (opening != STORE_OPENED) {
        store_free(world->store);
        world->store = NULL;
    }
    return opening;
}

void world_run_sql(const struct store_world *world, const char *text)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    world_path(world, "solvegate.db", path, sizeof(path));
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(sqlite3_open_v2(path, &db, flags, "unix"), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

void world_open(struct store_world *world)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    if (world_try(world, &mistake) != STORE_OPENED)
        fail_msg("%.*s", (int)mistake.len, mistake.data);
    assert_int_equal(mistake.len, 0);
    buf_close(&mistake);
    world->seq = world->durable = 0;
    world->durable_calls = world->state_calls = world->secret_calls = 0;
    world->state = STORE_WRITABLE;
    world->is_closed = false;
}

static void on_durable(void *context, journal_seq seq)
{
    struct store_world *const world = context;
    assert_true(seq > world->durable && seq <= world->seq);
    world->durable = seq;
    world->durable_calls++;
}

static void on_state(void *context, enum store_state state, const char *why)
{
    struct store_world *const world = context;
    world->state = state;
    world->state_calls++;
    (void)snprintf(world->why, sizeof(world->why), "%s", why);
}

static void on_lost(void *context, const char *why)
{
    struct store_world *const world = context;
    (void)snprintf(world->loss, sizeof(world->loss), "%s", why);
    world->loss_calls++;
}

static void on_about(void *context)
{
    ((struct store_world *)context)->about_calls++;
}

static void on_secret(void *context, const uint8_t *bytes, const uint8_t *old_bytes)
{
    struct store_world *const world = context;
    memcpy(world->secret, bytes, sizeof(world->secret));
    memcpy(world->old_secret, old_bytes, sizeof(world->old_secret));
    world->secret_calls++;
}

void world_start(struct store_world *world)
{
    const struct store_handlers handlers = {
        .context = world,
        .on_durable = on_durable,
        .on_state = on_state,
        .on_secret = on_secret,
        .on_lost = on_lost,
        .on_about = on_about,
    };
    store_start(world->store, &world->loop, &handlers);
}

static void on_closed(void *context)
{
    ((struct store_world *)context)->is_closed = true;
}

void world_close(struct store_world *world)
{
    store_close(world->store, on_closed, world);
    (void)uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_true(world->is_closed);
    store_free(world->store);
    world->store = NULL;
}

void world_append(struct store_world *world, struct record *take_record)
{
    store_append(world->store, ++world->seq, take_record);
}

void world_append_requests(struct store_world *world, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct record record = world_record(world, RECORD_REQUEST, world->seq + 1);
        world_append(world, &record);
    }
}

void world_count_row(void *context, const struct record *record)
{
    (void)record;
    ++*(unsigned *)context;
}

unsigned world_count_rows(struct store_world *world)
{
    unsigned count = 0;
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &count), 0);
    world_close(world);
    return count;
}

static void on_late(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static void turn(struct store_world *world, unsigned milliseconds, bool *is_late,
                 bool (*is_met)(const struct store_world *world, uint64_t wanted), uint64_t wanted)
{
    uv_timer_t timer;
    assert_int_equal(uv_timer_init(&world->loop, &timer), 0);
    timer.data = is_late;
    *is_late = false;
    /* It repeats, since a timer that is due when uv_run() begins fires before that waits for something else. */
    uv_update_time(&world->loop);
    assert_int_equal(uv_timer_start(&timer, on_late, milliseconds, 10), 0);
    while (!*is_late && !is_met(world, wanted))
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    (void)uv_run(&world->loop, UV_RUN_NOWAIT);
}

static bool is_durable(const struct store_world *world, uint64_t wanted)
{
    return world->durable >= wanted;
}

static bool is_in_state(const struct store_world *world, uint64_t wanted)
{
    return (uint64_t)world->state == wanted;
}

static bool is_told_secret(const struct store_world *world, uint64_t wanted)
{
    return world->secret_calls >= wanted;
}

static bool is_never(const struct store_world *world, uint64_t wanted)
{
    (void)world;
    (void)wanted;
    return false;
}

void world_until_durable(struct store_world *world, journal_seq seq)
{
    bool is_late;
    turn(world, DEADLINE_MS, &is_late, is_durable, seq);
    if (is_late)
        fail_msg("%llu is not durable, %llu is; %s", (unsigned long long)seq,
                 (unsigned long long)world->durable, world->why);
}

void world_until_secret(struct store_world *world, unsigned calls)
{
    bool is_late;
    turn(world, DEADLINE_MS, &is_late, is_told_secret, calls);
    assert_false(is_late);
}

void world_until_state(struct store_world *world, enum store_state state)
{
    bool is_late;
    turn(world, DEADLINE_MS, &is_late, is_in_state, (uint64_t)state);
    assert_false(is_late);
}

void world_turn(struct store_world *world, unsigned milliseconds)
{
    bool is_late;
    turn(world, milliseconds, &is_late, is_never, 0);
}

void world_path(const struct store_world *world, const char *name, char *path, size_t room)
{
    (void)snprintf(path, room, "%s/%s", world->directory, name);
}
