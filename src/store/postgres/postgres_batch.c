#include "store/postgres/postgres_batch.h"

#include "base/assert.h"
#include "store/postgres/postgres_again.h"
#include "store/postgres/postgres_array.h"
#include "store/postgres/postgres_body.h"
#include "store/postgres/postgres_budget.h"
#include "store/postgres/postgres_claims.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_inbox.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_progress.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_schema.h"
#include "store/postgres/postgres_sql.h"

#include <libpq-fe.h>
#include <stdlib.h>

/* More rows in a statement save nothing; more bytes only need memory on both sides. */
#define STATEMENT_ROWS 1024
#define STATEMENT_BYTES ((size_t)4 << 20)
/* Smaller statements of a batch are sent together. */
#define FLUSH_BYTES ((size_t)1 << 20)

/* ---- the last word on each name ---------------------------------------------------------- */

static struct slice client_of(const struct store_entry *entry)
{
    return (struct slice){.data = entry->client, .len = entry->client_len};
}

void pg_batch_place(struct postgres_store *store, const struct store_batch *batch)
{
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        store->rows[i] = (struct store_row){.entry = entry, .place = i};
}

/* A statement may touch a row only once, and two gateways that lock rows in one order cannot block each other. */
static size_t coalesce(struct postgres_store *store, const struct store_batch *batch)
{
    if (store->row_room < batch->count) {
        struct store_row *const rows = realloc(store->rows, batch->count * sizeof *rows);
        ASSERT(rows != NULL);
        store->rows = rows;
        store->row_room = batch->count;
    }
    return store_latest(batch, store->rows);
}

/* ---- statements -------------------------------------------------------------------------- */

/* A statement that is being filled. */
struct fill {
    enum record_kind kind;
    bool is_drop;
    size_t arrays;
    size_t bytes;
    uint32_t rows;
};

static void begin_fill(struct postgres_store *store, struct fill *fill)
{
    const struct row_table *const table = &row_tables[fill->kind];
    const size_t count = fill->is_drop ? table->key_count : table->count;
    fill->arrays = 0;
    fill->rows = 0;
    fill->bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (pg_schema_is_own(table, i))
            pg_array_begin(&store->columns[fill->arrays++], pg_schema_type(table->columns[i].type));
    if (!fill->is_drop && pg_schema_has_body(table))
        pg_array_begin(&store->columns[fill->arrays++], "json");
}

static void add_row(struct postgres_store *store, struct fill *fill,
                    const struct store_entry *entry)
{
    const struct row_table *const table = &row_tables[fill->kind];
    struct row_value values[ROW_COLUMNS_MAX];
    const size_t count = row_to_values(&entry->record, client_of(entry), &store->scratch, values);
    size_t array = 0;
    for (size_t i = 0; i < count; i++)
        if (pg_schema_is_own(table, i))
            pg_array_add(&store->columns[array++], &values[i]);
    if (!fill->is_drop && pg_schema_has_body(table)) {
        buf_reset(&store->body);
        pg_body_add(&store->body, table, values);
        const struct row_value body = {.type = VALUE_TEXT, .bytes = buf_slice(&store->body)};
        pg_array_add(&store->columns[array++], &body);
    }
    ASSERT(array == fill->arrays);
    fill->rows++;
    fill->bytes = 0;
    for (size_t i = 0; i < fill->arrays; i++)
        fill->bytes += store->columns[i].len;
}

static bool send_fill(struct postgres_store *store, const struct fill *fill)
{
    const char *values[ROW_COLUMNS_MAX + 1];
    int lengths[ROW_COLUMNS_MAX + 1];
    int formats[ROW_COLUMNS_MAX + 1];
    char name[PG_SQL_NAME_MAX];
    for (size_t i = 0; i < fill->arrays; i++) {
        ASSERT(!store->columns[i].is_full);
        pg_array_end(&store->columns[i], fill->rows);
        values[i] = store->columns[i].data;
        lengths[i] = (int)store->columns[i].len;
        formats[i] = 1;
    }
    if (fill->is_drop)
        pg_sql_drop_name(fill->kind, name);
    else
        pg_sql_put_name(fill->kind, name);
    store->base.bytes += fill->bytes;
    return PQsendQueryPrepared(store->conn, name, (int)fill->arrays, values, lengths, formats, 1) ==
               1 &&
           (fill->bytes < FLUSH_BYTES || pg_link_flush(store));
}

/* ---- the transaction --------------------------------------------------------------------- */

static bool is_of(const struct store_row *row, const struct fill *fill)
{
    return row->entry->record.kind == fill->kind && row->entry->record.is_drop == fill->is_drop;
}

/* Sends the rows of one kind that are put, or dropped, in statements of limited size. */
static bool send_kind(struct postgres_store *store, const struct store_row *rows, size_t count,
                      bool is_drop)
{
    struct fill fill = {.kind = rows[0].entry->record.kind, .is_drop = is_drop};
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&rows[i], &fill))
            continue;
        if (fill.rows == 0)
            begin_fill(store, &fill);
        add_row(store, &fill, rows[i].entry);
        if (fill.rows < STATEMENT_ROWS && fill.bytes < STATEMENT_BYTES)
            continue;
        if (!send_fill(store, &fill))
            return false;
        fill.rows = 0;
    }
    return fill.rows == 0 || send_fill(store, &fill);
}

static bool send_rows(struct postgres_store *store, size_t count)
{
    const struct store_row *const rows = store->rows;
    size_t end = 0;
    for (size_t start = 0; start < count; start = end) {
        while (end < count && rows[end].entry->record.kind == rows[start].entry->record.kind)
            end++;
        if (!send_kind(store, rows + start, end - start, false) ||
            !send_kind(store, rows + start, end - start, true))
            return false;
    }
    return true;
}

static bool send_word(struct postgres_store *store, const char *name)
{
    return PQsendQueryPrepared(store->conn, name, 0, NULL, NULL, NULL, 0) == 1;
}

static bool send_alone(struct postgres_store *store, const struct store_batch *batch)
{
    return send_word(store, "begin") && send_rows(store, coalesce(store, batch)) &&
           pg_progress_send(store, batch) && send_word(store, "commit") &&
           PQpipelineSync(store->conn) == 1;
}

/* A batch that was applied before is not applied again, since others may have taken or dropped meanwhile what it wrote.
 * Only its claims are looked up. Wake-ups come twice rather than never. */
static bool send_shared(struct postgres_store *store, const struct store_batch *batch,
                        bool is_applied)
{
    return send_word(store, "begin") &&
           pg_claims_send_fence(store, is_applied ? 0 : batch->number) &&
           (is_applied || (send_rows(store, coalesce(store, batch)) &&
                           pg_claims_send_releases(store, batch) && pg_inbox_send(store, batch))) &&
           pg_claims_send_claims(store, batch) && pg_budget_send(store, batch) &&
           send_word(store, "commit") && pg_claims_send_wake_ups(store, batch) &&
           pg_inbox_send_wake_ups(store, batch) && PQpipelineSync(store->conn) == 1;
}

/* Reads up to the sync. The tag of the commit is the proof: the connection may break behind it. A commit of a failed
 * transaction has another tag. */
static enum store_result read_transaction(struct postgres_store *store)
{
    enum store_result first = STORE_DONE;
    bool is_committed = false;
    bool is_synced = false;
    while (!is_synced && store->conn != NULL) {
        struct pg_result *result;
        if (!pg_link_next(store, &result)) {
            if (!is_committed && first == STORE_DONE)
                return pg_error_take(store, NULL);
            pg_link_close(store);
            break;
        }
        const ExecStatusType status = PQresultStatus(result);
        is_synced = status == PGRES_PIPELINE_SYNC;
        if (status == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "COMMIT") == 0)
            is_committed = true;
        else if (status == PGRES_FATAL_ERROR && result != NULL && first == STORE_DONE)
            first = pg_error_take(store, result);
        pg_progress_take(store, result);
        if (!pg_budget_keep(store, result))
            pg_claims_keep(store, result);
    }
    if (is_committed && !store->is_unreplicated)
        return STORE_DONE;
    if (first != STORE_DONE)
        return first;
    pg_error_say(store, "PostgreSQL committed, but may not have replicated it to its synchronous "
                        "standby; it is sent "
                        "again");
    pg_link_close(store);
    return STORE_RETRY;
}

static enum store_result write_once(struct postgres_store *store, const struct store_batch *batch,
                                    bool is_applied)
{
    enum store_result result = pg_rows_ready(store);
    if (result != STORE_DONE)
        return result;
    store->is_unreplicated = false;
    store_look_at_grace(&store->base);
    PQclear(store->verdicts);
    PQclear(store->drawn);
    store->verdicts = store->drawn = NULL;
    if (PQenterPipelineMode(store->conn) != 1 ||
        !(store->base.node == 0 ? send_alone(store, batch) : send_shared(store, batch, is_applied)))
        return pg_error_take(store, NULL);
    result = read_transaction(store);
    if (store->conn != NULL && PQexitPipelineMode(store->conn) != 1)
        pg_link_close(store);
    pg_link_roll_back(store);
    return result;
}

static enum store_result write_new(struct postgres_store *store, const struct store_batch *batch)
{
    const enum store_result result = write_once(store, batch, false);
    if (result != STORE_RETRY || !pg_error_is(store, PG_APPLIED))
        return result;
    /* A store that has forgotten how far this node was says the same. */
    const uint64_t losses = store->base.losses;
    const enum store_result known = store->conn == NULL ? STORE_RETRY : pg_again_enter(store);
    return known == STORE_DONE ? write_once(store, batch, store->base.losses == losses) : known;
}

/* A connection that was lost since the last batch is no reason to report anything: the batch is sent again at once,
 * which changes nothing if it was written. */
enum store_result pg_batch_write(struct store_backend *backend, const struct store_batch *batch)
{
    struct postgres_store *const store = postgres_store_of(backend);
    const bool was_connected = store->conn != NULL;
    store->sqlstate[0] = '\0';
    enum store_result result = write_new(store, batch);
    if (was_connected && pg_error_is_brief(store, result))
        result = write_new(store, batch);
    /* A new session has looked already. */
    if (result == STORE_REFUSED && pg_error_is(store, PG_FENCED)) {
        result = store->conn == NULL ? STORE_RETRY : pg_again_enter(store);
        result = result == STORE_DONE ? write_new(store, batch) : result;
    }
    if (result == STORE_DONE && store->base.node != 0) {
        store->written = batch->number;
        pg_claims_answer(store, batch);
        pg_budget_answer(store, batch);
    } else if (result == STORE_DONE) {
        pg_progress_written(store);
    }
    return result;
}
