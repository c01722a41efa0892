#include "store/redis/redis_cluster.h"

#include "store/redis/redis_call.h"
#include "store/redis/redis_chest.h"
#include "store/redis/redis_names.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* Claims whose flights are asked for at once. */
#define CHUNK 256

static uint64_t number_at(const struct redis_reply *reply, size_t place)
{
    const struct redis_reply *const item = redis_reply_item(reply, place);
    return item != NULL && item->type == REPLY_STRING ? strtoull(item->bytes, NULL, 10) : 0;
}

/* ---- joining ----------------------------------------------------------------------------- */

static enum store_result take_place(struct redis_store *store, const struct redis_reply *reply)
{
    const struct redis_reply *const word = redis_reply_item(reply, 0);
    if (redis_reply_is(word, "ok")) {
        store->base.node = (uint16_t)number_at(reply, 1);
        store->base.incarnation = number_at(reply, 2);
        return STORE_DONE;
    }
    const struct slice name = redis_reply_slice(redis_reply_item(reply, 1));
    if (redis_reply_is(word, "older"))
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "a gateway of an older version (\"%.*s\") lives on the store {%.64s}; end "
                       "the older gateways first",
                       (int)(name.len < 128 ? name.len : 128), name.data, store->prefix);
    else if (redis_reply_is(word, "newer"))
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "a newer version has just brought the store {%.64s} up to date; use that "
                       "version",
                       store->prefix);
    else if (redis_reply_is(word, "lease"))
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the gateways that share this store have cluster.lease %llu ms, this one "
                       "%u ms; set the same for all, or stop the others first",
                       (unsigned long long)number_at(reply, 1), (unsigned)store->lease_ms);
    else
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the store {%.64s} knows all names of gateways that it has room for; HDEL "
                       "those from {%.64s}:nodes that are gone for good",
                       store->prefix, store->prefix);
    return STORE_FAILED;
}

static enum store_result join(struct redis_store *store)
{
    char lease[32];
    const struct slice words[] = {slice_from(store->node), call_number(lease, store->lease_ms),
                                  session_schema()};
    struct redis_reply *reply = NULL;
    enum store_result result = script_run(store, SCRIPT_JOIN, words, 3, &reply);
    if (result == STORE_DONE)
        result = take_place(store, reply);
    redis_reply_free(reply);
    /* Of a run that ended otherwise than in order, or in the middle of an adoption. */
    return result == STORE_DONE ? chest_empty(store, NULL) : result;
}

static enum store_result take_back(struct redis_store *store)
{
    const struct redis_key key = call_key(store, "owners", SLICE_NONE);
    struct redis_reply *reply = NULL;
    enum store_result result = ASK(store, &reply, WORD_OF("GET"), call_key_slice(&key));
    const bool is_shared = redis_reply_is(reply, "nodes");
    redis_reply_free(reply);
    reply = NULL;
    if (result != STORE_DONE || !is_shared)
        return result;
    result = script_run(store, SCRIPT_TAKE_BACK, NULL, 0, &reply);
    if (result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "chests")) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "a gateway that shared the store {%.64s} ended in the middle of an "
                       "adoption; start it once more with cluster.enabled",
                       store->prefix);
        result = STORE_FAILED;
    }
    if (result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "many")) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "%llu gateways have shared the store {%.64s}, and each has rows of its own "
                       "there; set cluster.enabled, or choose another store_prefix",
                       (unsigned long long)number_at(reply, 1), store->prefix);
        result = STORE_FAILED;
    }
    redis_reply_free(reply);
    return result;
}

enum store_result cluster_join(struct redis_store *store)
{
    return store->node[0] == '\0' ? take_back(store) : join(store);
}

/* ---- a node's claims --------------------------------------------------------------------- */

static bool read_name(struct slice text, struct key *name)
{
    size_t len = 0;
    return sodium_hex2bin(name->bytes, KEY_BYTES, text.data, text.len, NULL, &len, NULL) == 0 &&
           len == KEY_BYTES;
}

static enum store_result
give_chunk(struct redis_store *store, const struct redis_names *names, size_t from, size_t to,
           void (*on_claim)(void *context, const struct key *name, uint64_t flight), void *context)
{
    call_begin(store);
    for (size_t i = from; i < to; i++) {
        const struct redis_key key = call_key(store, "claim", names_at(names, i));
        CALL(store, WORD_OF("HGET"), call_key_slice(&key), WORD_OF("flight"));
    }
    for (size_t i = from; i < to; i++) {
        struct key name;
        struct redis_reply *const flight = call_next(store);
        if (flight == NULL)
            return STORE_RETRY;
        if (flight->type == REPLY_STRING && read_name(names_at(names, i), &name))
            on_claim(context, &name, strtoull(flight->bytes, NULL, 10));
        redis_reply_free(flight);
    }
    return STORE_DONE;
}

enum store_result cluster_load_claims(struct store_backend *backend,
                                      void (*on_claim)(void *context, const struct key *name,
                                                       uint64_t flight),
                                      void *context)
{
    struct redis_store *const store = redis_store_of(backend);
    char label[32];
    struct redis_names names = {.count = 0};
    (void)snprintf(label, sizeof label, "claims@%u", (unsigned)backend->node);
    enum store_result result = session_ensure(store);
    const struct redis_key key = call_key(store, label, SLICE_NONE);
    if (result == STORE_DONE)
        result = names_read_set(store, &key, &names);
    for (size_t i = 0; result == STORE_DONE && i < names.count; i += CHUNK) {
        const size_t rest = names.count - i;
        result = give_chunk(store, &names, i, i + (rest < CHUNK ? rest : CHUNK), on_claim, context);
    }
    names_close(&names);
    return result;
}

enum store_result cluster_read_time(struct store_backend *backend, int64_t *wall_ms)
{
    struct redis_store *const store = redis_store_of(backend);
    struct redis_reply *reply = NULL;
    const enum store_result result = ASK(store, &reply, WORD_OF("TIME"));
    if (result == STORE_DONE)
        *wall_ms = (int64_t)(number_at(reply, 0) * 1000 + number_at(reply, 1) / 1000);
    redis_reply_free(reply);
    return result == STORE_DONE && *wall_ms == 0 ? call_nonsense(store) : result;
}

enum store_result cluster_leave(struct store_backend *backend)
{
    struct redis_store *const store = redis_store_of(backend);
    char number[32], incarnation[32];
    const struct slice words[] = {call_number(number, backend->node),
                                  call_number(incarnation, (int64_t)backend->incarnation)};
    struct redis_reply *reply = NULL;
    enum store_result result = session_ensure(store);
    if (result == STORE_DONE)
        result = script_run(store, SCRIPT_LEAVE, words, 2, &reply);
    redis_reply_free(reply);
    return result;
}
