#include "store/redis/redis_pulse.h"

#include "base/assert.h"
#include "store/redis/redis_again.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"
#include "store/redis/redis_session.h"
#include "store/redis/redis_store.h"
#include "store/store_demand.h"
#include "store/store_fact.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_CHARACTERS (2 * KEY_BYTES)
/* A beat that takes longer has no use for a lease. */
#define PATIENCE_MS 5000

/* ---- connecting -------------------------------------------------------------------------- */

static struct redis_store *make(const struct redis_store *of)
{
    struct buf mistake;
    buf_init(&mistake, 1024);
    const struct store_place place = {.url = of->address,
                                      .prefix = of->prefix,
                                      .ca_file = of->ca_file,
                                      .allow_async = of->allow_async,
                                      .patience_ms = PATIENCE_MS};
    struct redis_store *const made = redis_store_new(&place, &mistake);
    ASSERT(made != NULL);
    buf_close(&mistake);
    made->base.driver = of->base.driver;
    made->base.node = of->base.node;
    made->base.incarnation = of->base.incarnation;
    return made;
}

struct store_backend *pulse_make(const struct store_backend *backend)
{
    const struct redis_store *const of = (const struct redis_store *)(const void *)backend;
    struct redis_store *const pulse = make(of);
    pulse->ear = make(of);
    return &pulse->base;
}

static enum store_result subscribe(struct redis_store *ear)
{
    const struct redis_key channel = call_key(ear, "woken", SLICE_NONE);
    struct redis_reply *reply = NULL;
    const enum store_result result =
        ASK(ear, &reply, WORD_OF("SUBSCRIBE"), call_key_slice(&channel));
    redis_reply_free(reply);
    return result;
}

static enum store_result lose(struct redis_store *store, const struct redis_store *part)
{
    if (part != store)
        memcpy(store->base.why, part->base.why, sizeof store->base.why);
    call_disconnect(store);
    call_disconnect(store->ear);
    return STORE_RETRY;
}

/* Both or none: what was missed while one was away makes a beat unsteady. */
static enum store_result ready(struct redis_store *store)
{
    if (store->link != NULL && store->ear->link != NULL)
        return STORE_DONE;
    if (session_connect(store, 0) != STORE_DONE)
        return lose(store, store);
    if (session_connect(store->ear, 0) != STORE_DONE || subscribe(store->ear) != STORE_DONE)
        return lose(store, store->ear);
    store->base.reconnects += store->is_open;
    store->is_open = true;
    return STORE_DONE;
}

/* ---- beats ------------------------------------------------------------------------------- */

static const char *text_at(const struct redis_reply *reply, size_t place)
{
    const struct redis_reply *const item = redis_reply_item(reply, place);
    return item != NULL && item->type == REPLY_STRING ? item->bytes : "";
}

static void take_member(const struct redis_reply *reply, struct store_member *member)
{
    *member = (struct store_member){
        .node = (uint16_t)strtoul(text_at(reply, 0), NULL, 10),
        .incarnation = strtoull(text_at(reply, 1), NULL, 10),
        .beat = strtoull(text_at(reply, 2), NULL, 10),
        .demand = store_demand_read(strtoll(text_at(reply, 3), NULL, 10),
                                    strtoll(text_at(reply, 4), NULL, 10)),
        .has_left = strcmp(text_at(reply, 5), "left") == 0,
        .is_gone = strcmp(text_at(reply, 5), "gone") == 0,
    };
    (void)snprintf(member->name, sizeof member->name, "%s", text_at(reply, 6));
    (void)snprintf(member->parts, sizeof member->parts, "%s", text_at(reply, 7));
}

static int compare(const void *a, const void *b)
{
    return (int)((const struct store_member *)a)->node - ((const struct store_member *)b)->node;
}

static enum store_result take_beat(struct redis_store *store, const struct redis_reply *reply,
                                   struct store_members *members)
{
    const enum store_result result = again_judge(store, reply);
    if (result != STORE_DONE)
        return result;
    const struct redis_reply *item;
    for (size_t i = 1;
         (item = redis_reply_item(reply, i)) != NULL && members->count < STORE_MEMBERS_MAX; i++)
        take_member(item, &members->all[members->count++]);
    qsort(members->all, members->count, sizeof members->all[0], compare);
    return STORE_DONE;
}

enum store_result pulse_beat(struct store_backend *pulse, const struct demand *demand,
                             struct store_members *members)
{
    struct redis_store *const store = redis_store_of(pulse);
    char texts[5][32];
    const struct slice words[] = {call_number(texts[0], pulse->node),
                                  call_number(texts[1], (int64_t)pulse->incarnation),
                                  call_number(texts[2], store_demand_slots(demand)),
                                  call_number(texts[3], (int64_t)demand->pools),
                                  call_number(texts[4], REDIS_LEASE_MS),
                                  slice_from(pulse->parts)};
    struct redis_reply *reply = NULL;
    members->count = 0;
    enum store_result result = ready(store);
    if (result == STORE_DONE)
        result = script_run(store, SCRIPT_BEAT, words, 6, &reply);
    if (result != STORE_DONE)
        return lose(store, store);
    result = take_beat(store, reply, members);
    redis_reply_free(reply);
    return result;
}

/* ---- wake-ups ---------------------------------------------------------------------------- */

/* "message", the channel, and the names in hexadecimal digits, or whose inbox has something. */
static void give_names(const struct redis_store *store, const struct redis_reply *message,
                       void (*on_woken)(void *context, const struct key *name), void *context)
{
    const char *digits = text_at(message, 2);
    if (digits[0] == '@' && strtoul(digits + 1, NULL, 10) == store->base.node)
        on_woken(context, NULL);
    for (size_t left = strlen(digits); left >= NAME_CHARACTERS; left -= NAME_CHARACTERS) {
        struct key name;
        size_t len = 0;
        if (sodium_hex2bin(name.bytes, KEY_BYTES, digits, NAME_CHARACTERS, NULL, &len, NULL) == 0 &&
            len == KEY_BYTES)
            on_woken(context, &name);
        digits += NAME_CHARACTERS;
    }
}

enum store_result pulse_wait(struct store_backend *pulse, int fd, int timeout_ms,
                             void (*on_woken)(void *context, const struct key *name), void *context)
{
    struct redis_store *const store = redis_store_of(pulse);
    struct redis_reply *message = NULL;
    const enum store_result result = ready(store);
    if (result != STORE_DONE)
        return result;
    if (!redis_link_hear(store->ear->link, fd, timeout_ms, &message)) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the Redis server at %s is away: %s", store->place,
                       redis_link_why(store->ear->link));
        return lose(store, store);
    }
    if (message != NULL)
        give_names(store, message, on_woken, context);
    redis_reply_free(message);
    return STORE_DONE;
}

/* ---- the inbox --------------------------------------------------------------------------- */

static struct blob *blob_at(const struct redis_reply *reply, size_t place)
{
    const struct redis_reply *const item = redis_reply_item(reply, place);
    return item != NULL && item->type == REPLY_STRING ? blob_new(redis_reply_slice(item)) : NULL;
}

/* One that makes no sense is passed over: only whoever told it could say more. */
static void give_fact(const struct redis_reply *reply,
                      void (*on_fact)(void *context, const struct fact *take_fact), void *context)
{
    struct fact fact = {.number = strtoull(text_at(reply, 0), NULL, 10)};
    if (!fact_read_body(redis_reply_slice(redis_reply_item(reply, 2)), &fact))
        return;
    fact_set_subject(&fact, strtoull(text_at(reply, 1), NULL, 10));
    fact.result.text = blob_at(reply, 3);
    fact.result.extra = blob_at(reply, 4);
    on_fact(context, &fact);
}

enum store_result pulse_inbox(struct store_backend *pulse, unsigned limit,
                              void (*on_fact)(void *context, const struct fact *take_fact),
                              void *context)
{
    struct redis_store *const store = redis_store_of(pulse);
    char texts[3][32];
    const struct slice words[] = {call_number(texts[0], pulse->node),
                                  call_number(texts[1], (int64_t)pulse->incarnation),
                                  call_number(texts[2], limit)};
    struct redis_reply *reply = NULL;
    enum store_result result = ready(store);
    if (result == STORE_DONE)
        result = script_run(store, SCRIPT_INBOX, words, 3, &reply);
    if (result != STORE_DONE)
        return lose(store, store);
    if (script_is_fenced(store, reply))
        result = STORE_REFUSED;
    const struct redis_reply *item;
    for (size_t i = 1; result == STORE_DONE && (item = redis_reply_item(reply, i)) != NULL; i++)
        give_fact(item, on_fact, context);
    redis_reply_free(reply);
    return result;
}
