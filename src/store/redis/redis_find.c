#include "store/redis/redis_find.h"

#include "base/assert.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"
#include "store/store_find.h"

#include <stdlib.h>

#define NUMBER_MAX 32
/* The script's answer begins with "ok" and how far the stored times are from the wall clock's. */
#define FIRST_ITEMS 2

/* The parameters of a flight may be a large image that nobody wants here. A quotation mark inside of them is escaped,
 * so that no member's name can be found there. */
const char redis_find_source[] =
    "local found = {'ok', call('HGET', P .. 'clock', 'moved') or '0'}\n"
    "local function without_params(row)\n"
    "    local first = string.find(row, ',\"params\":', 1, true)\n"
    "    local next = first and string.find(row, ',\"max_retries\":', first, true)\n"
    "    if not next then return row end\n"
    "    return string.sub(row, 1, first - 1) .. string.sub(row, next)\n"
    "end\n"
    "for i = 1, #ARGV do\n"
    "    local request = call('GET', P .. 'request:' .. ARGV[i])\n"
    "    local flight, solution, solving = '', '', '0'\n"
    "    if request then\n"
    "        local id, of = field(request, 'solution'), field(request, 'flight')\n"
    "        if of ~= '0' then\n"
    "            flight = without_params(call('GET', P .. 'flight:' .. of) or '')\n"
    "            solving = tostring(call('EXISTS', P .. 'solving:' .. of))\n"
    "            id = call('GET', P .. 'solved:' .. of) or '0'\n"
    "        end\n"
    "        local row = id ~= '0' and call('GET', P .. 'solution:' .. id)\n"
    "        if row and owner_of('request', ARGV[i]) == owner_of('solution', id) and\n"
    "            (field(row, 'shared') == '1' or field(row, 'handed') ~= '0') then\n"
    "            solution = row\n"
    "        end\n"
    "    end\n"
    "    table.insert(found, {request or '', flight, solution, solving})\n"
    "end\n"
    "return found\n";

/* A row that makes no sense is as good as none. */
static bool take_row(const struct redis_store *store, const struct redis_reply *text,
                     enum record_kind kind, struct record *record, const char *wanted)
{
    struct redis_body body;
    struct slice client;
    const struct slice json = text == NULL ? SLICE_NONE : redis_reply_slice(text);
    if (json.len == 0)
        return false;
    body_read(&body, json, kind, store->moved_ms);
    *record = (struct record){.kind = kind};
    const bool is_sound = row_from_values(body.values, record, &client) &&
                          (wanted == NULL || slice_equals(client, slice_from(wanted)));
    if (!is_sound)
        record_close(record);
    body_close(&body);
    return is_sound;
}

static void take_rows(const struct redis_store *store, const struct redis_reply *reply,
                      struct store_sought *sought)
{
    const struct redis_reply *const solving = redis_reply_item(reply, 3);
    sought->has_request = take_row(store, redis_reply_item(reply, 0), RECORD_REQUEST,
                                   &sought->request, sought->client);
    if (!sought->has_request)
        return;
    sought->has_flight =
        take_row(store, redis_reply_item(reply, 1), RECORD_FLIGHT, &sought->flight, NULL);
    sought->has_solution =
        take_row(store, redis_reply_item(reply, 2), RECORD_SOLUTION, &sought->solution, NULL);
    sought->is_solving = redis_reply_is(solving, "1");
}

static enum store_result ask(struct redis_store *store, const struct store_sought *sought,
                             uint32_t count, struct redis_reply **reply)
{
    char(*const texts)[NUMBER_MAX] = malloc(count * sizeof *texts);
    struct slice *const words = malloc(count * sizeof *words);
    ASSERT(texts != NULL && words != NULL);
    for (uint32_t i = 0; i < count; i++)
        words[i] = call_number(texts[i], (int64_t)sought[i].find.id);
    const enum store_result result = script_run(store, SCRIPT_FIND, words, count, reply);
    free(words);
    free(texts);
    return result;
}

enum store_result redis_find(struct store_backend *reader, struct store_sought *sought,
                             uint32_t count)
{
    struct redis_store *const store = redis_store_of(reader);
    struct redis_reply *reply = NULL;
    enum store_result result = store->link == NULL ? session_connect(store, 0) : STORE_DONE;
    if (result == STORE_DONE)
        result = ask(store, sought, count, &reply);
    if (result != STORE_DONE) {
        call_disconnect(store);
        return result;
    }
    const struct redis_reply *const moved = redis_reply_item(reply, 1);
    store->moved_ms = moved == NULL ? 0 : strtoll(redis_reply_slice(moved).data, NULL, 10);
    for (uint32_t i = 0; i < count; i++) {
        const struct redis_reply *const item = redis_reply_item(reply, FIRST_ITEMS + i);
        if (item != NULL)
            take_rows(store, item, &sought[i]);
    }
    redis_reply_free(reply);
    return STORE_DONE;
}
