#include "store_kit.h"

#include "postgres_world.h"
#include "store/postgres/postgres_driver.h"
#include "store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define SCHEMA "solvegate_test"

/* Rows that may still be written, for a disk that fills up: a sequence counts on when a transaction is rolled back. */
static const char room_sql[] =
    "DROP SCHEMA IF EXISTS disk CASCADE; CREATE SCHEMA disk; GRANT USAGE ON SCHEMA disk TO PUBLIC;"
    "CREATE SEQUENCE disk.used; CREATE TABLE disk.room (rows bigint);"
    "INSERT INTO disk.room VALUES (9223372036854775807);"
    "GRANT ALL ON ALL SEQUENCES IN SCHEMA disk TO PUBLIC;"
    "GRANT SELECT ON ALL TABLES IN SCHEMA disk TO PUBLIC;"
    "CREATE FUNCTION disk.take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " IF nextval('disk.used') > (SELECT rows FROM disk.room) THEN"
    "  RAISE EXCEPTION 'could not extend file: no space left on device' USING ERRCODE = '53100';"
    " END IF; RETURN NEW; END $$";

static void postgres_begin(struct store_world *world)
{
    (void)world;
    postgres_start();
    postgres_run("DROP SCHEMA IF EXISTS " SCHEMA " CASCADE");
    postgres_run("%s", room_sql);
}

static void postgres_end(struct store_world *world)
{
    (void)world;
}

static void url(const struct store_world *world, char *text, size_t room)
{
    (void)world;
    postgres_url(text, room, "");
}

static int64_t count_rows(const struct store_world *world, enum record_kind kind)
{
    (void)world;
    return postgres_number("SELECT count(*) FROM " SCHEMA ".%s", row_tables[kind].name);
}

static void watch(const char *table)
{
    postgres_run("CREATE OR REPLACE TRIGGER disk BEFORE INSERT OR UPDATE ON " SCHEMA ".%s"
                 " FOR EACH ROW EXECUTE FUNCTION disk.take()",
                 table);
}

static void set_room(int64_t rows)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        watch(row_tables[kind].name);
    watch("secret");
    watch("clock");
    postgres_run("ALTER SEQUENCE disk.used RESTART; UPDATE disk.room SET rows = %lld",
                 (long long)rows);
}

static void set_full(bool is_full)
{
    set_room(is_full ? 0 : INT64_MAX);
}

static void fill_after(int steps)
{
    set_room(steps);
}

static void empty(void)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        postgres_run("TRUNCATE " SCHEMA ".%s", row_tables[kind].name);
    postgres_run("TRUNCATE " SCHEMA ".secret, " SCHEMA ".clock, " SCHEMA ".progress");
}

static void set_back(void)
{
    postgres_run("UPDATE " SCHEMA ".progress SET batch = batch - 1");
}

static void take_over(const struct store_world *world, const char *node)
{
    (void)world;
    postgres_run("UPDATE " SCHEMA ".node SET incarnation = incarnation + 1000 WHERE name = '%s'",
                 node);
}

const struct store_kit store_kit_postgres = {
    .driver = &postgres_driver,
    .missing = postgres_missing,
    .begin = postgres_begin,
    .end = postgres_end,
    .url = url,
    .count_rows = count_rows,
    .set_full = set_full,
    .fill_after = fill_after,
    .empty = empty,
    .set_back = set_back,
    .take_over = take_over,
};
