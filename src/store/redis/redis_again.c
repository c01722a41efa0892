#include "store/redis/redis_again.h"

#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"

#include <stdio.h>
#include <stdlib.h>

/* Incarnations follow the server's clock, so an older one under our name and number is a backup's. */
const char redis_again_source[] =
    "local me, mine, name, lease, written = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]\n"
    "local member = P .. 'member:' .. me\n"
    "local it = call('HMGET', member, 'incarnation', 'state', 'name')\n"
    "local number = call('HGET', P .. 'nodes', name)\n"
    "if it[1] == mine and it[2] ~= 'gone' then\n"
    "    return {has_lost(me, written) and 'lost' or 'ok'}\n"
    "end\n"
    "if it[1] and (it[3] ~= name or tonumber(it[1]) >= tonumber(mine)) or\n"
    "    number and number ~= me or call('EXISTS', P .. 'adopted:' .. mine) == 1 then\n"
    "    return {'fenced'}\n"
    "end\n"
    "for _, used in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "    if used == me and not number then return {'fenced'} end\n"
    "end\n"
    "if tonumber(call('GET', P .. 'incarnation') or '0') < tonumber(mine) then\n"
    "    call('SET', P .. 'incarnation', mine)\n"
    "end\n"
    "call('SET', P .. 'lease', lease, 'NX')\n"
    "call('SET', P .. 'owners', 'nodes')\n"
    "call('HSET', P .. 'nodes', name, me)\n"
    "call('HSET', member, 'name', name, 'incarnation', mine, 'beat', '0', 'state', 'up',\n"
    "    'slots', '0', 'pools', '0', 'parts', '')\n"
    "call('SET', P .. 'progress:' .. me, '0')\n"
    "call('SET', P .. 'facts:' .. me, '0')\n"
    "return {'lost'}\n";

enum store_result again_enter(struct redis_store *store)
{
    char texts[4][32];
    char where[REDIS_URL_HOST_MAX + 128];
    const struct slice words[] = {call_number(texts[0], store->base.node),
                                  call_number(texts[1], (int64_t)store->base.incarnation),
                                  slice_from(store->node), call_number(texts[2], store->lease_ms),
                                  call_number(texts[3], (int64_t)store->written)};
    struct redis_reply *reply = NULL;
    enum store_result result = script_run(store, SCRIPT_AGAIN, words, 5, &reply);
    if (result == STORE_DONE && script_is_fenced(store, reply))
        result = STORE_REFUSED;
    const bool is_lost = result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "lost");
    redis_reply_free(reply);
    if (!is_lost)
        return result;
    (void)snprintf(where, sizeof where, "the store {%.64s} on the Redis server at %s",
                   store->prefix, store->place);
    store->written = 0;
    store_kept_lost(&store->base, where);
    store_begin_grace(&store->base, store->lease_ms);
    return STORE_DONE;
}

/* Whoever writes may have entered it again since it was missed. */
static bool is_forgotten(const struct redis_store *store, const struct redis_reply *found)
{
    const struct redis_reply *const run = redis_reply_item(found, 0);
    if (run == NULL || run->type != REPLY_STRING)
        return true;
    const uint64_t incarnation = strtoull(run->bytes, NULL, 10);
    return incarnation < store->base.incarnation ||
           (incarnation == store->base.incarnation &&
            !redis_reply_is(redis_reply_item(found, 1), "gone"));
}

enum store_result again_judge(struct redis_store *store, const struct redis_reply *reply)
{
    char label[32];
    struct redis_reply *found = NULL;
    if (!script_is_fenced(store, reply))
        return STORE_DONE;
    (void)snprintf(label, sizeof label, "member:%u", (unsigned)store->base.node);
    const struct redis_key key = call_key(store, label, SLICE_NONE);
    const enum store_result result = ASK(store, &found, WORD_OF("HMGET"), call_key_slice(&key),
                                         WORD_OF("incarnation"), WORD_OF("state"));
    const bool is_lost = result == STORE_DONE && is_forgotten(store, found);
    redis_reply_free(found);
    if (result != STORE_DONE)
        return result;
    if (!is_lost)
        return STORE_REFUSED;
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "the store {%.64s} on the Redis server at %s has lost this gateway, which "
                   "enters it again",
                   store->prefix, store->place);
    return STORE_RETRY;
}
