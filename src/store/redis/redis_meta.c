#include "store/redis/redis_meta.h"

#include "base/assert.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_session.h"
#include "store/store_clock.h"
#include "store/store_secret.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define SECRET_TEXT_MAX (32 + 2 * STORE_SECRET_MAX)

/* ---- secrets ----------------------------------------------------------------------------- */

static void read_text(const char *text, size_t len, struct store_secret *secret)
{
    char *hex = NULL;
    secret->made_wall_ms = strtoll(text, &hex, 10);
    hex += *hex == ' ';
    const size_t digits = len - (size_t)(hex - text);
    secret->count = digits / 2;
    size_t count = 0;
    const bool is_sound =
        digits % 2 == 0 && digits > 0 &&
        (secret->count > sizeof secret->bytes ||
         sodium_hex2bin(secret->bytes, sizeof secret->bytes, hex, digits, NULL, &count, NULL) == 0);
    /* A length that nobody asks for makes a damaged secret a mistake, not a missing one. */
    if (!is_sound)
        secret->count = STORE_SECRET_MAX + 1;
}

/* "1900000000000 00ff…": when it was made, and its bytes. */
static void write_text(const struct store_secret *secret, char text[SECRET_TEXT_MAX])
{
    const int len = snprintf(text, 32, "%lld ", (long long)secret->made_wall_ms);
    (void)sodium_bin2hex(text + len, SECRET_TEXT_MAX - (size_t)len, secret->bytes, secret->count);
}

static void add_secret(struct redis_store *store, const char *name,
                       const struct store_secret *secret)
{
    const struct redis_key key = call_key(store, "secret", SLICE_NONE);
    char text[SECRET_TEXT_MAX];
    write_text(secret, text);
    CALL(store, WORD_OF("HSET"), call_key_slice(&key), slice_from(name), slice_from(text));
    sodium_memzero(text, sizeof text);
}

void redis_add_kept(struct redis_store *store)
{
    const struct redis_key clock = call_key(store, "clock", SLICE_NONE);
    const struct store_mark *const mark = &store->kept.mark;
    char even[32], wall[32], moved[32];
    for (size_t i = 0; i < STORE_KEPT_SECRETS && store->kept.secrets[i].name[0] != '\0'; i++)
        add_secret(store, store->kept.secrets[i].name, &store->kept.secrets[i].secret);
    if (mark->is_set)
        CALL(store, WORD_OF("HSET"), call_key_slice(&clock), WORD_OF("boot"),
             slice_from(mark->boot), WORD_OF("even"), call_number(even, mark->even_ms),
             WORD_OF("wall"), call_number(wall, mark->wall_ms), WORD_OF("moved"),
             call_number(moved, store->moved_ms));
    if (store->node[0] == '\0')
        redis_add_progress(store, store->kept.written);
}

void redis_add_progress(struct redis_store *store, int64_t number)
{
    const struct redis_key key = call_key(store, "progress", SLICE_NONE);
    char text[32];
    CALL(store, WORD_OF("SET"), call_key_slice(&key), call_number(text, number));
}

enum store_result redis_find_secret(struct store_backend *backend, const char *name,
                                    struct store_secret *secret)
{
    struct redis_store *const store = redis_store_of(backend);
    struct redis_reply *reply = NULL;
    *secret = (struct store_secret){.count = 0};
    enum store_result result = session_ensure(store);
    if (result != STORE_DONE)
        return result;
    const struct redis_key key = call_key(store, "secret", SLICE_NONE);
    result = ASK(store, &reply, WORD_OF("HGET"), call_key_slice(&key), slice_from(name));
    if (result == STORE_DONE && reply->type == REPLY_STRING) {
        read_text(reply->bytes, reply->len, secret);
        sodium_memzero(reply->bytes, reply->len);
    }
    store_kept_secret(&store->kept, name, secret);
    redis_reply_free(reply);
    return result;
}

/* Of several gateways that share the store another one may write one between our look and our transaction. */
static enum store_result watch_secrets(struct redis_store *store)
{
    const struct redis_key key = call_key(store, "secret", SLICE_NONE);
    struct redis_reply *reply = NULL;
    enum store_result result = session_ensure(store);
    if (result != STORE_DONE || store->node[0] == '\0')
        return result;
    result = ASK(store, &reply, WORD_OF("WATCH"), call_key_slice(&key));
    redis_reply_free(reply);
    return result;
}

/* Nobody but the holder of the lock writes secrets, so what was read is still there when the transaction, which the
 * server refuses to everybody else, is made. */
static enum store_result replace_once(struct store_backend *backend, const char *name,
                                      const struct store_secret *secret, const char *old_name,
                                      const struct store_secret *before)
{
    struct redis_store *const store = redis_store_of(backend);
    struct store_secret stored;
    enum store_result result = watch_secrets(store);
    if (result == STORE_DONE)
        result = redis_find_secret(backend, name, &stored);
    const bool may_replace = result == STORE_DONE && secret_is_same(&stored, before);
    sodium_memzero(&stored, sizeof stored);
    if (!may_replace)
        return result;
    call_transaction(store);
    if (before != NULL)
        add_secret(store, old_name, before);
    add_secret(store, name, secret);
    result = call_commit(store);
    call_begin(store); /* wipes them */
    if (result == STORE_DONE && before != NULL)
        store_kept_secret(&store->kept, old_name, before);
    if (result == STORE_DONE)
        store_kept_secret(&store->kept, name, secret);
    return result;
}

enum store_result redis_replace_secret(struct store_backend *backend, const char *name,
                                       const struct store_secret *secret, const char *old_name,
                                       const struct store_secret *before)
{
    const enum store_result result = replace_once(backend, name, secret, old_name, before);
    return redis_store_of(backend)->is_refused
               ? replace_once(backend, name, secret, old_name, before)
               : result;
}

/* ---- the clock --------------------------------------------------------------------------- */

static bool read_time(const struct redis_reply *reply, int64_t *time)
{
    const struct slice text = redis_reply_slice(reply);
    unsigned long long value;
    if (!slice_is_given(text) || !slice_to_u64(text, &value) || value > ROW_TIME_MAX)
        return false;
    *time = (int64_t)value;
    return true;
}

static void take_mark(const struct redis_reply *reply, struct store_mark *mark)
{
    const struct slice boot = redis_reply_slice(redis_reply_item(reply, 0));
    struct store_mark found = {.is_set = true};
    if (!slice_is_given(boot) || boot.len >= sizeof found.boot ||
        !read_time(redis_reply_item(reply, 1), &found.even_ms) ||
        !read_time(redis_reply_item(reply, 2), &found.wall_ms))
        return;
    memcpy(found.boot, boot.data, boot.len);
    *mark = found;
}

enum store_result redis_read_mark(struct store_backend *backend, struct store_mark *mark)
{
    struct redis_store *const store = redis_store_of(backend);
    struct redis_reply *reply = NULL;
    *mark = (struct store_mark){.is_set = false};
    enum store_result result = session_ensure(store);
    if (result != STORE_DONE)
        return result;
    const struct redis_key key = call_key(store, "clock", SLICE_NONE);
    result = ASK(store, &reply, WORD_OF("HMGET"), call_key_slice(&key), WORD_OF("boot"),
                 WORD_OF("even"), WORD_OF("wall"));
    if (result == STORE_DONE)
        take_mark(reply, mark);
    if (mark->is_set)
        store->kept.mark = *mark;
    redis_reply_free(reply);
    return result;
}

/* The outcome of a shift may be unknown until it is read again, and so may moved_ms. */
static enum store_result shift_once(struct store_backend *backend, const struct store_shift *shift)
{
    struct redis_store *const store = redis_store_of(backend);
    struct store_mark mark;
    char even[32], wall[32], moved[32];
    enum store_result result = redis_read_mark(backend, &mark);
    if (result == STORE_DONE)
        result = session_read_moved(store);
    if (result != STORE_DONE || store_clock_is_at(&mark, &shift->now))
        return result;
    const struct redis_key key = call_key(store, "clock", SLICE_NONE);
    const int64_t moved_ms = row_time_bounded(store->moved_ms + row_time_bounded(shift->by_ms));
    call_transaction(store);
    CALL(store, WORD_OF("HSET"), call_key_slice(&key), WORD_OF("boot"), slice_from(shift->now.boot),
         WORD_OF("even"), call_number(even, shift->now.even_ms), WORD_OF("wall"),
         call_number(wall, shift->now.wall_ms), WORD_OF("moved"), call_number(moved, moved_ms));
    result = call_commit(store);
    if (result != STORE_DONE)
        return result;
    store->moved_ms = moved_ms;
    store_kept_mark(&store->kept, &shift->now);
    return STORE_DONE;
}

enum store_result redis_shift(struct store_backend *backend, const struct store_shift *shift)
{
    const enum store_result result = shift_once(backend, shift);
    return redis_store_of(backend)->is_refused ? shift_once(backend, shift) : result;
}
