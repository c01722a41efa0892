#include "postgres_proxy.h"
#include "postgres_world.h"
#include "seed.h"
#include "store/postgres/postgres_driver.h"
#include "store/postgres/postgres_lock.h"
#include "store_expect.h"
#include "store_kit.h"
#include "store_world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Enough for a server that answers, on a busy machine. */
#define PATIENCE_MS 2000
#define SCHEMA "solvegate_test"
#define GATEWAYS "usename = '" POSTGRES_ROLE "' AND application_name = 'solvegate'"

/* ---- the world --------------------------------------------------------------------------- */

/* The kit's, with the proxy in between. */
static struct store_kit kit;

static void through_proxy(const struct store_world *world, char *url, size_t room)
{
    (void)world;
    proxy_url(url, room);
}

static int set_up(void **state)
{
    kit = store_kit_postgres;
    *state = &kit;
    const int result = world_set_up(state);
    /* What a case left that failed must not fail the next one. */
    postgres_run("ALTER SYSTEM RESET ALL");
    postgres_reload();
    return result;
}

static int set_up_with_proxy(void **state)
{
    kit = store_kit_postgres;
    kit.url = through_proxy;
    *state = &kit;
    const int result = world_set_up(state);
    proxy_start();
    return result;
}

static int tear_down_with_proxy(void **state)
{
    proxy_stop();
    return world_tear_down(state);
}

static uint64_t reconnects(const struct store_world *world)
{
    struct store_counters counters;
    store_counters(world->store, &counters);
    return counters.reconnects;
}

static void begin(struct store_world *world, unsigned count)
{
    world_open(world);
    world_start(world);
    world_append_requests(world, count);
    world_until_durable(world, count);
}

static void assert_why(const struct store_world *world, const char *words)
{
    (void)printf("# %s\n", world->why);
    if (strstr(world->why, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", world->why, words);
    assert_null(strstr(world->why, "canary"));
    assert_null(strstr(world->why, "7f3a"));
}

static void end_sessions(void)
{
    postgres_run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE " GATEWAYS);
}

/* ---- connections that are lost ----------------------------------------------------------- */

static void a_session_that_is_ended_is_made_again_before_anybody_notices(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    for (unsigned i = 0; i < 5; i++) {
        end_sessions();
        world_append_requests(world, 10);
        world_until_durable(world, world->seq);
    }
    assert_int_equal(world->state_calls, 0);
    assert_int_equal(reconnects(world), 5);
    world_close(world);
    assert_int_equal(world_count_rows(world), 60);
}

static void sessions_that_are_ended_in_the_middle_of_batches_lose_nothing(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    for (unsigned i = 0; i < 40; i++) {
        world_append_requests(world, 500);
        world_turn(world, 1 + (unsigned)rand_below(&world->rand, 10));
        postgres_run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " GATEWAYS);
        world_until_durable(world, world->seq);
    }
    assert_true(reconnects(world) >= 20);
    (void)printf("# %llu reconnects\n", (unsigned long long)reconnects(world));
    world_close(world);
    assert_int_equal(world_count_rows(world), 20000);
}

static void a_quiet_gateway_finds_its_server_again(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    end_sessions();
    for (unsigned i = 0;
         i < 100 && postgres_number("SELECT count(*) FROM pg_stat_activity WHERE " GATEWAYS) == 0;
         i++)
        world_turn(world, 100);
    world_append_requests(world, 1);
    world_until_durable(world, 11);
    assert_int_equal(reconnects(world), 1);
    world_close(world);
}

static void restart_with(struct store_world *world, int signal)
{
    begin(world, 10);
    world_append_requests(world, 3000);
    postgres_kill(signal);
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "PostgreSQL");
    world_append_requests(world, 10);
    postgres_start();
    world_until_durable(world, world->seq);
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
    assert_int_equal(world_count_rows(world), 3030);
}

static void a_server_that_stops_at_once_and_comes_back_loses_nothing(void **state)
{
    restart_with(*state, SIGQUIT);
}

static void a_server_that_is_killed_and_comes_back_loses_nothing(void **state)
{
    restart_with(*state, SIGKILL);
}

static void a_backend_that_is_killed_loses_nothing(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    const pid_t backend =
        (pid_t)postgres_number("SELECT pid FROM pg_stat_activity WHERE " GATEWAYS);
    world_append_requests(world, 3000);
    assert_int_equal(kill(backend, SIGKILL), 0);
    world_until_durable(world, world->seq);
    world_close(world);
    postgres_kill(SIGQUIT); /* its sessions are gone, ours for tests too */
    postgres_start();
    assert_int_equal(world_count_rows(world), 3010);
}

static void a_commit_whose_reply_was_lost_is_repeated_and_changes_nothing(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    begin(world, 1);
    proxy_set(PROXY_LOSE_COMMIT);
    expect_append(world, &wanted);
    world_until_durable(world, world->seq);
    assert_int_equal(proxy_count(), 1);
    assert_int_equal(reconnects(world), 1);
    struct record first = world_record(world, RECORD_REQUEST, 1);
    expect_drop(world, &first);
    record_close(&first);
    for (unsigned i = 0; i < wanted.count; i++) {
        struct record again = world_share(&wanted.records[i]);
        world_append(world, &again);
    }
    proxy_set(PROXY_LOSE_COMMIT);
    world_until_durable(world, world->seq);
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void append_large(struct store_world *world, unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        struct record record = world_record(world, RECORD_SOLUTION, i + 1);
        blob_unref(record.solution.text);
        record.solution.text = blob_alloc(size);
        memset(record.solution.text->data, 'x', size);
        world_append(world, &record);
    }
}

static void be_silent_for(struct store_world *world, void (*append)(struct store_world *world))
{
    world->patience_ms = PATIENCE_MS;
    begin(world, 10);
    proxy_set(PROXY_FREEZE);
    const uint64_t start = uv_hrtime();
    append(world);
    world_until_state(world, STORE_AWAY);
    assert_in_range((uv_hrtime() - start) / 1000000, PATIENCE_MS, 2 * PATIENCE_MS);
    assert_why(world, "does not answer");
    proxy_set(PROXY_PASS);
    world_until_durable(world, world->seq);
    const journal_seq written = world->seq;
    world_close(world);
    assert_int_equal(world_count_rows(world), written);
}

static void append_few(struct store_world *world)
{
    world_append_requests(world, 10);
}

static void a_server_that_does_not_answer_is_given_up(void **state)
{
    be_silent_for(*state, append_few);
}

/* Reading goes on for longer while bytes are carried, but the kernel's buffers carry them nowhere. */
static void append_much(struct store_world *world)
{
    append_large(world, 30, 400000);
}

static void a_server_that_does_not_read_is_given_up_as_soon(void **state)
{
    be_silent_for(*state, append_much);
}

/* ---- the lock ---------------------------------------------------------------------------- */

static void a_lock_that_another_gateway_took_meanwhile_ends_this_one(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    /* Its beat may be quicker than we are. */
    while (postgres_number("SELECT pg_try_advisory_lock(%lld)::int",
                           (long long)pg_lock_key(SCHEMA)) == 0)
        end_sessions();
    world_append_requests(world, 10);
    world_until_state(world, STORE_BROKEN);
    assert_why(world, "another instance uses the schema");
    assert_int_equal(world->durable, 10);
    postgres_run("SELECT pg_advisory_unlock_all()");
    world_close(world);
    assert_int_equal(world_count_rows(world), 10);
}

/* As when the network breaks: the server does not know yet that the gateway is gone. */
static void a_former_session_of_our_own_does_not_keep_us_out(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    proxy_set(PROXY_CUT_CLIENT);
    for (unsigned i = 0; i < 100 && proxy_count() == 0; i++)
        world_turn(world, 10);
    world_append_requests(world, 10);
    world_until_durable(world, 20);
    assert_int_equal(reconnects(world), 1);
    assert_int_equal(
        postgres_number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                        " AND mode = 'ExclusiveLock'"),
        1);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void a_session_without_its_lock_is_not_ours(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *backend = NULL;
    struct buf mistake;
    char url[2 * PATH_MAX];
    buf_init(&mistake, 1024);
    kit.url(world, url, sizeof(url));
    const struct store_place place = {.url = url, .prefix = SCHEMA};
    assert_int_equal(postgres_driver.lock(&place, strchr(url, ':') + 1, &backend, &mistake),
                     STORE_OPENED);
    assert_int_equal(postgres_driver.open(backend, &mistake), STORE_OPENED);
    assert_int_equal(postgres_driver.beat(backend), STORE_DONE);
    struct postgres_store *const store = postgres_store_of(backend);
    store->pid++; /* as if a pooler had given us another session */
    assert_int_equal(postgres_driver.beat(backend), STORE_FAILED);
    assert_non_null(strstr(backend->why, "pooler"));
    postgres_driver.close(backend);
    buf_close(&mistake);
}

/* ---- trouble that passes ----------------------------------------------------------------- */

static void a_role_that_loses_its_rights_waits_until_it_has_them_again(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("ALTER TABLE " SCHEMA ".request OWNER TO postgres");
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "grant the rights");
    postgres_run("ALTER TABLE " SCHEMA ".request OWNER TO " POSTGRES_ROLE);
    world_until_durable(world, 20);
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

/* Tables of a schema that it may not use look as if there were none. */
static void a_role_that_may_not_use_the_schema_is_told_that(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("ALTER SCHEMA " SCHEMA " OWNER TO CURRENT_USER");
    postgres_run("REVOKE ALL ON SCHEMA " SCHEMA " FROM " POSTGRES_ROLE);
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "permission denied for schema");
    assert_why(world, "grant");
    postgres_run("ALTER SCHEMA " SCHEMA " OWNER TO " POSTGRES_ROLE);
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void a_password_that_is_changed_is_asked_for_again(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("ALTER ROLE " POSTGRES_ROLE " PASSWORD 'another'");
    end_sessions();
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "check user and password");
    postgres_run("ALTER ROLE %s PASSWORD '%s'", POSTGRES_ROLE, POSTGRES_PASSWORD);
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void settings_that_lose_commits_are_noticed_with_the_next_connection(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("ALTER ROLE " POSTGRES_ROLE " SET synchronous_commit = off");
    end_sessions();
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "synchronous_commit = off");
    postgres_run("ALTER ROLE " POSTGRES_ROLE " RESET synchronous_commit");
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void settings_that_change_on_an_open_connection_are_noticed(void **state)
{
    struct store_world *const world = *state;
    world->beat_ms = 50;
    begin(world, 10);
    postgres_run("ALTER SYSTEM SET synchronous_commit = off");
    postgres_reload();
    world_until_state(world, STORE_AWAY);
    assert_why(world, "synchronous_commit = off");
    postgres_run("ALTER SYSTEM RESET synchronous_commit");
    postgres_reload();
    world_append_requests(world, 10);
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void a_table_that_somebody_locks_is_waited_for(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("BEGIN; LOCK TABLE " SCHEMA ".request");
    world_append_requests(world, 10);
    world_until_state(world, STORE_AWAY);
    assert_why(world, "somebody else locks");
    postgres_run("COMMIT");
    world_until_durable(world, 20);
    world_close(world);
    assert_int_equal(world_count_rows(world), 20);
}

static void a_full_disk_is_told_as_such(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    kit.set_full(true);
    world_append_requests(world, 10);
    world_until_state(world, STORE_FULL);
    assert_why(world, "more disk space");
    kit.set_full(false);
    world_until_durable(world, 20);
    world_close(world);
}

static void damage_is_for_good(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("CREATE FUNCTION " SCHEMA ".damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " RAISE EXCEPTION 'invalid page' USING ERRCODE = 'XX001'; END $$;"
                 "CREATE TRIGGER damage BEFORE INSERT ON " SCHEMA ".request"
                 " FOR EACH ROW EXECUTE FUNCTION " SCHEMA ".damage()");
    world_append_requests(world, 10);
    world_until_state(world, STORE_BROKEN);
    assert_why(world, "restore a backup");
    world_close(world);
}

/* The server says COMMIT although the standby has nothing, once an administrator cancels the wait. */
static void a_commit_that_was_not_replicated_is_not_durable(void **state)
{
    struct store_world *const world = *state;
    begin(world, 10);
    postgres_run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    postgres_reload();
    /* The server takes its time over a reload, and commits as before until then. */
    while (postgres_number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") ==
           0) {
        if (world->durable == world->seq)
            world_append_requests(world, 10);
        world_turn(world, 10);
    }
    const journal_seq before = world->durable;
    postgres_run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE " GATEWAYS);
    world_turn(world, 500);
    assert_int_equal(world->durable, before);
    assert_true((journal_seq)kit.count_rows(world, RECORD_REQUEST) > before);
    postgres_run("ALTER SYSTEM RESET synchronous_standby_names");
    postgres_reload();
    world_until_durable(world, world->seq);
    world_close(world);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void a_text_that_is_not_utf8_comes_back(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    struct record solution = world_record(world, RECORD_SOLUTION, 1);
    (void)snprintf(solution.solution.task_id, sizeof(solution.solution.task_id), "\xff\xfe\x80");
    struct record letter = world_record(world, RECORD_LETTER, 2);
    blob_unref(letter.letter.error);
    letter.letter.error = blob_new((struct slice){.data = "a\0b\xc3", .len = 4});
    wanted.records[wanted.count++] = world_share(&solution);
    wanted.records[wanted.count++] = world_share(&letter);
    world_open(world);
    world_start(world);
    world_append(world, &solution);
    world_append(world, &letter);
    world_until_durable(world, 2);
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void a_batch_of_many_megabytes_is_split(void **state)
{
    struct store_world *const world = *state;
    const size_t size = 200000;
    world_open(world);
    append_large(world, 100, size);
    world_start(world);
    world_until_durable(world, 100);
    world_close(world);
    assert_int_equal(postgres_number("SELECT sum(length(text)) FROM " SCHEMA ".solution"),
                     (int64_t)size * 100);
}

static void rows_can_be_read_by_people(void **state)
{
    struct store_world *const world = *state;
    struct record record = world_record(world, RECORD_ATTEMPT, 7);
    (void)snprintf(record.attempt.task_id, sizeof(record.attempt.task_id), "task-1");
    record.attempt.is_closed = true;
    record.attempt.is_solved = true;
    record.attempt.client = 1;
    world_open(world);
    world_start(world);
    world_append(world, &record);
    world_close(world);
    assert_int_equal(postgres_number("SELECT name FROM " SCHEMA ".attempt WHERE client = 'beta'"
                                     " AND closed = 1 AND body->>'task' = 'task-1'"
                                     " AND (body->>'solved')::boolean"),
                     7);
}

/* Rows of the hot tables change in place, without touching an index. */
static void updates_are_made_in_place(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 200; i++) {
            struct record record = world_record(world, RECORD_ATTEMPT, i + 1);
            record.attempt.started_wall_ms = WORLD_NOW + i;
            record.attempt.flight = i + 1;
            blob_unref(record.attempt.partial);
            record.attempt.partial = NULL;
            world_append(world, &record);
        }
        world_until_durable(world, world->seq);
    }
    world_close(world);
    int64_t updates = 0;
    for (unsigned i = 0; i < 500 && updates < 400; i++) {
        uv_sleep(20);
        updates =
            postgres_number("SELECT n_tup_upd FROM pg_stat_user_tables WHERE schemaname = '%s'"
                            " AND relname = 'attempt'",
                            SCHEMA);
    }
    assert_int_equal(updates, 400);
    const int64_t hot = postgres_number("SELECT n_tup_hot_upd FROM pg_stat_user_tables"
                                        " WHERE schemaname = '%s' AND relname = 'attempt'",
                                        SCHEMA);
    (void)printf("# %lld of 400 updates in place\n", (long long)hot);
    assert_true(hot >= 300);
}

/* ------------------------------------------------------------------------------------------ */

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, world_tear_down)
#define PROXY_CASE(name) \
    cmocka_unit_test_setup_teardown(name, set_up_with_proxy, tear_down_with_proxy)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_session_that_is_ended_is_made_again_before_anybody_notices),
        CASE(sessions_that_are_ended_in_the_middle_of_batches_lose_nothing),
        CASE(a_quiet_gateway_finds_its_server_again),
        CASE(a_server_that_stops_at_once_and_comes_back_loses_nothing),
        CASE(a_server_that_is_killed_and_comes_back_loses_nothing),
        CASE(a_backend_that_is_killed_loses_nothing),
        PROXY_CASE(a_commit_whose_reply_was_lost_is_repeated_and_changes_nothing),
        PROXY_CASE(a_server_that_does_not_answer_is_given_up),
        PROXY_CASE(a_server_that_does_not_read_is_given_up_as_soon),
        CASE(a_lock_that_another_gateway_took_meanwhile_ends_this_one),
        PROXY_CASE(a_former_session_of_our_own_does_not_keep_us_out),
        CASE(a_session_without_its_lock_is_not_ours),
        CASE(a_role_that_loses_its_rights_waits_until_it_has_them_again),
        CASE(a_role_that_may_not_use_the_schema_is_told_that),
        CASE(a_password_that_is_changed_is_asked_for_again),
        CASE(settings_that_lose_commits_are_noticed_with_the_next_connection),
        CASE(settings_that_change_on_an_open_connection_are_noticed),
        CASE(a_table_that_somebody_locks_is_waited_for),
        CASE(a_full_disk_is_told_as_such),
        CASE(damage_is_for_good),
        CASE(a_commit_that_was_not_replicated_is_not_durable),
        CASE(a_text_that_is_not_utf8_comes_back),
        CASE(a_batch_of_many_megabytes_is_split),
        CASE(rows_can_be_read_by_people),
        CASE(updates_are_made_in_place),
    };
    seed_init(argc, argv);
    if (postgres_missing() == NULL)
        return cmocka_run_group_tests(tests, seed_announce, NULL);
    (void)printf("1..0 # SKIP %s\n", postgres_missing());
    (void)fprintf(stderr, "SKIP: %s\n", postgres_missing());
    return 0;
}
