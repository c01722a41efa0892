#include "postgres_world.h"
#include "seed.h"
#include "store/postgres/postgres_driver.h"
#include "store/postgres/postgres_schema.h"
#include "store_kit.h"
#include "store_world.h"
#include "tls_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SCHEMA "solvegate_test"
#define URL_MAX 2048
#define TEXT_MAX 65536

/* What every message here may not contain: the password, and its beginning. */
static void assert_discreet(const char *text)
{
    assert_null(strstr(text, "canary"));
    assert_null(strstr(text, "7f3a"));
}

/* Locks and opens; the words of its mistake are in text. */
static enum store_opening try_place(const struct store_place *place, char text[TEXT_MAX])
{
    const struct store_names names = {.context = NULL};
    struct store *store = NULL;
    struct buf mistake;
    buf_init(&mistake, TEXT_MAX);
    enum store_opening opening = store_lock_with(&postgres_driver, place, &store, &mistake);
    if (opening == STORE_OPENED)
        opening = store_open(store, &names, &mistake);
    if (opening == STORE_OPENED) {
        assert_discreet(store_about(store).server);
        assert_discreet(store_about(store).durability);
        (void)snprintf(text, TEXT_MAX, "%s; %s", store_about(store).server,
                       store_about(store).durability);
        assert_int_equal(mistake.len, 0);
        store_close(store, NULL, NULL);
    } else {
        assert_true(mistake.len > 0);
        (void)snprintf(text, TEXT_MAX, "%.*s", (int)mistake.len, mistake.data);
    }
    store_free(store);
    buf_close(&mistake);
    assert_discreet(text);
    return opening;
}

static void expect(const struct store_place *place, enum store_opening how, const char *words)
{
    static char text[TEXT_MAX];
    const enum store_opening opening = try_place(place, text);
    (void)printf("# %s\n", text);
    if (opening != how)
        fail_msg("%d instead of %d: %s", opening, how, text);
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, words);
}

static void expect_url(const char *url, enum store_opening how, const char *words)
{
    const struct store_place place = {.url = url, .prefix = SCHEMA};
    expect(&place, how, words);
}

static struct store_place usual_place(void)
{
    static char url[URL_MAX];
    postgres_url(url, sizeof(url), "");
    return (struct store_place){.url = url, .prefix = SCHEMA};
}

static int begin(void **state)
{
    (void)state;
    if (postgres_missing() != NULL)
        return 0;
    postgres_start();
    postgres_run("DROP SCHEMA IF EXISTS " SCHEMA " CASCADE");
    return 0;
}

/* ---- URLs -------------------------------------------------------------------------------- */

static void a_url_that_cannot_be_read_gets_a_sentence_without_its_password(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "postgresql:host/db",
        "postgresql:",
        "postgresql://user:canary-7f3a@host:port@other/db",
        "postgresql://user:canary-7f3a/more@host/db",
        "postgresql://user:canary-7f3a%zz@host/db",
        "postgresql://user:canary-7f3a@[::1/db",
        "postgresql://user:canary-7f3a@host/db?canary-7f3a",
        "postgresql://user:x?canary-7f3a=1&y@host/db?nonsense=1@",
        "postgresql://user@host/db?password=canary-7f3a&sslmod=verify-full",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        expect_url(urls[i], STORE_UNUSABLE, "the store's URL cannot be read");
    expect_url(urls[8], STORE_UNUSABLE, "\"sslmod\"");
}

static void a_schema_must_have_a_plain_name(void **state)
{
    (void)state;
    static const char *const prefixes[] = {
        "public",
        "pg_mine",
        "information_schema",
        "a b",
        "a\"b",
        "a;b",
        "a234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const struct store_place place = {.url = "postgresql://host/db", .prefix = prefixes[i]};
        expect(&place, STORE_UNUSABLE, "store_prefix");
    }
}

static void a_certificate_authority_without_verification_is_a_mistake(void **state)
{
    (void)state;
    const struct store_place place = {.url = "postgresql://host/db?sslmode=prefer",
                                      .ca_file = "/nowhere"};
    expect(&place, STORE_UNUSABLE, "sslmode=verify-full");
}

/* ---- getting in -------------------------------------------------------------------------- */

static void a_server_that_is_not_there_is_named(void **state)
{
    (void)state;
    expect_url("postgresql://user:canary-7f3a@127.0.0.1:1/db", STORE_UNUSABLE, "cannot be reached");
    expect_url("postgresql://user:canary-7f3a@/db?host=/nowhere/at/all", STORE_UNUSABLE,
               "/nowhere/at/all");
}

static void a_wrong_password_gets_a_sentence(void **state)
{
    (void)state;
    char url[URL_MAX];
    (void)snprintf(url, sizeof(url), "postgresql://%s:canary-7f3b@127.0.0.1:%u/%s", POSTGRES_ROLE,
                   postgres_port(), POSTGRES_DATABASE);
    expect_url(url, STORE_UNUSABLE, "check user and password");
    (void)snprintf(url, sizeof(url), "postgresql://nobody:canary-7f3b@127.0.0.1:%u/%s",
                   postgres_port(), POSTGRES_DATABASE);
    expect_url(url, STORE_UNUSABLE, "check user and password");
}

static void a_database_that_does_not_exist_gets_a_sentence(void **state)
{
    (void)state;
    char url[URL_MAX];
    (void)snprintf(url, sizeof(url), "postgresql://%s:%s@127.0.0.1:%u/elsewhere", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, postgres_port());
    expect_url(url, STORE_UNUSABLE, "create the database");
}

static void too_many_connections_get_a_sentence(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    postgres_run("ALTER ROLE " POSTGRES_ROLE " CONNECTION LIMIT 0");
    expect(&place, STORE_UNUSABLE, "max_connections");
    postgres_run("ALTER ROLE " POSTGRES_ROLE " CONNECTION LIMIT -1");
    expect(&place, STORE_OPENED, "PostgreSQL");
}

static void the_next_host_of_the_list_is_tried(void **state)
{
    (void)state;
    char url[URL_MAX];
    (void)snprintf(url, sizeof(url), "postgres://%s:%s@127.0.0.1:1,127.0.0.1:%u/%s", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, postgres_port(), POSTGRES_DATABASE);
    expect_url(url, STORE_OPENED, "at 127.0.0.1:");
}

static void the_scheme_may_have_capital_letters(void **state)
{
    (void)state;
    char url[URL_MAX];
    (void)snprintf(url, sizeof(url), "PostgreSQL://%s:%s@127.0.0.1:%u/%s", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, postgres_port(), POSTGRES_DATABASE);
    expect_url(url, STORE_OPENED, "database \"" POSTGRES_DATABASE "\"");
}

/* ---- rights ------------------------------------------------------------------------------ */

/* A role that may connect and nothing else. */
static struct store_place poor_place(void)
{
    static char url[URL_MAX];
    postgres_run("DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN PASSWORD '%s'",
                 POSTGRES_PASSWORD);
    (void)snprintf(url, sizeof(url), "postgresql://poor:%s@127.0.0.1:%u/%s",
                   POSTGRES_PASSWORD_ESCAPED, postgres_port(), POSTGRES_DATABASE);
    return (struct store_place){.url = url, .prefix = SCHEMA};
}

/* As a person would, with psql. */
static void run_printed(const struct store_place *place)
{
    char path[URL_MAX];
    char command[2 * URL_MAX];
    struct buf sql;
    buf_init(&sql, TEXT_MAX);
    postgres_driver.print_schema(place, &sql);
    (void)snprintf(path, sizeof(path), "%s/init.sql", postgres_directory());
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(sql.data, 1, sql.len, file), sql.len);
    assert_int_equal(fclose(file), 0);
    buf_close(&sql);
    (void)snprintf(command, sizeof(command),
                   "PGOPTIONS='-c client_min_messages=warning' psql -q -v ON_ERROR_STOP=1 -h %s -p "
                   "%u -U postgres %s -f %s >/dev/null",
                   postgres_directory(), postgres_port(), POSTGRES_DATABASE, path);
    assert_int_equal(system(command), 0);
}

static void a_role_without_rights_opens_what_somebody_else_has_created(void **state)
{
    (void)state;
    const struct store_place place = poor_place();
    expect(&place, STORE_UNUSABLE, "solvegate store init --print-sql");
    run_printed(&place);
    run_printed(&place); /* twice does no harm */
    expect(&place, STORE_UNUSABLE, "grant the rights");
    postgres_run("GRANT USAGE ON SCHEMA " SCHEMA " TO poor");
    expect(&place, STORE_UNUSABLE, "meta");
    postgres_run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " SCHEMA
                 " TO poor; REVOKE UPDATE ON " SCHEMA ".attempt FROM poor");
    expect(&place, STORE_UNUSABLE, "(not attempt)");
    postgres_run("GRANT UPDATE ON " SCHEMA ".attempt TO poor");
    expect(&place, STORE_OPENED, "a record is safe");
    postgres_run("DROP OWNED BY poor; DROP ROLE poor");
}

static void an_existing_schema_is_enough_for_a_role_that_may_fill_it(void **state)
{
    (void)state;
    const struct store_place place = poor_place();
    postgres_run("CREATE SCHEMA " SCHEMA " AUTHORIZATION poor");
    expect(&place, STORE_OPENED, "a record is safe");
    postgres_run("DROP OWNED BY poor; DROP ROLE poor");
}

/* Columns, types, indexes and settings of all tables. */
static void describe_tables(char text[TEXT_MAX])
{
    postgres_text(text, TEXT_MAX,
                  "SELECT string_agg(line, E'\\n' ORDER BY line) FROM ("
                  " SELECT table_name || ' ' || ordinal_position || ' ' || column_name || ' ' ||"
                  " data_type || ' ' || is_nullable || ' ' || coalesce(collation_name, '')"
                  " FROM information_schema.columns WHERE table_schema = '%s' UNION ALL"
                  " SELECT indexdef FROM pg_indexes WHERE schemaname = '%s' UNION ALL"
                  " SELECT relname || array_to_string(reloptions, ' ') FROM pg_class"
                  " WHERE relnamespace = '%s'::regnamespace) AS t(line)",
                  SCHEMA, SCHEMA, SCHEMA);
}

static void the_printed_statements_create_what_the_gateway_creates(void **state)
{
    static char printed[TEXT_MAX];
    static char created[TEXT_MAX];
    const struct store_place place = usual_place();
    (void)state;
    run_printed(&place);
    describe_tables(printed);
    postgres_run("DROP SCHEMA " SCHEMA " CASCADE");
    expect(&place, STORE_OPENED, "PostgreSQL");
    describe_tables(created);
    assert_string_equal(printed, created);
    assert_non_null(strstr(created, "fillfactor=45"));
    assert_non_null(strstr(created, "attempt_started"));
}

/* ---- versions ---------------------------------------------------------------------------- */

#define VERSION "SELECT value FROM " SCHEMA ".meta WHERE name = 'version'"
#define SPENT "SELECT spent FROM " SCHEMA ".spent WHERE client = 'alpha'"
#define KEPT "SELECT count(*) FROM " SCHEMA ".secret WHERE name = 'kept'"
#define CLAIMING "SELECT count(*) FROM pg_proc WHERE proname = 'claim_keys'"

static void tables_of_a_newer_program_are_refused(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    postgres_run("UPDATE " SCHEMA ".meta SET value = '99'");
    expect(&place, STORE_UNUSABLE, "newer solvegate (its version is 99");
}

static void older_tables_are_brought_up_to_date(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    postgres_run("UPDATE " SCHEMA ".meta SET value = '0' WHERE name = 'version'; DROP TABLE " SCHEMA
                 ".letter;"
                 " INSERT INTO " SCHEMA ".secret VALUES ('kept', 'x', 1)");
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
    assert_int_equal(postgres_number("SELECT count(*) FROM " SCHEMA ".secret"), 1);
    assert_int_equal(postgres_number("SELECT count(*) FROM " SCHEMA ".letter"), 0);
}

/* What version 1 had: rows without owners, books of one gateway only. */
static void rows_of_the_first_version_are_still_there_and_have_no_owner(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    postgres_run("INSERT INTO " SCHEMA ".spent (client, day, spent) VALUES ('alpha', 20000, 7);"
                 "UPDATE " SCHEMA ".meta SET value = '1' WHERE name = 'version';"
                 "DROP TABLE " SCHEMA ".node, " SCHEMA ".progress, " SCHEMA ".claim, " SCHEMA
                 ".ended, " SCHEMA ".inbox, " SCHEMA ".adoption; ALTER TABLE " SCHEMA
                 ".spent DROP COLUMN owner CASCADE,"
                 " ADD CONSTRAINT spent_pkey PRIMARY KEY (client);"
                 "ALTER TABLE " SCHEMA ".solution DROP COLUMN owner");
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
    assert_int_equal(postgres_number(SPENT " AND owner = 0"), 7);
    expect(&place, STORE_OPENED, "PostgreSQL");
}

/* Version 2 knew gateways and claims, and no adoptions. */
static void rows_of_the_second_version_are_still_there(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    postgres_run("INSERT INTO " SCHEMA ".spent (client, day, spent) VALUES ('alpha', 20000, 7);"
                 "INSERT INTO " SCHEMA ".secret VALUES ('kept', 'x', 1);"
                 "UPDATE " SCHEMA ".meta SET value = '2' WHERE name = 'version';"
                 "DROP TABLE " SCHEMA ".inbox, " SCHEMA ".adoption; ALTER TABLE " SCHEMA
                 ".idempotency DROP COLUMN follows");
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
    assert_int_equal(postgres_number(SPENT), 7);
    assert_int_equal(postgres_number(KEPT), 1);
    assert_int_equal(postgres_number("SELECT count(*) FROM " SCHEMA ".adoption"), 0);
    assert_int_equal(postgres_number("SELECT count(follows) FROM " SCHEMA ".idempotency"), 0);
}

/* Its claims read a whole table, and budgets were each gateway's own. */
static void rows_of_the_third_version_are_still_there(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    const int64_t functions = postgres_number(CLAIMING);
    postgres_run("INSERT INTO " SCHEMA ".secret VALUES ('kept', 'x', 1);"
                 "UPDATE " SCHEMA ".meta SET value = '3' WHERE name = 'version';"
                 "DROP TABLE " SCHEMA ".budget; DROP FUNCTION " SCHEMA ".claim_keys");
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
    assert_int_equal(postgres_number(KEPT), 1);
    assert_int_equal(postgres_number("SELECT count(*) FROM " SCHEMA ".budget"), 0);
    assert_int_equal(postgres_number(CLAIMING), functions);
}

static void rows_of_the_fourth_version_are_still_there(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    expect(&place, STORE_OPENED, "PostgreSQL");
    postgres_run("UPDATE " SCHEMA ".meta SET value = '4'; ALTER TABLE " SCHEMA
                 ".solution ADD COLUMN taken bigint NOT NULL DEFAULT 0; ALTER TABLE " SCHEMA
                 ".flight DROP COLUMN adoptions; INSERT INTO " SCHEMA ".flight"
                 " (id, key, client, created, body, owner)"
                 " VALUES (7, 'k', 'alpha', 1, '{\"v\":1,\"adoptions\":2}', 1)");
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(postgres_number("SELECT adoptions FROM " SCHEMA ".flight WHERE id = 7"), 2);
    assert_int_equal(postgres_number("SELECT count(1) FROM pg_attribute WHERE attname = 'taken'"),
                     0);
}

static void tables_of_another_program_are_left_alone(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    postgres_run("CREATE SCHEMA " SCHEMA " AUTHORIZATION " POSTGRES_ROLE "; CREATE TABLE " SCHEMA
                 ".request (mine int)");
    expect(&place, STORE_UNUSABLE, "another program");
    assert_int_equal(
        postgres_number("SELECT count(*) FROM pg_tables WHERE schemaname = '%s'", SCHEMA), 1);
}

/* ---- what a commit is worth -------------------------------------------------------------- */

static void commits_that_may_be_lost_are_refused_unless_they_are_accepted(void **state)
{
    (void)state;
    struct store_place place = usual_place();
    postgres_run("ALTER ROLE " POSTGRES_ROLE " SET synchronous_commit = off");
    expect(&place, STORE_UNUSABLE, "synchronous_commit = off");
    place.allow_async = true;
    expect(&place, STORE_OPENED, "may be lost");
    struct store *store = NULL;
    const struct store_names names = {.context = NULL};
    struct buf mistake;
    buf_init(&mistake, 1024);
    assert_int_equal(store_lock(&place, &store, &mistake), STORE_OPENED);
    assert_int_equal(store_open(store, &names, &mistake), STORE_OPENED);
    assert_true(store_about(store).is_async);
    store_close(store, NULL, NULL);
    store_free(store);
    buf_close(&mistake);
    postgres_run("ALTER ROLE " POSTGRES_ROLE " RESET synchronous_commit");
    expect(&place, STORE_OPENED, "a record is safe on the server's disk");
}

static void a_server_without_fsync_is_refused(void **state)
{
    (void)state;
    static const char *const settings[] = {"fsync", "full_page_writes"};
    const struct store_place place = usual_place();
    for (size_t i = 0; i < 2; i++) {
        postgres_run("ALTER SYSTEM SET %s = off", settings[i]);
        postgres_reload();
        expect(&place, STORE_UNUSABLE, settings[i]);
        postgres_run("ALTER SYSTEM RESET %s", settings[i]);
        postgres_reload();
    }
}

static void a_database_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    char url[URL_MAX];
    postgres_run("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 OWNER %s",
                 POSTGRES_ROLE);
    (void)snprintf(url, sizeof(url), "postgresql://%s:%s@127.0.0.1:%u/ascii", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, postgres_port());
    expect_url(url, STORE_UNUSABLE, "ENCODING 'UTF8'");
    postgres_run("DROP DATABASE ascii");
}

static void a_read_only_role_is_refused(void **state)
{
    (void)state;
    const struct store_place place = usual_place();
    postgres_run("ALTER ROLE " POSTGRES_ROLE " SET default_transaction_read_only = on");
    expect(&place, STORE_UNUSABLE, "read-only");
    postgres_run("ALTER ROLE " POSTGRES_ROLE " RESET default_transaction_read_only");
}

/* ---- TLS --------------------------------------------------------------------------------- */

static void tls_place(struct store_place *place, char url[URL_MAX], const char *host,
                      const char *more)
{
    (void)snprintf(url, URL_MAX, "postgresql://%s:%s@%s:%u/%s%s", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, host, postgres_port(), POSTGRES_DATABASE, more);
    place->url = url;
}

static void a_certificate_is_verified_with_the_given_authority(void **state)
{
    (void)state;
    static char right[256];
    static char wrong[256];
    char url[URL_MAX];
    struct store_place place = {.prefix = SCHEMA};
    if (!tls_world_is_usable())
        return;
    (void)snprintf(right, sizeof(right), "%s", tls_world_path("right"));
    (void)snprintf(wrong, sizeof(wrong), "%s", tls_world_path("wrong"));
    postgres_use_certificate(right);
    place.ca_file = right;
    tls_place(&place, url, "127.0.0.1", "");
    expect(&place, STORE_OPENED, "127.0.0.1");
    assert_int_equal(postgres_number("SELECT count(*) FROM pg_settings WHERE name = 'ssl' AND"
                                     " setting = 'on'"),
                     1);
    place.ca_file = wrong;
    expect(&place, STORE_UNUSABLE, "certificate");
    place.ca_file = "/nowhere/ca.pem";
    expect(&place, STORE_UNUSABLE, "/nowhere/ca.pem");
    place.ca_file = NULL;
    tls_place(&place, url, "127.0.0.1", "?sslmode=require");
    expect(&place, STORE_OPENED, "127.0.0.1");
    postgres_use_certificate(wrong);
    place.ca_file = wrong;
    tls_place(&place, url, "127.0.0.1", "?sslmode=verify-full");
    expect(&place, STORE_UNUSABLE, "host name");
    postgres_run("ALTER SYSTEM RESET ssl");
    postgres_reload();
}

/* ---- inspecting -------------------------------------------------------------------------- */

static enum store_opening inspect(const struct store_place *place, char text[TEXT_MAX])
{
    struct buf report;
    struct buf mistake;
    buf_init(&report, TEXT_MAX / 2);
    buf_init(&mistake, TEXT_MAX / 2);
    const enum store_opening opening =
        postgres_driver.inspect(place, strchr(place->url, ':') + 1, &report, &mistake);
    assert_int_equal(mistake.len == 0, opening == STORE_OPENED);
    (void)snprintf(text, TEXT_MAX, "%.*s%.*s", (int)report.len, buf_slice(&report).data,
                   (int)mistake.len, buf_slice(&mistake).data);
    buf_close(&report);
    buf_close(&mistake);
    assert_discreet(text);
    return opening;
}

static void inspecting_tells_what_is_there_and_changes_nothing(void **state)
{
    (void)state;
    static char text[TEXT_MAX], version[64];
    struct store_place place = usual_place();
    assert_int_equal(inspect(&place, text), STORE_OPENED);
    assert_non_null(strstr(text, "no tables yet"));
    assert_int_equal(
        postgres_number("SELECT count(*) FROM pg_namespace WHERE nspname = '%s'", SCHEMA), 0);
    expect(&place, STORE_OPENED, "PostgreSQL");
    assert_int_equal(inspect(&place, text), STORE_OPENED);
    (void)snprintf(version, sizeof version, "version %d, as this program's", PG_SCHEMA_VERSION);
    assert_non_null(strstr(text, version));
    assert_non_null(strstr(text, "solution: 0 rows"));
    postgres_run("UPDATE " SCHEMA ".meta SET value = '99'");
    assert_int_equal(inspect(&place, text), STORE_UNUSABLE);
    assert_non_null(strstr(text, "newer solvegate"));
    place.url = "postgresql://user:canary-7f3a@127.0.0.1:1/db";
    assert_int_equal(inspect(&place, text), STORE_UNUSABLE);
    assert_non_null(strstr(text, "cannot be reached"));
}

static void inspecting_works_beside_a_running_gateway(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    const struct store_place place = usual_place();
    struct store *store = NULL;
    struct buf mistake;
    buf_init(&mistake, 1024);
    assert_int_equal(store_lock(&place, &store, &mistake), STORE_OPENED);
    assert_int_equal(inspect(&place, text), STORE_OPENED);
    expect(&place, STORE_LOCKED, "another instance uses the schema \"" SCHEMA "\"");
    store_close(store, NULL, NULL);
    store_free(store);
    buf_close(&mistake);
}

/* ------------------------------------------------------------------------------------------ */

#define CASE(name) cmocka_unit_test_setup(name, begin)

int main(int argc, char **argv)
{
    static const struct CMUnitTest without_server[] = {
        cmocka_unit_test(a_url_that_cannot_be_read_gets_a_sentence_without_its_password),
        cmocka_unit_test(a_schema_must_have_a_plain_name),
        cmocka_unit_test(a_certificate_authority_without_verification_is_a_mistake),
    };
    static const struct CMUnitTest tests[] = {
        CASE(a_url_that_cannot_be_read_gets_a_sentence_without_its_password),
        CASE(a_schema_must_have_a_plain_name),
        CASE(a_certificate_authority_without_verification_is_a_mistake),
        CASE(a_server_that_is_not_there_is_named),
        CASE(a_wrong_password_gets_a_sentence),
        CASE(a_database_that_does_not_exist_gets_a_sentence),
        CASE(too_many_connections_get_a_sentence),
        CASE(the_next_host_of_the_list_is_tried),
        CASE(the_scheme_may_have_capital_letters),
        CASE(a_role_without_rights_opens_what_somebody_else_has_created),
        CASE(an_existing_schema_is_enough_for_a_role_that_may_fill_it),
        CASE(the_printed_statements_create_what_the_gateway_creates),
        CASE(tables_of_a_newer_program_are_refused),
        CASE(older_tables_are_brought_up_to_date),
        CASE(rows_of_the_first_version_are_still_there_and_have_no_owner),
        CASE(rows_of_the_second_version_are_still_there),
        CASE(rows_of_the_third_version_are_still_there),
        CASE(rows_of_the_fourth_version_are_still_there),
        CASE(tables_of_another_program_are_left_alone),
        CASE(commits_that_may_be_lost_are_refused_unless_they_are_accepted),
        CASE(a_server_without_fsync_is_refused),
        CASE(a_database_that_is_not_utf8_is_refused),
        CASE(a_read_only_role_is_refused),
        CASE(a_certificate_is_verified_with_the_given_authority),
        CASE(inspecting_tells_what_is_there_and_changes_nothing),
        CASE(inspecting_works_beside_a_running_gateway),
    };
    seed_init(argc, argv);
    if (postgres_missing() == NULL)
        return cmocka_run_group_tests(tests, tls_world_open, tls_world_close);
    (void)fprintf(stderr, "SKIP: most cases did nothing: %s\n", postgres_missing());
    return cmocka_run_group_tests(without_server, tls_world_open, tls_world_close);
}
