#include "store/postgres/postgres_inbox.h"

#include "store/postgres/postgres_array.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_params.h"
#include "store/postgres/postgres_pulse.h"
#include "store/store_fact.h"

#include <libpq-fe.h>
#include <stdlib.h>

/* Whoever has the attempt's row at the moment of looking, else the teller. */
#define READER "coalesce(a.owner, i.teller)"
#define ENTRIES "inbox AS i LEFT JOIN attempt AS a ON a.name = i.attempt"

static const struct {
    const char *name, *sql;
} statements[] = {
    {"tell", "INSERT INTO inbox (number, attempt, teller, body, text, extra)"
             " SELECT number, attempt, $1::bigint, body, text, extra FROM"
             " unnest($2::bigint[], $3::bigint[], $4::json[], $5::bytea[], $6::bytea[])"
             " WITH ORDINALITY AS told (number, attempt, body, text, extra, place)"
             " ORDER BY place ON CONFLICT (number) DO NOTHING"},
    {"forget", "DELETE FROM inbox WHERE number = ANY($1::bigint[])"},
    {"wake_readers", "SELECT pg_notify($1, string_agg(DISTINCT '@' || " READER ", ''))"
                     " FROM " ENTRIES " WHERE i.number = ANY($2::bigint[]) HAVING count(*) > 0"},
};

bool pg_inbox_prepare(struct postgres_store *store)
{
    bool is_sent = true;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && is_sent; i++)
        is_sent = PQsendPrepare(store->conn, statements[i].name, statements[i].sql, 0, NULL) == 1;
    return is_sent;
}

/* ---- writing ----------------------------------------------------------------------------- */

static struct row_value integer(uint64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = (int64_t)number};
}

static struct row_value bytes_of(const struct blob *blob)
{
    const struct slice bytes = blob_slice(blob);
    return (struct row_value){.type = slice_is_given(bytes) ? VALUE_BYTES : VALUE_NULL,
                              .bytes = bytes};
}

/* An array of numbers: of the facts that are told, or of those that are dropped. */
static uint32_t gather_numbers(const struct store_batch *batch, bool are_told, struct buf *out)
{
    const struct store_entry *entry = batch->first;
    uint32_t count = 0;
    pg_array_begin(out, "bigint");
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next) {
        const uint64_t told = entry->told == NULL ? 0 : entry->told->number;
        const struct row_value number = integer(are_told ? told : entry->forgotten);
        if (number.integer == 0)
            continue;
        pg_array_add(out, &number);
        count++;
    }
    pg_array_end(out, count);
    return count;
}

static void add_fact(struct postgres_store *store, const struct fact *fact)
{
    buf_reset(&store->body);
    fact_add_body(&store->body, &fact->result);
    const struct row_value values[] = {
        integer(fact->result.attempt),
        {.type = VALUE_TEXT, .bytes = buf_slice(&store->body)},
        bytes_of(fact->result.text),
        bytes_of(fact->result.extra),
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pg_array_add(&store->columns[i + 1], &values[i]);
}

static bool send_told(struct postgres_store *store, const struct store_batch *batch)
{
    static const char *const types[] = {"bigint", "json", "bytea", "bytea"};
    struct pg_params params = {.count = 0};
    const uint32_t count = gather_numbers(batch, true, &store->columns[0]);
    if (count == 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        pg_array_begin(&store->columns[i + 1], types[i]);
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (entry->told != NULL)
            add_fact(store, entry->told);
    pg_params_add_integer(&params, store->base.node);
    pg_params_add(&params, buf_slice(&store->columns[0]));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        pg_array_end(&store->columns[i + 1], count);
        pg_params_add(&params, buf_slice(&store->columns[i + 1]));
        store->base.bytes += store->columns[i + 1].len;
    }
    return pg_params_send(store, "tell", &params);
}

static bool send_forgotten(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_params params = {.count = 0};
    if (gather_numbers(batch, false, &store->columns[0]) == 0)
        return true;
    pg_params_add(&params, buf_slice(&store->columns[0]));
    return pg_params_send(store, "forget", &params);
}

bool pg_inbox_send(struct postgres_store *store, const struct store_batch *batch)
{
    return send_told(store, batch) && send_forgotten(store, batch);
}

bool pg_inbox_send_wake_ups(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_params params = {.count = 0};
    char channel[PG_CHANNEL_MAX];
    if (gather_numbers(batch, true, &store->columns[0]) == 0)
        return true;
    pg_pulse_channel(store->address.schema, channel);
    pg_params_add(&params, slice_from(channel));
    pg_params_add(&params, buf_slice(&store->columns[0]));
    return pg_params_send(store, "wake_readers", &params);
}

/* ---- reading ----------------------------------------------------------------------------- */

bool pg_inbox_is_named(const char *payload, uint16_t node)
{
    while (*payload == PG_INBOX_SIGN) {
        char *end;
        if (strtoul(payload + 1, &end, 10) == node)
            return true;
        payload = end;
    }
    return false;
}

static struct slice slice_at(const struct pg_result *result, int row, int column)
{
    return (struct slice){.data = PQgetvalue(result, row, column),
                          .len = (size_t)PQgetlength(result, row, column)};
}

static struct blob *blob_at(const struct pg_result *result, int row, int column)
{
    return PQgetisnull(result, row, column) == 1 ? NULL : blob_new(slice_at(result, row, column));
}

/* A fact that makes no sense says nothing of its attempt, and is dropped by whoever it is for. */
static struct fact fact_at(const struct pg_result *result, int row)
{
    struct fact fact = {.number = (uint64_t)pg_link_integer(result, row, 0)};
    if (!fact_read_body(slice_at(result, row, 2), &fact.result))
        fact.result = (struct vendor_result){.outcome = OUTCOME_PENDING};
    fact.result.attempt = (attempt_id)pg_link_integer(result, row, 1);
    fact.result.text = blob_at(result, row, 3);
    fact.result.extra = blob_at(result, row, 4);
    return fact;
}

enum store_result pg_inbox_read(struct postgres_store *store, unsigned limit,
                                void (*on_fact)(void *context, const struct fact *take_fact),
                                void *context)
{
    struct pg_result *result;
    const struct row_value values[] = {integer(store->base.node), integer(limit)};
    const enum store_result asked =
        pg_link_ask(store,
                    "SELECT i.number, i.attempt, i.body, i.text, i.extra FROM " ENTRIES
                    " WHERE " READER " = $1 ORDER BY i.told LIMIT $2",
                    values, 2, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++) {
        const struct fact fact = fact_at(result, i);
        on_fact(context, &fact);
    }
    PQclear(result);
    return STORE_DONE;
}
