#include "store/redis/redis_adopt.h"

#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_names.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows or claims that are asked for at once. */
#define CHUNK 256

struct giving {
    struct redis_store *store;
    const struct store_adopted *to;
    node_id dead;
    struct redis_names names;
};

/* A connection that nobody waits for wake-ups on, and that has no lock. */
static enum store_result connect_alone(struct redis_store *store)
{
    if (store->link != NULL)
        return STORE_DONE;
    enum store_result result = session_connect(store, 0);
    if (result == STORE_DONE)
        result = session_read_moved(store);
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}

/* ---- taking ------------------------------------------------------------------------------ */

static enum store_result take(struct redis_store *store, const struct store_member *dead,
                              bool is_again, bool *is_ours)
{
    char texts[5][32];
    const struct slice words[] = {
        call_number(texts[0], store->base.node),
        call_number(texts[1], (int64_t)store->base.incarnation),
        call_number(texts[2], dead->node),
        call_number(texts[3], (int64_t)dead->incarnation),
        call_number(texts[4], (int64_t)dead->beat),
        is_again ? WORD_OF("1") : WORD_OF("0"),
    };
    struct redis_reply *reply = NULL;
    enum store_result result = script_run(store, SCRIPT_ADOPT, words, 6, &reply);
    if (result == STORE_DONE && script_is_fenced(store, reply))
        result = STORE_REFUSED;
    *is_ours = result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "ok");
    redis_reply_free(reply);
    return result;
}

/* ---- giving ------------------------------------------------------------------------------ */

static void give_row(const struct giving *giving, enum record_kind kind,
                     const struct redis_reply *reply)
{
    struct redis_body body;
    if (reply->type != REPLY_STRING)
        return;
    body_read(&body, redis_reply_slice(reply), kind, giving->store->moved_ms);
    giving->to->on_values(giving->to->context, kind, body.values);
    body_close(&body);
}

static void give_claim(const struct giving *giving, struct slice name,
                       const struct redis_reply *flight)
{
    struct key key;
    size_t len = 0;
    if (flight->type == REPLY_STRING &&
        sodium_hex2bin(key.bytes, KEY_BYTES, name.data, name.len, NULL, &len, NULL) == 0 &&
        len == KEY_BYTES)
        giving->to->on_claim(giving->to->context, &key, strtoull(flight->bytes, NULL, 10));
}

static void ask_for(struct giving *giving, unsigned part, struct slice name)
{
    struct redis_store *const store = giving->store;
    const bool is_claim = part == RECORD_KIND_COUNT;
    const struct redis_key key =
        is_claim ? call_key(store, "claim", name) : call_row(store, (enum record_kind)part, name);
    if (is_claim)
        CALL(store, WORD_OF("HGET"), call_key_slice(&key), WORD_OF("flight"));
    else
        CALL(store, WORD_OF("GET"), call_key_slice(&key));
}

/* Counts each that was given, since the connection may be lost between any two. */
static enum store_result give_chunk(struct giving *giving, unsigned part, size_t to)
{
    struct redis_store *const store = giving->store;
    call_begin(store);
    for (size_t i = store->adopted_count; i < to; i++)
        ask_for(giving, part, names_at(&giving->names, i));
    while (store->adopted_count < to) {
        struct redis_reply *const reply = call_next(store);
        if (reply == NULL)
            return STORE_RETRY;
        if (part == RECORD_KIND_COUNT)
            give_claim(giving, names_at(&giving->names, store->adopted_count), reply);
        else
            give_row(giving, (enum record_kind)part, reply);
        store->adopted_count++;
        redis_reply_free(reply);
    }
    return STORE_DONE;
}

/* It is not given again, whatever becomes of the chest. */
static enum store_result forget_part(struct redis_store *store, const struct redis_key *chest)
{
    struct redis_reply *reply = NULL;
    store->adopted_part++;
    store->adopted_count = 0;
    const enum store_result result = ASK(store, &reply, WORD_OF("DEL"), call_key_slice(chest));
    redis_reply_free(reply);
    return result;
}

/* The part of the chest with the rows of a kind, or behind them the one with claims. */
static enum store_result give_part(struct giving *giving, unsigned part)
{
    char label[64];
    (void)snprintf(label, sizeof label, "adopted:%llu:%s", (unsigned long long)giving->dead,
                   part == RECORD_KIND_COUNT ? "claims" : row_tables[part].name);
    const struct redis_key chest = call_key(giving->store, label, SLICE_NONE);
    /* Of claims any order will do, as of idempotency keys. */
    const enum record_kind kind =
        part == RECORD_KIND_COUNT ? RECORD_IDEMPOTENCY : (enum record_kind)part;
    enum store_result result = names_read_from(giving->store, &chest, kind, &giving->names);
    while (result == STORE_DONE && giving->store->adopted_count < giving->names.count) {
        const size_t rest = giving->names.count - giving->store->adopted_count;
        result =
            give_chunk(giving, part, giving->store->adopted_count + (rest < CHUNK ? rest : CHUNK));
    }
    names_close(&giving->names);
    return result == STORE_DONE ? forget_part(giving->store, &chest) : result;
}

static enum store_result give_all(struct giving *giving)
{
    enum store_result result = STORE_DONE;
    while (result == STORE_DONE && giving->store->adopted_part <= RECORD_KIND_COUNT)
        result = give_part(giving, giving->store->adopted_part);
    return result;
}

enum store_result redis_adopt(struct store_backend *backend, const struct store_member *dead,
                              bool is_again, bool *is_ours, const struct store_adopted *to)
{
    struct redis_store *const store = redis_store_of(backend);
    struct giving giving = {.store = store, .to = to, .dead = dead->incarnation};
    *is_ours = false;
    if (!is_again) {
        store->adopted_part = 0;
        store->adopted_count = 0;
    }
    enum store_result result = connect_alone(store);
    if (result == STORE_DONE)
        result = take(store, dead, is_again, is_ours);
    if (result == STORE_DONE && *is_ours)
        result = give_all(&giving);
    return result;
}
