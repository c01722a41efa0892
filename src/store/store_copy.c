#include "store/store_copy.h"

#include "base/assert.h"
#include "store/store_offline.h"
#include "store/store_queue.h"

#include <sodium.h>
#include <stdlib.h>
#include <uv.h>

/* Few enough for one transaction of any server. */
#define BATCH_ROWS 512
/* A server that restarts is back by then. */
#define TRIES_MAX 20
#define TRY_AGAIN_MS 500
/* Rows that end while they are compared could be in one of the two alone. */
#define COMPARE_AHEAD_MS 60000
#define SCRATCH_MAX (64 << 20)
#define SUM_BYTES 32

static const char *const secret_names[] = {STORE_SECRET_IDENTITY, STORE_SECRET_NONCE,
                                           STORE_SECRET_NONCE ".old"};
#define SECRETS (sizeof secret_names / sizeof secret_names[0])

struct copy {
    struct store_backend *from, *to; /* owned, or NULL */
    struct store_queue rows;
    struct store_copied *copied; /* the caller's */
};

static enum store_opening fail(struct buf *mistake, const char *what,
                               const struct store_backend *backend)
{
    buf_addf(mistake, "%s (%s): %s", what, backend->driver->name, backend->why);
    return STORE_UNUSABLE;
}

/* ---- both sides -------------------------------------------------------------------------- */

static enum store_opening open_backend(const struct store_place *place,
                                       struct store_backend **backend, struct buf *mistake)
{
    const char *address;
    if (!store_is_known(place->url, mistake))
        return STORE_UNUSABLE;
    const struct store_driver *const driver = store_driver_find(place->url, &address);
    const enum store_opening opening = driver->lock(place, address, backend, mistake);
    if (opening != STORE_OPENED)
        return opening;
    (*backend)->driver = driver;
    return driver->open(*backend, mistake);
}

/* Opening would make a directory or tables where a mistyped name points. */
static enum store_opening open_both(struct copy *copy, const struct store_place *from,
                                    const struct store_place *to, struct buf *mistake)
{
    struct buf report;
    buf_init(&report, 1 << 16);
    enum store_opening opening = store_inspect(from, &report, mistake);
    buf_close(&report);
    if (opening == STORE_OPENED)
        opening = open_backend(from, &copy->from, mistake);
    if (opening == STORE_OPENED)
        opening = open_backend(to, &copy->to, mistake);
    return opening;
}

static void close_backend(struct store_backend *backend)
{
    if (backend != NULL)
        backend->driver->close(backend);
}

/* ---- secrets ----------------------------------------------------------------------------- */

static enum store_opening copy_secret(struct copy *copy, const char *name, struct buf *mistake)
{
    struct store_secret secret, copied = {.count = 0};
    if (copy->from->driver->find_secret(copy->from, name, &secret) != STORE_DONE)
        return fail(mistake, "a secret cannot be read", copy->from);
    enum store_opening opening = STORE_OPENED;
    if (secret.count == 0)
        return STORE_OPENED;
    if (copy->to->driver->replace_secret(copy->to, name, &secret, name, NULL) != STORE_DONE ||
        copy->to->driver->find_secret(copy->to, name, &copied) != STORE_DONE)
        opening = fail(mistake, "a secret cannot be written", copy->to);
    else if (copied.count != secret.count || copied.made_wall_ms != secret.made_wall_ms ||
             sodium_memcmp(copied.bytes, secret.bytes, secret.count) != 0)
        opening = fail(mistake, "a secret was not kept", copy->to);
    copy->copied->secrets += opening == STORE_OPENED;
    sodium_memzero(&secret, sizeof secret);
    sodium_memzero(&copied, sizeof copied);
    return opening;
}

static enum store_opening copy_secrets(struct copy *copy, struct buf *mistake)
{
    enum store_opening opening = STORE_OPENED;
    for (size_t i = 0; i < SECRETS && opening == STORE_OPENED; i++)
        opening = copy_secret(copy, secret_names[i], mistake);
    return opening;
}

/* ---- the clocks that the rows' times follow ---------------------------------------------- */

static enum store_opening copy_mark(struct copy *copy, struct buf *mistake)
{
    struct store_mark mark = {.is_set = false};
    if (copy->from->driver->read_mark(copy->from, &mark) != STORE_DONE)
        return fail(mistake, "the clocks cannot be read", copy->from);
    const struct store_shift shift = {
        .by_ms = 0, .now = {.wall_ms = mark.wall_ms, .even_ms = mark.even_ms, .boot = mark.boot}};
    if (mark.is_set && copy->to->driver->shift(copy->to, &shift) != STORE_DONE)
        return fail(mistake, "the clocks cannot be written", copy->to);
    return STORE_OPENED;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void count_row(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)kind;
    (void)values;
    ++*(uint64_t *)context;
}

/* Every gateway has made its secret before its first row. */
static enum store_opening expect_journal(struct copy *copy, struct buf *mistake)
{
    struct store_backend *const from = copy->from;
    struct store_secret secret = {.count = 0};
    if (from->driver->find_secret(from, STORE_SECRET_IDENTITY, &secret) != STORE_DONE)
        return fail(mistake, "the first store cannot be read", from);
    const bool has_secret = secret.count > 0;
    sodium_memzero(&secret, sizeof secret);
    if (!has_secret)
        buf_addf(mistake, "the first store (%s) has no journal of a gateway", from->driver->name);
    return has_secret ? STORE_OPENED : STORE_UNUSABLE;
}

static enum store_opening expect_nothing(struct copy *copy, struct buf *mistake)
{
    struct store_backend *const to = copy->to;
    struct store_secret secret = {.count = 0};
    uint64_t rows = 0;
    if (to->driver->load(to, 0, count_row, &rows) != STORE_DONE ||
        to->driver->find_secret(to, STORE_SECRET_IDENTITY, &secret) != STORE_DONE)
        return fail(mistake, "the second store cannot be read", to);
    const bool has_secret = secret.count > 0;
    sodium_memzero(&secret, sizeof secret);
    if (rows == 0 && !has_secret)
        return STORE_OPENED;
    buf_addf(mistake, "the second store (%s) has a journal already; empty it, or name another one",
             to->driver->name);
    return STORE_LOCKED;
}

static void take_row(void *context, enum record_kind kind, const struct row_value *values)
{
    struct copy *const copy = context;
    struct record record = {.kind = kind};
    struct slice client = SLICE_NONE;
    if (!row_from_values(values, &record, &client)) {
        copy->copied->skipped++;
        record_close(&record);
        return;
    }
    struct store_entry *const entry = calloc(1, sizeof *entry + client.len + 1);
    ASSERT(entry != NULL);
    entry->seq = copy->rows.count + 1;
    entry->record = record;
    entry->client_len = client.len;
    if (client.len > 0)
        memcpy(entry->client, client.data, client.len);
    store_queue_push(&copy->rows, entry);
    copy->copied->rows[kind]++;
}

/* Sends the batch again while its outcome is unknown, which changes nothing. */
static enum store_result write_patiently(struct store_backend *to, const struct store_batch *batch)
{
    enum store_result result = to->driver->write(to, batch);
    for (unsigned tries = 1; result == STORE_RETRY && tries < TRIES_MAX; tries++) {
        uv_sleep(TRY_AGAIN_MS);
        result = to->driver->write(to, batch);
    }
    return result;
}

static enum store_opening write_rows(struct copy *copy, struct buf *mistake)
{
    struct store_backend *const from = copy->from;
    while (copy->rows.count > 0) {
        const uint32_t count = copy->rows.count < BATCH_ROWS ? copy->rows.count : BATCH_ROWS;
        const struct store_batch batch = {.first = copy->rows.first, .count = count};
        struct store_queue written = {0};
        if (write_patiently(copy->to, &batch) != STORE_DONE)
            return fail(mistake, "rows cannot be written", copy->to);
        store_queue_split(&copy->rows, count, &written);
        store_queue_clear(&written);
        if (from->driver->beat != NULL && from->driver->beat(from) != STORE_DONE)
            return fail(mistake, "the first store was lost", from);
    }
    if (copy->to->driver->settle != NULL &&
        copy->to->driver->settle(copy->to, true) == STORE_FAILED)
        return fail(mistake, "rows cannot be written", copy->to);
    return STORE_OPENED;
}

static enum store_opening copy_rows(struct copy *copy, struct buf *mistake)
{
    struct store_backend *const from = copy->from;
    if (from->driver->load(from, clocks_read().wall_ms, take_row, copy) != STORE_DONE)
        return fail(mistake, "the first store cannot be read", from);
    return write_rows(copy, mistake);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* The sum does not depend on the order, which differs where a server sorts in its own way. */
struct census {
    uint64_t rows[RECORD_KIND_COUNT];
    uint8_t sums[RECORD_KIND_COUNT][SUM_BYTES];
    struct buf scratch;
};

static void add_value(crypto_generichash_state *state, const struct row_value *value)
{
    const uint8_t type = (uint8_t)value->type;
    const uint64_t len = value->bytes.len;
    (void)crypto_generichash_update(state, &type, sizeof type);
    (void)crypto_generichash_update(state, (const uint8_t *)&value->integer, sizeof value->integer);
    (void)crypto_generichash_update(state, (const uint8_t *)&len, sizeof len);
    if (len > 0)
        (void)crypto_generichash_update(state, (const uint8_t *)value->bytes.data, len);
}

/* Both drivers' values pass through a record, so that only their meaning counts. */
static void census_row(void *context, enum record_kind kind, const struct row_value *given)
{
    struct census *const census = context;
    struct record record = {.kind = kind};
    struct slice client = SLICE_NONE;
    if (row_from_values(given, &record, &client)) {
        struct row_value values[ROW_COLUMNS_MAX] = {{.type = VALUE_NULL}};
        uint8_t sum[SUM_BYTES];
        crypto_generichash_state state;
        const size_t count = row_to_values(&record, client, &census->scratch, values);
        (void)crypto_generichash_init(&state, NULL, 0, sizeof sum);
        for (size_t i = 0; i < count; i++)
            add_value(&state, &values[i]);
        (void)crypto_generichash_final(&state, sum, sizeof sum);
        sodium_add(census->sums[kind], sum, sizeof sum);
        census->rows[kind]++;
    }
    record_close(&record);
}

static enum store_opening take_census(struct store_backend *backend, int64_t wall_ms,
                                      struct census *census, struct buf *mistake)
{
    memset(census, 0, sizeof *census);
    buf_init(&census->scratch, SCRATCH_MAX);
    const enum store_result result = backend->driver->load(backend, wall_ms, census_row, census);
    buf_close(&census->scratch);
    return result == STORE_DONE ? STORE_OPENED : fail(mistake, "it cannot be compared", backend);
}

static enum store_opening compare(struct copy *copy, struct buf *mistake)
{
    const int64_t wall_ms = clocks_read().wall_ms + COMPARE_AHEAD_MS;
    struct census from, to;
    enum store_opening opening = take_census(copy->from, wall_ms, &from, mistake);
    if (opening == STORE_OPENED)
        opening = take_census(copy->to, wall_ms, &to, mistake);
    for (size_t kind = 0; kind < RECORD_KIND_COUNT && opening == STORE_OPENED; kind++) {
        if (from.rows[kind] == to.rows[kind] &&
            memcmp(from.sums[kind], to.sums[kind], SUM_BYTES) == 0)
            continue;
        buf_addf(mistake, "the copy differs in %s: %llu rows became %llu; do not use it",
                 row_tables[kind].name, (unsigned long long)from.rows[kind],
                 (unsigned long long)to.rows[kind]);
        opening = STORE_UNUSABLE;
    }
    return opening;
}

enum store_opening store_copy(const struct store_place *from, const struct store_place *to,
                              struct store_copied *copied, struct buf *mistake)
{
    struct copy copy = {.copied = copied};
    *copied = (struct store_copied){.skipped = 0};
    enum store_opening opening = open_both(&copy, from, to, mistake);
    if (opening == STORE_OPENED)
        opening = expect_journal(&copy, mistake);
    if (opening == STORE_OPENED)
        opening = expect_nothing(&copy, mistake);
    if (opening == STORE_OPENED)
        opening = copy_mark(&copy, mistake);
    if (opening == STORE_OPENED)
        opening = copy_rows(&copy, mistake);
    if (opening == STORE_OPENED)
        opening = compare(&copy, mistake);
    if (opening == STORE_OPENED)
        opening = copy_secrets(&copy, mistake);
    store_queue_clear(&copy.rows);
    close_backend(copy.to);
    close_backend(copy.from);
    return opening;
}
