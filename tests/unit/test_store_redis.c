#include "redis_store_world.h"

#include "seed.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOCK "{" CASE_PREFIX "}:lock"
#define WEEK_MS (INT64_C(7) * 24 * 3600000)
#define CLOCK "{" CASE_PREFIX "}:clock"
/* Enough for a server that answers, on a busy machine. */
#define PATIENCE_MS 1500

static const char *unix_url(void)
{
    static char url[256];
    (void)snprintf(url, sizeof(url), "redis+unix://%s", store_kit_redis_server()->socket);
    return url;
}

static void close_backend(struct store_backend *backend)
{
    backend->driver->close(backend);
}

/* ---- a server that goes away ------------------------------------------------------------- */

static void a_server_that_is_killed_loses_nothing_that_it_acknowledged(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    for (unsigned round = 0; round < 3; round++) {
        world_append_requests(world, 200);
        world_until_durable(world, world->seq);
        world_append_requests(world, 200);
        redis_kill(store_kit_redis_server());
        world_append_requests(world, 100);
        world_until_state(world, STORE_AWAY);
        assert_non_null(strstr(world->why, "redis.sock"));
        redis_start(store_kit_redis_server());
        world_until_durable(world, world->seq);
        world_until_state(world, STORE_WRITABLE);
    }
    const journal_seq written = world->seq;
    store_counters(world->store, &counters);
    assert_true(counters.reconnects >= 3);
    world_close(world);
    assert_int_equal(world_count_rows(world), written);
}

static void a_server_that_goes_away_while_nothing_is_written_is_noticed_by_the_beat(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_turn(world, 50);
    redis_kill(store_kit_redis_server());
    world_until_state(world, STORE_AWAY);
    redis_start(store_kit_redis_server());
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
}

/* Longer than any reply is waited for, and than the lease. */
static void a_server_that_sleeps_is_away_and_then_gets_everything(void **state)
{
    struct store_world *const world = *state;
    struct redis_server *const server = store_kit_redis_server();
    world->patience_ms = PATIENCE_MS;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    redis_do(server, "PEXPIRE", LOCK, "100", NULL);
    redis_freeze(server);
    world_append_requests(world, 300);
    world_until_state(world, STORE_AWAY);
    assert_int_equal(world->durable, 10);
    world_append_requests(world, 10);
    redis_thaw(server);
    world_until_durable(world, world->seq);
    const journal_seq written = world->seq;
    world_close(world);
    assert_int_equal(world_count_rows(world), written);
}

/* The kernel takes many bytes for a server that reads none of them. */
static void a_server_that_sleeps_is_given_up_in_time_however_much_is_sent(void **state)
{
    struct store_world *const world = *state;
    const struct store_place place = {
        .url = unix_url(), .prefix = CASE_PREFIX, .patience_ms = PATIENCE_MS};
    struct store_backend *const backend = redis_case_open(&place);
    struct record record = world_record(world, RECORD_SOLUTION, 1);
    assert_non_null(backend);
    blob_unref(record.solution.text);
    record.solution.text = blob_alloc(1 << 20);
    memset(record.solution.text->data, 'x', 1 << 20);
    redis_freeze(store_kit_redis_server());
    const uint64_t start = uv_hrtime();
    assert_int_equal(redis_case_write(backend, &record, "alpha"), STORE_RETRY);
    const uint64_t took_ms = (uv_hrtime() - start) / 1000000;
    redis_thaw(store_kit_redis_server());
    assert_in_range(took_ms, PATIENCE_MS, 2 * PATIENCE_MS);
    assert_non_null(strstr(backend->why, "does not answer"));
    close_backend(backend);
}

static void a_server_that_becomes_a_replica_is_away_until_it_is_a_master_again(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    redis_do(store_kit_redis_server(), "REPLICAOF", "127.0.0.1", "1", NULL);
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_non_null(strstr(world->why, "replica"));
    assert_int_equal(world->durable, 10);
    redis_do(store_kit_redis_server(), "REPLICAOF", "NO", "ONE", NULL);
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

/* EXEC is refused after its commands were queued: the whole batch is discarded, and not the last word. */
static void a_batch_that_is_discarded_at_its_end_is_sent_again(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    redis_do(store_kit_redis_server(), "ACL", "SETUSER", "default", "-exec", NULL);
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_non_null(strstr(world->why, "NOPERM"));
    assert_int_equal(world->durable, 10);
    redis_do(store_kit_redis_server(), "ACL", "SETUSER", "default", "+exec", NULL);
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

/* It reads one command in a millisecond, and answers between them. */
static void restart_slowly(struct redis_server *server)
{
    redis_kill(server);
    (void)unlink(server->socket); /* or the next one would seem to listen already */
    server->extra[0] = "--key-load-delay";
    server->extra[1] = "5000";
    server->extra[2] = "--loading-process-events-interval-bytes";
    server->extra[3] = "1024";
    redis_launch(server);
}

static void a_server_that_reads_its_file_is_waited_for(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 300);
    world_until_durable(world, 300);
    restart_slowly(store_kit_redis_server());
    world_until_state(world, STORE_AWAY);
    world_append_requests(world, 10);
    world_until_durable(world, 310);
    world_close(world);
    /* And at a start. */
    redis_case_opening = STORE_UNUSABLE;
    restart_slowly(store_kit_redis_server());
    for (unsigned i = 0; i < 1000 && access(store_kit_redis_server()->socket, F_OK) != 0; i++)
        uv_sleep(10);
    uv_sleep(50); /* between binding and listening */
    assert_int_equal(world_count_rows(world), 310);
}

static void connections_that_the_server_cuts_are_made_again(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    for (unsigned i = 0; i < 5; i++) {
        world_append_requests(world, 50);
        redis_do(store_kit_redis_server(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes",
                 NULL);
        world_append_requests(world, 50);
        world_until_durable(world, world->seq);
    }
    world_close(world);
    assert_int_equal(world_count_rows(world), 500);
}

/* ---- one gateway at a time --------------------------------------------------------------- */

static void a_lock_that_another_gateway_took_ends_all_writing(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    redis_do(store_kit_redis_server(), "SET", LOCK, "elsewhere/1/abc/1", NULL);
    world_append_requests(world, 10);
    world_until_state(world, STORE_BROKEN);
    assert_non_null(strstr(world->why, "elsewhere/1/abc/1"));
    world_close(world);
    assert_int_equal(world->durable, 10);
    /* Closing leaves the other one's lock alone. */
    assert_int_equal(redis_number(store_kit_redis_server(), "EXISTS", LOCK, NULL), 1);
    redis_do(store_kit_redis_server(), "DEL", LOCK, NULL);
    assert_int_equal(world_count_rows(world), 10);
}

static void a_lease_that_ran_out_is_taken_again_if_nobody_else_has_it(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = redis_case_open_url(unix_url());
    assert_non_null(backend);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    redis_do(store_kit_redis_server(), "DEL", LOCK, NULL);
    assert_int_equal(redis_case_put(world, backend, 2), STORE_DONE);
    redis_do(store_kit_redis_server(), "PEXPIRE", LOCK, "1", NULL);
    uv_sleep(20);
    assert_int_equal(backend->driver->beat(backend), STORE_DONE);
    assert_true(redis_number(store_kit_redis_server(), "PTTL", LOCK, NULL) > 5000);
    close_backend(backend);
    assert_int_equal(redis_number(store_kit_redis_server(), "EXISTS", LOCK, NULL), 0);
    assert_int_equal(world_count_rows(world), 2);
}

static void every_batch_and_every_beat_renews_the_lease(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = redis_case_open_url(unix_url());
    assert_non_null(backend);
    redis_do(store_kit_redis_server(), "PEXPIRE", LOCK, "4000", NULL);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    assert_true(redis_number(store_kit_redis_server(), "PTTL", LOCK, NULL) > 4000);
    redis_do(store_kit_redis_server(), "PEXPIRE", LOCK, "4000", NULL);
    assert_int_equal(backend->driver->beat(backend), STORE_DONE);
    assert_true(redis_number(store_kit_redis_server(), "PTTL", LOCK, NULL) > 4000);
    close_backend(backend);
}

/* Opens the store, says so, and waits for its end. */
static pid_t start_gateway(const char *url)
{
    int ready[2];
    char word;
    assert_int_equal(pipe(ready), 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ready[0]);
        struct store_backend *const backend = redis_case_open_url(url);
        if (backend == NULL || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &word, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void a_gateway_that_was_killed_is_succeeded_and_one_that_lives_is_not(void **state)
{
    (void)state;
    const pid_t child = start_gateway(unix_url());
    const uint64_t start = uv_hrtime();
    assert_null(redis_case_open_url(unix_url()));
    assert_int_equal(redis_case_opening, STORE_LOCKED);
    assert_mistake("another gateway");
    assert_true(uv_hrtime() - start < UINT64_C(2000000000));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(redis_number(store_kit_redis_server(), "PTTL", LOCK, NULL) > 5000);
    const uint64_t dead = uv_hrtime();
    struct store_backend *const backend = redis_case_open_url(unix_url());
    assert_non_null(backend);
    assert_true(uv_hrtime() - dead < UINT64_C(2000000000));
    close_backend(backend);
}

/* Its process number means nothing here. */
static void a_gateway_of_another_machine_that_says_nothing_is_outwaited(void **state)
{
    (void)state;
    redis_do(store_kit_redis_server(), "SET", LOCK, "elsewhere/999999/abc/1", "PX", "1500", NULL);
    const uint64_t start = uv_hrtime();
    struct store_backend *const backend = redis_case_open_url(unix_url());
    assert_non_null(backend);
    assert_true(uv_hrtime() - start > UINT64_C(1000000000));
    close_backend(backend);
}

/* As after a cut of the network: nobody is connected, but the lease is renewed. */
static void renew(void *context)
{
    struct redis_server *const server = context;
    for (unsigned i = 0; i < 10; i++) {
        uv_sleep(300);
        redis_do(server, "PEXPIRE", LOCK, "5000", NULL);
    }
}

static void a_lease_that_somebody_renews_is_not_outwaited(void **state)
{
    (void)state;
    uv_thread_t thread;
    redis_do(store_kit_redis_server(), "SET", LOCK, "elsewhere/1/abc/1", "PX", "5000", NULL);
    assert_int_equal(uv_thread_create(&thread, renew, store_kit_redis_server()), 0);
    assert_null(redis_case_open_url(unix_url()));
    assert_int_equal(redis_case_opening, STORE_LOCKED);
    assert_mistake("elsewhere/1/abc/1");
    assert_int_equal(uv_thread_join(&thread), 0);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(a_server_that_is_killed_loses_nothing_that_it_acknowledged),
        REDIS_CASE(a_server_that_goes_away_while_nothing_is_written_is_noticed_by_the_beat),
        REDIS_CASE(a_server_that_sleeps_is_away_and_then_gets_everything),
        REDIS_CASE(a_server_that_sleeps_is_given_up_in_time_however_much_is_sent),
        REDIS_CASE(a_server_that_becomes_a_replica_is_away_until_it_is_a_master_again),
        REDIS_CASE(a_batch_that_is_discarded_at_its_end_is_sent_again),
        REDIS_CASE(a_server_that_reads_its_file_is_waited_for),
        REDIS_CASE(connections_that_the_server_cuts_are_made_again),
        REDIS_CASE(a_lock_that_another_gateway_took_ends_all_writing),
        REDIS_CASE(a_lease_that_ran_out_is_taken_again_if_nobody_else_has_it),
        REDIS_CASE(every_batch_and_every_beat_renews_the_lease),
        REDIS_CASE(a_gateway_that_was_killed_is_succeeded_and_one_that_lives_is_not),
        REDIS_CASE(a_gateway_of_another_machine_that_says_nothing_is_outwaited),
        REDIS_CASE(a_lease_that_somebody_renews_is_not_outwaited),
    };
    return redis_case_run(tests);
}
