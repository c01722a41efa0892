#include "store/redis/redis_script.h"

#include "base/assert.h"
#include "store/redis/redis_again.h"
#include "store/redis/redis_budget.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_find.h"
#include "store/redis/redis_lease.h"
#include "store/redis/redis_letters.h"
#include "store/redis/redis_lua.h"

#include <stdio.h>
#include <stdlib.h>

/* How long the end of a claim is remembered for those who follow it. */
#define END_KEPT_MS "60000"
#define SOURCE_MAX 65536

/* Numbers of rows do not fit into Lua's: they are only compared, as texts. */
static const char begin[] = "#!lua\n";
/* For facts, which are always welcome, and for what needs no more room than is taken already: a full server is no
 * reason to take anybody for dead. */
static const char begin_full[] = "#!lua flags=allow-oom\n";
static const char common[] =
    "local P, call, match = ARGV[1], redis.call, string.match\n"
    "local own = {day = true, tally = true, spent = true, letter = true}\n"
    "local kinds = {'day', 'tally', 'spent', 'solution', 'flight', 'attempt',"
    "    'request', 'idempotency', 'letter'}\n"
    "local function field(row, name)\n"
    "    return match(row, '\"' .. name .. '\":\"?([%w-]+)')\n"
    "end\n"
    "local function is_fenced(node, run)\n"
    "    local it = call('HMGET', P .. 'member:' .. node, 'incarnation', 'state')\n"
    "    return it[1] ~= run or it[2] == 'gone'\n"
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
    "local name, token, owner, heir, lease = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]\n"
    "local all = call('GET', P .. 'lock')\n"
    "if all and all ~= 'shared' and all ~= heir then return {'single', all} end\n"
    "local mine = call('GET', P .. 'lock:' .. name)\n"
    "if mine and mine ~= heir and string.sub(mine, 1, #owner + 1) ~= owner .. '/' then\n"
    "    return {'taken', mine}\n"
    "end\n"
    "call('SET', P .. 'lock:' .. name, token, 'PX', lease)\n"
    "call('SET', P .. 'lock', 'shared', 'PX', lease)\n"
    "return {'ok'}\n";

/* Rows of a gateway that had the store for itself become those of the first that joins. */
static const char index_row[] =
    "local function index_row(kind, name, row)\n"
    "    if kind == 'solution' then\n"
    "        call('ZADD', P .. 'of:' .. field(row, 'key'), field(row, 'expires'), name)\n"
    "        local flight = field(row, 'flight')\n"
    "        if flight ~= '0' then call('SET', P .. 'solved:' .. flight, name, 'PX', "
    "            86400000) end\n"
    "    elseif kind == 'attempt' then\n"
    "        local key = P .. 'solving:' .. field(row, 'flight')\n"
    "        if field(row, 'closed') == '0' and match(row, '\"task\":\"[^\"]') then\n"
    "            call('SET', key, name)\n"
    "        elseif call('GET', key) == name then\n"
    "            call('DEL', key)\n"
    "        end\n"
    "    elseif kind == 'idempotency' and field(row, 'solution') ~= '0' then\n"
    "        call('SET', P .. 'bound:' .. field(row, 'solution'), name, 'PX', 86400000)\n"
    "    end\n"
    "end\n";

static const char join[] =
    "local name, lease = ARGV[2], ARGV[3]\n"
    "local others, number = 0, call('HGET', P .. 'nodes', name)\n"
    "local nodes = call('HGETALL', P .. 'nodes')\n"
    "local used = {}\n"
    "for i = 1, #nodes, 2 do\n"
    "    used[tonumber(nodes[i + 1])] = true\n"
    "    if nodes[i] ~= name and not has_ended(nodes[i + 1]) then\n"
    "        others = others + 1\n"
    "    end\n"
    "end\n"
    "local agreed = call('GET', P .. 'lease')\n"
    "if agreed and agreed ~= lease and others > 0 then return {'lease', agreed} end\n"
    "for i = 1, 511 do\n"
    "    if not number and not used[i] then number = tostring(i) end\n"
    "end\n"
    "if not number then return {'full'} end\n"
    "local before = call('HMGET', P .. 'member:' .. number, 'incarnation', 'state')\n"
    "if before[2] == 'up' then fill_chest(before[1], number, number, {'flight'}, 1) end\n"
    "call('SET', P .. 'lease', lease)\n"
    "local time, last = call('TIME'), tonumber(call('GET', P .. 'incarnation') or '0')\n"
    "local incarnation = string.format('%.0f', math.max(last + 1,\n"
    "    time[1] * 1000 + math.floor(time[2] / 1000)))\n"
    "call('SET', P .. 'incarnation', incarnation)\n"
    "call('HSET', P .. 'nodes', name, number)\n"
    "call('HSET', P .. 'member:' .. number, 'name', name, 'incarnation', incarnation,\n"
    "    'beat', '0', 'state', 'up', 'slots', '0', 'pools', '0', 'parts', '')\n"
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
    "                if text then index_row(kind, row, text) end\n"
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
    "local me, mine = ARGV[2], ARGV[3]\n"
    "if is_fenced(me, mine) then return {'fenced'} end\n"
    "call('HSET', P .. 'member:' .. me, 'state', 'left')\n"
    "for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "    if not has_ended(number) then return {'ok'} end\n"
    "end\n"
    "if call('GET', P .. 'lock') == 'shared' then call('DEL', P .. 'lock') end\n"
    "return {'ok'}\n";

static const char beat[] =
    "local me, mine, slots, pools, lease = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]\n"
    "local member = P .. 'member:' .. me\n"
    "if is_fenced(me, mine) then return {'fenced'} end\n"
    "call('HINCRBY', member, 'beat', 1)\n"
    "call('HSET', member, 'slots', slots, 'pools', pools, 'parts', ARGV[7])\n"
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

/* ---- batches ----------------------------------------------------------------------------- */

static const char write_begin[] =
    "local me, mine, number, name, token, lease =\n"
    "    ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]\n"
    "if is_fenced(me, mine) then return {'fenced'} end\n"
    "local time = call('TIME')\n"
    "local now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
    "    - tonumber(call('HGET', P .. 'clock', 'moved') or '0')\n"
    "if call('GET', P .. 'lock:' .. name) == token then\n"
    "    call('PEXPIRE', P .. 'lock:' .. name, lease)\n"
    "end\n"
    "local is_new = number > tonumber(call('GET', P .. 'progress:' .. me) or '0')\n"
    "if is_new then call('SET', P .. 'progress:' .. me, ARGV[4]) end\n";

/* Nobody overwrites or drops what another node owns. */
static const char write_rows[] =
    "local function row_of(kind, name)\n"
    "    return P .. kind .. (own[kind] and '@' .. me or '') .. ':' .. name\n"
    "end\n"
    "local function put(kind, name, body, score, px)\n"
    "    local key, index = row_of(kind, name), P .. kind .. '@' .. me\n"
    "    if not call('ZSCORE', index, name) and call('EXISTS', key) == 1 then return end\n"
    "    if px == '0' then call('SET', key, body) else call('SET', key, body, 'PX', px) end\n"
    "    call('ZADD', index, score, name)\n"
    "    index_row(kind, name, body)\n"
    "end\n"
    "local function drop(kind, name)\n"
    "    local key, index = row_of(kind, name), P .. kind .. '@' .. me\n"
    "    if not call('ZSCORE', index, name) then return end\n"
    "    local row = (kind == 'solution' or kind == 'attempt') and call('GET', key)\n"
    "    if row and kind == 'solution' then\n"
    "        call('ZREM', P .. 'of:' .. (field(row, 'key') or ''), name)\n"
    "    elseif row then\n"
    "        local solving = P .. 'solving:' .. (field(row, 'flight') or '')\n"
    "        if call('GET', solving) == name then call('DEL', solving) end\n"
    "    end\n"
    "    call('DEL', key)\n"
    "    call('ZREM', index, name)\n"
    "end\n";

static const char write_releases[] =
    "local function drop_claim(name, flight)\n"
    "    call('DEL', P .. 'claim:' .. name, P .. 'claimed:' .. flight)\n"
    "    call('SREM', P .. 'claims@' .. me, name)\n"
    "end\n"
    "local function has_claim(name, flight)\n"
    "    return call('HGET', P .. 'claim:' .. name, 'flight') == flight and\n"
    "        call('SISMEMBER', P .. 'claims@' .. me, name) == 1\n"
    "end\n"
    "local function release(name, flight, solution, kept, attempts, class, code, keep)\n"
    "    if not has_claim(name, flight) then return end\n"
    "    local ended = P .. (kept == '1' and 'kept:' or 'ended:') .. flight\n"
    "    if kept ~= '1' then\n"
    "        drop_claim(name, flight)\n"
    "        call('DEL', P .. 'solving:' .. flight)\n"
    "    end\n"
    "    call('DEL', ended)\n"
    "    call('HSET', ended, 'class', class, 'code', code, 'attempts', attempts)\n"
    "    local row = solution ~= '0' and call('GET', P .. 'solution:' .. solution)\n"
    "    if row then call('HSET', ended, 'solution', row) end\n"
    "    call('PEXPIRE', ended, " END_KEPT_MS ")\n"
    "    if keep ~= '0' and class ~= 'none' then\n"
    "        local refused = P .. 'refused:' .. name\n"
    "        call('HSET', refused, 'class', class, 'code', code, 'attempts', attempts)\n"
    "        call('PEXPIRE', refused, keep)\n"
    "    end\n"
    "    for _, digest in ipairs(call('SMEMBERS', P .. 'provisional:' .. flight)) do\n"
    "        local bound = call('GET', P .. 'idempotency:' .. digest)\n"
    "        if bound and field(bound, 'provisional') and field(bound, 'flight') == flight then\n"
    "            call('DEL', P .. 'idempotency:' .. digest)\n"
    "            call('ZREM', P .. 'idempotency@' .. me, digest)\n"
    "        end\n"
    "    end\n"
    "    call('DEL', P .. 'provisional:' .. flight)\n"
    "end\n";

static const char decide_by_key[] =
    "local function is_fresh(row)\n"
    "    return row and (tonumber(field(row, 'expires')) or 0) > now\n"
    "end\n"
    "local function follow(c, flight)\n"
    "    c.result, c.followed = 'follow', flight\n"
    "    c.own = tostring(call('SISMEMBER', P .. 'claims@' .. me,\n"
    "        call('GET', P .. 'claimed:' .. flight)))\n"
    "    c.solving = tostring(call('EXISTS', P .. 'solving:' .. flight))\n"
    "end\n"
    "local function solve(c, row) c.result, c.row = 'solved', row end\n"
    "local function solution_of(flight)\n"
    "    local id = call('GET', P .. 'solved:' .. flight)\n"
    "    return id and call('GET', P .. 'solution:' .. id)\n"
    "        or call('HGET', P .. 'kept:' .. flight, 'solution')\n"
    "        or call('HGET', P .. 'ended:' .. flight, 'solution')\n"
    "end\n"
    "local function claimed(flight)\n"
    "    return call('EXISTS', P .. 'claimed:' .. flight) == 1 and flight\n"
    "end\n"
    "local function decide_by_key(c)\n"
    "    local bound = call('GET', P .. 'idempotency:' .. c.digest)\n"
    "    if not is_fresh(bound) then return end\n"
    "    if field(bound, 'fingerprint') ~= c.key then\n"
    "        c.result = 'mismatch'\n"
    "        return\n"
    "    end\n"
    "    local flight, solution = field(bound, 'flight'), field(bound, 'solution')\n"
    "    if flight == c.flight then return end\n"
    "    local row = solution ~= '0' and call('GET', P .. 'solution:' .. solution)\n"
    "    local followed, other = false, field(bound, 'followed')\n"
    "    if flight ~= '0' then\n"
    "        row = row or solution_of(flight) or other and solution_of(other)\n"
    "        followed = claimed(flight) or other and claimed(other)\n"
    "        if not followed and c.reuse == 'shared' then\n"
    "            followed = call('HGET', P .. 'claim:' .. c.name, 'flight')\n"
    "        end\n"
    "    end\n"
    "    if is_fresh(row) then\n"
    "        solve(c, row)\n"
    "    elseif followed then\n"
    "        follow(c, followed)\n"
    "    else\n"
    "        c.renewed = row and '1' or '0'\n"
    "        return\n"
    "    end\n"
    "    c.replayed = '1'\n"
    "end\n";

static const char decide_by_end[] =
    "local function refuse(c, key)\n"
    "    local end_ = call('HMGET', key, 'class', 'code', 'attempts')\n"
    "    if not end_[1] or end_[1] == 'none' then return end\n"
    "    c.result, c.class, c.code, c.attempts = 'refused', end_[1], end_[2], end_[3]\n"
    "end\n"
    "local function decide_by_end(c)\n"
    "    if c.following ~= '0' then\n"
    "        local kept = call('HGET', P .. 'kept:' .. c.following, 'solution')\n"
    "        local row = is_fresh(kept) and kept or\n"
    "            call('HGET', P .. 'ended:' .. c.following, 'solution')\n"
    "        if row then solve(c, row) else refuse(c, P .. 'ended:' .. c.following) end\n"
    "    end\n"
    "    if not c.result and c.reuse == 'shared' then refuse(c, P .. 'refused:' .. c.key) end\n"
    "end\n";

static const char decide_by_solution[] =
    "local function suits(c, row)\n"
    "    return field(row, 'kept') == '1' and is_fresh(row) and\n"
    "        tonumber(field(row, 'expires')) - now >= c.min_ttl and\n"
    "        now - (tonumber(field(row, 'born')) or 0) <= c.max_age\n"
    "end\n"
    "local function take(c, id, row)\n"
    "    for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "        local index = P .. 'solution@' .. number\n"
    "        local score = number ~= me and call('ZSCORE', index, id)\n"
    "        if score and call('HGET', P .. 'member:' .. number, 'state') == 'left' then\n"
    "            call('ZREM', index, id)\n"
    "            call('ZADD', P .. 'solution@' .. me, score, id)\n"
    "            call('SET', P .. 'taken:' .. id, c.flight, 'PX', 86400000)\n"
    "            call('SET', P .. 'taken_by:' .. c.flight, id, 'PX', 86400000)\n"
    "            c.result, c.row = 'taken', row\n"
    "            return\n"
    "        end\n"
    "    end\n"
    "end\n"
    "local function decide_by_solution(c)\n"
    "    if c.reuse ~= 'shared' and c.reuse ~= 'single' then return end\n"
    "    local taken = call('GET', P .. 'taken_by:' .. c.flight)\n"
    "    local row = taken and call('GET', P .. 'solution:' .. taken)\n"
    "    if row then\n"
    "        c.result, c.row = 'taken', row\n"
    "        return\n"
    "    end\n"
    "    local of = P .. 'of:' .. c.key\n"
    "    local ids = call(c.reuse == 'shared' and 'ZREVRANGE' or 'ZRANGE', of, 0, -1)\n"
    "    for _, id in ipairs(ids) do\n"
    "        row = call('GET', P .. 'solution:' .. id)\n"
    "        if not row then\n"
    "            call('ZREM', of, id)\n"
    "        elseif suits(c, row) and c.reuse == 'shared' and field(row, 'shared') == '1' then\n"
    "            solve(c, row)\n"
    "        elseif suits(c, row) and c.reuse == 'single' and field(row, 'shared') == '0' and\n"
    "            field(row, 'handed') == '0' and\n"
    "            call('EXISTS', P .. 'taken:' .. id, P .. 'bound:' .. id) == 0 then\n"
    "            take(c, id, row)\n"
    "        end\n"
    "        if c.result then return end\n"
    "    end\n"
    "end\n";

static const char claim_name[] =
    "local function claim_name(c)\n"
    "    c.result = 'won'\n"
    "    if c.name == '' then return end\n"
    "    local held = call('HGET', P .. 'claim:' .. c.name, 'flight')\n"
    "    if held and held ~= c.flight then\n"
    "        follow(c, held)\n"
    "    elseif not held then\n"
    "        call('HSET', P .. 'claim:' .. c.name, 'flight', c.flight)\n"
    "        call('SET', P .. 'claimed:' .. c.flight, c.name)\n"
    "        call('SADD', P .. 'claims@' .. me, c.name)\n"
    "    end\n"
    "end\n"
    "local function bind_key(c, body, score, px)\n"
    "    local bound = call('GET', P .. 'idempotency:' .. c.digest)\n"
    "    local followed = c.result == 'follow' and c.followed\n"
    "    if bound and field(bound, 'flight') == c.flight and not (followed and\n"
    "        field(bound, 'provisional') and field(bound, 'followed') ~= followed) then\n"
    "        return\n"
    "    end\n"
    "    if followed then\n"
    "        body = string.sub(body, 1, -2) .. ',\"followed\":' .. followed .. '}'\n"
    "    end\n"
    "    for _, number in ipairs(call('HVALS', P .. 'nodes')) do\n"
    "        call('ZREM', P .. 'idempotency@' .. number, c.digest)\n"
    "    end\n"
    "    for run in pairs(chests()) do\n"
    "        call('ZREM', P .. 'idempotency@~' .. run, c.digest)\n"
    "    end\n"
    "    call('SET', P .. 'idempotency:' .. c.digest, body, 'PX', px)\n"
    "    call('ZADD', P .. 'idempotency@' .. me, score, c.digest)\n"
    "    call('SADD', P .. 'provisional:' .. c.flight, c.digest)\n"
    "    call('PEXPIRE', P .. 'provisional:' .. c.flight, px)\n"
    "end\n"
    "local function decide(c, body, score, px)\n"
    "    if c.digest ~= '' then decide_by_key(c) end\n"
    "    if not c.result then decide_by_end(c) end\n"
    "    if not c.result then decide_by_solution(c) end\n"
    "    if not c.result then claim_name(c) end\n"
    "    if c.result ~= 'won' and c.name ~= '' and has_claim(c.name, c.flight) then\n"
    "        drop_claim(c.name, c.flight)\n"
    "    end\n"
    "    if c.digest ~= '' and c.replayed == '0' and c.result ~= 'refused' and\n"
    "        c.result ~= 'mismatch' then\n"
    "        bind_key(c, body, score, px)\n"
    "    end\n"
    "    return {c.place, c.result, c.followed, c.own, c.solving, c.replayed, c.renewed,\n"
    "        c.attempts, c.class, c.code, c.row or ''}\n"
    "end\n";

/* Rows come first and claims last, as in every driver; those who follow are told at the end, and hear of it when all of
 * this is on the disk. */
static const char write_batch[] =
    "local A, i, found, woken = ARGV, 8, {'ok'}, {}\n"
    "while i <= #A do\n"
    "    local what = A[i]\n"
    "    if what == 'put' then\n"
    "        if is_new then put(A[i + 1], A[i + 2], A[i + 3], A[i + 4], A[i + 5]) end\n"
    "        i = i + 6\n"
    "    elseif what == 'drop' then\n"
    "        if is_new then drop(A[i + 1], A[i + 2]) end\n"
    "        i = i + 3\n"
    "    elseif what == 'release' then\n"
    "        if is_new then\n"
    "            release(A[i + 1], A[i + 2], A[i + 3], A[i + 4], A[i + 5], A[i + 6], A[i + 7],\n"
    "                A[i + 8])\n"
    "        end\n"
    "        table.insert(woken, A[i + 1])\n"
    "        i = i + 9\n"
    "    elseif what == 'forget' then\n"
    "        if is_new then\n"
    "            call('DEL', P .. 'fact:' .. A[i + 1])\n"
    "            call('ZREM', P .. 'inbox', A[i + 1])\n"
    "        end\n"
    "        i = i + 2\n"
    "    elseif what == 'draw' then\n"
    "        table.insert(found, draw({place = A[i + 1], client = A[i + 2], day = A[i + 3],\n"
    "            budget = tonumber(A[i + 4]), before = tonumber(A[i + 5]),\n"
    "            used = tonumber(A[i + 6]), need = tonumber(A[i + 7]),\n"
    "            block = tonumber(A[i + 8])}))\n"
    "        i = i + 9\n"
    "    else\n"
    "        local c = {place = A[i + 1], flight = A[i + 2], following = A[i + 3],\n"
    "            reuse = A[i + 4], key = A[i + 5], name = A[i + 6], digest = A[i + 7],\n"
    "            min_ttl = tonumber(A[i + 8]), max_age = tonumber(A[i + 9]), followed = '0',\n"
    "            own = '0', solving = '0', replayed = '0', renewed = '0', attempts = '0',\n"
    "            class = 'none', code = ''}\n"
    "        table.insert(found, decide(c, A[i + 10], A[i + 11], A[i + 12]))\n"
    "        i = i + 13\n"
    "    end\n"
    "end\n"
    "if #woken > 0 then call('PUBLISH', P .. 'woken', table.concat(woken)) end\n"
    "return found\n";

/* Each script is made of these. */
#define PARTS_MAX 12
static const char *const sources[REDIS_SCRIPTS][PARTS_MAX] = {
    [SCRIPT_TAKE_LOCK] = {begin, common, take_lock},
    [SCRIPT_JOIN] = {begin, common, index_row, lua_chest, join},
    [SCRIPT_AGAIN] = {begin, common, redis_again_source},
    [SCRIPT_TAKE_BACK] = {begin, common, take_back},
    [SCRIPT_LEAVE] = {begin_full, common, leave},
    [SCRIPT_BEAT] = {begin_full, common, beat},
    [SCRIPT_WRITE] = {begin, common, index_row, write_begin, write_rows, write_releases,
                      decide_by_key, decide_by_end, decide_by_solution, claim_name,
                      redis_draw_source, write_batch},
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
    all[2] = WORD_OF("0");
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
