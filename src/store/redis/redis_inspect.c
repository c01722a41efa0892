#include "store/redis/redis_inspect.h"

#include "store/redis/redis_call.h"
#include "store/redis/redis_server.h"
#include "store/redis/redis_session.h"
#include "store/redis/redis_store.h"

#include <stdio.h>

/* Every command of this driver. */
static const char rights[] =
    "+auth +select +client|setname +client|list +info +config|get +ping "
    "+get +set +del +exists +pexpire +pttl +hget +hmget +hset +zadd +zrem +zrange +zcard "
    "+multi +exec +discard +watch +unwatch";
/* And what gateways that share the store need. */
static const char shared_rights[] =
    "+evalsha +script|load +subscribe +publish +time +incr +rename +hgetall +hvals +hincrby +hdel "
    "+mget +mset +zscore +zrevrange +sadd +srem +smembers +sismember +sscan +smismember +zmscore";

void redis_print_rights(const struct store_place *place, struct buf *out)
{
    buf_addf(out,
             "# Redis needs no tables. This makes a user with the rights that the gateway needs; "
             "run it with "
             "redis-cli,\n# with a password in place of PASSWORD:\n"
             "ACL SETUSER solvegate on >PASSWORD resetkeys ~{%s}:* resetchannels &{%s}:* -@all "
             "%s %s\n",
             redis_prefix(place), redis_prefix(place), rights, shared_rights);
}

static void report_server(const struct redis_store *store, struct buf *report)
{
    buf_addf(report, "server: %s\n", store->base.server);
    buf_addf(report, "durability: %s\n", store->base.durability);
}

static enum store_result report_text(struct redis_store *store, const char *name,
                                     struct buf *report)
{
    const struct redis_key key = call_key(store, name, SLICE_NONE);
    struct redis_reply *reply = NULL;
    const enum store_result result = ASK(store, &reply, WORD_OF("GET"), call_key_slice(&key));
    const struct slice text = redis_reply_slice(reply);
    if (result == STORE_DONE)
        buf_addf(report, "%s: %.*s\n", name, slice_is_given(text) ? (int)text.len : 4,
                 slice_is_given(text) ? text.data : "none");
    redis_reply_free(reply);
    return result;
}

static enum store_result report_rows(struct redis_store *store, struct buf *report)
{
    enum store_result result = STORE_DONE;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++) {
        const struct redis_key key = call_key(store, row_tables[kind].name, SLICE_NONE);
        struct redis_reply *reply = NULL;
        result = ASK(store, &reply, WORD_OF("ZCARD"), call_key_slice(&key));
        if (result == STORE_DONE)
            buf_addf(report, "%s: %lld rows\n", row_tables[kind].name, (long long)reply->integer);
        redis_reply_free(reply);
    }
    return result;
}

enum store_opening redis_inspect(const struct store_place *place, const char *address,
                                 struct buf *report, struct buf *mistake)
{
    (void)address;
    struct redis_store *const store = redis_store_new(place, mistake);
    if (store == NULL)
        return STORE_UNUSABLE;
    enum store_result result = session_connect(store, 0);
    if (result == STORE_DONE) {
        report_server(store, report);
        result = session_judge(store);
    }
    if (result == STORE_DONE)
        result = report_text(store, "schema", report);
    if (result == STORE_DONE)
        result = report_text(store, "lock", report);
    if (result == STORE_DONE)
        result = report_rows(store, report);
    if (result != STORE_DONE)
        buf_add(mistake, slice_from(store->base.why));
    redis_store_free(store);
    return result == STORE_DONE ? STORE_OPENED : STORE_UNUSABLE;
}
