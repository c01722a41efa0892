#include "store/postgres/postgres_sql.h"

#include "base/assert.h"
#include "store/postgres/postgres_budget.h"
#include "store/postgres/postgres_claims.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_inbox.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_progress.h"
#include "store/postgres/postgres_schema.h"

#include <libpq-fe.h>
#include <stdio.h>

#define SQL_MAX 16384

/* ---- lists ------------------------------------------------------------------------------- */

enum part {
    PART_NAME,  /* "id, key, body" */
    PART_ARRAY, /* "$1::bigint[], $2::bytea[], $3::json[]" */
    PART_SET,   /* "key = EXCLUDED.key, body = EXCLUDED.body": not of the key */
};

static void add_part(struct buf *sql, enum part part, const char *name, const char *type,
                     unsigned number)
{
    switch (part) {
    case PART_NAME:
        buf_addf(sql, "%s", name);
        return;
    case PART_ARRAY:
        buf_addf(sql, "$%u::%s[]", number, type);
        return;
    case PART_SET:
        buf_addf(sql, "%s = EXCLUDED.%s", name, name);
        return;
    }
    UNREACHABLE();
}

static void add_list(struct buf *sql, enum part part, const struct row_table *table, bool is_key)
{
    const size_t count = is_key ? table->key_count : table->count;
    unsigned number = 0;
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        if (!pg_schema_is_own(table, i))
            continue;
        number++;
        if (part == PART_SET && i < table->key_count)
            continue;
        buf_addf(sql, "%s", is_first ? "" : ", ");
        add_part(sql, part, table->columns[i].name, pg_schema_type(table->columns[i].type), number);
        is_first = false;
    }
    if (!is_key && pg_schema_has_body(table)) {
        buf_addf(sql, "%s", is_first ? "" : ", ");
        add_part(sql, part, "body", "json", number + 1);
    }
}

static void add_expired(struct buf *sql, const struct row_table *table)
{
    const struct row_expiry *const expiry = &table->expiry;
    if (expiry->column == NULL)
        buf_addf(sql, "false");
    else
        buf_addf(sql, "%s <= $1 AND (%s)", expiry->column,
                 expiry->condition == NULL ? "true" : expiry->condition);
}

/* ---- statements -------------------------------------------------------------------------- */

static bool is_per_node(const struct row_table *table)
{
    return pg_cluster_is_per_node((enum record_kind)(table - row_tables));
}

/* Nobody overwrites or drops what another node owns. A gateway that has the store for itself owns all rows. */
void pg_sql_add_put(struct buf *sql, const struct row_table *table, uint16_t owner)
{
    buf_addf(sql, "INSERT INTO %s (", table->name);
    add_list(sql, PART_NAME, table, false);
    buf_addf(sql, ", owner) SELECT *, %u FROM unnest(", (unsigned)owner);
    add_list(sql, PART_ARRAY, table, false);
    buf_addf(sql, ") ON CONFLICT (");
    add_list(sql, PART_NAME, table, true);
    buf_addf(sql, "%s) DO UPDATE SET ", is_per_node(table) ? ", owner" : "");
    add_list(sql, PART_SET, table, false);
    if (owner != 0 && table == &row_tables[RECORD_IDEMPOTENCY])
        buf_addf(sql, ", provisional = false");
    if (owner != 0)
        buf_addf(sql, " WHERE %s.owner = %u", table->name, (unsigned)owner);
    buf_add_char(sql, '\0');
}

void pg_sql_add_drop(struct buf *sql, const struct row_table *table, uint16_t owner)
{
    buf_addf(sql, "DELETE FROM %s AS old USING unnest(", table->name);
    add_list(sql, PART_ARRAY, table, true);
    buf_addf(sql, ") AS gone (");
    add_list(sql, PART_NAME, table, true);
    buf_addf(sql, ") WHERE ");
    for (size_t i = 0; i < table->key_count; i++)
        buf_addf(sql, "%sold.%s = gone.%s", i == 0 ? "" : " AND ", table->columns[i].name,
                 table->columns[i].name);
    if (owner != 0 || is_per_node(table))
        buf_addf(sql, " AND old.owner = %u", (unsigned)owner);
    buf_add_char(sql, '\0');
}

void pg_sql_add_rows(struct buf *sql, const struct row_table *table, uint16_t owner)
{
    buf_addf(sql, "SELECT ");
    add_list(sql, PART_NAME, table, false);
    buf_addf(sql, " FROM %s WHERE NOT (", table->name);
    add_expired(sql, table);
    buf_addf(sql, ")");
    if (owner != 0)
        buf_addf(sql, " AND owner = %u", (unsigned)owner);
}

void pg_sql_add_load(struct buf *sql, const struct row_table *table, uint16_t owner)
{
    pg_sql_add_rows(sql, table, owner);
    buf_addf(sql, " ORDER BY ");
    add_list(sql, PART_NAME, table, true);
    buf_add_char(sql, '\0');
}

/* By their places in the table: a join could be planned badly while the statistics are old. The condition is there
 * twice since somebody else may have renewed a row meanwhile. */
void pg_sql_add_tidy(struct buf *sql, const struct row_table *table, uint16_t owner)
{
    buf_addf(sql, "DELETE FROM %s WHERE ctid = ANY(ARRAY(SELECT ctid FROM %s WHERE ", table->name,
             table->name);
    add_expired(sql, table);
    /* Nobody else tidies the books of those that were adopted. */
    if (owner != 0)
        buf_addf(sql,
                 " AND (owner = %u OR owner IN (SELECT n.id FROM node AS n WHERE n.state = "
                 "'gone'))",
                 (unsigned)owner);
    buf_addf(sql, " LIMIT $2)) AND ");
    add_expired(sql, table);
    buf_add_char(sql, '\0');
}

/* Skips rows with an invalid time, which are damaged, never loaded, and must not overflow. */
bool pg_sql_add_shift(struct buf *sql, const struct row_table *table)
{
    struct buf where;
    buf_init(&where, SQL_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->columns[i];
        if (column->type != COLUMN_TIME && column->type != COLUMN_TIME_OR_0)
            continue;
        if (where.len == 0)
            buf_addf(sql, "UPDATE %s SET ", table->name);
        buf_addf(sql, "%s%s = greatest(%s + $1, 0)", where.len == 0 ? "" : ", ", column->name,
                 column->name);
        buf_addf(&where, "%s%s BETWEEN %d AND %lld", where.len == 0 ? " WHERE " : " AND ",
                 column->name, column->type == COLUMN_TIME_OR_0, (long long)ROW_TIME_MAX);
    }
    const bool has_times = where.len > 0;
    buf_add(sql, buf_slice(&where));
    buf_add_char(sql, '\0');
    buf_close(&where);
    return has_times;
}

/* ---- preparing --------------------------------------------------------------------------- */

void pg_sql_put_name(enum record_kind kind, char name[PG_SQL_NAME_MAX])
{
    (void)snprintf(name, PG_SQL_NAME_MAX, "put_%s", row_tables[kind].name);
}

void pg_sql_drop_name(enum record_kind kind, char name[PG_SQL_NAME_MAX])
{
    (void)snprintf(name, PG_SQL_NAME_MAX, "drop_%s", row_tables[kind].name);
}

static bool send_kind(struct postgres_store *store, enum record_kind kind, struct buf *sql)
{
    char name[PG_SQL_NAME_MAX];
    pg_sql_put_name(kind, name);
    buf_reset(sql);
    pg_sql_add_put(sql, &row_tables[kind], store->base.node);
    if (PQsendPrepare(store->conn, name, sql->data, 0, NULL) != 1)
        return false;
    pg_sql_drop_name(kind, name);
    buf_reset(sql);
    pg_sql_add_drop(sql, &row_tables[kind], store->base.node);
    return PQsendPrepare(store->conn, name, sql->data, 0, NULL) == 1;
}

static bool send_all(struct postgres_store *store)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX);
    bool is_sent = PQsendPrepare(store->conn, "begin", "BEGIN", 0, NULL) == 1 &&
                   PQsendPrepare(store->conn, "commit", "COMMIT", 0, NULL) == 1;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && is_sent; kind++)
        is_sent = send_kind(store, (enum record_kind)kind, &sql);
    if (is_sent && store->base.node == 0)
        is_sent = pg_progress_prepare(store);
    if (is_sent && store->base.node != 0)
        is_sent = pg_claims_prepare(store) && pg_inbox_prepare(store) && pg_budget_prepare(store);
    buf_close(&sql);
    return is_sent && PQpipelineSync(store->conn) == 1;
}

/* Reads up to the sync; the first error counts. */
static enum store_result read_all(struct postgres_store *store)
{
    enum store_result first = STORE_DONE;
    bool is_synced = false;
    while (!is_synced && store->conn != NULL) {
        struct pg_result *result;
        if (!pg_link_next(store, &result))
            return first == STORE_DONE ? pg_error_take(store, NULL) : first;
        is_synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (first == STORE_DONE && PQresultStatus(result) == PGRES_FATAL_ERROR && result != NULL)
            first = pg_error_take(store, result);
        PQclear(result);
    }
    return first;
}

enum store_result pg_sql_prepare(struct postgres_store *store)
{
    if (PQenterPipelineMode(store->conn) != 1 || !send_all(store))
        return pg_error_take(store, NULL);
    const enum store_result result = read_all(store);
    if (store->conn != NULL && PQexitPipelineMode(store->conn) != 1)
        return pg_error_take(store, NULL);
    return result;
}
