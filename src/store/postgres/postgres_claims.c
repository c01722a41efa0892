#include "store/postgres/postgres_claims.h"

#include "base/assert.h"
#include "store/postgres/postgres_array.h"
#include "store/postgres/postgres_batch.h"
#include "store/postgres/postgres_body.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_params.h"
#include "store/postgres/postgres_pulse.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_schema.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* The columns of a claim's answer before those of its solution. */
#define ANSWER_COLUMNS 11

/* A schema that does not know the latest batch that it acknowledged was restored from an older state of itself: to the
 * batch it is as if it knew another run only, and why is found out when the gateway enters it again. */
#define FENCE                                                                 \
    "SELECT begin_batch($1::bigint, CASE WHEN EXISTS (SELECT 1 FROM progress" \
    " WHERE node = $1::bigint AND batch >= $4::bigint) THEN $2::bigint ELSE 0 END, $3::bigint)"

static const struct {
    const char *name, *sql;
} statements[] = {
    {"fence", FENCE},
    {"release", "SELECT release_claims($1, $2, $3, $4, $5, $6, $7, $8, $9)"},
    {"claim", "SELECT * FROM claim_keys($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,"
              " $13, $14, $15)"},
    {"wake", "SELECT pg_notify($1, $2)"},
};

bool pg_claims_prepare(struct postgres_store *store)
{
    bool is_sent = true;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && is_sent; i++)
        is_sent = PQsendPrepare(store->conn, statements[i].name, statements[i].sql, 0, NULL) == 1;
    return is_sent;
}

bool pg_claims_send_fence(struct postgres_store *store, uint64_t number)
{
    struct pg_params params = {.count = 0};
    pg_params_add_integer(&params, store->base.node);
    pg_params_add_integer(&params, store->base.incarnation);
    pg_params_add_integer(&params, number);
    pg_params_add_integer(&params, store->written);
    return pg_params_send(store, "fence", &params);
}

/* ---- arrays ------------------------------------------------------------------------------ */

static struct row_value integer(uint64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = (int64_t)number};
}

static struct row_value text(const char *string)
{
    return (struct row_value){.type = VALUE_TEXT, .bytes = slice_from(string)};
}

static struct row_value key(bool is_given, const struct key *key)
{
    return (struct row_value){
        .type = is_given ? VALUE_BYTES : VALUE_NULL,
        .bytes = {.data = (const char *)key->bytes, .len = KEY_BYTES},
    };
}

static size_t release_values(const struct store_row *row, struct row_value *values)
{
    const struct release *const release = row->entry->release;
    size_t count = 0;
    values[count++] = integer(release->flight);
    values[count++] = key(true, &release->name);
    values[count++] = integer(release->solution);
    values[count++] = integer(release->is_kept);
    values[count++] = integer(release->attempts);
    values[count++] = text(error_class_words.name_at(release->class));
    values[count++] = text(release->code);
    values[count++] = integer(release->keep_ms);
    return count;
}

static size_t claim_values(const struct store_row *row, struct row_value *values)
{
    const struct store_asked *const asked = row->entry->asked;
    const struct claim *const claim = &asked->claim;
    size_t count = 0;
    values[count++] = integer(row->place);
    values[count++] = integer(claim->flight);
    values[count++] = integer(claim->following);
    values[count++] = text(reuse_words.name_at(claim->reuse));
    values[count++] = key(true, &claim->key);
    values[count++] = key(claim->has_name, &claim->name);
    values[count++] = key(claim->has_idempotency, &claim->idempotency);
    values[count++] = text(row->entry->client);
    values[count++] = integer(claim->min_ttl_ms);
    values[count++] = integer(claim->max_age_ms);
    values[count++] = integer(asked->idempotency_ttl_ms);
    values[count++] = integer(claim->may_take);
    values[count++] = integer(claim->solution);
    values[count++] = key(claim->may_take, &claim->offered);
    return count;
}

static const char *const release_types[] = {"bigint", "bytea", "bigint", "bigint",
                                            "bigint", "text",  "text",   "bigint"};
static const char *const claim_types[] = {"bigint", "bigint", "bigint", "text",   "bytea",
                                          "bytea",  "bytea",  "text",   "bigint", "bigint",
                                          "bigint", "bigint", "bigint", "bytea"};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct kind {
    const char *statement;
    const char *const *types;
    size_t arrays;
    size_t (*values_of)(const struct store_row *row, struct row_value *values);
};

static const struct kind releases = {"release", release_types, COUNT_OF(release_types),
                                     release_values};
static const struct kind claims = {"claim", claim_types, COUNT_OF(claim_types), claim_values};

static const struct key *name_of(const struct store_row *row)
{
    static const struct key none = {{0}};
    if (row->entry->release != NULL)
        return &row->entry->release->name;
    const struct claim *const claim = &row->entry->asked->claim;
    return claim->has_name ? &claim->name : &none;
}

/* By name, so that two gateways do not wait for each other; those of the same name in their order. */
static int compare(const void *a, const void *b)
{
    const struct store_row *const row_a = a;
    const struct store_row *const row_b = b;
    const int order = memcmp(name_of(row_a)->bytes, name_of(row_b)->bytes, KEY_BYTES);
    return order != 0 ? order : (row_a->place > row_b->place) - (row_a->place < row_b->place);
}

static bool send_rows(struct postgres_store *store, const struct kind *kind, uint32_t count)
{
    struct row_value values[PG_PARAMS_MAX];
    struct pg_params params = {.count = 0};
    for (size_t i = 0; i < kind->arrays; i++)
        pg_array_begin(&store->columns[i], kind->types[i]);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(kind->values_of(&store->rows[i], values) == kind->arrays);
        for (size_t j = 0; j < kind->arrays; j++)
            pg_array_add(&store->columns[j], &values[j]);
    }
    pg_params_add_integer(&params, store->base.node);
    for (size_t i = 0; i < kind->arrays; i++) {
        pg_array_end(&store->columns[i], count);
        pg_params_add(&params, buf_slice(&store->columns[i]));
        store->base.bytes += store->columns[i].len;
    }
    return pg_params_send(store, kind->statement, &params);
}

/* The rows of coalesce() are sent by then: their room is used again. */
static uint32_t collect(struct postgres_store *store, const struct store_batch *batch,
                        bool are_claims)
{
    uint32_t count = 0;
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (are_claims ? entry->asked != NULL && !store_claim_waits(&store->base, entry->asked)
                       : entry->release != NULL)
            store->rows[count++] = (struct store_row){.entry = entry, .place = i};
    return count;
}

static bool send_all(struct postgres_store *store, const struct store_batch *batch,
                     const struct kind *kind)
{
    const uint32_t count = collect(store, batch, kind == &claims);
    if (count == 0)
        return true;
    qsort(store->rows, count, sizeof *store->rows, compare);
    return send_rows(store, kind, count);
}

bool pg_claims_send_releases(struct postgres_store *store, const struct store_batch *batch)
{
    return send_all(store, batch, &releases);
}

bool pg_claims_send_claims(struct postgres_store *store, const struct store_batch *batch)
{
    return send_all(store, batch, &claims);
}

bool pg_claims_send_wake_ups(struct postgres_store *store, const struct store_batch *batch)
{
    const uint32_t count = collect(store, batch, false);
    char channel[PG_CHANNEL_MAX];
    bool is_sent = true;
    pg_pulse_channel(store->address.schema, channel);
    for (uint32_t first = 0; first < count && is_sent; first += PG_PULSE_NAMES) {
        struct pg_params params = {.count = 0};
        buf_reset(&store->body);
        for (uint32_t i = first; i < count && i < first + PG_PULSE_NAMES; i++)
            pg_pulse_add_name(&store->body, &store->rows[i].entry->release->name);
        pg_params_add(&params, slice_from(channel));
        pg_params_add(&params, buf_slice(&store->body));
        is_sent = pg_params_send(store, "wake", &params);
    }
    return is_sent;
}

/* ---- answers ----------------------------------------------------------------------------- */

void pg_claims_keep(struct postgres_store *store, struct pg_result *take_result)
{
    if (PQresultStatus(take_result) != PGRES_TUPLES_OK ||
        PQnfields(take_result) <= ANSWER_COLUMNS) {
        PQclear(take_result);
        return;
    }
    PQclear(store->verdicts);
    store->verdicts = take_result;
}

static struct slice slice_at(const struct pg_result *result, int row, int column)
{
    return (struct slice){.data = PQgetvalue(result, row, column),
                          .len = (size_t)PQgetlength(result, row, column)};
}

static bool find_result(struct slice word, enum claim_result *result)
{
    static const char *const words[] = {
        [CLAIM_WON] = "won",     [CLAIM_FOLLOW] = "follow",     [CLAIM_SOLVED] = "solved",
        [CLAIM_TAKEN] = "taken", [CLAIM_MISMATCH] = "mismatch", [CLAIM_REFUSED] = "refused",
    };
    for (unsigned i = 0; i < COUNT_OF(words); i++)
        if (slice_equals(word, slice_from(words[i]))) {
            *result = (enum claim_result)i;
            return true;
        }
    return false;
}

static void take_solution(struct store_asked *asked, const struct pg_result *result, int row)
{
    struct row_value values[ROW_COLUMNS_MAX];
    struct pg_body body;
    struct slice client;
    pg_rows_read(result, row, ANSWER_COLUMNS, RECORD_SOLUTION, values, &body);
    asked->solution = (struct record){.kind = RECORD_SOLUTION};
    asked->has_solution = row_from_values(values, &asked->solution, &client);
    if (asked->has_solution)
        (void)snprintf(asked->client, sizeof asked->client, "%.*s", (int)client.len, client.data);
    else
        record_close(&asked->solution);
    pg_body_close(&body);
}

static void take_answer(struct store_asked *asked, const struct pg_result *result, int row)
{
    struct claimed *const claimed = &asked->claimed;
    unsigned class = CLASS_NONE;
    const struct slice code = slice_at(result, row, 9);
    if (!find_result(slice_at(result, row, 1), &claimed->result))
        return;
    claimed->followed = (uint64_t)pg_link_integer(result, row, 2);
    claimed->is_lost = pg_link_integer(result, row, 10) != 0;
    claimed->is_own = pg_link_integer(result, row, 3) != 0;
    claimed->is_solving = pg_link_integer(result, row, 4) != 0;
    claimed->is_replayed = pg_link_integer(result, row, 5) != 0;
    claimed->is_renewed = pg_link_integer(result, row, 6) != 0;
    claimed->attempts = (uint16_t)pg_link_integer(result, row, 7);
    if (row_words_find(&error_class_words, slice_at(result, row, 8), &class))
        claimed->class = (enum error_class) class;
    (void)snprintf(claimed->code, sizeof claimed->code, "%.*s", (int)code.len, code.data);
    if (claimed->result != CLAIM_SOLVED && claimed->result != CLAIM_TAKEN)
        return;
    claimed->owner = claimed->result == CLAIM_TAKEN ? (uint16_t)claimed->followed : 0;
    if (PQgetisnull(result, row, ANSWER_COLUMNS) == 0)
        take_solution(asked, result, row);
    /* A row that makes no sense is as good as none: it is asked again. */
    if (!asked->has_solution)
        claimed->result = CLAIM_UNAVAILABLE;
}

void pg_claims_answer(struct postgres_store *store, const struct store_batch *batch)
{
    struct pg_result *const result = store->verdicts;
    if (result == NULL)
        return;
    pg_batch_place(store, batch);
    for (int row = 0; row < PQntuples(result); row++) {
        const int64_t place = pg_link_integer(result, row, 0);
        if (place >= 0 && place < batch->count && store->rows[place].entry->asked != NULL)
            take_answer(store->rows[place].entry->asked, result, row);
    }
    PQclear(result);
    store->verdicts = NULL;
}
