#include "store_vfs.h"
#include "store_world.h"

#include "seed.h"
#include "store/sqlite/sqlite_driver.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Whether it is refused like this, with these words. */
static void assert_refused(struct store_world *world, enum store_opening how, const char *words)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    assert_int_equal(world_try(world, &mistake), how);
    assert_null(world->store);
    buf_add_char(&mistake, '\0');
    if (strstr(mistake.data, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", mistake.data, words);
    (void)printf("# %s\n", strstr(mistake.data, world->directory) + strlen(world->directory));
    buf_close(&mistake);
}

static void fill_and_close(struct store_world *world, unsigned count)
{
    world_open(world);
    world_start(world);
    world_append_requests(world, count);
    world_close(world);
    assert_int_equal(world->durable, count);
}

static void only_the_owner_can_read_what_is_made(void **state)
{
    struct store_world *const world = *state;
    static const char *const names[] = {"solvegate.db", "solvegate.db-wal", ""};
    assert_int_equal(rmdir(world->directory), 0);
    const mode_t before = umask(0);
    world_open(world);
    (void)umask(before);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[PATH_MAX];
        struct stat facts;
        world_path(world, names[i], path, sizeof(path));
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_mode & 077, 0);
    }
    world_close(world);
}

static void a_directory_that_cannot_be_made_is_refused(void **state)
{
    struct store_world *const world = *state;
    char directory[sizeof(world->directory)];
    memcpy(directory, world->directory, sizeof(directory));
    const size_t len = strlen(directory);
    (void)snprintf(world->directory + len, sizeof(world->directory) - len, "/a/b");
    assert_refused(world, STORE_UNUSABLE, "cannot be made");
    memcpy(world->directory, directory, sizeof(directory));
}

static void garble(const struct store_world *world, long at, size_t count)
{
    char path[PATH_MAX];
    world_path(world, "solvegate.db", path, sizeof(path));
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(fputc(0x5a, file), 0x5a);
    assert_int_equal(fclose(file), 0);
}

/* Refused when it is opened or read, or found beside the writer: with words in any case. */
static void assert_found_damaged(struct store_world *world)
{
    struct buf mistake;
    unsigned count = 0;
    buf_init(&mistake, 1024);
    const enum store_opening opening = world_try(world, &mistake);
    assert_int_not_equal(opening, STORE_LOCKED);
    if (opening == STORE_OPENED) {
        world->is_closed = false;
        if (store_load(world->store, &world->clocks, world_count_row, &count) != 0) {
            store_explain(world->store, &mistake);
        } else {
            world->state = STORE_WRITABLE;
            world_start(world);
            world_until_state(world, STORE_BROKEN);
            buf_addf(&mistake, "%s", world->why);
        }
        world_close(world);
    }
    buf_add_char(&mistake, '\0');
    assert_non_null(strstr(mistake.data, "damaged"));
    assert_non_null(strstr(mistake.data, "restore a backup"));
    buf_close(&mistake);
}

/* The rows are as they were, so reading them tells nothing: a page belongs to nobody. */
static void damage_that_reading_does_not_meet_is_found_beside(void **state)
{
    struct store_world *const world = *state;
    fill_and_close(world, 2000);
    world_run_sql(world, "PRAGMA writable_schema = ON;"
                         "DELETE FROM sqlite_schema WHERE name = 'attempt_started'");
    world_open(world);
    unsigned count = 0;
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &count), 0);
    assert_int_equal(count, 2000);
    world_start(world);
    world_until_state(world, STORE_BROKEN);
    assert_non_null(strstr(world->why, "is damaged"));
    assert_non_null(strstr(world->why, "restore a backup"));
    world_close(world);
}

static void a_damaged_file_is_refused(void **state)
{
    struct store_world *const world = *state;
    char path[PATH_MAX];
    struct stat facts;
    world_path(world, "solvegate.db", path, sizeof(path));
    fill_and_close(world, 2000);
    garble(world, 8192, 100000);
    assert_found_damaged(world);
    garble(world, 0, 100);
    assert_found_damaged(world);
    assert_int_equal(unlink(path), 0);
    fill_and_close(world, 2000);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(truncate(path, facts.st_size / 2), 0);
    assert_found_damaged(world);
}

static void a_file_of_a_newer_version_or_of_somebody_else_is_refused(void **state)
{
    struct store_world *const world = *state;
    char path[PATH_MAX];
    world_path(world, "solvegate.db", path, sizeof(path));
    fill_and_close(world, 1);
    world_run_sql(world, "PRAGMA user_version = 99");
    assert_refused(world, STORE_UNUSABLE, "newer solvegate");
    assert_int_equal(unlink(path), 0);
    world_run_sql(world, "CREATE TABLE flight (id INTEGER)");
    assert_refused(world, STORE_UNUSABLE, "another program");
}

static void fill_up(const char *path)
{
    static const char zeros[4096];
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    while (write(file, zeros, sizeof(zeros)) > 0)
        continue;
    assert_int_equal(close(file), 0);
}

static void a_really_full_disk_is_survived(void **state)
{
    struct store_world *const world = *state;
    char ballast[PATH_MAX];
    world_path(world, "ballast", ballast, sizeof(ballast));
    if (mount("tmpfs", world->directory, "tmpfs", 0, "size=2m") != 0) {
        (void)printf("# nothing may be mounted here: only the simulated full disk was tried\n");
        return;
    }
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    fill_up(ballast);
    world_append_requests(world, 2000);
    world_until_state(world, STORE_FULL);
    assert_true(world->durable < 2010);
    assert_int_equal(unlink(ballast), 0);
    world_until_durable(world, 2010);
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
    /* What is there can be read and served even if nothing can be written. */
    fill_up(ballast);
    assert_int_equal(world_count_rows(world), 2010);
    assert_int_equal(umount(world->directory), 0);
}

static void nothing_is_claimed_after_a_failed_sync(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    store_vfs_fail_sync(0);
    world_append_requests(world, 10);
    world_until_state(world, STORE_BROKEN);
    assert_non_null(strstr(world->why, "1034"));
    const unsigned syncs = store_vfs_syncs();
    world_append_requests(world, 10);
    world_turn(world, 200);
    assert_int_equal(world->durable, 10);
    assert_int_equal(world->state_calls, 1);
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 20);
    world_close(world);
    assert_int_equal(world->durable, 10);
    /* It was closed without touching the disk again. */
    assert_int_equal(store_vfs_syncs(), syncs);
    assert_true(world_count_rows(world) >= 10);
}

static void remove_files(const struct store_world *world)
{
    static const char *const names[] = {"solvegate.db", "solvegate.db-wal"};
    for (size_t i = 0; i < 2; i++) {
        char path[PATH_MAX];
        world_path(world, names[i], path, sizeof(path));
        assert_int_equal(unlink(path), 0);
    }
}

/* Those of commits and, since the log is moved every few rounds, those of checkpoints. */
static void every_sync_that_can_fail_breaks_the_store_and_loses_nothing(void **state)
{
    struct store_world *const world = *state;
    for (int at = 0; at < 40; at++) {
        world_open(world);
        world_start(world);
        store_vfs_fail_sync(at);
        while (world->state == STORE_WRITABLE && world->seq < 100000) {
            world_append_requests(world, 500);
            while (world->state == STORE_WRITABLE && world->durable < world->seq)
                (void)uv_run(&world->loop, UV_RUN_ONCE);
        }
        assert_int_equal(world->state, STORE_BROKEN);
        const journal_seq durable = world->durable;
        world_close(world);
        assert_int_equal(world->durable, durable);
        assert_true(world_count_rows(world) >= durable);
        remove_files(world);
    }
}

/* What would be left if the power failed right after a number was reported durable. */
static void what_is_reported_durable_survives_a_power_cut(void **state)
{
    struct store_world *const world = *state;
    unsigned in_all = 0;
    for (unsigned round = 0; round < 20; round++) {
        struct store_world after;
        world_init(&after, world->kit);
        store_vfs_shadow(after.directory);
        world_open(world);
        world_start(world);
        const unsigned bursts = 1 + (unsigned)rand_below(&world->rand, 30);
        for (unsigned i = 0; i < bursts; i++) {
            world_append_requests(world, 1 + (unsigned)rand_below(&world->rand, 500));
            world_turn(world, (unsigned)rand_below(&world->rand, 8));
        }
        store_vfs_shadow(NULL);
        const journal_seq durable = world->durable;
        world_close(world);
        assert_true(world_count_rows(&after) >= durable);
        in_all += (unsigned)durable;
        world_end(&after);
        remove_files(world);
    }
    (void)printf("# %u records were durable at the cuts\n", in_all);
    assert_true(in_all > 0);
}

/* A hundred requests have some pages, each of which SQLite writes with two calls. */
static void the_log_of_a_commit_is_written_with_one_call(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    store_counters(world->store, &counters);
    const uint64_t commits = counters.commits;
    const uint64_t bytes = counters.bytes;
    const unsigned writes = store_vfs_writes();
    world_append_requests(world, 100);
    world_until_durable(world, 110);
    store_counters(world->store, &counters);
    assert_true(counters.bytes - bytes > 4 * 4096);
    assert_true(store_vfs_writes() - writes <= counters.commits - commits);
    world_close(world);
    assert_int_equal(world_count_rows(world), 110);
}

/* SQLite's own file layer writes no more than 128 KiB at once, and takes more for a full disk. */
static void a_commit_of_any_size_is_written(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    for (unsigned count = 100; count <= 4000; count += 100) {
        world_append_requests(world, count);
        world_until_durable(world, world->seq);
    }
    const unsigned rows = (unsigned)world->seq;
    world_close(world);
    assert_int_equal(world_count_rows(world), rows);
}

static void tidying_takes_a_few_rows_at_a_time(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *backend = NULL;
    struct buf mistake;
    fill_and_close(world, 300);
    world_run_sql(world, "UPDATE request SET state = 'solved'");
    buf_init(&mistake, 1024);
    const struct store_place place = {0};
    assert_int_equal(sqlite_driver.lock(&place, world->directory, &backend, &mistake),
                     STORE_OPENED);
    assert_int_equal(sqlite_driver.open(backend, &mistake), STORE_OPENED);
    unsigned steps = 0;
    bool has_more = true;
    while (has_more) {
        assert_int_equal(sqlite_driver.tidy(backend, WORLD_NOW + 100000000, 50, &has_more),
                         STORE_DONE);
        steps++;
    }
    assert_int_equal(steps, 7);
    sqlite_driver.close(backend);
    assert_int_equal(world_count_rows(world), 0);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        WORLD_CASE(only_the_owner_can_read_what_is_made),
        WORLD_CASE(a_directory_that_cannot_be_made_is_refused),
        WORLD_CASE(a_damaged_file_is_refused),
        WORLD_CASE(damage_that_reading_does_not_meet_is_found_beside),
        WORLD_CASE(a_file_of_a_newer_version_or_of_somebody_else_is_refused),
        WORLD_CASE(a_really_full_disk_is_survived),
        WORLD_CASE(nothing_is_claimed_after_a_failed_sync),
        WORLD_CASE(every_sync_that_can_fail_breaks_the_store_and_loses_nothing),
        WORLD_CASE(what_is_reported_durable_survives_a_power_cut),
        WORLD_CASE(the_log_of_a_commit_is_written_with_one_call),
        WORLD_CASE(a_commit_of_any_size_is_written),
        WORLD_CASE(tidying_takes_a_few_rows_at_a_time),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
