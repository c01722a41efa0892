#include "store/redis/redis_tidy.h"

#include "base/assert.h"
#include "store/redis/redis_body.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"

#include <stdio.h>
#include <stdlib.h>

struct tidy {
    struct redis_store *store;
    enum record_kind kind;
    unsigned left; /* rows of this kind that may still be deleted */
};

/* What somebody else put into the index stays there. */
static void pass_over(struct redis_reply *names)
{
    size_t count = 0;
    for (size_t i = 0; i < names->len; i++) {
        if (call_is_name(names->items[i]))
            names->items[count++] = names->items[i];
        else
            redis_reply_free(names->items[i]);
    }
    names->len = count;
}

/* Names by score, from least to most; the reply is the caller's. */
static enum store_result find(struct tidy *tidy, const char *least, const char *most, size_t skip,
                              struct redis_reply **names)
{
    const struct redis_key index = call_index(tidy->store, tidy->kind);
    char offset[32], limit[32];
    const enum store_result result =
        ASK(tidy->store, names, WORD_OF("ZRANGE"), call_key_slice(&index), slice_from(least),
            slice_from(most), WORD_OF("BYSCORE"), WORD_OF("LIMIT"),
            call_number(offset, (int64_t)skip), call_number(limit, tidy->left));
    if (result != STORE_DONE)
        return result;
    if ((*names)->type == REPLY_ARRAY && (*names)->len <= tidy->left) {
        pass_over(*names);
        return STORE_DONE;
    }
    redis_reply_free(*names);
    *names = NULL;
    return call_nonsense(tidy->store);
}

static enum store_result drop(struct tidy *tidy, const struct slice *names, size_t count)
{
    struct redis_store *const store = tidy->store;
    const struct redis_key index = call_index(store, tidy->kind);
    struct slice *const words = malloc((2 + count) * sizeof *words);
    ASSERT(words != NULL);
    words[0] = WORD_OF("ZREM");
    words[1] = call_key_slice(&index);
    call_transaction(store);
    for (size_t i = 0; i < count; i++) {
        const struct redis_key key = call_row(store, tidy->kind, names[i]);
        words[2 + i] = names[i];
        CALL(store, WORD_OF("DEL"), call_key_slice(&key));
    }
    call_add(store, words, 2 + count);
    free(words);
    tidy->left -= (unsigned)count;
    return call_commit(store);
}

/* Closed rows whose time is over. */
static enum store_result tidy_closed(struct tidy *tidy, const char *until)
{
    struct redis_reply *page = NULL;
    enum store_result result = find(tidy, "1", until, 0, &page);
    if (result != STORE_DONE)
        return result;
    struct slice *const names = calloc(page->len + 1, sizeof *names);
    ASSERT(names != NULL);
    for (size_t i = 0; i < page->len; i++)
        names[i] = redis_reply_slice(page->items[i]);
    if (page->len > 0)
        result = drop(tidy, names, page->len);
    free(names);
    redis_reply_free(page);
    return result;
}

/* ---- attempts without a flight ----------------------------------------------------------- */

/* 0, which no flight has, for a row that is gone or no row. */
static uint64_t flight_of(const struct redis_reply *row)
{
    struct redis_body body;
    if (row->type != REPLY_STRING)
        return 0;
    body_read(&body, redis_reply_slice(row), RECORD_ATTEMPT, 0);
    const struct row_value *const flight = body_value(RECORD_ATTEMPT, body.values, "flight");
    const uint64_t id = flight->type == VALUE_INTEGER ? (uint64_t)flight->integer : 0;
    body_close(&body);
    return id;
}

static enum store_result read_flights(struct tidy *tidy, const struct redis_reply *page,
                                      uint64_t *flights)
{
    struct redis_store *const store = tidy->store;
    call_begin(store);
    for (size_t i = 0; i < page->len; i++) {
        const struct redis_key key = call_row(store, tidy->kind, redis_reply_slice(page->items[i]));
        CALL(store, WORD_OF("GET"), call_key_slice(&key));
    }
    for (size_t i = 0; i < page->len; i++) {
        struct redis_reply *const row = call_next(store);
        if (row == NULL)
            return STORE_RETRY;
        flights[i] = flight_of(row);
        redis_reply_free(row);
    }
    return STORE_DONE;
}

/* Leaves the names of those whose flight does not exist in orphans. */
static enum store_result find_orphans(struct tidy *tidy, const struct redis_reply *page,
                                      const uint64_t *flights, struct slice *orphans, size_t *count)
{
    struct redis_store *const store = tidy->store;
    *count = 0;
    call_begin(store);
    for (size_t i = 0; i < page->len; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "%llu", (unsigned long long)flights[i]);
        const struct redis_key key =
            call_key(store, row_tables[RECORD_FLIGHT].name, slice_from(id));
        CALL(store, WORD_OF("EXISTS"), call_key_slice(&key));
    }
    for (size_t i = 0; i < page->len; i++) {
        struct redis_reply *const reply = call_next(store);
        if (reply == NULL)
            return STORE_RETRY;
        if (reply->type == REPLY_INTEGER && reply->integer == 0)
            orphans[(*count)++] = redis_reply_slice(page->items[i]);
        redis_reply_free(reply);
    }
    return STORE_DONE;
}

static enum store_result tidy_page(struct tidy *tidy, const struct redis_reply *page,
                                   size_t *dropped)
{
    uint64_t *const flights = calloc(page->len, sizeof *flights);
    struct slice *const orphans = calloc(page->len, sizeof *orphans);
    ASSERT(flights != NULL && orphans != NULL);
    enum store_result result = read_flights(tidy, page, flights);
    if (result == STORE_DONE)
        result = find_orphans(tidy, page, flights, orphans, dropped);
    if (result == STORE_DONE && *dropped > 0)
        result = drop(tidy, orphans, *dropped);
    free(flights);
    free(orphans);
    return result;
}

/* Open attempts are few, and those older than an hour that still have a flight fewer, so all of them are looked at. */
static enum store_result tidy_orphans(struct tidy *tidy, const char *since)
{
    enum store_result result = STORE_DONE;
    size_t kept = 0;
    bool is_last = false;
    while (result == STORE_DONE && !is_last && tidy->left > 0) {
        struct redis_reply *page = NULL;
        size_t dropped = 0;
        const unsigned wanted = tidy->left;
        result = find(tidy, since, "-1", kept, &page);
        if (result != STORE_DONE)
            return result;
        is_last = page->len < wanted;
        if (page->len > 0)
            result = tidy_page(tidy, page, &dropped);
        kept += page->len - dropped;
        redis_reply_free(page);
    }
    return result;
}

/* ---- all kinds --------------------------------------------------------------------------- */

static enum store_result tidy_kind(struct tidy *tidy, int64_t wall_ms)
{
    char until[32], since[32];
    const int64_t time = body_expired_until(tidy->kind, wall_ms, tidy->store->moved_ms);
    (void)call_number(until, time);
    (void)call_number(since, -time);
    const enum store_result result = tidy_closed(tidy, until);
    const bool has_orphans = tidy->kind == RECORD_ATTEMPT && tidy->left > 0;
    return result == STORE_DONE && has_orphans ? tidy_orphans(tidy, since) : result;
}

/* What is left of nodes that were adopted. */
static enum store_result tidy_gone(struct redis_store *store, int64_t wall_ms, unsigned limit,
                                   bool *has_more)
{
    static const enum record_kind books[] = {RECORD_DAY, RECORD_TALLY, RECORD_SPENT};
    char texts[4][32];
    struct slice words[4] = {call_number(texts[0], limit)};
    struct redis_reply *reply = NULL;
    for (unsigned i = 0; i < 3; i++)
        words[i + 1] =
            call_number(texts[i + 1], body_expired_until(books[i], wall_ms, store->moved_ms));
    const enum store_result result = script_run(store, SCRIPT_TIDY, words, 4, &reply);
    *has_more |= result == STORE_DONE && redis_reply_is(redis_reply_item(reply, 0), "more");
    redis_reply_free(reply);
    return result;
}

enum store_result redis_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                             bool *has_more)
{
    struct redis_store *const store = redis_store_of(backend);
    enum store_result result = session_ensure(store);
    *has_more = false;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++) {
        struct tidy tidy = {.store = store, .kind = (enum record_kind)kind, .left = limit};
        if (row_tables[kind].expiry.column != NULL)
            result = tidy_kind(&tidy, wall_ms);
        *has_more |= tidy.left == 0;
    }
    if (result == STORE_DONE && backend->node != 0)
        result = tidy_gone(store, wall_ms, limit, has_more);
    return result;
}
