#include "store/redis/redis_load.h"

#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_names.h"
#include "store/redis/redis_session.h"
#include "store/redis/redis_write.h"

#include <uv.h>

#define MS_NS UINT64_C(1000000)
/* Rows that are asked for at once. */
#define CHUNK 256

struct load {
    struct redis_store *store;
    int64_t wall_ms;
    store_on_values *on_values;
    void *context;
    struct redis_names names;
    struct redis_names flights; /* of all flights, for the attempts */
    uint64_t beat_at_ns;
};

static bool is_expired(const struct load *load, enum record_kind kind,
                       const struct row_value *values)
{
    const struct body_expiry expiry = body_expiry(kind, values, 0);
    if (!expiry.has_time || expiry.time > body_expired_until(kind, load->wall_ms, 0))
        return false;
    if (expiry.is_open && kind == RECORD_ATTEMPT)
        return !names_have(&load->flights, body_value(kind, values, "flight")->integer);
    return !expiry.is_open;
}

/* A row that is gone, since the server deleted it, is not missed. One that is no row is passed over by the caller. */
static enum store_result give(struct load *load, enum record_kind kind,
                              const struct redis_reply *reply, const struct redis_reply *score)
{
    static const struct row_value nothing[ROW_COLUMNS_MAX];
    struct redis_body body;
    if (reply->type == REPLY_NIL)
        return STORE_DONE;
    if (reply->type == REPLY_ERROR &&
        slice_starts_with(redis_reply_slice(reply), SLICE_OF("WRONGTYPE"))) {
        load->on_values(load->context, kind, nothing);
        return STORE_DONE;
    }
    if (reply->type == REPLY_ERROR)
        return call_judge(load->store, reply);
    if (reply->type != REPLY_STRING)
        return call_nonsense(load->store);
    body_read(&body, redis_reply_slice(reply), kind, load->store->moved_ms);
    body_add_score(&body, kind, score);
    if (!is_expired(load, kind, body.values))
        load->on_values(load->context, kind, body.values);
    body_close(&body);
    return STORE_DONE;
}

/* Replies come one by one, so that no more than one row is in memory. */
static enum store_result take_chunk(struct load *load, enum record_kind kind, size_t count,
                                    const struct redis_reply *scores)
{
    struct redis_store *const store = load->store;
    enum store_result result = STORE_DONE;
    for (size_t i = 0; i < count && store->link != NULL; i++) {
        struct redis_reply *const reply = call_next(store);
        if (reply == NULL)
            return STORE_RETRY;
        if (result == STORE_DONE)
            result = give(load, kind, reply, redis_reply_item(scores, i));
        redis_reply_free(reply);
    }
    return result;
}

static enum store_result load_chunk(struct load *load, enum record_kind kind, size_t from,
                                    size_t to)
{
    struct redis_store *const store = load->store;
    const bool has_scores = kind == RECORD_FLIGHT;
    struct slice names[CHUNK] = {SLICE_NONE};
    for (size_t i = from; i < to; i++)
        names[i - from] = names_at(&load->names, i);
    call_begin(store);
    if (has_scores)
        names_ask_scores(store, kind, names, to - from);
    for (size_t i = from; i < to; i++) {
        const struct redis_key key = call_row(store, kind, names[i - from]);
        CALL(store, WORD_OF("GET"), call_key_slice(&key));
    }
    struct redis_reply *const scores = has_scores ? call_next(store) : NULL;
    if (has_scores && scores == NULL)
        return STORE_RETRY;
    const enum store_result result = take_chunk(load, kind, to - from, scores);
    redis_reply_free(scores);
    return result;
}

/* Loading may take longer than the lease, and nobody else renews it yet. */
static enum store_result keep_lease(struct load *load)
{
    const uint64_t now = uv_hrtime();
    if (now < load->beat_at_ns)
        return STORE_DONE;
    load->beat_at_ns = now + STORE_BEAT_MS * MS_NS;
    return redis_renew(load->store);
}

static enum store_result load_kind(struct load *load, enum record_kind kind)
{
    enum store_result result = names_read(load->store, kind, &load->names);
    for (size_t i = 0; i < load->names.count && result == STORE_DONE; i += CHUNK) {
        const size_t rest = load->names.count - i;
        result = load_chunk(load, kind, i, i + (rest < CHUNK ? rest : CHUNK));
        if (result == STORE_DONE)
            result = keep_lease(load);
    }
    if (kind == RECORD_FLIGHT) {
        load->flights = load->names;
        load->names = (struct redis_names){.count = 0};
    }
    names_close(&load->names);
    return result;
}

enum store_result redis_load(struct store_backend *backend, int64_t wall_ms,
                             store_on_values *on_values, void *context)
{
    struct load load = {.store = redis_store_of(backend),
                        .wall_ms = wall_ms,
                        .on_values = on_values,
                        .context = context};
    enum store_result result = session_ensure(load.store);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++)
        result = load_kind(&load, (enum record_kind)kind);
    names_close(&load.flights);
    return result;
}

/* The keys of books have the number of their node in them. */
enum store_result redis_load_books(struct store_backend *reader, uint16_t node, int64_t wall_ms,
                                   store_on_values *on_values, void *context)
{
    struct redis_store *const store = redis_store_of(reader);
    const uint16_t own = reader->node;
    struct load load = {.store = store,
                        .wall_ms = wall_ms,
                        .on_values = on_values,
                        .context = context,
                        /* The reader has no lease to renew. */
                        .beat_at_ns = UINT64_MAX};
    enum store_result result = store->link == NULL ? session_connect(store, 0) : STORE_DONE;
    reader->node = node;
    if (result == STORE_DONE)
        result = load_kind(&load, RECORD_DAY);
    if (result == STORE_DONE)
        result = load_kind(&load, RECORD_TALLY);
    if (result == STORE_DONE)
        result = load_kind(&load, RECORD_SPENT);
    reader->node = own;
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}
