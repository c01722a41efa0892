#include "store/redis/redis_write.h"

#include "base/assert.h"
#include "base/table.h"
#include "store/redis/redis_again.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_claims.h"
#include "store/redis/redis_meta.h"
#include "store/redis/redis_session.h"

#include <stdio.h>
#include <stdlib.h>

/* A transaction that is larger is made in two; a server closes connections with more than a gigabyte. */
#define TRANSACTION_BYTES ((size_t)32 << 20)
#define NUMBER_MAX 24

/* What becomes of a name in a batch: the last entry of it. */
struct change {
    const struct record *record;
    struct slice client;
    size_t at, len;   /* of its key in names */
    size_t name_at;   /* of its name there, which ends with the key */
    bool is_replaced; /* by a later entry of the same name */
    char score[NUMBER_MAX];
};

struct changes {
    struct redis_store *store;
    struct change *all; /* owned */
    uint32_t count;
    uint32_t *places; /* owned: a hash table of numbers of changes, each one more than it is */
    uint32_t place_count;
    int64_t wall_ms;
};

static struct slice key_of(const struct changes *changes, const struct change *change)
{
    return (struct slice){.data = changes->store->names.data + change->at, .len = change->len};
}

static struct slice name_of(const struct changes *changes, const struct change *change)
{
    const size_t skipped = change->name_at - change->at;
    return (struct slice){.data = changes->store->names.data + change->name_at,
                          .len = change->len - skipped};
}

/* ---- one change for each name ------------------------------------------------------------ */

static void add_key(struct changes *changes, struct change *change)
{
    struct redis_store *const store = changes->store;
    struct row_value values[ROW_COLUMNS_MAX];
    struct record key = *change->record;
    key.is_drop = true; /* gives only the values that name it */
    (void)row_to_values(&key, change->client, &store->scratch, values);
    change->at = store->names.len;
    buf_addf(&store->names, "{%s}:%s:", store->prefix, row_tables[key.kind].name);
    change->name_at = store->names.len;
    body_add_name(&store->names, key.kind, values);
    change->len = store->names.len - change->at;
}

/* The key contains the kind. */
static void supersede(struct changes *changes, uint32_t number)
{
    static const uint64_t secret[2] = {0x736f6c7665676174, 0x65};
    struct change *const change = &changes->all[number];
    const struct slice key = key_of(changes, change);
    uint32_t place = (uint32_t)table_hash_bytes(key.data, key.len, secret);
    for (;; place++) {
        uint32_t *const entry = &changes->places[place & (changes->place_count - 1)];
        struct change *const older = *entry == 0 ? NULL : &changes->all[*entry - 1];
        if (older != NULL && !slice_equals(key_of(changes, older), key))
            continue;
        if (older != NULL)
            older->is_replaced = true;
        *entry = number + 1;
        return;
    }
}

static void collect(struct changes *changes, const struct store_entry *entry)
{
    changes->all = calloc(changes->count, sizeof *changes->all);
    changes->place_count = 4;
    while (changes->place_count < 2 * changes->count)
        changes->place_count *= 2;
    changes->places = calloc(changes->place_count, sizeof *changes->places);
    ASSERT(changes->all != NULL && changes->places != NULL);
    buf_reset(&changes->store->names);
    for (uint32_t i = 0; i < changes->count; i++, entry = entry->next) {
        changes->all[i].record = &entry->record;
        changes->all[i].client = (struct slice){.data = entry->client, .len = entry->client_len};
        add_key(changes, &changes->all[i]);
    }
    for (uint32_t i = 0; i < changes->count; i++)
        supersede(changes, i);
}

/* ---- commands ---------------------------------------------------------------------------- */

static void add_score(struct change *change, const struct body_expiry *expiry)
{
    int64_t time = expiry->time < 1 ? 1 : expiry->time;
    if (time > ROW_TIME_MAX)
        time = ROW_TIME_MAX;
    if (!expiry->has_time)
        time = 0;
    (void)snprintf(change->score, sizeof change->score, "%lld",
                   (long long)(expiry->is_open ? -time : time));
}

static void add_put(struct changes *changes, struct change *change)
{
    struct redis_store *const store = changes->store;
    const enum record_kind kind = change->record->kind;
    struct row_value values[ROW_COLUMNS_MAX];
    char life[32];
    (void)row_to_values(change->record, change->client, &store->scratch, values);
    buf_reset(&store->body);
    body_add(&store->body, kind, values, store->moved_ms);
    const struct body_expiry expiry = body_expiry(kind, values, store->moved_ms);
    add_score(change, &expiry);
    const int64_t life_ms = body_lifetime(kind, &expiry, changes->wall_ms, store->moved_ms);
    const struct slice key = key_of(changes, change);
    if (store->body.is_full)
        store->out.is_full = true;
    else if (life_ms == 0)
        CALL(store, WORD_OF("SET"), key, buf_slice(&store->body));
    else
        CALL(store, WORD_OF("SET"), key, buf_slice(&store->body), WORD_OF("PX"),
             call_number(life, life_ms));
}

static bool is_of(const struct change *change, enum record_kind kind, bool is_drop)
{
    return !change->is_replaced && change->record->kind == kind &&
           change->record->is_drop == is_drop;
}

/* All names of a kind enter its index with one command, and leave it with another. */
static void add_index(struct changes *changes, enum record_kind kind, struct slice *words)
{
    struct redis_store *const store = changes->store;
    const struct redis_key index = call_key(store, row_tables[kind].name, SLICE_NONE);
    size_t count = 2;
    words[0] = WORD_OF("ZADD");
    words[1] = call_key_slice(&index);
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct change *const change = &changes->all[i];
        if (!is_of(change, kind, false))
            continue;
        words[count++] = slice_from(change->score);
        words[count++] = name_of(changes, change);
    }
    if (count > 2)
        call_add(store, words, count);
    words[0] = WORD_OF("ZREM");
    count = 2;
    for (uint32_t i = 0; i < changes->count; i++)
        if (is_of(&changes->all[i], kind, true))
            words[count++] = name_of(changes, &changes->all[i]);
    if (count > 2)
        call_add(store, words, count);
}

static void add_drops(struct changes *changes, struct slice *words)
{
    size_t count = 1;
    words[0] = WORD_OF("DEL");
    for (uint32_t i = 0; i < changes->count; i++)
        if (!changes->all[i].is_replaced && changes->all[i].record->is_drop)
            words[count++] = key_of(changes, &changes->all[i]);
    if (count > 1)
        call_add(changes->store, words, count);
}

/* False if it became too large for one transaction. */
static bool add_commands(struct changes *changes)
{
    struct redis_store *const store = changes->store;
    call_transaction(store);
    for (uint32_t i = 0; i < changes->count; i++) {
        struct change *const change = &changes->all[i];
        if (change->is_replaced || change->record->is_drop)
            continue;
        add_put(changes, change);
        if (store->out.len > TRANSACTION_BYTES && changes->count > 1)
            return false;
    }
    struct slice *const words = malloc((2 + 2 * (size_t)changes->count) * sizeof *words);
    ASSERT(words != NULL);
    add_drops(changes, words);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        add_index(changes, (enum record_kind)kind, words);
    free(words);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* False if the entries are too many bytes for one transaction. */
static bool add_part(struct redis_store *store, const struct store_entry *first, uint32_t count)
{
    struct changes changes = {.store = store, .count = count, .wall_ms = clocks_read().wall_ms};
    collect(&changes, first);
    const bool fits = add_commands(&changes);
    redis_add_progress(store, store->kept.sent);
    free(changes.all);
    free(changes.places);
    return fits;
}

/* A part that does not fit is halved. Each is as good as a batch of its own, since where a batch
 * ends is chance. */
static enum store_result write_parts(struct redis_store *store, const struct store_batch *batch)
{
    const struct store_entry *first = batch->first;
    uint32_t rest = batch->count;
    uint32_t part = rest;
    (void)store_kept_send(&store->kept, batch);
    while (rest > 0) {
        if (!add_part(store, first, part)) {
            part /= 2;
            continue;
        }
        const enum store_result result = call_commit(store);
        if (result != STORE_DONE)
            return result;
        for (uint32_t i = 0; i < part; i++)
            first = first->next;
        rest -= part;
        part = part < rest ? part : rest;
    }
    store_kept_written(&store->kept);
    return STORE_DONE;
}

static enum store_result write_once(struct redis_store *store, const struct store_batch *batch)
{
    const enum store_result result = session_ensure(store);
    return result == STORE_DONE ? write_parts(store, batch) : result;
}

enum store_result redis_write(struct store_backend *backend, const struct store_batch *batch)
{
    struct redis_store *const store = redis_store_of(backend);
    if (backend->node != 0)
        return claims_write(store, batch);
    const enum store_result result = write_once(store, batch);
    return store->is_refused ? write_once(store, batch) : result;
}

static enum store_result renew_once(struct redis_store *store)
{
    const enum store_result result = session_ensure(store);
    if (result != STORE_DONE)
        return result;
    call_transaction(store);
    return call_commit(store);
}

enum store_result redis_renew(struct redis_store *store)
{
    const enum store_result result = renew_once(store);
    return store->is_refused ? renew_once(store) : result;
}

enum store_result redis_beat(struct store_backend *backend)
{
    struct redis_store *const store = redis_store_of(backend);
    const enum store_result result = redis_renew(store);
    return result == STORE_DONE && backend->node != 0 ? again_enter(store) : result;
}
