#include "store/redis/redis_budget.h"

#include "store/redis/redis_call.h"
#include "store/redis/redis_reply.h"
#include "store/redis/redis_session.h"

#include <solvegate/budgets.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Eight days, since a node's clock may be off by some hours. */
#define BUDGET_KEPT_MS "691200000"

#define TO_TEXT(number) #number
#define TEXT_OF(number) TO_TEXT(number)

/* A hash for each client's day, with what each node has: its run, what its earlier runs had, and what this one has.
 * Small numbers, so that Lua's are exact. */
const char redis_draw_source[] =
    "local function draw(d)\n"
    "    local key = P .. 'budget:' .. d.day .. ':' .. d.client\n"
    "    local all, others, earlier = call('HGETALL', key), 0, d.before\n"
    "    for n = 1, #all, 2 do\n"
    "        local run, old, had = match(all[n + 1], '^(%d+) (%d+) (%d+)$')\n"
    "        if all[n] ~= me then\n"
    "            others = others + old + had\n"
    "        elseif run == mine then\n"
    "            earlier = tonumber(old)\n"
    "        else\n"
    "            earlier = math.max(old + had, d.before)\n"
    "        end\n"
    "    end\n"
    "    local room = math.max(d.budget - others - earlier, 0)\n"
    "    local held = math.min(d.used + d.need, room)\n"
    "    held = held + math.min(math.floor((room - held) / " TEXT_OF(
        BUDGET_BLOCK_PART) "),"
                           " d.block)\n"
                           "    held = math.max(held, d.used)\n"
                           "    call('HSET', key, me, mine .. string.format(' "
                           "%.0f %.0f', earlier, held))\n"
                           "    call('PEXPIRE', key, " BUDGET_KEPT_MS ")\n"
                           "    return {d.place, string.format('%.0f', held), "
                           "string.format('%.0f', math.max(room - held, 0))}\n"
                           "end\n";

/* ---- the sum ----------------------------------------------------------------------------- */

/* Of fields "run earlier held"; one that makes no sense counts as what can be read of it. */
static uint64_t sum_of(const struct redis_reply *all)
{
    uint64_t sum = 0;
    for (size_t i = 0; redis_reply_item(all, i) != NULL; i++) {
        const struct slice field = redis_reply_slice(redis_reply_item(all, i));
        char *next = NULL;
        if (!slice_is_given(field))
            continue;
        (void)strtoull(field.data, &next, 10);
        sum += strtoull(next, &next, 10);
        sum += strtoull(next, NULL, 10);
    }
    return sum;
}

static void ask_all(struct redis_store *store, int64_t day, const struct store_budget *budgets,
                    uint32_t count)
{
    call_begin(store);
    for (uint32_t i = 0; i < count; i++) {
        char rest[STORE_NAME_MAX + 32];
        (void)snprintf(rest, sizeof rest, "%" PRId64 ":%s", day, budgets[i].client);
        const struct redis_key key = call_key(store, "budget", slice_from(rest));
        CALL(store, WORD_OF("HVALS"), call_key_slice(&key));
    }
}

enum store_result redis_sum_drawn(struct store_backend *reader, int64_t day,
                                  struct store_budget *budgets, uint32_t count)
{
    struct redis_store *const store = redis_store_of(reader);
    enum store_result result = store->link == NULL ? session_connect(store, 0) : STORE_DONE;
    if (result == STORE_DONE)
        ask_all(store, day, budgets, count);
    for (uint32_t i = 0; i < count && result == STORE_DONE; i++) {
        struct redis_reply *const all = call_next(store);
        if (all == NULL)
            result = STORE_RETRY;
        else if (all->type == REPLY_ERROR)
            result = call_judge(store, all);
        else
            budgets[i].drawn = sum_of(all);
        redis_reply_free(all);
    }
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}
