#include "store/redis/redis_call.h"

#include "base/assert.h"
#include "store/redis/redis_lease.h"

#include <hiredis/hiredis.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* One command with its words on the stack; a longer list allocates. */
#define WORDS_FEW 16
/* A client's name, a day and a type fit, and so do they with the prefix into a key. */
#define NAME_LEN_MAX 512

/* ---- commands ---------------------------------------------------------------------------- */

struct redis_key call_key(const struct redis_store *store, const char *name, struct slice rest)
{
    struct redis_key key;
    const int len = snprintf(key.bytes, sizeof key.bytes, "{%s}:%s%s%.*s", store->prefix, name,
                             rest.len > 0 ? ":" : "", (int)rest.len, rest.len > 0 ? rest.data : "");
    ASSERT(len > 0 && (size_t)len < sizeof key.bytes);
    key.len = (size_t)len;
    return key;
}

struct redis_key call_lock(const struct redis_store *store)
{
    return call_key(store, "lock", slice_from(store->node));
}

/* Books and letters are each node's own, all other rows have names that no two nodes use. */
static bool is_per_node(enum record_kind kind)
{
    return kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT ||
           kind == RECORD_LETTER;
}

static struct redis_key kind_key(const struct redis_store *store, enum record_kind kind,
                                 bool has_node, struct slice rest)
{
    char label[64];
    if (!has_node || store->base.node == 0)
        return call_key(store, row_tables[kind].name, rest);
    (void)snprintf(label, sizeof label, "%s@%u", row_tables[kind].name, (unsigned)store->base.node);
    return call_key(store, label, rest);
}

struct redis_key call_index(const struct redis_store *store, enum record_kind kind)
{
    return kind_key(store, kind, true, SLICE_NONE);
}

struct redis_key call_row(const struct redis_store *store, enum record_kind kind, struct slice name)
{
    return kind_key(store, kind, is_per_node(kind), name);
}

bool call_is_name(const struct redis_reply *reply)
{
    const struct slice name = redis_reply_slice(reply);
    return name.len > 0 && name.len <= NAME_LEN_MAX && memchr(name.data, '\0', name.len) == NULL;
}

struct slice call_number(char text[32], int64_t number)
{
    const int len = snprintf(text, 32, "%lld", (long long)number);
    return (struct slice){.data = text, .len = (size_t)len};
}

void call_begin(struct redis_store *store)
{
    /* A secret or a password may have been among them. */
    if (store->out.data != NULL)
        sodium_memzero(store->out.data, store->out.len);
    buf_reset(&store->out);
    store->sent = 0;
    store->queued = 0;
}

void call_add(struct redis_store *store, const struct slice *words, size_t count)
{
    const char *few[WORDS_FEW];
    size_t few_lens[WORDS_FEW];
    const bool are_many = count > WORDS_FEW;
    const char **const texts = are_many ? malloc(count * sizeof *texts) : few;
    size_t *const lens = are_many ? malloc(count * sizeof *lens) : few_lens;
    ASSERT(texts != NULL && lens != NULL);
    for (size_t i = 0; i < count; i++) {
        texts[i] = words[i].len == 0 ? "" : words[i].data;
        lens[i] = words[i].len;
    }
    char *command = NULL;
    const long long len = redisFormatCommandArgv(&command, (int)count, texts, lens);
    ASSERT(len > 0);
    buf_add(&store->out, (struct slice){.data = command, .len = (size_t)len});
    sodium_memzero(command, (size_t)len);
    redisFreeCommand(command);
    if (are_many) {
        free(texts);
        free(lens);
    }
    store->queued++;
}

/* ---- replies ----------------------------------------------------------------------------- */

void call_disconnect(struct redis_store *store)
{
    redis_link_close(store->link);
    store->link = NULL;
    store->is_held = false;
    memset(store->scripts, 0, sizeof store->scripts);
}

static void lose(struct redis_store *store)
{
    (void)snprintf(store->base.why, sizeof store->base.why, "the Redis server at %s is away: %s",
                   store->place, redis_link_why(store->link));
    call_disconnect(store);
}

static bool send_rest(struct redis_store *store)
{
    const struct slice rest = {.data = store->out.data + store->sent,
                               .len = store->out.len - store->sent};
    if (rest.len == 0)
        return true;
    store->sent = store->out.len;
    store->base.bytes += rest.len;
    return redis_link_send(store->link, rest, store->patience_ms);
}

struct redis_reply *call_next(struct redis_store *store)
{
    if (store->link == NULL)
        return NULL;
    struct redis_reply *const reply =
        send_rest(store) ? redis_link_receive(store->link, store->patience_ms) : NULL;
    if (reply == NULL)
        lose(store);
    return reply;
}

/* The first word of an error, and what it means. */
static const struct {
    const char *code;
    enum store_result result;
    bool must_reconnect; /* perhaps the name leads to another server now */
    const char *advice;
} meanings[] = {
    {"OOM", STORE_NO_ROOM, false, "raise its maxmemory, or delete what else is in it"},
    {"MISCONF", STORE_NO_ROOM, false, "make room on its disk"},
    {"LOADING", STORE_RETRY, false, "it reads its file and will be back"},
    {"BUSY", STORE_RETRY, false, "somebody's script keeps it busy"},
    {"TRYAGAIN", STORE_RETRY, false, "its cluster is moving keys"},
    {"NOREPLICAS", STORE_RETRY, false, "it waits for its replicas"},
    {"READONLY", STORE_RETRY, true, "it is a replica; name the master in store"},
    {"MASTERDOWN", STORE_RETRY, true, "it is a replica without a master"},
    {"UNBLOCKED", STORE_RETRY, true, "it became a replica"},
    {"CLUSTERDOWN", STORE_RETRY, true, "its cluster is down"},
    {"MOVED", STORE_RETRY, true,
     "another node of its cluster has our keys; name that one in store"},
    {"ASK", STORE_RETRY, true, "its cluster is moving keys"},
    {"ERR max number of clients", STORE_RETRY, true, "raise its maxclients"},
    {"ERR AUTH", STORE_RETRY, true, "it has no password; leave it out of store"},
    {"ERR DB index", STORE_RETRY, true, "it has no database of this number"},
    {"DENIED", STORE_RETRY, true, "it serves its own machine only; give it a password"},
    {"NOAUTH", STORE_RETRY, true, "it wants a password; write redis://user:password@host"},
    {"WRONGPASS", STORE_RETRY, true, "correct the user and password of store"},
    {"EXECABORT", STORE_RETRY, true, "it discarded a batch, which is sent again"},
    {"NOPERM", STORE_RETRY, true,
     "give our user the rights that `solvegate store init --print-sql` lists"},
    {"WRONGTYPE", STORE_FAILED, false,
     "a key of ours belongs to somebody else; choose another store_prefix"},
};

static bool has_code(struct slice error, const char *code)
{
    const size_t len = strlen(code);
    return error.len >= len && memcmp(error.data, code, len) == 0 &&
           (error.len == len || error.data[len] == ' ');
}

/* A condition that began after the commands were queued discards the transaction, and is named behind
 * that. */
static struct slice cause_of(struct slice error)
{
    static const char discarded[] = "EXECABORT Transaction discarded because of: ";
    const size_t len = sizeof discarded - 1;
    if (error.len <= len || memcmp(error.data, discarded, len) != 0)
        return error;
    return (struct slice){.data = error.data + len, .len = error.len - len};
}

enum store_result call_judge(struct redis_store *store, const struct redis_reply *error)
{
    const struct slice text = cause_of(redis_reply_slice(error));
    const int shown = (int)(text.len < 200 ? text.len : 200);
    store->is_loading = has_code(text, "LOADING");
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!has_code(text, meanings[i].code))
            continue;
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the Redis server at %s says \"%.*s\": %s", store->place, shown, text.data,
                       meanings[i].advice);
        if (meanings[i].must_reconnect)
            call_disconnect(store);
        return meanings[i].result;
    }
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "the Redis server at %s refuses a command of ours: \"%.*s\"", store->place,
                   shown, text.data);
    return STORE_FAILED;
}

enum store_result call_nonsense(struct redis_store *store)
{
    (void)snprintf(
        store->base.why, sizeof store->base.why,
        "the server at %s gives answers that Redis does not give; name a Redis or Valkey "
        "server in store",
        store->place);
    call_disconnect(store);
    return STORE_RETRY;
}

enum store_result call_ask(struct redis_store *store, const struct slice *words, size_t count,
                           struct redis_reply **reply)
{
    call_begin(store);
    call_add(store, words, count);
    *reply = call_next(store);
    if (*reply == NULL)
        return STORE_RETRY;
    if ((*reply)->type != REPLY_ERROR)
        return STORE_DONE;
    const enum store_result result = call_judge(store, *reply);
    redis_reply_free(*reply);
    *reply = NULL;
    return result;
}

/* ---- transactions ------------------------------------------------------------------------ */

void call_transaction(struct redis_store *store)
{
    const struct redis_key lock = call_lock(store);
    char lease[32];
    call_begin(store);
    CALL(store, WORD_OF("MULTI"));
    CALL(store, WORD_OF("PEXPIRE"), call_key_slice(&lock), call_number(lease, REDIS_LEASE_MS));
}

/* "OK" to MULTI and "QUEUED" to each command, or an error that makes the server refuse all of it. */
static enum store_result read_queued(struct redis_store *store, unsigned count)
{
    enum store_result result = STORE_DONE;
    for (unsigned i = 0; i < count; i++) {
        struct redis_reply *const reply = call_next(store);
        if (reply == NULL)
            return result == STORE_DONE ? STORE_RETRY : result;
        const bool is_error = reply->type == REPLY_ERROR;
        if (is_error && result == STORE_DONE)
            result = call_judge(store, reply);
        else if (!is_error && !redis_reply_is(reply, i == 0 ? "OK" : "QUEUED"))
            result = call_nonsense(store);
        redis_reply_free(reply);
        if (store->link == NULL)
            return result;
    }
    return result;
}

/* Errors here come too late: the other commands were run. */
static enum store_result judge_outcome(struct redis_store *store, const struct redis_reply *reply,
                                       unsigned count)
{
    if (reply->type == REPLY_ERROR)
        return call_judge(store, reply);
    if (reply->type != REPLY_ARRAY || reply->len != count)
        return call_nonsense(store);
    for (size_t i = 0; i < reply->len; i++) {
        const struct redis_reply *const item = redis_reply_item(reply, i);
        if (item == NULL)
            return call_nonsense(store);
        if (item->type == REPLY_ERROR) {
            (void)call_judge(store, item);
            return STORE_FAILED;
        }
    }
    return STORE_DONE;
}

/* Nothing was done, since the lock is not what it was when we looked at it: the lease ran out, somebody deleted it, or
 * another gateway has it. A new connection finds out. */
static enum store_result be_refused(struct redis_store *store)
{
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "the lock on the Redis server at %s was lost", store->place);
    call_disconnect(store);
    store->is_refused = true;
    return STORE_RETRY;
}

enum store_result call_commit(struct redis_store *store)
{
    const unsigned count = store->queued - 1; /* without MULTI */
    if (!store->is_held)
        return be_refused(store);
    if (store->out.is_full) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "a row is too large for the store on the Redis server at %s", store->place);
        return STORE_FAILED;
    }
    CALL(store, WORD_OF("EXEC"));
    lease_add_watch(store);
    enum store_result result = read_queued(store, count + 1);
    struct redis_reply *const outcome = store->link == NULL ? NULL : call_next(store);
    if (outcome == NULL)
        return result == STORE_DONE ? STORE_RETRY : result;
    const bool is_refused = result == STORE_DONE && outcome->type == REPLY_NIL;
    if (result == STORE_DONE && !is_refused)
        result = judge_outcome(store, outcome, count);
    redis_reply_free(outcome);
    /* Whatever this look at the lock shows, the transaction was made. */
    if (store->link != NULL && !is_refused)
        lease_read_watch(store);
    return is_refused ? be_refused(store) : result;
}
