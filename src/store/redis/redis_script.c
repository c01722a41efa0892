#include "store/redis/redis_script.h"

#include "base/assert.h"
#include "store/redis/redis_again.h"
#include "store/redis/redis_budget.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_find.h"
#include "store/redis/redis_lease.h"
#include "store/redis/redis_letters.h"
#include "store/redis/redis_lua.h"
#include "store/redis/redis_offers.h"

#include <stdio.h>
#include <stdlib.h>

#define SOURCE_MAX 65536

/* What a script works on begins with its only key. No row has that name: so a cluster that has taken our slot away, or
 * is moving it, says so (MOVED, ASK, CLUSTERDOWN) before the script has begun, and never in the middle of it.
 *
 * Numbers of rows do not fit into Lua's: they are only compared, as texts. */
static const char begin[] = "#!lua\n";
/* For facts, which are always welcome, and for what needs no more room than is taken already: a full server is no
 * reason to take anybody for dead. */
static const char begin_full[] = "#!lua flags=allow-oom\n";
static const char common[] =
    "local P, call, match = KEYS[1], redis.call, string.match\n"
    "local own = {day = true, tally = true, spent = true, letter = true}\n"
    "local kinds = {'day', 'tally', 'spent', 'solution', 'flight', 'attempt',"
    "    'request', 'idempotency', 'letter'}\n"
    "local function field(row, name)\n"
    "    local _, last = string.find(row, '\"' .. name .. '\":', 1, true)\n"
    "    return last and match(row, '^\"?([%w-]+)', last + 1)\n"
    "end\n"
    "local function is_fenced(node, run)\n"
    "    local it = call('HMGET', P .. 'member:' .. node, 'incarnation', 'state')\n"
    "    return it[1] ~= run or it[2] == 'gone'\n"
    "end\n"
    "local function has_lost(node, written)\n"
    "    return tonumber(call('GET', P .. 'progress:' .. node) or '-1') < tonumber(written)\n"
    "end\n"
    "local function has_ended(node)\n"
    "    local state = call('HGET', P .. 'member:' .. node, 'state')\n"
    "    return state == 'left' or state == 'gone'\n"
    "end\n"
    "local function chests()\n"
    "    local found, all = {}, call('HGETALL', P .. 'chests')\n"
    "    for i = 1, #all, 2 do found[all[i]] = all[i + 1] end\n"
    "    return found\n"
    "end\n"
    "local function owner_of(kind, name)\n"
    "    for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "        if call('ZSCORE', P .. kind .. '@' .. number, name) then return number end\n"
    "    end\n"
    "    for run, number in pairs(chests()) do\n"
    "        if call('ZSCORE', P .. kind .. '@~' .. run, name) then return number end\n"
    "    end\n"
    "end\n";

/* "ok", or who has it: a gateway that has the store for itself, or another one of this name. */
static const char take_lock[] =
    "local name, token, owner, heir, lease = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]\n"
    "local all = call('GET', P .. 'lock')\n"
    "if all and all ~= 'shared' and all ~= heir then return {'single', all} end\n"
    "local mine = call('GET', P .. 'lock:' .. name)\n"
    "if mine and mine ~= heir and string.sub(mine, 1, #owner + 1) ~= owner .. '/' then\n"
    "    return {'taken', mine}\n"
    "end\n"
    "call('SET', P .. 'lock:' .. name, token, 'PX', lease)\n"
    "call('SET', P .. 'lock', 'shared', 'PX', lease)\n"
    "return {'ok'}\n";

/* Rows of a gateway that had the store for itself become those of the first that joins. What the node's run before held
 * of the slots is held until the first beat: its tasks are this one's. */
static const char join[] =
    "local name, lease, schema = ARGV[1], ARGV[2], ARGV[3]\n"
    "local others, number = 0, call('HGET', P .. 'nodes', name)\n"
    "local nodes = call('HGETALL', P .. 'nodes')\n"
    "local used = {}\n"
    "for i = 1, #nodes, 2 do\n"
    "    used[tonumber(nodes[i + 1])] = true\n"
    "    if nodes[i] ~= name and not has_ended(nodes[i + 1]) then\n"
    "        others = others + 1\n"
    "    end\n"
    "end\n"
    "local function version_of(text) return tonumber(match(text or '', ' (%d+)$') or '0') end\n"
    "local there = version_of(call('GET', P .. 'schema'))\n"
    "if there > version_of(schema) then return {'newer'} end\n"
    "for i = 1, there < version_of(schema) and #nodes or 0, 2 do\n"
    "    if nodes[i] ~= name and call('EXISTS', P .. 'lock:' .. nodes[i]) == 1 then\n"
    "        return {'older', nodes[i]}\n"
    "    end\n"
    "end\n"
    "local agreed = call('GET', P .. 'lease')\n"
    "if agreed and agreed ~= lease and others > 0 then return {'lease', agreed} end\n"
    "for i = 1, 511 do\n"
    "    if not number and not used[i] then number = tostring(i) end\n"
    "end\n"
    "if not number then return {'full'} end\n"
    "local before = call('HMGET', P .. 'member:' .. number, 'incarnation', 'state', 'slots')\n"
    "local slots = before[2] and before[2] ~= 'gone' and before[3] or '0'\n"
    "if before[2] == 'up' then fill_chest(before[1], number, number, {'flight'}, 1) end\n"
    "call('SET', P .. 'schema', schema)\n"
    "call('SET', P .. 'lease', lease)\n"
    "local time, last = call('TIME'), tonumber(call('GET', P .. 'incarnation') or '0')\n"
    "local incarnation = string.format('%.0f', math.max(last + 1,\n"
    "    time[1] * 1000 + math.floor(time[2] / 1000)))\n"
    "call('SET', P .. 'incarnation', incarnation)\n"
    "call('HSET', P .. 'nodes', name, number)\n"
    "call('HSET', P .. 'member:' .. number, 'name', name, 'incarnation', incarnation,\n"
    "    'beat', '0', 'state', 'up', 'slots', slots, 'pools', '0', 'parts', '')\n"
    "call('SET', P .. 'progress:' .. number, '0')\n"
    "call('SET', P .. 'facts:' .. number, '0')\n"
    "if call('GET', P .. 'owners') ~= 'nodes' then\n"
    "    for _, kind in ipairs(kinds) do\n"
    "        local index, to = P .. kind, P .. kind .. '@' .. number\n"
    "        for _, row in ipairs(call('ZRANGE', index, 0, -1)) do\n"
    "            if own[kind] and call('EXISTS', index .. ':' .. row) == 1 then\n"
    "                call('RENAME', index .. ':' .. row, to .. ':' .. row)\n"
    "            elseif not own[kind] then\n"
    "                local text = call('GET', index .. ':' .. row)\n"
    "                if text then index_rows(kind, {row}, {text}) end\n"
    "            end\n"
    "        end\n"
    "        if call('EXISTS', index) == 1 then call('RENAME', index, to) end\n"
    "    end\n"
    "    call('SET', P .. 'owners', 'nodes')\n"
    "end\n"
    "return {'ok', number, incarnation}\n";

/* The other way round, when no more than one has ever joined. */
static const char take_back[] =
    "if call('GET', P .. 'owners') ~= 'nodes' then return {'ok'} end\n"
    "local nodes = call('HVALS', P .. 'nodes')\n"
    "if #nodes > 1 then return {'many', tostring(#nodes)} end\n"
    "if next(chests()) then return {'chests'} end\n"
    "for _, number in ipairs(nodes) do\n"
    "    for _, kind in ipairs(kinds) do\n"
    "        local index, from = P .. kind, P .. kind .. '@' .. number\n"
    "        for _, row in ipairs(own[kind] and call('ZRANGE', from, 0, -1) or {}) do\n"
    "            if call('EXISTS', from .. ':' .. row) == 1 then\n"
    "                call('RENAME', from .. ':' .. row, index .. ':' .. row)\n"
    "            end\n"
    "        end\n"
    "        if call('EXISTS', from) == 1 then call('RENAME', from, index) end\n"
    "    end\n"
    "    for _, name in ipairs(call('SMEMBERS', P .. 'claims@' .. number)) do\n"
    "        call('DEL', P .. 'claimed:' .. call('HGET', P .. 'claim:' .. name, 'flight'),\n"
    "            P .. 'claim:' .. name)\n"
    "    end\n"
    "    call('DEL', P .. 'member:' .. number, P .. 'claims@' .. number,\n"
    "        P .. 'progress:' .. number, P .. 'facts:' .. number)\n"
    "end\n"
    "call('DEL', P .. 'nodes')\n"
    "call('SET', P .. 'owners', 'one')\n"
    "return {'ok'}\n";

static const char leave[] =
    "local me, mine = ARGV[1], ARGV[2]\n"
    "if is_fenced(me, mine) then return {'fenced'} end\n"
    "call('HSET', P .. 'member:' .. me, 'state', 'left')\n"
    "for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "    if not has_ended(number) then return {'ok'} end\n"
    "end\n"
    "if call('GET', P .. 'lock') == 'shared' then call('DEL', P .. 'lock') end\n"
    "return {'ok'}\n";

static const char beat[] =
    "local me, mine, slots, pools, lease = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]\n"
    "local member = P .. 'member:' .. me\n"
    "if is_fenced(me, mine) then return {'fenced'} end\n"
    "call('HINCRBY', member, 'beat', 1)\n"
    "call('HSET', member, 'slots', slots, 'pools', pools, 'parts', ARGV[6])\n"
    "local lock = call('GET', P .. 'lock')\n"
    "if not lock or lock == 'shared' then\n"
    "    call('SET', P .. 'lock', 'shared', 'PX', lease)\n"
    "end\n"
    "local found = {'ok'}\n"
    "for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "    local it = call('HMGET', P .. 'member:' .. number, 'incarnation', 'beat', 'slots',\n"
    "        'pools', 'state', 'name', 'parts')\n"
    "    table.insert(it, 1, number)\n"
    "    for i = 1, 8 do it[i] = it[i] or '' end\n"
    "    table.insert(found, it)\n"
    "end\n"
    "return found\n";

/* Each script is made of these. */
#define PARTS_MAX 12
static const char *const sources[REDIS_SCRIPTS][PARTS_MAX] = {
    [SCRIPT_TAKE_LOCK] = {begin, common, take_lock},
    [SCRIPT_JOIN] = {begin, common, lua_index, lua_chest, join},
    [SCRIPT_AGAIN] = {begin, common, redis_again_source},
    [SCRIPT_TAKE_BACK] = {begin, common, take_back},
    [SCRIPT_LEAVE] = {begin_full, common, leave},
    [SCRIPT_BEAT] = {begin_full, common, beat},
    [SCRIPT_WRITE] = {begin, common, lua_index, lua_write_begin, lua_rows, lua_releases,
                      lua_decide_by_key, lua_decide_by_end, redis_offers_source, lua_claim,
                      redis_draw_source, lua_write},
    [SCRIPT_ADOPT] = {begin_full, common, lua_chest, lua_adopt},
    [SCRIPT_EMPTY] = {begin_full, common, lua_empty},
    [SCRIPT_TELL] = {begin_full, common, lua_tell},
    [SCRIPT_INBOX] = {begin_full, common, lua_inbox},
    [SCRIPT_TIDY] = {begin_full, common, lua_tidy},
    [SCRIPT_FIND] = {begin_full, common, redis_find_source},
    [SCRIPT_LETTERS] = {begin_full, common, redis_letters_source},
};

/* ---- running ----------------------------------------------------------------------------- */

/* A server that was restarted has forgotten them, but so has every connection to it ended. */
enum store_result script_ready(struct redis_store *store, enum redis_script script)
{
    struct redis_reply *reply = NULL;
    struct buf text;
    if (store->scripts[script][0] != '\0')
        return STORE_DONE;
    buf_init(&text, SOURCE_MAX);
    for (size_t i = 0; i < PARTS_MAX && sources[script][i] != NULL; i++)
        buf_add(&text, slice_from(sources[script][i]));
    ASSERT(!text.is_full);
    const enum store_result result =
        ASK(store, &reply, WORD_OF("SCRIPT"), WORD_OF("LOAD"), buf_slice(&text));
    buf_close(&text);
    if (result == STORE_DONE)
        (void)snprintf(store->scripts[script], sizeof store->scripts[script], "%.*s",
                       (int)redis_reply_slice(reply).len, redis_reply_slice(reply).data);
    redis_reply_free(reply);
    return result;
}

void script_add(struct redis_store *store, enum redis_script script, const struct slice *words,
                size_t count)
{
    const struct redis_key prefix = call_key(store, "", SLICE_NONE);
    struct slice *const all = malloc((count + 4) * sizeof *all);
    ASSERT(all != NULL);
    all[0] = WORD_OF("EVALSHA");
    all[1] = slice_from(store->scripts[script]);
    all[2] = WORD_OF("1");
    all[3] = call_key_slice(&prefix);
    for (size_t i = 0; i < count; i++)
        all[4 + i] = words[i];
    call_add(store, all, count + 4);
    free(all);
}

/* The look at the lock that a transaction needs: what the script did to it would make the server refuse the next. */
static void watch_again(struct redis_store *store)
{
    redis_reply_free(call_next(store));
    if (store->link != NULL)
        lease_read_watch(store);
}

/* An error is taken as such, and no reply then. */
static enum store_result judge(struct redis_store *store, struct redis_reply **reply)
{
    if ((*reply)->type != REPLY_ERROR)
        return STORE_DONE;
    enum store_result result = STORE_RETRY;
    if (slice_starts_with(redis_reply_slice(*reply), SLICE_OF("NOSCRIPT"))) {
        memset(store->scripts, 0, sizeof store->scripts);
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the Redis server at %s has forgotten our scripts; they are sent again",
                       store->place);
    } else {
        result = call_judge(store, *reply);
    }
    redis_reply_free(*reply);
    *reply = NULL;
    return result;
}

enum store_result script_take(struct redis_store *store, struct redis_reply **reply)
{
    *reply = call_next(store);
    return *reply == NULL ? STORE_RETRY : judge(store, reply);
}

enum store_result script_run(struct redis_store *store, enum redis_script script,
                             const struct slice *words, size_t count, struct redis_reply **reply)
{
    *reply = NULL;
    const enum store_result result = script_ready(store, script);
    if (result != STORE_DONE)
        return result;
    call_begin(store);
    script_add(store, script, words, count);
    CALL(store, WORD_OF("UNWATCH"));
    if (store->node[0] != '\0')
        lease_add_watch(store);
    *reply = call_next(store);
    if (*reply == NULL)
        return STORE_RETRY;
    if (store->node[0] != '\0')
        watch_again(store);
    else
        redis_reply_free(call_next(store));
    return judge(store, reply);
}

bool script_is_fenced(struct redis_store *store, const struct redis_reply *reply)
{
    if (!redis_reply_is(redis_reply_item(reply, 0), "fenced"))
        return false;
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "another gateway has taken this one's place in the store {%.64s}: it was silent "
                   "for longer than cluster.lease, or two run under one cluster.node",
                   store->prefix);
    return true;
}
