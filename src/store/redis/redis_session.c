#include "store/redis/redis_session.h"

#include "store/redis/redis_again.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_lease.h"
#include "store/redis/redis_meta.h"
#include "store/redis/redis_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define MS_NS UINT64_C(1000000)
#define CONNECT_WAIT_MS 3000
#define LOADING_LOOK_MS 200
#define SCHEMA_NAME "solvegate"
/* Counts up whenever a version of the program does not understand any more what the one before writes, or the other way
 * round: rows, or what the scripts keep beside them. */
#define SCHEMA_VERSION 2
#define TO_TEXT(number) #number
#define TEXT_OF(number) TO_TEXT(number)
#define WHY_MAX 512

/* ---- connecting -------------------------------------------------------------------------- */

static enum store_result explain(struct redis_store *store, const struct buf *mistake)
{
    const struct slice text = buf_slice(mistake);
    (void)snprintf(store->base.why, sizeof store->base.why, "%.*s", (int)text.len, text.data);
    return STORE_RETRY;
}

static enum store_result open_link(struct redis_store *store)
{
    char why[WHY_MAX] = "";
    call_disconnect(store);
    store->link = redis_link_open(&store->url, store->ca_file, CONNECT_WAIT_MS, why, sizeof why);
    if (store->link != NULL)
        return STORE_DONE;
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "the Redis server at %s cannot be reached (%.300s)", store->place, why);
    return STORE_RETRY;
}

static enum store_result run(struct redis_store *store, const struct slice *words, size_t count)
{
    struct redis_reply *reply = NULL;
    const enum store_result result = call_ask(store, words, count, &reply);
    redis_reply_free(reply);
    call_begin(store); /* wipes the password */
    return result;
}

static enum store_result identify(struct redis_store *store)
{
    char db[32];
    const struct slice user = slice_from(store->url.user == NULL ? "default" : store->url.user);
    const struct slice auth[] = {WORD_OF("AUTH"), user, slice_from(store->url.password)};
    const struct slice choose[] = {WORD_OF("SELECT"), call_number(db, store->url.db)};
    const struct slice name[] = {WORD_OF("CLIENT"), WORD_OF("SETNAME"), slice_from(store->token)};
    enum store_result result = STORE_DONE;
    if (store->url.password != NULL)
        result = run(store, auth, 3);
    if (result == STORE_DONE && store->url.db != 0)
        result = run(store, choose, 2);
    return result == STORE_DONE ? run(store, name, 3) : result;
}

/* A server that was restarted reads its file, and has no history before its own; a replica that was promoted has, and
 * may lack rows that others wrote, even if it has all of ours. */
static void follow_history(struct redis_store *store, const struct redis_facts *facts)
{
    const bool is_other = store->history[0] != '\0' && strcmp(store->history, facts->history) != 0;
    if (is_other && facts->has_succeeded && store->base.node != 0)
        store_begin_grace(&store->base, store->lease_ms);
    memcpy(store->history, facts->history, sizeof store->history);
}

static enum store_result check_server(struct redis_store *store)
{
    struct redis_facts facts;
    struct buf mistake;
    enum store_result result = server_read(store, &facts);
    if (result != STORE_DONE)
        return result;
    store->is_loading = facts.is_loading;
    buf_init(&mistake, sizeof store->base.why);
    if (server_fits(store, &facts, &mistake)) {
        server_describe(store, &facts);
        follow_history(store, &facts);
    } else {
        result = explain(store, &mistake);
    }
    buf_close(&mistake);
    return result;
}

/* Whatever the server says against us here, it may say something else later. */
static enum store_result connect_once(struct redis_store *store)
{
    store->is_loading = false;
    lease_choose_token(store);
    enum store_result result = open_link(store);
    if (result == STORE_DONE)
        result = identify(store);
    if (result == STORE_DONE)
        result = check_server(store);
    if (result == STORE_DONE)
        return STORE_DONE;
    call_disconnect(store);
    return STORE_RETRY;
}

enum store_result session_connect(struct redis_store *store, unsigned loading_wait_ms)
{
    const uint64_t deadline = uv_hrtime() + loading_wait_ms * MS_NS;
    enum store_result result = connect_once(store);
    while (result != STORE_DONE && store->is_loading && uv_hrtime() < deadline) {
        uv_sleep(LOADING_LOOK_MS);
        result = connect_once(store);
    }
    return result;
}

/* ---- the prefix -------------------------------------------------------------------------- */

/* "solvegate 2". */
static enum store_result judge_schema(struct redis_store *store, struct slice schema)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)(schema.len < 63 ? schema.len : 63),
                   schema.data);
    const size_t len = strlen(SCHEMA_NAME);
    const bool is_ours = strncmp(text, SCHEMA_NAME " ", len + 1) == 0;
    const unsigned long version = is_ours ? strtoul(text + len + 1, NULL, 10) : 0;
    store->is_older = version < SCHEMA_VERSION;
    if (version > 0 && version <= SCHEMA_VERSION)
        return STORE_DONE;
    if (version > SCHEMA_VERSION)
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the store {%.64s} on the Redis server at %s was written by a newer version "
                       "(schema %lu, known: %d); use that version, or choose another store_prefix",
                       store->prefix, store->place, version, SCHEMA_VERSION);
    else
        (void)snprintf(
            store->base.why, sizeof store->base.why,
            "the key {%.64s}:schema on the Redis server at %s is not ours; choose another "
            "store_prefix",
            store->prefix, store->place);
    return STORE_FAILED;
}

/* Whether any key of ours exists although the schema does not. */
static enum store_result find_strangers(struct redis_store *store, bool *has_strangers)
{
    struct redis_key keys[RECORD_KIND_COUNT + 2];
    struct slice words[RECORD_KIND_COUNT + 3] = {WORD_OF("EXISTS")};
    struct redis_reply *reply = NULL;
    for (unsigned i = 0; i < RECORD_KIND_COUNT; i++)
        keys[i] = call_key(store, row_tables[i].name, SLICE_NONE);
    keys[RECORD_KIND_COUNT] = call_key(store, "clock", SLICE_NONE);
    keys[RECORD_KIND_COUNT + 1] = call_key(store, "secret", SLICE_NONE);
    for (unsigned i = 0; i < RECORD_KIND_COUNT + 2; i++)
        words[i + 1] = call_key_slice(&keys[i]);
    const enum store_result result = call_ask(store, words, RECORD_KIND_COUNT + 3, &reply);
    *has_strangers = result == STORE_DONE && reply->type == REPLY_INTEGER && reply->integer > 0;
    redis_reply_free(reply);
    return result;
}

/* *is_there: our schema is. Without it nothing else of ours may be. */
static enum store_result read_schema(struct redis_store *store, bool *is_there)
{
    const struct redis_key key = call_key(store, "schema", SLICE_NONE);
    struct redis_reply *reply = NULL;
    enum store_result result = ASK(store, &reply, WORD_OF("GET"), call_key_slice(&key));
    *is_there = result == STORE_DONE && reply->type != REPLY_NIL;
    if (*is_there)
        result = reply->type == REPLY_STRING ? judge_schema(store, redis_reply_slice(reply))
                                             : call_nonsense(store);
    redis_reply_free(reply);
    return result;
}

enum store_result session_judge(struct redis_store *store)
{
    bool is_there, has_strangers;
    enum store_result result = read_schema(store, &is_there);
    if (result != STORE_DONE || is_there)
        return result;
    result = find_strangers(store, &has_strangers);
    if (result != STORE_DONE || !has_strangers)
        return result;
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "keys that begin with {%.64s} exist on the Redis server at %s, but none that "
                   "says they are ours; choose another store_prefix",
                   store->prefix, store->place);
    return STORE_FAILED;
}

struct slice session_schema(void)
{
    return SLICE_OF(SCHEMA_NAME " " TEXT_OF(SCHEMA_VERSION));
}

enum store_result session_claim(struct redis_store *store, bool *is_new)
{
    const struct redis_key key = call_key(store, "schema", SLICE_NONE);
    bool is_there;
    enum store_result result = session_judge(store);
    if (result == STORE_DONE)
        result = read_schema(store, &is_there);
    const bool is_shared = store->node[0] != '\0';
    *is_new = result == STORE_DONE && !is_there;
    /* Of several gateways the first one that joins brings an older store up to date, if it may. Those that live already
     * have found a backup. */
    const bool must_write =
        *is_new || (result == STORE_DONE && store->is_older && (!is_shared || store->is_open));
    if (!must_write)
        return result;
    call_transaction(store);
    CALL(store, WORD_OF("SET"), call_key_slice(&key), session_schema());
    redis_add_kept(store);
    result = call_commit(store);
    call_begin(store); /* wipes secrets */
    return result;
}

enum store_result session_read_moved(struct redis_store *store)
{
    const struct redis_key key = call_key(store, "clock", SLICE_NONE);
    struct redis_reply *reply = NULL;
    const enum store_result result =
        ASK(store, &reply, WORD_OF("HGET"), call_key_slice(&key), WORD_OF("moved"));
    if (result == STORE_DONE)
        store->moved_ms =
            reply->type == REPLY_STRING ? row_time_bounded(strtoll(reply->bytes, NULL, 10)) : 0;
    redis_reply_free(reply);
    return result;
}

/* ---- again ------------------------------------------------------------------------------- */

static enum store_result write_kept(struct redis_store *store)
{
    call_transaction(store);
    redis_add_kept(store);
    const enum store_result result = call_commit(store);
    call_begin(store); /* wipes secrets */
    return result;
}

enum store_result session_begin_progress(struct redis_store *store)
{
    store_kept_begin(&store->kept);
    return write_kept(store);
}

static enum store_result read_progress(struct redis_store *store, bool *is_known)
{
    const struct redis_key key = call_key(store, "progress", SLICE_NONE);
    struct redis_reply *reply = NULL;
    const enum store_result result = ASK(store, &reply, WORD_OF("GET"), call_key_slice(&key));
    *is_known = result == STORE_DONE && reply->type == REPLY_STRING &&
                store_kept_is_known(&store->kept, strtoll(reply->bytes, NULL, 10));
    redis_reply_free(reply);
    return result;
}

/* What the gateway knows goes on; it is written again, and people hear of it. */
static enum store_result prove(struct redis_store *store, bool is_new)
{
    char where[REDIS_URL_HOST_MAX + 128];
    bool is_known = false;
    enum store_result result = is_new ? STORE_DONE : read_progress(store, &is_known);
    if (result != STORE_DONE || is_known)
        return result;
    if (!is_new)
        result = write_kept(store);
    if (result != STORE_DONE)
        return result;
    (void)snprintf(where, sizeof where, "the store {%.64s} on the Redis server at %s",
                   store->prefix, store->place);
    store_kept_lost(&store->base, where);
    return STORE_DONE;
}

static enum store_result reconnect(struct redis_store *store)
{
    bool is_new = false;
    enum store_result result = session_connect(store, 0);
    if (result == STORE_DONE)
        result = lease_take(store);
    if (result == STORE_DONE && store->is_open)
        result = session_claim(store, &is_new);
    if (result == STORE_DONE && store->is_open)
        result = store->node[0] == '\0' ? prove(store, is_new) : again_enter(store);
    if (result == STORE_DONE && store->is_open)
        result = session_read_moved(store);
    if (result != STORE_DONE)
        call_disconnect(store);
    else
        store->base.reconnects++;
    return result;
}

enum store_result session_ensure(struct redis_store *store)
{
    store->is_refused = false;
    return store->link != NULL ? STORE_DONE : reconnect(store);
}

/* A connection to a server that does not fit any more is given up: the next one is refused until it does. */
enum store_result session_look(struct store_backend *backend)
{
    struct redis_store *const store = redis_store_of(backend);
    enum store_result result = session_ensure(store);
    if (result == STORE_DONE)
        result = check_server(store);
    if (result != STORE_DONE)
        call_disconnect(store);
    return result;
}
