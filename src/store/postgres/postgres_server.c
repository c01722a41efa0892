#include "store/postgres/postgres_server.h"

#include "store/postgres/postgres_address.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_schema.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* The first version with in_hot_standby and idle_session_timeout; older ones are no longer maintained. */
#define LEAST_VERSION 140000
#define VALUE_MAX 256

struct settings {
    char version[VALUE_MAX];
    char is_standby[VALUE_MAX];
    char fsync[VALUE_MAX];
    char full_page_writes[VALUE_MAX];
    char synchronous_commit[VALUE_MAX];
    char standbys[VALUE_MAX];
    char encoding[VALUE_MAX];
    char database[VALUE_MAX];
    char role[VALUE_MAX];
};

static const char settings_sql[] =
    "SELECT current_setting('server_version'), pg_is_in_recovery(), current_setting('fsync'),"
    " current_setting('full_page_writes'), current_setting('synchronous_commit'),"
    " current_setting('synchronous_standby_names'), current_setting('server_encoding'),"
    " current_database(), current_user";

static void copy(const struct pg_result *result, int column, char value[VALUE_MAX])
{
    (void)snprintf(value, VALUE_MAX, "%s", PQgetvalue(result, 0, column));
}

static enum store_result read_settings(struct postgres_store *store, struct settings *settings)
{
    struct pg_result *result;
    const enum store_result asked = pg_link_ask(store, settings_sql, NULL, 0, false, &result);
    if (asked != STORE_DONE)
        return asked;
    copy(result, 0, settings->version);
    copy(result, 1, settings->is_standby);
    copy(result, 2, settings->fsync);
    copy(result, 3, settings->full_page_writes);
    copy(result, 4, settings->synchronous_commit);
    copy(result, 5, settings->standbys);
    copy(result, 6, settings->encoding);
    copy(result, 7, settings->database);
    copy(result, 8, settings->role);
    PQclear(result);
    return STORE_DONE;
}

/* ---- what an acknowledgement is worth ---------------------------------------------------- */

/* A setting that loses acknowledged records when the server's machine fails, or NULL. */
static const char *find_loss(const struct settings *settings)
{
    if (strcmp(settings->fsync, "off") == 0)
        return "fsync = off";
    if (strcmp(settings->full_page_writes, "off") == 0)
        return "full_page_writes = off";
    return strcmp(settings->synchronous_commit, "off") == 0 ? "synchronous_commit = off" : NULL;
}

static bool is_replicated(const struct settings *settings)
{
    return settings->standbys[0] != '\0' && strcmp(settings->synchronous_commit, "local") != 0;
}

static void describe(struct postgres_store *store, const struct settings *settings)
{
    struct store_backend *const base = &store->base;
    const char *const loss = find_loss(settings);
    const char *const host = PQhost(store->conn);
    (void)snprintf(base->server, sizeof base->server,
                   "PostgreSQL %.*s at %.80s:%.8s, database \"%.48s\", schema \"%s\"",
                   (int)strcspn(settings->version, " "), settings->version,
                   host == NULL ? "" : host, PQport(store->conn), settings->database,
                   store->address.schema);
    base->is_async = loss != NULL;
    if (loss != NULL)
        (void)snprintf(base->durability, sizeof base->durability,
                       "the server has %s: acknowledged records may be lost with its machine",
                       loss);
    else if (is_replicated(settings))
        (void)snprintf(base->durability, sizeof base->durability,
                       "a record is safe on the server's disk and its synchronous standby before "
                       "it is acknowledged (synchronous_commit = %.20s)",
                       settings->synchronous_commit);
    else
        (void)snprintf(base->durability, sizeof base->durability,
                       "a record is safe on the server's disk before it is acknowledged; a "
                       "failover to a standby may "
                       "lose the latest ones");
}

/* ---- whether it fits --------------------------------------------------------------------- */

static bool is_usable(const struct postgres_store *store, const struct settings *settings,
                      struct buf *mistake)
{
    const char *const loss = find_loss(settings);
    if (strcmp(settings->is_standby, "t") == 0)
        buf_addf(mistake, "this PostgreSQL server is a standby and cannot be written; name the "
                          "primary, or all hosts, "
                          "in the store's URL");
    else if (strcmp(settings->encoding, "UTF8") != 0)
        buf_addf(mistake,
                 "the database \"%s\" has the encoding %s; create one with ENCODING 'UTF8'",
                 settings->database, settings->encoding);
    else if (loss != NULL && !store->address.allow_async)
        buf_addf(mistake,
                 "the PostgreSQL server has %s, so it may lose records that it acknowledged; turn "
                 "it on, or accept "
                 "that with cluster.allow_async",
                 loss);
    else
        return true;
    return false;
}

bool pg_server_is_new_enough(int version, struct buf *mistake)
{
    if (version < LEAST_VERSION)
        buf_addf(mistake, "PostgreSQL %d is too old; solvegate needs %d or newer", version / 10000,
                 LEAST_VERSION / 10000);
    return version >= LEAST_VERSION;
}

bool pg_server_check(struct postgres_store *store, struct buf *mistake)
{
    struct settings settings;
    if (!pg_server_is_new_enough(PQserverVersion(store->conn), mistake))
        return false;
    if (read_settings(store, &settings) != STORE_DONE) {
        buf_addf(mistake, "%s", store->base.why);
        return false;
    }
    describe(store, &settings);
    return is_usable(store, &settings, mistake);
}

/* ---- for people -------------------------------------------------------------------------- */

static enum store_result add_table_line(struct postgres_store *store, const char *name,
                                        struct buf *report)
{
    char sql[256];
    struct pg_result *result;
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*), pg_size_pretty(pg_total_relation_size('\"%s\".%s')) "
                   "FROM \"%s\".%s",
                   store->address.schema, name, store->address.schema, name);
    const enum store_result asked = pg_link_ask(store, sql, NULL, 0, false, &result);
    if (asked != STORE_DONE)
        return asked;
    buf_addf(report, "%s: %s rows, %s\n", name, PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1));
    PQclear(result);
    return STORE_DONE;
}

static bool report_tables(struct postgres_store *store, struct buf *report)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (add_table_line(store, row_tables[kind].name, report) != STORE_DONE)
            return false;
    return true;
}

static bool report_version(struct postgres_store *store, int64_t version, struct buf *report,
                           struct buf *mistake)
{
    const char *const schema = store->address.schema;
    if (version == 0)
        buf_addf(report, "schema \"%s\": no tables yet; the gateway creates them\n", schema);
    else if (version == PG_SCHEMA_VERSION)
        buf_addf(report, "schema \"%s\": version %lld, as this program's\n", schema,
                 (long long)version);
    else if (version > 0)
        buf_addf(report, "schema \"%s\": version %lld, this program's is %d\n", schema,
                 (long long)version, PG_SCHEMA_VERSION);
    if (version > PG_SCHEMA_VERSION)
        buf_addf(mistake, "a newer solvegate has written the schema \"%s\"; run that one", schema);
    else if (version < 0)
        buf_addf(mistake,
                 "the schema \"%s\" has tables of another program; choose another store_prefix",
                 schema);
    return version >= 0 && version <= PG_SCHEMA_VERSION;
}

static bool report_rights(struct postgres_store *store, struct buf *mistake)
{
    struct buf names;
    buf_init(&names, 1024);
    const bool is_known = pg_schema_find_denied(store, &names) == STORE_DONE;
    if (is_known && names.len > 0)
        buf_addf(mistake, "the role may not read and write these tables: %.*s", (int)names.len,
                 names.data);
    const bool is_granted = is_known && names.len == 0;
    buf_close(&names);
    return is_granted;
}

static bool report_all(struct postgres_store *store, struct buf *report, struct buf *mistake)
{
    int64_t version = 0;
    bool is_good = pg_server_check(store, mistake);
    if (store->base.server[0] != '\0')
        buf_addf(report, "%s\n%s\n", store->base.server, store->base.durability);
    is_good = is_good && pg_schema_read_version(store, &version) == STORE_DONE &&
              report_version(store, version, report, mistake);
    if (is_good && version > 0)
        is_good = report_rights(store, mistake) && report_tables(store, report);
    if (!is_good && mistake->len == 0)
        buf_addf(mistake, "%s", store->base.why);
    return is_good;
}

enum store_opening pg_server_inspect(const struct store_place *place, const char *address,
                                     struct buf *report, struct buf *mistake)
{
    struct postgres_store store = {.conn = NULL};
    bool is_good = pg_address_init(&store.address, place, address, mistake);
    if (is_good) {
        is_good = pg_link_connect(&store) == STORE_DONE;
        if (!is_good)
            buf_addf(mistake, "%s", store.base.why);
        is_good = is_good && report_all(&store, report, mistake);
    }
    pg_link_close(&store);
    pg_address_close(&store.address);
    return is_good ? STORE_OPENED : STORE_UNUSABLE;
}
