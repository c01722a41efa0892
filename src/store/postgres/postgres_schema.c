#include "store/postgres/postgres_schema.h"

#include "base/assert.h"
#include "store/postgres/postgres_address.h"
#include "store/postgres/postgres_adoption.h"
#include "store/postgres/postgres_budget.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SQL_MAX 65536
/* The server may need a moment to notice that the last of the older gateways is gone. */
#define ALONE_TRIES 60
#define ALONE_EVERY_US 50000

/* ---- columns ----------------------------------------------------------------------------- */

/* Rows are found by these words when they are tidied. */
static bool is_searched(const struct row_table *table, const struct column *column)
{
    return table->expiry.condition != NULL &&
           (strcmp(column->name, "closed") == 0 || strcmp(column->name, "state") == 0);
}

/* Who adopts a hundred thousand flights cannot rewrite their bodies. */
static bool is_counted(const struct column *column)
{
    return strcmp(column->name, "adoptions") == 0;
}

bool pg_schema_is_own(const struct row_table *table, size_t column)
{
    const struct column *const it = &table->columns[column];
    switch (it->type) {
    case COLUMN_U64:
    case COLUMN_DAY:
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_TIME_OR_0:
    case COLUMN_KEY:
    case COLUMN_KEY_OR_NONE:
    case COLUMN_CLIENT:
    case COLUMN_BYTES:
    case COLUMN_STATS:
    case COLUMN_TALLY:
    case COLUMN_NOTES:
        return true;
    case COLUMN_BOOL:
    case COLUMN_U8:
    case COLUMN_U16:
    case COLUMN_U16_OR_NONE:
    case COLUMN_U32:
    case COLUMN_WORD:
    case COLUMN_STRING:
    case COLUMN_TEXT:
        return column < table->key_count || is_searched(table, it) || is_counted(it);
    }
    UNREACHABLE();
}

const char *pg_schema_type(enum column_type type)
{
    if (column_is_integer(type))
        return "bigint";
    if (type == COLUMN_KEY || type == COLUMN_KEY_OR_NONE || type == COLUMN_BYTES)
        return "bytea";
    return type == COLUMN_STATS || type == COLUMN_TALLY || type == COLUMN_NOTES ? "json" : "text";
}

bool pg_schema_has_body(const struct row_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!pg_schema_is_own(table, i))
            return true;
    return false;
}

/* ---- statements -------------------------------------------------------------------------- */

/* Pages with free room let a row be updated in place, without touching an index. All attempts of a page may be updated
 * by one batch, all flights by an adoption; the pages of the books are by every batch. */
static const struct {
    int fill_factor;
    const char *index; /* for tidying, or NULL */
} layouts[RECORD_KIND_COUNT] = {
    [RECORD_DAY] = {20, NULL},
    [RECORD_TALLY] = {20, NULL},
    [RECORD_SPENT] = {20, NULL},
    [RECORD_SOLUTION] = {90, "(expires)"},
    [RECORD_FLIGHT] = {45, NULL},
    [RECORD_ATTEMPT] = {45, "(started)"},
    [RECORD_REQUEST] = {70, "(expires) WHERE state IN ('solved', 'failed')"},
    [RECORD_IDEMPOTENCY] = {90, "(expires)"},
    [RECORD_LETTER] = {90, NULL},
};

static void add_columns(struct buf *sql, const struct row_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const enum column_type type = table->columns[i].type;
        if (!pg_schema_is_own(table, i))
            continue;
        const char *const name = pg_schema_type(type);
        buf_addf(sql, "    %s %s%s%s,\n", table->columns[i].name, name,
                 strcmp(name, "text") == 0 ? " COLLATE \"C\"" : "",
                 type == COLUMN_BYTES || type == COLUMN_KEY_OR_NONE ? "" : " NOT NULL");
    }
    if (pg_schema_has_body(table))
        buf_addf(sql, "    body json NOT NULL,\n");
}

/* Tokens and images hardly compress, so trying it would only cost time. */
static void add_storage(struct buf *sql, const struct row_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].type == COLUMN_BYTES)
            buf_addf(sql, "ALTER TABLE %s ALTER %s SET STORAGE EXTERNAL;\n", table->name,
                     table->columns[i].name);
}

static void add_table(struct buf *sql, unsigned kind)
{
    const struct row_table *const table = &row_tables[kind];
    buf_addf(sql, "CREATE TABLE IF NOT EXISTS %s (\n", table->name);
    add_columns(sql, table);
    buf_addf(sql, "    PRIMARY KEY (");
    for (size_t i = 0; i < table->key_count; i++)
        buf_addf(sql, "%s%s", i == 0 ? "" : ", ", table->columns[i].name);
    buf_addf(sql,
             ")\n) WITH (fillfactor = %d, autovacuum_vacuum_scale_factor = 0.01,\n"
             "    autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);\n",
             layouts[kind].fill_factor);
    add_storage(sql, table);
    if (layouts[kind].index != NULL)
        buf_addf(sql, "CREATE INDEX IF NOT EXISTS %s_%s ON %s %s;\n", table->name,
                 table->expiry.column, table->name, layouts[kind].index);
}

static void add_first_version(struct buf *sql)
{
    buf_addf(sql, "CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL);\n"
                  "CREATE TABLE IF NOT EXISTS secret (name text PRIMARY KEY,\n"
                  "    bytes bytea NOT NULL, made bigint NOT NULL);\n"
                  "CREATE TABLE IF NOT EXISTS clock (id integer PRIMARY KEY,\n"
                  "    boot text NOT NULL, even bigint NOT NULL, wall bigint NOT NULL);\n");
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        add_table(sql, kind);
}

static void (*const migrations[PG_SCHEMA_VERSION])(struct buf *sql) = {
    add_first_version,       pg_cluster_add_sql,        pg_adoption_add_sql,   pg_budget_add_sql,
    pg_cluster_add_room_sql, pg_cluster_add_offers_sql, pg_cluster_add_bad_sql};

void pg_schema_add_sql(struct buf *sql, const char *schema, bool has_schema, int64_t version)
{
    buf_addf(sql,
             "BEGIN;\n"
             "SELECT pg_advisory_xact_lock(%lld);\n",
             (long long)pg_lock_key(schema) + 1);
    if (!has_schema)
        buf_addf(sql, "CREATE SCHEMA IF NOT EXISTS \"%s\";\n", schema);
    buf_addf(sql, "SET LOCAL search_path = \"%s\";\n", schema);
    for (int64_t i = version; i < PG_SCHEMA_VERSION; i++)
        migrations[i](sql);
    buf_addf(sql,
             "INSERT INTO meta (name, value) VALUES ('version', '%d')\n"
             "    ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value;\n"
             "COMMIT;\n",
             PG_SCHEMA_VERSION);
}

static void add_names(struct buf *out, const char *before, const char *after)
{
    static const char *const others[] = {"meta",  "secret", "clock",    "node", "progress",
                                         "claim", "ended",  "adoption", "inbox"};
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        buf_addf(out, "%s%s%s%s", kind == 0 ? "" : ", ", before, row_tables[kind].name, after);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        buf_addf(out, ", %s%s%s", before, others[i], after);
}

void pg_schema_print(const struct store_place *place, struct buf *out)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    const char *const schema = pg_address_schema(place, &mistake);
    if (schema == NULL)
        buf_addf(out, "-- %.*s\n", (int)mistake.len, buf_slice(&mistake).data);
    else {
        buf_addf(out, "-- What solvegate creates at its first start, for a role that may not.\n");
        pg_schema_add_sql(out, schema, false, 0);
        buf_addf(out,
                 "-- The gateway's role needs no more than this; replace solvegate by its name:\n"
                 "-- GRANT USAGE ON SCHEMA \"%s\" TO solvegate;\n"
                 "-- GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"%s\" TO "
                 "solvegate;\n",
                 schema, schema);
    }
    buf_close(&mistake);
}

/* ---- what is there ----------------------------------------------------------------------- */

static enum store_result ask_number(struct postgres_store *store, const char *sql, int64_t *number)
{
    struct pg_result *result;
    const struct row_value schema = {.type = VALUE_TEXT,
                                     .bytes = slice_from(store->address.schema)};
    const enum store_result asked = pg_link_ask(store, sql, &schema, 1, false, &result);
    if (asked != STORE_DONE)
        return asked;
    *number = PQntuples(result) == 1 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return STORE_DONE;
}

/* More than there are other tables. */
#define META 1000

enum store_result pg_schema_read_version(struct postgres_store *store, int64_t *version)
{
    struct buf sql;
    int64_t tables = 0;
    buf_init(&sql, SQL_MAX);
    buf_addf(&sql,
             "SELECT sum(CASE relname WHEN 'meta' THEN %d ELSE 1 END) FROM pg_class"
             " WHERE relkind IN ('r', 'p', 'v') AND relnamespace ="
             " (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relname IN (",
             META);
    add_names(&sql, "'", "'");
    buf_addf(&sql, ")");
    buf_add_char(&sql, '\0');
    enum store_result result = ask_number(store, sql.data, &tables);
    buf_close(&sql);
    *version = tables == 0 ? 0 : -1;
    if (result != STORE_DONE || tables < META)
        return result;
    char ask[128 + PG_SCHEMA_MAX];
    (void)snprintf(ask, sizeof ask,
                   "SELECT value FROM \"%s\".meta WHERE name = 'version' AND $1 <> ''",
                   store->address.schema);
    return ask_number(store, ask, version);
}

enum store_result pg_schema_find_denied(struct postgres_store *store, struct buf *names)
{
    struct buf sql;
    struct pg_result *result;
    buf_init(&sql, SQL_MAX);
    buf_addf(&sql, "SELECT t FROM unnest(ARRAY[");
    add_names(&sql, "'", "'");
    buf_addf(&sql, "]) AS t WHERE NOT (has_table_privilege(t, 'SELECT')"
                   " AND has_table_privilege(t, 'INSERT') AND has_table_privilege(t, 'UPDATE')"
                   " AND has_table_privilege(t, 'DELETE'))");
    buf_add_char(&sql, '\0');
    const enum store_result asked = pg_link_ask(store, sql.data, NULL, 0, false, &result);
    buf_close(&sql);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++)
        buf_addf(names, "%s%s", i == 0 ? "" : ", ", PQgetvalue(result, i, 0));
    PQclear(result);
    return STORE_DONE;
}

/* ---- opening ----------------------------------------------------------------------------- */

static bool explain(struct postgres_store *store, struct buf *mistake)
{
    buf_addf(mistake, "%s", store->base.why);
    return false;
}

static bool is_ours(const struct postgres_store *store, int64_t version, struct buf *mistake)
{
    const char *const schema = store->address.schema;
    if (version < 0)
        buf_addf(mistake,
                 "the schema \"%s\" has tables of another program; choose another store_prefix",
                 schema);
    else if (version > PG_SCHEMA_VERSION)
        buf_addf(mistake,
                 "the schema \"%s\" was written by a newer solvegate (its version is %lld, this "
                 "program knows %d); "
                 "run that one, or restore a backup of the older tables",
                 schema, (long long)version, PG_SCHEMA_VERSION);
    return version >= 0 && version <= PG_SCHEMA_VERSION;
}

/* Even an existing schema can only be "created" by a role that may create one. */
static enum store_result run_migrations(struct postgres_store *store, int64_t version)
{
    struct buf sql;
    int64_t schemas = 0;
    enum store_result result =
        ask_number(store, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", &schemas);
    if (result != STORE_DONE)
        return result;
    buf_init(&sql, SQL_MAX);
    pg_schema_add_sql(&sql, store->address.schema, schemas > 0, version);
    buf_add_char(&sql, '\0');
    ASSERT(!sql.is_full);
    result = pg_link_run(store, sql.data);
    buf_close(&sql);
    return result;
}

static bool migrate(struct postgres_store *store, int64_t version, struct buf *mistake)
{
    const enum store_result result = run_migrations(store, version);
    if (result == STORE_DONE)
        return true;
    if (pg_error_is(store, "42501"))
        buf_addf(mistake,
                 "the role may not create the schema \"%s\" or a table in it; let somebody who may "
                 "run what `solvegate store init --print-sql` prints, or grant CREATE on the "
                 "database",
                 store->address.schema);
    else
        (void)explain(store, mistake);
    return false;
}

/* Gateways of an older version do not understand what they find in tables that are migrated under their hands. Whoever
 * starts at the same moment may have migrated them meanwhile. */
static enum store_result migrate_shared(struct postgres_store *store, int64_t version,
                                        bool *is_done, struct buf *mistake)
{
    bool is_alone = false;
    enum store_result result = STORE_DONE;
    for (unsigned i = 0; i < ALONE_TRIES && result == STORE_DONE; i++) {
        if (i > 0)
            (void)usleep(ALONE_EVERY_US);
        result = pg_lock_try_alone(store, &is_alone);
        if (result == STORE_DONE)
            result = pg_schema_read_version(store, &version);
        if (is_alone || version == PG_SCHEMA_VERSION)
            break;
    }
    *is_done = version == PG_SCHEMA_VERSION;
    if (result == STORE_DONE && is_alone && !*is_done)
        *is_done = migrate(store, version, mistake);
    return result == STORE_DONE && *is_done ? pg_lock_share_again(store) : result;
}

static bool migrate_among_others(struct postgres_store *store, int64_t version, struct buf *mistake)
{
    bool is_done = false;
    const enum store_result result = migrate_shared(store, version, &is_done, mistake);
    if (result != STORE_DONE)
        return explain(store, mistake);
    if (!is_done && mistake->len == 0)
        buf_addf(
            mistake,
            "gateways of an older version live on the schema \"%s\" (its version is %lld, this "
            "program's is %d); end the older gateways first",
            store->address.schema, (long long)version, PG_SCHEMA_VERSION);
    return is_done;
}

static bool bring_up_to_date(struct postgres_store *store, int64_t version, struct buf *mistake)
{
    if (version == PG_SCHEMA_VERSION)
        return true;
    return version == 0 || store->node[0] == '\0' ? migrate(store, version, mistake)
                                                  : migrate_among_others(store, version, mistake);
}

static bool is_granted(struct postgres_store *store, struct buf *mistake)
{
    struct buf names;
    buf_init(&names, 1024);
    const enum store_result result = pg_schema_find_denied(store, &names);
    if (result == STORE_DONE && names.len > 0)
        buf_addf(mistake,
                 "the role may not read and write all tables of the schema \"%s\" (not %.*s); "
                 "GRANT SELECT, INSERT, "
                 "UPDATE, DELETE on them",
                 store->address.schema, (int)names.len, names.data);
    const bool is_denied = result != STORE_DONE || names.len > 0;
    buf_close(&names);
    return result == STORE_DONE ? !is_denied : explain(store, mistake);
}

bool pg_schema_open(struct postgres_store *store, struct buf *mistake)
{
    int64_t version = 0;
    if (pg_schema_read_version(store, &version) != STORE_DONE)
        return explain(store, mistake);
    if (!is_ours(store, version, mistake))
        return false;
    if (!bring_up_to_date(store, version, mistake))
        return false;
    return is_granted(store, mistake);
}
