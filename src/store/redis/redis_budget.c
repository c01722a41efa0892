#include "store/redis/redis_budget.h"

#include <solvegate/budgets.h>

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
