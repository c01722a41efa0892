#include "store_kit.h"

#include "store/sqlite/sqlite_driver.h"
#include "store_vfs.h"
#include "store_world.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void sqlite_begin(struct store_world *world)
{
    (void)world;
    store_vfs_begin();
}

static void sqlite_end(struct store_world *world)
{
    (void)world;
    store_vfs_end();
}

static void sqlite_url(const struct store_world *world, char *url, size_t room)
{
    (void)snprintf(url, room, "sqlite:%s", world->directory);
}

static int64_t sqlite_count_rows(const struct store_world *world, enum record_kind kind)
{
    char path[PATH_MAX];
    char text[128];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    world_path(world, "solvegate.db", path, sizeof(path));
    (void)snprintf(text, sizeof(text), "SELECT count(*) FROM %s", row_tables[kind].name);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return count;
}

static const struct store_kit sqlite_kit = {
    .driver = &sqlite_driver,
    .begin = sqlite_begin,
    .end = sqlite_end,
    .url = sqlite_url,
    .count_rows = sqlite_count_rows,
    .set_full = store_vfs_set_full,
    .fill_after = store_vfs_fill_after,
};

const struct store_kit *const store_kits[] = {
    &sqlite_kit,
#ifdef SOLVEGATE_HAVE_POSTGRES
    &store_kit_postgres,
#endif
#ifdef SOLVEGATE_HAVE_REDIS
    &store_kit_redis,
    &store_kit_redis_cluster,
    &store_kit_valkey,
#endif
    NULL,
};
