#include "store_world.h"

#include "seed.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void count_counted(void *context, const struct record *record)
{
    unsigned *const names = context;
    if (record->kind == RECORD_ATTEMPT && record->attempt.is_counted)
        *names |= 1U << record->attempt.name;
}

static void append_attempt(struct store_world *world, uint64_t name, uint64_t flight,
                           bool is_replied)
{
    struct record record = world_record(world, RECORD_ATTEMPT, name);
    record.attempt.flight = flight;
    record.attempt.is_counted = is_replied;
    world_append(world, &record);
}

/* Each takes back what its version and later ones added. */
#define WITHOUT_VERSION_6 "ALTER TABLE solution DROP COLUMN bad;"
#define WITHOUT_VERSION_5 WITHOUT_VERSION_6 "ALTER TABLE flight DROP COLUMN adoptions;"
#define WITHOUT_VERSION_4 WITHOUT_VERSION_5 "ALTER TABLE flight DROP COLUMN idempotency;"
#define WITHOUT_VERSION_3                                                              \
    WITHOUT_VERSION_4                                                                  \
    "ALTER TABLE idempotency DROP COLUMN client;"                                      \
    "ALTER TABLE letter DROP COLUMN extra; ALTER TABLE letter DROP COLUMN fresh;"      \
    "ALTER TABLE letter DROP COLUMN rest; ALTER TABLE letter DROP COLUMN retries;"     \
    "ALTER TABLE flight DROP COLUMN rest; ALTER TABLE flight DROP COLUMN max_retries;" \
    "ALTER TABLE flight DROP COLUMN retry_delay;"                                      \
    "ALTER TABLE attempt DROP COLUMN rest; ALTER TABLE attempt DROP COLUMN partial;"   \
    "ALTER TABLE flight DROP COLUMN attempts; ALTER TABLE attempt DROP COLUMN number;" \
    "ALTER TABLE attempt DROP COLUMN why; ALTER TABLE attempt DROP COLUMN resent;"
#define WITHOUT_VERSION_2 \
    WITHOUT_VERSION_3     \
    "ALTER TABLE attempt RENAME COLUMN counted TO replied; DROP TABLE clock;"

/* What makes a file of this program one of version 1, 2 and so on. */
static const char *const older[] = {
    WITHOUT_VERSION_2 "PRAGMA user_version = 1", WITHOUT_VERSION_3 "PRAGMA user_version = 2",
    WITHOUT_VERSION_4 "PRAGMA user_version = 3", WITHOUT_VERSION_5 "PRAGMA user_version = 4",
    WITHOUT_VERSION_6 "PRAGMA user_version = 5",
};
#define OLDER (sizeof(older) / sizeof(older[0]))

static void the_first_version_is_understood(void **state)
{
    struct store_world *const world = *state;
    unsigned names = 0;
    world_open(world);
    world_start(world);
    struct record flight = world_record(world, RECORD_FLIGHT, 7);
    world_append(world, &flight);
    append_attempt(world, 1, 7, false);
    append_attempt(world, 2, 7, true);
    append_attempt(world, 3, 8, false);
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_2 "PRAGMA user_version = 1");
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, count_counted, &names), 0);
    world_close(world);
    /* The third has no flight: that one counted it when it ended. */
    assert_int_equal(names, 1U << 2 | 1U << 3);
}

static int64_t number_in(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* A closed database of the third version with one flight. */
static void make_third_version(struct store_world *world)
{
    world_open(world);
    world_start(world);
    struct record flight = world_record(world, RECORD_FLIGHT, 7);
    world_append(world, &flight);
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_4 "PRAGMA user_version = 3");
}

static void an_older_file_is_kept_beside_the_migrated_one(void **state)
{
    struct store_world *const world = *state;
    char path[PATH_MAX];
    char kept[PATH_MAX];
    struct store_counters counters;
    struct stat facts;
    world_path(world, "solvegate.db", path, sizeof path);
    world_path(world, "solvegate.db.version-3", kept, sizeof kept);
    make_third_version(world);
    assert_int_equal(access(kept, F_OK), -1);
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.migrated_from, 3);
    world_close(world);
    assert_int_equal(number_in(path, "PRAGMA user_version"), OLDER + 1);
    assert_int_equal(number_in(kept, "PRAGMA user_version"), 3);
    assert_int_equal(number_in(kept, "SELECT id FROM flight"), 7);
    assert_int_equal(stat(kept, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    /* A file of this version has nothing to keep, and the copy stays. */
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.migrated_from, 0);
    world_close(world);
    assert_int_equal(access(kept, F_OK), 0);
    /* The way back and forth again: the copy takes the file's place, and is replaced by the next one. */
    assert_int_equal(rename(kept, path), 0);
    world_open(world);
    world_close(world);
    assert_int_equal(number_in(kept, "PRAGMA user_version"), 3);
}

static void an_older_file_that_cannot_be_copied_stays_as_it_is(void **state)
{
    struct store_world *const world = *state;
    char path[PATH_MAX];
    char obstacle[PATH_MAX];
    struct buf mistake;
    world_path(world, "solvegate.db", path, sizeof path);
    world_path(world, "solvegate.db.version-3.new", obstacle, sizeof obstacle);
    make_third_version(world);
    assert_int_equal(mkdir(obstacle, 0700), 0);
    buf_init(&mistake, 1024);
    assert_int_equal(world_try(world, &mistake), STORE_UNUSABLE);
    buf_add(&mistake, (struct slice){.data = "", .len = 1});
    assert_non_null(strstr(mistake.data, "cannot be copied before it is brought up to date"));
    buf_close(&mistake);
    assert_int_equal(number_in(path, "PRAGMA user_version"), 3);
    assert_int_equal(rmdir(obstacle), 0);
}

/* Keys as the second version made them: nobody may be found by them any more. */
struct carried {
    unsigned flights, attempts, letters, without_key, requests, solutions, kept, idempotency;
};

static void count_carried(void *context, const struct record *record)
{
    static const struct key zeros = {{0}};
    struct carried *const carried = context;
    carried->flights += record->kind == RECORD_FLIGHT;
    carried->attempts += record->kind == RECORD_ATTEMPT;
    carried->letters += record->kind == RECORD_LETTER;
    carried->requests += record->kind == RECORD_REQUEST;
    carried->solutions += record->kind == RECORD_SOLUTION;
    carried->idempotency += record->kind == RECORD_IDEMPOTENCY;
    if (record->kind == RECORD_FLIGHT)
        carried->without_key += key_equals(&record->flight.key, &zeros);
    if (record->kind == RECORD_ATTEMPT)
        carried->without_key += key_equals(&record->attempt.key, &zeros);
    if (record->kind == RECORD_LETTER)
        carried->without_key += key_equals(&record->letter.key, &zeros);
    carried->kept += record->kind == RECORD_SOLUTION && record->solution.is_kept;
}

static void append_solution(struct store_world *world, uint64_t id, bool is_kept)
{
    struct record record = world_record(world, RECORD_SOLUTION, id);
    record.solution.is_kept = is_kept;
    world_append(world, &record);
}

static void keys_of_the_second_version_are_discarded_and_counted(void **state)
{
    struct store_world *const world = *state;
    struct carried carried = {0};
    struct store_counters counters;
    world_open(world);
    world_start(world);
    static const enum record_kind carried_over[] = {RECORD_FLIGHT, RECORD_ATTEMPT, RECORD_LETTER,
                                                    RECORD_IDEMPOTENCY};
    for (size_t i = 0; i < sizeof(carried_over) / sizeof(carried_over[0]); i++) {
        struct record record = world_record(world, carried_over[i], 7);
        world_append(world, &record);
    }
    append_solution(world, 1, true);
    append_solution(world, 2, false);
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_3 "PRAGMA user_version = 2");
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.lost_solutions, 1);
    assert_int_equal(counters.lost_idempotency, 1);
    assert_int_equal(store_load(world->store, &world->clocks, count_carried, &carried), 0);
    assert_int_equal(carried.flights, 1);
    assert_int_equal(carried.attempts, 1);
    assert_int_equal(carried.letters, 1);
    assert_int_equal(carried.without_key, 3);
    assert_int_equal(carried.solutions, 2);
    assert_int_equal(carried.kept, 0);
    assert_int_equal(carried.idempotency, 0);
    world_close(world);
    /* Once: a database of this version has nothing to lose. */
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.lost_solutions + counters.lost_idempotency, 0);
    world_close(world);
}

static void write_one_of_each(struct store_world *world)
{
    static const enum record_kind kinds[] = {RECORD_FLIGHT,  RECORD_ATTEMPT,  RECORD_LETTER,
                                             RECORD_REQUEST, RECORD_SOLUTION, RECORD_IDEMPOTENCY};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct record record = world_record(world, kinds[i], 7);
        world_append(world, &record);
    }
    world_until_durable(world, world->seq);
    world_close(world);
}

static void a_file_of_every_version_so_far_keeps_its_rows(void **state)
{
    struct store_world *const world = *state;
    char path[PATH_MAX];
    world_path(world, "solvegate.db", path, sizeof path);
    for (size_t i = 0; i < OLDER; i++) {
        struct carried carried = {0};
        struct store_counters counters;
        write_one_of_each(world);
        world_run_sql(world, older[i]);
        world_open(world);
        store_counters(world->store, &counters);
        assert_int_equal(counters.migrated_from, i + 1);
        assert_int_equal(store_load(world->store, &world->clocks, count_carried, &carried), 0);
        world_close(world);
        assert_int_equal(carried.flights, 1);
        assert_int_equal(carried.attempts, 1);
        assert_int_equal(carried.letters, 1);
        assert_int_equal(carried.requests, 1);
        assert_int_equal(carried.solutions, 1);
        assert_int_equal(carried.idempotency, i + 1 < 3 ? 0 : 1);
        /* A new version needs a line above. */
        assert_int_equal(number_in(path, "PRAGMA user_version"), OLDER + 1);
    }
}

static void collect_reasons(void *context, const struct record *record)
{
    enum cause *const reasons = context;
    if (record->kind == RECORD_ATTEMPT && record->attempt.name < 4)
        reasons[record->attempt.name] = record->attempt.why;
}

static void append_reason(struct store_world *world, uint64_t name, enum error_class class,
                          const char *code)
{
    struct record record = world_record(world, RECORD_ATTEMPT, name);
    record.attempt.why = CAUSE_POOL;
    record.attempt.cause_class = class;
    (void)snprintf(record.attempt.cause, sizeof(record.attempt.cause), "%s", code);
    world_append(world, &record);
}

static void attempts_of_the_second_version_have_their_reasons(void **state)
{
    struct store_world *const world = *state;
    enum cause reasons[4] = {0};
    world_open(world);
    world_start(world);
    append_reason(world, 1, CLASS_NONE, "");
    append_reason(world, 2, CLASS_AMBIGUOUS, "ERROR_AMBIGUOUS_SUBMIT");
    append_reason(world, 3, CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_3 "PRAGMA user_version = 2");
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, collect_reasons, reasons), 0);
    world_close(world);
    assert_int_equal(reasons[1], CAUSE_FIRST);
    assert_int_equal(reasons[2], CAUSE_RESEND);
    assert_int_equal(reasons[3], CAUSE_RETRY);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        WORLD_CASE(a_file_of_every_version_so_far_keeps_its_rows),
        WORLD_CASE(the_first_version_is_understood),
        WORLD_CASE(an_older_file_is_kept_beside_the_migrated_one),
        WORLD_CASE(an_older_file_that_cannot_be_copied_stays_as_it_is),
        WORLD_CASE(keys_of_the_second_version_are_discarded_and_counted),
        WORLD_CASE(attempts_of_the_second_version_have_their_reasons),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
