#include "store/redis/redis_chest.h"

#include "base/assert.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_names.h"
#include "store/redis/redis_script.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows or claims that are moved by one script, in two or three milliseconds of the server's time. */
#define CHUNK_MAX 1024
/* How many are moved and asked for before the first answer is read. */
#define AT_ONCE 16384
#define FLIGHTS_AT_ONCE 3072
#define NUMBER_MAX 32
#define FIRST_WORDS 4

/* A part of each kind of rows, and one of claims behind them. */
#define PARTS (RECORD_KIND_COUNT + 1)

/* The chest that is being emptied. */
struct redis_chest {
    char run[NUMBER_MAX];   /* that is over */
    char after[NUMBER_MAX]; /* facts up to here are moved; "": all of them */
    unsigned part;
    struct redis_names names; /* of the part */
    size_t done;              /* of them: moved and given */
};

static const char *part_name(unsigned part)
{
    return part == RECORD_KIND_COUNT ? "claims" : row_tables[part].name;
}

static bool is_book(unsigned part)
{
    return part == RECORD_DAY || part == RECORD_TALLY || part == RECORD_SPENT;
}

void chest_forget(struct redis_store *store)
{
    if (store->chest != NULL)
        names_close(&store->chest->names);
    free(store->chest);
    store->chest = NULL;
}

/* Any of those that are ours; without one there is none afterwards. */
static enum store_result find_chest(struct redis_store *store)
{
    const struct redis_key key = call_key(store, "chests", SLICE_NONE);
    struct redis_reply *reply = NULL;
    char me[NUMBER_MAX];
    (void)call_number(me, store->base.node);
    const enum store_result result = ASK(store, &reply, WORD_OF("HGETALL"), call_key_slice(&key));
    for (size_t i = 0; result == STORE_DONE && store->chest == NULL; i += 2) {
        const struct redis_reply *const run = redis_reply_item(reply, i);
        const struct redis_reply *const owner = redis_reply_item(reply, i + 1);
        if (run == NULL || owner == NULL)
            break;
        if (!redis_reply_is(owner, me) || run->len >= NUMBER_MAX)
            continue;
        store->chest = calloc(1, sizeof *store->chest);
        ASSERT(store->chest != NULL);
        (void)snprintf(store->chest->run, NUMBER_MAX, "%s", run->bytes);
        (void)snprintf(store->chest->after, NUMBER_MAX, "0");
    }
    redis_reply_free(reply);
    return result;
}

/* ---- making it ours ---------------------------------------------------------------------- */

static void add_script(struct redis_store *store, const char *what, const struct slice *names,
                       size_t count)
{
    char texts[2][32];
    struct slice words[FIRST_WORDS + CHUNK_MAX] = {
        call_number(texts[0], store->base.node),
        call_number(texts[1], (int64_t)store->base.incarnation),
        slice_from(store->chest->run),
        slice_from(what),
    };
    ASSERT(count <= CHUNK_MAX);
    for (size_t i = 0; i < count; i++)
        words[FIRST_WORDS + i] = names[i];
    script_add(store, SCRIPT_EMPTY, words, FIRST_WORDS + count);
}

/* The answer is a number, or "". */
static enum store_result read_answer(struct redis_store *store, char answer[NUMBER_MAX])
{
    struct redis_reply *reply = NULL;
    enum store_result result = script_take(store, &reply);
    if (result == STORE_DONE && script_is_fenced(store, reply))
        result = STORE_REFUSED;
    const struct slice text = redis_reply_slice(redis_reply_item(reply, 1));
    (void)snprintf(answer, NUMBER_MAX, "%.*s", (int)text.len, text.len > 0 ? text.data : "");
    redis_reply_free(reply);
    return result;
}

static enum store_result run_script(struct redis_store *store, const char *what,
                                    const struct slice *names, size_t count,
                                    char answer[NUMBER_MAX])
{
    const enum store_result result = script_ready(store, SCRIPT_EMPTY);
    if (result != STORE_DONE)
        return result;
    call_begin(store);
    add_script(store, what, names, count);
    return read_answer(store, answer);
}

static enum store_result move_facts(struct redis_store *store)
{
    enum store_result result = STORE_DONE;
    while (result == STORE_DONE && store->chest->after[0] != '\0') {
        const struct slice after = slice_from(store->chest->after);
        char next[NUMBER_MAX];
        result = run_script(store, "facts", &after, 1, next);
        if (result == STORE_DONE)
            memcpy(store->chest->after, next, NUMBER_MAX);
    }
    return result;
}

/* ---- giving ------------------------------------------------------------------------------ */

/* A row that is gone, since the server deleted it, is not missed. One that is no row is counted by who gets it. */
static void give_row(const struct redis_store *store, const struct store_adopted *to,
                     const struct redis_reply *reply, const struct redis_reply *score)
{
    static const struct row_value nothing[ROW_COLUMNS_MAX];
    struct redis_body body;
    const enum record_kind kind = (enum record_kind)store->chest->part;
    if (reply->type == REPLY_NIL)
        return;
    if (reply->type != REPLY_STRING) {
        to->on_values(to->context, kind, nothing);
        return;
    }
    body_read(&body, redis_reply_slice(reply), kind, store->moved_ms);
    body_add_score(&body, kind, score);
    to->on_values(to->context, kind, body.values);
    body_close(&body);
}

static void give_claim(const struct store_adopted *to, struct slice name,
                       const struct redis_reply *flight)
{
    struct key key;
    size_t len = 0;
    if (flight->type == REPLY_STRING &&
        sodium_hex2bin(key.bytes, KEY_BYTES, name.data, name.len, NULL, &len, NULL) == 0 &&
        len == KEY_BYTES)
        to->on_claim(to->context, &key, strtoull(flight->bytes, NULL, 10));
}

static void ask_for(struct redis_store *store, struct slice name)
{
    const unsigned part = store->chest->part;
    const bool is_claim = part == RECORD_KIND_COUNT;
    const struct redis_key key =
        is_claim ? call_key(store, "claim", name) : call_row(store, (enum record_kind)part, name);
    if (is_claim)
        CALL(store, WORD_OF("HGET"), call_key_slice(&key), WORD_OF("flight"));
    else
        CALL(store, WORD_OF("GET"), call_key_slice(&key));
}

/* ---- a step ------------------------------------------------------------------------------ */

/* Moves so many of the names and asks for them behind that. */
static void add_chunk(struct redis_store *store, size_t from, size_t to, bool must_give)
{
    struct slice names[CHUNK_MAX] = {SLICE_NONE};
    for (size_t i = from; i < to; i++)
        names[i - from] = names_at(&store->chest->names, i);
    add_script(store, part_name(store->chest->part), names, to - from);
    if (must_give && store->chest->part == RECORD_FLIGHT)
        names_ask_scores(store, RECORD_FLIGHT, names, to - from);
    for (size_t i = from; i < to && must_give; i++)
        ask_for(store, names[i - from]);
}

/* Counts each that was given, since the connection may be lost between any two. */
static enum store_result take_replies(struct redis_store *store, size_t from, size_t to,
                                      const struct store_adopted *giver,
                                      const struct redis_reply *scores)
{
    struct redis_chest *const chest = store->chest;
    for (size_t i = from; i < to; i++) {
        struct redis_reply *const reply = call_next(store);
        if (reply == NULL)
            return STORE_RETRY;
        if (giver != NULL && chest->part == RECORD_KIND_COUNT)
            give_claim(giver, names_at(&chest->names, i), reply);
        else if (giver != NULL)
            give_row(store, giver, reply, redis_reply_item(scores, i - from));
        chest->done += giver != NULL ? 1 : 0;
        redis_reply_free(reply);
    }
    return STORE_DONE;
}

/* None was moved if somebody else has the chest by now. */
static enum store_result take_chunk(struct redis_store *store, size_t from, size_t to,
                                    const struct store_adopted *giver)
{
    struct redis_chest *const chest = store->chest;
    char answer[NUMBER_MAX];
    enum store_result result = read_answer(store, answer);
    if (result != STORE_DONE)
        return result;
    const bool is_moved = answer[0] != '\0';
    if (giver == NULL) {
        chest->done += is_moved ? to - from : 0;
        return STORE_DONE;
    }
    const bool has_scores = chest->part == RECORD_FLIGHT;
    struct redis_reply *const scores = has_scores ? call_next(store) : NULL;
    if (has_scores && scores == NULL)
        return STORE_RETRY;
    result = take_replies(store, from, to, is_moved ? giver : NULL, scores);
    redis_reply_free(scores);
    return result;
}

/* As many as may wait in the server's memory: flights may have images. */
static enum store_result take_some(struct redis_store *store, const struct store_adopted *to)
{
    struct redis_chest *const chest = store->chest;
    const size_t from = chest->done;
    const size_t chunk = CHUNK_MAX;
    const size_t most = from + (chest->part == RECORD_FLIGHT ? FLIGHTS_AT_ONCE : AT_ONCE);
    const size_t end = most < chest->names.count ? most : chest->names.count;
    enum store_result result = script_ready(store, SCRIPT_EMPTY);
    if (result != STORE_DONE)
        return result;
    call_begin(store);
    for (size_t i = from; i < end; i += chunk)
        add_chunk(store, i, i + chunk < end ? i + chunk : end, to != NULL);
    for (size_t i = from; i < end && result == STORE_DONE; i += chunk)
        result = take_chunk(store, i, i + chunk < end ? i + chunk : end, to);
    /* Nothing at all: somebody else has the chest by now. */
    if (result == STORE_DONE && chest->done == from)
        chest->done = chest->names.count;
    /* More answers may be on their way. */
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}

/* ---- all of it --------------------------------------------------------------------------- */

static enum store_result read_names(struct redis_store *store)
{
    struct redis_chest *const chest = store->chest;
    char label[NUMBER_MAX + 32];
    (void)snprintf(label, sizeof label, "%s@~%s", part_name(chest->part), chest->run);
    const struct redis_key key = call_key(store, label, SLICE_NONE);
    const enum store_result result =
        chest->part == RECORD_KIND_COUNT
            ? names_read_set(store, &key, &chest->names)
            : names_read_from(store, &key, (enum record_kind)chest->part, &chest->names);
    if (result != STORE_DONE)
        names_close(&chest->names);
    return result;
}

/* Reads the names until there are none: while they were read in pages, somebody who binds an idempotency key anew may
 * have taken one out, and so have moved others from one page to another. */
static enum store_result empty_part(struct redis_store *store, const struct store_adopted *to,
                                    bool *is_empty)
{
    struct redis_chest *const chest = store->chest;
    enum store_result result = STORE_DONE;
    if (chest->names.count == 0)
        result = read_names(store);
    *is_empty = result == STORE_DONE && chest->names.count == 0;
    while (result == STORE_DONE && chest->done < chest->names.count)
        result = take_some(store, to);
    if (result == STORE_DONE) {
        names_close(&chest->names);
        chest->done = 0;
    }
    return result;
}

static enum store_result empty_one(struct redis_store *store, const struct store_adopted *to)
{
    struct redis_chest *const chest = store->chest;
    char unused[NUMBER_MAX];
    enum store_result result = move_facts(store);
    while (result == STORE_DONE && chest->part < PARTS) {
        bool is_empty = is_book(chest->part);
        if (!is_empty)
            result = empty_part(store, to, &is_empty);
        chest->part += is_empty ? 1 : 0;
    }
    if (result == STORE_DONE)
        result = run_script(store, "end", NULL, 0, unused);
    return result;
}

enum store_result chest_empty(struct redis_store *store, const struct store_adopted *to)
{
    for (;;) {
        enum store_result result = store->chest == NULL ? find_chest(store) : STORE_DONE;
        if (result != STORE_DONE || store->chest == NULL)
            return result;
        result = empty_one(store, to);
        if (result != STORE_DONE)
            return result;
        chest_forget(store);
    }
}
