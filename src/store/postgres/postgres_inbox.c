#include "store/postgres/postgres_inbox.h"

#include "store/postgres/postgres_array.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_params.h"
#include "store/postgres/postgres_pulse.h"
#include "store/store_fact.h"

#include <solvegate/errands.h>

#include <libpq-fe.h>
#include <stdlib.h>

/* Whoever has the row of the attempt, request or letter at the moment of looking, else whoever it was left to. The
 * column "attempt" has the names of all three (store_fact.h). */
#define READER                                                                           \
    "coalesce(a.owner, r.owner, (SELECT max(l.owner) FROM letter AS l WHERE l.number = " \
    "-i.attempt),"                                                                       \
    " i.teller)"
#define ENTRIES                                               \
    "inbox AS i LEFT JOIN attempt AS a ON a.name = i.attempt" \
    " LEFT JOIN request AS r ON r.id = i.attempt"
/* A node that is being adopted is waited for: afterwards its entries are its adopter's. */
#define IS_THERE "state NOT IN ('left', 'gone')"

static const struct {
    const char *name, *sql;
} statements[] = {
    {"tell", "WITH there AS MATERIALIZED (SELECT id FROM node WHERE id = ANY($7::bigint[])"
             " AND " IS_THERE " ORDER BY id FOR KEY SHARE)"
             " INSERT INTO inbox (number, attempt, teller, body, text, extra)"
             " SELECT number, attempt, coalesce(there.id, $1::bigint), body, text, extra FROM"
             " unnest($2::bigint[], $3::bigint[], $4::json[], $5::bytea[], $6::bytea[],"
             " $7::bigint[])"
             " WITH ORDINALITY AS told (number, attempt, body, text, extra, node, place)"
             " LEFT JOIN there ON there.id = told.node"
             " ORDER BY place ON CONFLICT (number) DO NOTHING"},
    {"condemn_ends", "UPDATE ended SET id = NULL FROM unnest($1::bytea[], $2::bigint[])"
                     " AS bad (key, attempt) JOIN solution AS s ON s.key = bad.key"
                     " AND s.attempt = bad.attempt WHERE ended.claim = s.flight"
                     " AND ended.key = bad.key AND ended.attempt = bad.attempt"},
    {"condemn", "UPDATE solution SET body = (body::jsonb - 'kept' || '{\"bad\": true}')::json"
                " FROM unnest($1::bytea[], $2::bigint[]) AS bad (key, attempt)"
                " WHERE solution.key = bad.key AND solution.attempt = bad.attempt"},
    {"tell_all", "WITH there AS MATERIALIZED (SELECT id FROM node WHERE id <> $1::bigint"
                 " AND " IS_THERE " ORDER BY id FOR KEY SHARE)"
                 " INSERT INTO inbox (number, attempt, teller, body)"
                 " SELECT number + there.id * $4::bigint, 0, there.id, body FROM"
                 " unnest($2::bigint[], $3::json[]) AS told (number, body), there"
                 " ON CONFLICT (number) DO NOTHING"},
    {"wake_all", "SELECT pg_notify($1, string_agg('@' || id, ''))"
                 " FROM node WHERE id <> $2::bigint AND " IS_THERE " HAVING count(*) > 0"},
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

enum part { PART_TOLD, PART_BAD, PART_FORGOTTEN };

static uint64_t number_in(const struct store_entry *entry, enum part part)
{
    if (part == PART_FORGOTTEN || entry->told == NULL)
        return part == PART_FORGOTTEN ? entry->forgotten : 0;
    return (entry->told->kind == FACT_BAD) == (part == PART_BAD) ? entry->told->number : 0;
}

/* An array of numbers: of the facts that are told to one node or to all, or of those that are dropped. */
static uint32_t gather_numbers(const struct store_batch *batch, enum part part, struct buf *out)
{
    const struct store_entry *entry = batch->first;
    uint32_t count = 0;
    pg_array_begin(out, "bigint");
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next) {
        const struct row_value number = integer(number_in(entry, part));
        if (number.integer == 0)
            continue;
        pg_array_add(out, &number);
        count++;
    }
    pg_array_end(out, count);
    return count;
}

static struct row_value body_of(struct postgres_store *store, const struct fact *fact)
{
    buf_reset(&store->body);
    fact_add_body(&store->body, fact);
    return (struct row_value){.type = VALUE_TEXT, .bytes = buf_slice(&store->body)};
}

static void add_fact(struct postgres_store *store, const struct fact *fact)
{
    const struct row_value values[] = {
        integer(fact_subject(fact)),  body_of(store, fact),     bytes_of(fact->result.text),
        bytes_of(fact->result.extra), integer(fact->errand.to),
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pg_array_add(&store->columns[i + 1], &values[i]);
}

static void add_bad(struct postgres_store *store, const struct fact *fact)
{
    const struct slice key = {.data = (const char *)fact->bad.key.bytes, .len = KEY_BYTES};
    const struct row_value values[] = {
        body_of(store, fact),
        {.type = VALUE_BYTES, .bytes = key},
        integer(fact->bad.attempt),
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        pg_array_add(&store->columns[i + 1], &values[i]);
}

/* Fills the columns after the first, which has the numbers. */
static void gather_facts(struct postgres_store *store, const struct store_batch *batch,
                         enum part part, const char *const *types, size_t type_count,
                         uint32_t count)
{
    for (size_t i = 1; i <= type_count; i++)
        pg_array_begin(&store->columns[i], types[i - 1]);
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next) {
        if (number_in(entry, part) == 0)
            continue;
        if (part == PART_BAD)
            add_bad(store, entry->told);
        else
            add_fact(store, entry->told);
    }
    for (size_t i = 1; i <= type_count; i++) {
        pg_array_end(&store->columns[i], count);
        store->base.bytes += store->columns[i].len;
    }
}

static bool send_told(struct postgres_store *store, const struct store_batch *batch)
{
    static const char *const types[] = {"bigint", "json", "bytea", "bytea", "bigint"};
    const size_t type_count = sizeof types / sizeof types[0];
    struct pg_params params = {.count = 0};
    const uint32_t count = gather_numbers(batch, PART_TOLD, &store->columns[0]);
    if (count == 0)
        return true;
    gather_facts(store, batch, PART_TOLD, types, type_count, count);
    pg_params_add_integer(&params, store->base.node);
    for (size_t i = 0; i <= type_count; i++)
        pg_params_add(&params, buf_slice(&store->columns[i]));
    return pg_params_send(store, "tell", &params);
}

/* Whoever has the solutions writes their rows again without knowing of it, until it has heard. */
static bool send_bad(struct postgres_store *store, const struct store_batch *batch)
{
    static const char *const types[] = {"json", "bytea", "bigint"};
    struct pg_params solutions = {.count = 0};
    struct pg_params entries = {.count = 0};
    const uint32_t count = gather_numbers(batch, PART_BAD, &store->columns[0]);
    if (count == 0)
        return true;
    gather_facts(store, batch, PART_BAD, types, sizeof types / sizeof types[0], count);
    pg_params_add(&solutions, buf_slice(&store->columns[2]));
    pg_params_add(&solutions, buf_slice(&store->columns[3]));
    pg_params_add_integer(&entries, store->base.node);
    pg_params_add(&entries, buf_slice(&store->columns[0]));
    pg_params_add(&entries, buf_slice(&store->columns[1]));
    pg_params_add_integer(&entries, FACT_NUMBER_STEP);
    return pg_params_send(store, "condemn_ends", &solutions) &&
           pg_params_send(store, "condemn", &solutions) &&
           pg_params_send(store, "tell_all", &entries);
}

static bool send_forgotten(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_params params = {.count = 0};
    if (gather_numbers(batch, PART_FORGOTTEN, &store->columns[0]) == 0)
        return true;
    pg_params_add(&params, buf_slice(&store->columns[0]));
    return pg_params_send(store, "forget", &params);
}

bool pg_inbox_send(struct postgres_store *store, const struct store_batch *batch)
{
    return send_told(store, batch) && send_bad(store, batch) && send_forgotten(store, batch);
}

static bool send_wake_up(struct postgres_store *store, const char *name, struct slice whom)
{
    struct pg_params params = {.count = 0};
    char channel[PG_CHANNEL_MAX];
    pg_pulse_channel(store->address.schema, channel);
    pg_params_add(&params, slice_from(channel));
    if (slice_is_given(whom))
        pg_params_add(&params, whom);
    else
        pg_params_add_integer(&params, store->base.node);
    return pg_params_send(store, name, &params);
}

bool pg_inbox_send_wake_ups(struct postgres_store *store, const struct store_batch *batch)
{
    if (gather_numbers(batch, PART_BAD, &store->columns[0]) > 0 &&
        !send_wake_up(store, "wake_all", SLICE_NONE))
        return false;
    return gather_numbers(batch, PART_TOLD, &store->columns[0]) == 0 ||
           send_wake_up(store, "wake_readers", buf_slice(&store->columns[0]));
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
    if (!fact_read_body(slice_at(result, row, 2), &fact))
        fact = (struct fact){.number = fact.number, .result.outcome = OUTCOME_PENDING};
    fact_set_subject(&fact, (uint64_t)pg_link_integer(result, row, 1));
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
