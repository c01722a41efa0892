#include "store/redis/redis_letters.h"

#include "base/assert.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_names.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"

#include <stdio.h>
#include <stdlib.h>

#define NUMBER_MAX 32
/* The script's answer begins with "ok" and how far the stored times are from the wall clock's. */
#define FIRST_ITEMS 2

/* Parameters and solutions may be large, and nobody wants them in a list. A quotation mark inside of them is escaped,
 * so that no member's name can be found there. What a chest has is its heir's, under the name of the dead. */
const char redis_letters_source[] =
    "local found = {'ok', call('HGET', P .. 'clock', 'moved') or '0'}\n"
    "local is_full, nodes, all = ARGV[1] == '1', call('HVALS', P .. 'nodes'), chests()\n"
    "local function cut(row, name, ...)\n"
    "    local first = string.find(row, ',\"' .. name .. '\":', 1, true)\n"
    "    for _, next_ in ipairs(first and {...} or {}) do\n"
    "        local last = string.find(row, ',\"' .. next_ .. '\":', first, true)\n"
    "        if last then return string.sub(row, 1, first - 1) .. string.sub(row, last) end\n"
    "    end\n"
    "    return row\n"
    "end\n"
    "local function look(number)\n"
    "    for _, node in ipairs(nodes) do\n"
    "        local index = P .. 'letter@' .. node\n"
    "        if call('ZSCORE', index, number) then\n"
    "            return node, call('GET', index .. ':' .. number)\n"
    "        end\n"
    "    end\n"
    "    for run, heir in pairs(all) do\n"
    "        if call('ZSCORE', P .. 'letter@~' .. run, number) then\n"
    "            local dead = call('HGET', P .. 'chest:' .. run, 'node')\n"
    "            return heir, call('GET', P .. 'letter@' .. dead .. ':' .. number)\n"
    "        end\n"
    "    end\n"
    "end\n"
    "for i = 2, #ARGV do\n"
    "    local node, row = look(ARGV[i])\n"
    "    if row and not is_full then\n"
    "        row = cut(cut(row, 'params', 'kind'), 'text', 'task', 'extra', 'fresh')\n"
    "    end\n"
    "    if row then table.insert(found, {node, row}) end\n"
    "end\n"
    "return found\n";

static enum store_result ready(struct redis_store *store)
{
    return store->link == NULL ? session_connect(store, 0) : STORE_DONE;
}

/* ---- numbers ----------------------------------------------------------------------------- */

struct numbers {
    struct redis_store *store;
    void (*on_number)(void *context, uint64_t number);
    void *context;
};

static enum store_result give_index(const struct numbers *to, const char *sign, struct slice owner)
{
    char label[64];
    struct redis_names names = {.count = 0};
    (void)snprintf(label, sizeof label, "letter@%s%.*s", sign, (int)owner.len, owner.data);
    const struct redis_key index = call_key(to->store, label, SLICE_NONE);
    const enum store_result result = names_read_from(to->store, &index, RECORD_LETTER, &names);
    for (size_t i = 0; i < names.count && result == STORE_DONE; i++)
        to->on_number(to->context, (uint64_t)names.all[i].number);
    names_close(&names);
    return result;
}

/* The command lists nodes, or the runs that chests are named by. */
static enum store_result give_all(const struct numbers *to, struct slice command, const char *of,
                                  const char *sign)
{
    struct redis_reply *reply = NULL;
    const struct redis_key key = call_key(to->store, of, SLICE_NONE);
    enum store_result result = ASK(to->store, &reply, command, call_key_slice(&key));
    for (size_t i = 0; result == STORE_DONE && redis_reply_item(reply, i) != NULL; i++)
        if (call_is_name(redis_reply_item(reply, i)))
            result = give_index(to, sign, redis_reply_slice(redis_reply_item(reply, i)));
    redis_reply_free(reply);
    return result;
}

/* Chests first: what moves from one to its heir meanwhile comes twice at the worst, but is not missed. */
enum store_result redis_letter_numbers(struct store_backend *reader,
                                       void (*on_number)(void *context, uint64_t number),
                                       void *context)
{
    struct redis_store *const store = redis_store_of(reader);
    const struct numbers to = {.store = store, .on_number = on_number, .context = context};
    enum store_result result = ready(store);
    if (result == STORE_DONE)
        result = give_all(&to, WORD_OF("HKEYS"), "chests", "~");
    if (result == STORE_DONE)
        result = give_all(&to, WORD_OF("HVALS"), "nodes", "");
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}

/* ---- rows -------------------------------------------------------------------------------- */

static enum store_result ask(struct redis_store *store, const uint64_t *numbers, uint32_t count,
                             bool is_full, struct redis_reply **reply)
{
    char(*const texts)[NUMBER_MAX] = malloc(count * sizeof *texts);
    struct slice *const words = malloc((count + 1) * sizeof *words);
    ASSERT(texts != NULL && words != NULL);
    words[0] = is_full ? WORD_OF("1") : WORD_OF("0");
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(texts[i], NUMBER_MAX, "%llu", (unsigned long long)numbers[i]);
        words[i + 1] = slice_from(texts[i]);
    }
    const enum store_result result = script_run(store, SCRIPT_LETTERS, words, count + 1, reply);
    free(words);
    free(texts);
    return result;
}

static void give_letter(const struct redis_store *store, const struct redis_reply *item,
                        store_on_letter *on_letter, void *context)
{
    const struct redis_reply *const node = redis_reply_item(item, 0);
    const struct redis_reply *const row = redis_reply_item(item, 1);
    struct redis_body body;
    if (node == NULL || row == NULL)
        return;
    body_read(&body, redis_reply_slice(row), RECORD_LETTER, store->moved_ms);
    on_letter(context, (uint16_t)strtoul(redis_reply_slice(node).data, NULL, 10), body.values);
    body_close(&body);
}

enum store_result redis_letters(struct store_backend *reader, const uint64_t *numbers,
                                uint32_t count, bool is_full, store_on_letter *on_letter,
                                void *context)
{
    struct redis_store *const store = redis_store_of(reader);
    struct redis_reply *reply = NULL;
    enum store_result result = ready(store);
    if (result == STORE_DONE)
        result = ask(store, numbers, count, is_full, &reply);
    if (result != STORE_DONE) {
        call_disconnect(store);
        return result;
    }
    const struct redis_reply *const moved = redis_reply_item(reply, 1);
    store->moved_ms = moved == NULL ? 0 : strtoll(redis_reply_slice(moved).data, NULL, 10);
    for (size_t i = FIRST_ITEMS; redis_reply_item(reply, i) != NULL; i++)
        give_letter(store, redis_reply_item(reply, i), on_letter, context);
    redis_reply_free(reply);
    return STORE_DONE;
}
