#include "store_world.h"

#include "seed.h"
#include "store/row_json.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define ROWS_PER_KIND 20
#define EXPECTED_MAX (RECORD_KIND_COUNT * ROWS_PER_KIND)

/* What a load should give, in any order within a kind, and what it gave. */
struct expectation {
    struct record records[EXPECTED_MAX];
    bool is_seen[EXPECTED_MAX];
    size_t count;
    size_t loaded;
    enum record_kind latest;
    int64_t latest_name;
    const char *mistake;
};

static void on_row(void *context, const struct record *record)
{
    struct expectation *const wanted = context;
    const int64_t name = (int64_t)world_name_of(record);
    if (wanted->loaded > 0 && record->kind < wanted->latest)
        wanted->mistake = "the kinds are out of order";
    if (wanted->loaded > 0 && record->kind == wanted->latest && name <= wanted->latest_name &&
        record->kind != RECORD_IDEMPOTENCY)
        wanted->mistake = "the names are out of order";
    wanted->latest = record->kind;
    wanted->latest_name = name;
    wanted->loaded++;
    for (size_t i = 0; i < wanted->count; i++) {
        const struct record *const other = &wanted->records[i];
        if (other->kind != record->kind || world_name_of(other) != world_name_of(record))
            continue;
        const char *const difference = world_difference(other, record);
        if (difference != NULL)
            wanted->mistake = difference;
        wanted->is_seen[i] = true;
        return;
    }
    wanted->mistake = "a row came that should not be there";
}

static void load_and_compare(struct store_world *world, struct expectation *wanted)
{
    wanted->loaded = 0;
    memset(wanted->is_seen, 0, sizeof(wanted->is_seen));
    assert_int_equal(store_load(world->store, &world->clocks, on_row, wanted), 0);
    if (wanted->mistake != NULL)
        fail_msg("%s", wanted->mistake);
    assert_int_equal(wanted->loaded, wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        assert_true(wanted->is_seen[i]);
}

static void forget(struct expectation *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        record_close(&wanted->records[i]);
    *wanted = (struct expectation){0};
}

/* Names from both ends of their range. */
static uint64_t name_at(enum record_kind kind, size_t i)
{
    if (kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT)
        return i;
    return i % 2 == 0 ? i + 1 : UINT64_MAX - i;
}

static size_t rows_of(unsigned kind)
{
    return kind == RECORD_SPENT ? WORLD_CLIENTS : ROWS_PER_KIND;
}

static void append_some_of_each(struct store_world *world, struct expectation *wanted)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        for (size_t i = 0; i < rows_of(kind); i++) {
            const enum record_kind k = (enum record_kind)kind;
            struct record record = world_record(world, k, name_at(k, i));
            wanted->records[wanted->count++] = world_share(&record);
            world_append(world, &record);
        }
    }
}

static void every_kind_of_row_comes_back_with_all_its_fields(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    world_start(world);
    append_some_of_each(world, &wanted);
    world_until_durable(world, world->seq);
    world_close(world);
    world_open(world);
    load_and_compare(world, &wanted);
    world_close(world);
    forget(&wanted);
}

static void a_second_record_replaces_the_row_of_its_name(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    world_start(world);
    append_some_of_each(world, &wanted);
    forget(&wanted);
    append_some_of_each(world, &wanted);
    world_close(world);
    world_open(world);
    load_and_compare(world, &wanted);
    world_close(world);
    forget(&wanted);
}

static void drop(struct store_world *world, const struct record *record)
{
    struct record dropped = {.kind = record->kind, .is_drop = true};
    /* Only the name is given, as by an engine that has forgotten the rest. */
    switch (record->kind) {
    case RECORD_DAY:
        dropped.day.day = record->day.day;
        break;
    case RECORD_TALLY:
        dropped.tally = (struct tally_row){.day = record->tally.day,
                                           .client = record->tally.client,
                                           .captcha = record->tally.captcha};
        break;
    case RECORD_SPENT:
        dropped.spent.client = record->spent.client;
        break;
    case RECORD_SOLUTION:
        dropped.solution.id = record->solution.id;
        break;
    case RECORD_FLIGHT:
        dropped.flight.id = record->flight.id;
        break;
    case RECORD_ATTEMPT:
        dropped.attempt.name = record->attempt.name;
        break;
    case RECORD_REQUEST:
        dropped.request.id = record->request.id;
        break;
    case RECORD_IDEMPOTENCY:
        dropped.idempotency.digest = record->idempotency.digest;
        break;
    case RECORD_LETTER:
        dropped.letter.number = record->letter.number;
        break;
    case RECORD_KIND_COUNT:
        break;
    }
    world_append(world, &dropped);
}

static void a_drop_removes_one_row_of_any_kind(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    world_open(world);
    world_start(world);
    append_some_of_each(world, &wanted);
    for (size_t i = 0; i < wanted.count; i++) {
        if (i % 2 == 0)
            drop(world, &wanted.records[i]);
        else
            left.records[left.count++] = world_share(&wanted.records[i]);
    }
    world_close(world);
    world_open(world);
    load_and_compare(world, &left);
    world_close(world);
    forget(&wanted);
    forget(&left);
}

static void rows_of_a_client_without_a_name_are_passed_over_and_counted(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    world_open(world);
    world_start(world);
    append_some_of_each(world, &wanted);
    world_close(world);
    for (size_t i = 0; i < wanted.count; i++) {
        const struct record *const r = &wanted.records[i];
        const bool is_betas = (r->kind == RECORD_SPENT && r->spent.client == 1) ||
                              (r->kind == RECORD_TALLY && r->tally.client == 1) ||
                              (r->kind == RECORD_SOLUTION && r->solution.client == 1) ||
                              (r->kind == RECORD_FLIGHT && r->flight.client == 1) ||
                              (r->kind == RECORD_ATTEMPT && r->attempt.client == 1) ||
                              (r->kind == RECORD_REQUEST && r->request.client == 1) ||
                              (r->kind == RECORD_IDEMPOTENCY && r->idempotency.client == 1) ||
                              (r->kind == RECORD_LETTER && r->letter.client == 1);
        if (!is_betas)
            left.records[left.count++] = world_share(r);
    }
    world->is_beta_gone = true;
    world_open(world);
    load_and_compare(world, &left);
    struct store_counters counters;
    store_counters(world->store, &counters);
    assert_int_equal(counters.skipped, wanted.count - left.count);
    world_close(world);
    world->is_beta_gone = false;
    /* They are still there for a client that comes back. */
    world_open(world);
    load_and_compare(world, &wanted);
    world_close(world);
    forget(&wanted);
    forget(&left);
}

static int64_t rows_in_file(const struct store_world *world)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    world_path(world, "solvegate.db", path, sizeof(path));
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT (SELECT count(*) FROM solution) + (SELECT count(*) FROM request)"
                           " + (SELECT count(*) FROM idempotency) + (SELECT count(*) FROM attempt)"
                           " + (SELECT count(*) FROM day) + (SELECT count(*) FROM tally)",
                           -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return count;
}

/* A dead and a living row of each kind that can die, differing in what decides. */
static struct record aged(struct store_world *world, enum record_kind kind, bool is_dead)
{
    struct record record = world_record(world, kind, is_dead ? 1 : 2);
    const int64_t hour = 3600000;
    if (kind == RECORD_DAY)
        record.day.day = WORLD_NOW / 86400000 - (is_dead ? 9 : 8);
    else if (kind == RECORD_TALLY)
        record.tally.day = WORLD_NOW / 86400000 - (is_dead ? 9 : 8);
    else if (kind == RECORD_SOLUTION)
        record.solution.expires_wall_ms = WORLD_NOW - 60000 + (is_dead ? 0 : 1);
    else if (kind == RECORD_ATTEMPT) {
        record.attempt.started_wall_ms = WORLD_NOW - (is_dead ? 2 * hour : hour);
        record.attempt.flight = 77;
    } else if (kind == RECORD_REQUEST) {
        record.request.state = REQUEST_SOLVED;
        record.request.expires_wall_ms = WORLD_NOW + (is_dead ? 0 : 1);
    } else if (kind == RECORD_IDEMPOTENCY)
        record.idempotency.expires_wall_ms = WORLD_NOW + (is_dead ? 0 : 1);
    return record;
}

static void dead_rows_are_neither_loaded_nor_kept(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static const enum record_kind mortal[] = {RECORD_DAY,     RECORD_TALLY,   RECORD_SOLUTION,
                                              RECORD_ATTEMPT, RECORD_REQUEST, RECORD_IDEMPOTENCY};
    const size_t kinds = sizeof(mortal) / sizeof(mortal[0]);
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < kinds; i++) {
        struct record dead = aged(world, mortal[i], true);
        struct record living = aged(world, mortal[i], false);
        wanted.records[wanted.count++] = world_share(&living);
        world_append(world, &dead);
        world_append(world, &living);
    }
    world_close(world);
    assert_int_equal(rows_in_file(world), 2 * kinds);
    world_open(world);
    load_and_compare(world, &wanted);
    assert_int_equal(rows_in_file(world), 2 * kinds);
    world_start(world);
    for (unsigned i = 0; i < 1000 && rows_in_file(world) != kinds; i++)
        uv_sleep(10);
    world_close(world);
    assert_int_equal(rows_in_file(world), kinds);
    forget(&wanted);
}

static void what_is_still_open_does_not_die_of_age(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    struct record flight = world_record(world, RECORD_FLIGHT, 5);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 6);
    attempt.attempt.flight = 5;
    attempt.attempt.is_closed = false;
    attempt.attempt.started_wall_ms = 1;
    struct record request = world_record(world, RECORD_REQUEST, 7);
    request.request.state = REQUEST_SOLVING;
    request.request.expires_wall_ms = 0;
    struct record *const all[] = {&flight, &attempt, &request};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < 3; i++) {
        wanted.records[wanted.count++] = world_share(all[i]);
        world_append(world, all[i]);
    }
    world_close(world);
    world_open(world);
    load_and_compare(world, &wanted);
    world_close(world);
    forget(&wanted);
}

static void many_records_share_few_commits(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    for (unsigned i = 0; i < 3000; i++) {
        struct record record = world_record(world, RECORD_REQUEST, i + 1);
        world_append(world, &record);
    }
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 3000);
    world_until_durable(world, world->seq);
    store_counters(world->store, &counters);
    assert_int_equal(counters.records, 3000);
    assert_int_equal(counters.waiting, 0);
    assert_true(counters.commits > 0 && counters.commits < 300);
    assert_true(counters.bytes > UINT64_C(3000) * 100);
    assert_true(world->durable_calls <= counters.commits);
    (void)printf("# 3000 records took %llu commits\n", (unsigned long long)counters.commits);
    world_close(world);
}

/* Nothing can be reckoned with such a time, and adding to it would overflow. */
static void a_row_with_a_time_beyond_all_reason_is_passed_over(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static const int64_t times[] = {INT64_MIN, -1, INT64_MAX};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct record letter = world_record(world, RECORD_LETTER, i + 1);
        letter.letter.created_wall_ms = times[i];
        world_append(world, &letter);
    }
    world_close(world);
    world_open(world);
    load_and_compare(world, &wanted);
    struct store_counters counters;
    store_counters(world->store, &counters);
    assert_int_equal(counters.skipped, 3);
    world_close(world);
}

static void a_secret_is_made_once_and_stays(void **state)
{
    struct store_world *const world = *state;
    uint8_t first[32], other[32], again[32];
    static const uint8_t zeros[32];
    world_open(world);
    assert_int_equal(store_secret(world->store, "nonce", first, sizeof(first)), 0);
    assert_int_equal(store_secret(world->store, "key", other, sizeof(other)), 0);
    world_close(world);
    world_open(world);
    assert_int_equal(store_secret(world->store, "nonce", again, sizeof(again)), 0);
    assert_memory_equal(first, again, sizeof(first));
    assert_memory_not_equal(first, other, sizeof(first));
    assert_memory_not_equal(first, zeros, sizeof(first));
    assert_int_equal(store_secret(world->store, "nonce", again, 16), ERR_INVALID);
    world_close(world);
}

static void a_rotated_secret_leaves_the_one_before(void **state)
{
    struct store_world *const world = *state;
    const int64_t week = INT64_C(7) * 86400000;
    uint8_t first[32], before[32], second[32], third[32];
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, first, before, 32), 0);
    assert_memory_equal(first, before, 32);
    world_close(world);
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, second, before, 32), 0);
    assert_memory_equal(first, second, 32);
    /* Old enough for an age of nothing at all. */
    assert_int_equal(store_rotating_secret(world->store, "n", 0, third, before, 32), 0);
    assert_memory_not_equal(third, first, 32);
    assert_memory_equal(before, first, 32);
    world_close(world);
}

static void a_secret_is_made_anew_while_the_writer_runs(void **state)
{
    struct store_world *const world = *state;
    const int64_t week = INT64_C(7) * 86400000;
    uint8_t first[32], before[32], last[32], last_but_one[32];
    world_open(world);
    /* The database counts in seconds. */
    assert_int_equal(store_rotating_secret(world->store, "n", 1000, first, before, 32), 0);
    world_start(world);
    world_until_secret(world, 1);
    assert_memory_equal(world->old_secret, first, 32);
    assert_memory_not_equal(world->secret, first, 32);
    world_until_secret(world, 2);
    world_close(world);
    /* Whatever was told is on disk. */
    world_open(world);
    assert_int_equal(store_rotating_secret(world->store, "n", week, last, last_but_one, 32), 0);
    assert_memory_equal(last, world->secret, 32);
    assert_memory_equal(last_but_one, world->old_secret, 32);
    world_close(world);
}

static void what_was_queued_before_the_start_or_at_the_close_is_written(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    append_some_of_each(world, &wanted);
    world_start(world);
    world_close(world);
    assert_int_equal(world->durable, world->seq);
    world_open(world);
    load_and_compare(world, &wanted);
    forget(&wanted);
    /* And without a start nothing leaks. */
    struct record record = world_record(world, RECORD_LETTER, 1);
    world_append(world, &record);
    world_close(world);
}

static void counters_may_come_and_go_between_versions(void **state)
{
    (void)state;
    struct stats stats;
    assert_true(row_json_read_stats(
        SLICE_OF("{\"requests\":18446744073709551615,\"abandoned\":7,\"solves\":3}"), &stats));
    assert_true(stats.requests == UINT64_MAX && stats.solves == 3 && stats.failed == 0);
    assert_false(row_json_read_stats(SLICE_OF("[1]"), &stats));
    assert_false(row_json_read_stats(SLICE_OF("{\"requests\":"), &stats));
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        WORLD_CASE(every_kind_of_row_comes_back_with_all_its_fields),
        WORLD_CASE(a_second_record_replaces_the_row_of_its_name),
        WORLD_CASE(a_drop_removes_one_row_of_any_kind),
        WORLD_CASE(rows_of_a_client_without_a_name_are_passed_over_and_counted),
        WORLD_CASE(dead_rows_are_neither_loaded_nor_kept),
        WORLD_CASE(what_is_still_open_does_not_die_of_age),
        WORLD_CASE(many_records_share_few_commits),
        WORLD_CASE(a_row_with_a_time_beyond_all_reason_is_passed_over),
        WORLD_CASE(a_secret_is_made_once_and_stays),
        WORLD_CASE(a_rotated_secret_leaves_the_one_before),
        WORLD_CASE(a_secret_is_made_anew_while_the_writer_runs),
        WORLD_CASE(what_was_queued_before_the_start_or_at_the_close_is_written),
        cmocka_unit_test(counters_may_come_and_go_between_versions),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
