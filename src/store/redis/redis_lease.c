#include "store/redis/redis_lease.h"

#include "store/redis/redis_call.h"
#include "store/redis/redis_script.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define MS_NS UINT64_C(1000000)
#define TAKE_TRIES 3
#define LOOK_EVERY_MS 100
/* A little longer than a lease, since the server deletes it a little late. */
#define WAIT_MS (REDIS_LEASE_MS + 2000)
#define HOST_MAX 64
#define MACHINE_BYTES 16
#define RUN_BYTES 8
/* Two beats: who lives has said something meanwhile. */
#define SILENT_S (2 * STORE_BEAT_MS / 1000)

/* ---- who we are -------------------------------------------------------------------------- */

/* The same for all processes that a process number tells apart: this boot of this machine, and in it this container. */
static void add_machine(char digits[2 * MACHINE_BYTES + 1])
{
    char container[64] = "";
    uint8_t hash[MACHINE_BYTES];
    crypto_generichash_state state;
    const char *const boot = clocks_read().boot;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    (void)crypto_generichash_update(&state, (const uint8_t *)boot, strlen(boot) + 1);
    const ssize_t len = readlink("/proc/self/ns/pid", container, sizeof container);
    if (len > 0)
        (void)crypto_generichash_update(&state, (const uint8_t *)container, (size_t)len);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    /* Without an answer nobody can be compared. */
    if (boot[0] == '\0' || len <= 0)
        randombytes_buf(hash, sizeof hash);
    (void)sodium_bin2hex(digits, 2 * MACHINE_BYTES + 1, hash, sizeof hash);
}

/* "host/process/machine-run". The name must not contain spaces, since the server's list of clients does not escape
 * them. */
void lease_choose_owner(struct redis_store *store, const char *run)
{
    char host[HOST_MAX] = "";
    char machine[2 * MACHINE_BYTES + 1];
    uint8_t random[RUN_BYTES];
    char digits[2 * sizeof random + 1];
    (void)gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 127 || *c == '/')
            *c = '_';
    add_machine(machine);
    randombytes_buf(random, sizeof random);
    (void)sodium_bin2hex(digits, sizeof digits, random, sizeof random);
    (void)snprintf(store->owner, sizeof store->owner, "%s/%ld/%s-%.*s", host, (long)getpid(),
                   machine, STORE_RUN_MAX, run == NULL ? digits : run);
}

/* A process of this machine that does not exist any more holds nothing. */
static bool is_dead(const char *token)
{
    char machine[2 * MACHINE_BYTES + 1];
    const char *const process = strchr(token, '/');
    char *end = NULL;
    const long number = process == NULL ? 0 : strtol(process + 1, &end, 10);
    add_machine(machine);
    return number > 0 && number <= INT32_MAX && *end == '/' &&
           strncmp(end + 1, machine, 2 * MACHINE_BYTES) == 0 && kill((pid_t)number, 0) != 0 &&
           errno == ESRCH;
}

/* A counter would begin again with the next store of the same run. */
void lease_choose_token(struct redis_store *store)
{
    (void)snprintf(store->token, sizeof store->token, "%s/%08" PRIx32, store->owner,
                   randombytes_random());
}

/* "owner/1a2b3c4d" belongs to "owner". What a dead process had is anybody's. */
static bool is_ours(const struct redis_store *store, struct slice holder)
{
    const size_t len = strlen(store->owner);
    if (store->heir_of[0] != '\0' && slice_equals(holder, slice_from(store->heir_of)))
        return true;
    return holder.len > len && memcmp(holder.data, store->owner, len) == 0 &&
           holder.data[len] == '/';
}

/* The number of the latest batch, which nobody but us writes, changes when somebody restores an older state. */
void lease_add_watch(struct redis_store *store)
{
    const struct redis_key lock = call_lock(store);
    const struct redis_key progress = call_key(store, "progress", SLICE_NONE);
    if (store->node[0] == '\0')
        CALL(store, WORD_OF("WATCH"), call_key_slice(&lock), call_key_slice(&progress));
    else
        CALL(store, WORD_OF("WATCH"), call_key_slice(&lock));
    CALL(store, WORD_OF("GET"), call_key_slice(&lock));
}

/* The lock's value, which is the caller's; NULL if the server cannot watch it. */
static struct redis_reply *read_watch(struct redis_store *store)
{
    struct redis_reply *const watched = call_next(store);
    struct redis_reply *holder = watched == NULL ? NULL : call_next(store);
    if (holder != NULL && watched->type == REPLY_ERROR) {
        (void)call_judge(store, watched);
        redis_reply_free(holder);
        holder = NULL;
    }
    redis_reply_free(watched);
    return holder;
}

void lease_read_watch(struct redis_store *store)
{
    struct redis_reply *const holder = read_watch(store);
    store->is_held = redis_reply_is(holder, store->token);
    redis_reply_free(holder);
}

/* ---- taking ------------------------------------------------------------------------------ */

static enum store_result refuse_others(struct redis_store *store, struct slice holder)
{
    (void)snprintf(store->base.why, sizeof store->base.why,
                   "the store {%.64s} on the Redis server at %s is in use by another gateway "
                   "(%.*s); stop that one, or choose another store_prefix",
                   store->prefix, store->place, (int)(holder.len < 128 ? holder.len : 128),
                   holder.data);
    store->is_others = true;
    return STORE_FAILED;
}

/* Sets the lock unless it changed since we looked at it. */
static enum store_result set_lock(struct redis_store *store)
{
    const struct redis_key lock = call_lock(store);
    char lease[32];
    call_begin(store);
    CALL(store, WORD_OF("MULTI"));
    CALL(store, WORD_OF("SET"), call_key_slice(&lock), slice_from(store->token), WORD_OF("PX"),
         call_number(lease, REDIS_LEASE_MS));
    CALL(store, WORD_OF("EXEC"));
    enum store_result result = STORE_DONE;
    for (unsigned i = 0; i < 3 && store->link != NULL; i++) {
        struct redis_reply *const reply = call_next(store);
        if (reply != NULL && reply->type == REPLY_ERROR && result == STORE_DONE)
            result = call_judge(store, reply);
        redis_reply_free(reply);
    }
    return store->link == NULL && result == STORE_DONE ? STORE_RETRY : result;
}

/* *is_again: somebody changed the lock at the same moment. */
static enum store_result try_to_take(struct redis_store *store, bool *is_again)
{
    *is_again = false;
    call_begin(store);
    CALL(store, WORD_OF("UNWATCH"));
    lease_add_watch(store);
    redis_reply_free(call_next(store));
    struct redis_reply *const holder = store->link == NULL ? NULL : read_watch(store);
    if (holder == NULL)
        return STORE_RETRY;
    enum store_result result = STORE_DONE;
    if (holder->type == REPLY_ERROR)
        result = call_judge(store, holder);
    else if (holder->type == REPLY_STRING && !is_ours(store, redis_reply_slice(holder)))
        result = refuse_others(store, redis_reply_slice(holder));
    redis_reply_free(holder);
    if (result == STORE_DONE)
        result = set_lock(store);
    if (result != STORE_DONE)
        return result;
    call_begin(store);
    lease_add_watch(store);
    lease_read_watch(store);
    *is_again = !store->is_held;
    return store->link == NULL ? STORE_RETRY : STORE_DONE;
}

/* Those that share the store have its lock together, and each that of its own name. */
static enum store_result take_name(struct redis_store *store)
{
    char lease[32];
    const struct slice words[] = {slice_from(store->node), slice_from(store->token),
                                  slice_from(store->owner), slice_from(store->heir_of),
                                  call_number(lease, REDIS_LEASE_MS)};
    struct redis_reply *reply = NULL;
    const enum store_result result = script_run(store, SCRIPT_TAKE_LOCK, words, 5, &reply);
    if (result != STORE_DONE)
        return result;
    const struct slice holder = redis_reply_slice(redis_reply_item(reply, 1));
    enum store_result taken = STORE_DONE;
    store->is_alone_there = redis_reply_is(redis_reply_item(reply, 0), "single");
    if (store->is_alone_there) {
        taken = refuse_others(store, holder);
        (void)snprintf(store->base.why + strlen(store->base.why),
                       sizeof store->base.why - strlen(store->base.why),
                       "; it has cluster.enabled off");
    } else if (redis_reply_is(redis_reply_item(reply, 0), "taken")) {
        store->is_others = true;
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "another gateway runs under the name \"%s\" in the store {%.64s} on the "
                       "Redis server at %s (%.*s); stop that one, or give each its own "
                       "cluster.node",
                       store->node, store->prefix, store->place,
                       (int)(holder.len < 128 ? holder.len : 128), holder.data);
        /* Whoever was away has lost its place. */
        taken = store->is_open ? STORE_REFUSED : STORE_FAILED;
    }
    redis_reply_free(reply);
    return taken;
}

enum store_result lease_take(struct redis_store *store)
{
    store->is_others = false;
    if (store->node[0] != '\0')
        return take_name(store);
    bool is_again = true;
    enum store_result result = STORE_DONE;
    for (unsigned i = 0; i < TAKE_TRIES && is_again && result == STORE_DONE; i++)
        result = try_to_take(store, &is_again);
    if (result == STORE_DONE && is_again) {
        (void)snprintf(store->base.why, sizeof store->base.why,
                       "the lock on the Redis server at %s changes all the time", store->place);
        return STORE_RETRY;
    }
    return result;
}

/* ---- waiting for one who died ------------------------------------------------------------ */

/* What can be seen of the gateway that has the lock. */
struct holder {
    char token[REDIS_TOKEN_MAX];
    int64_t rest_ms;
    bool is_connected; /* and said something lately */
};

/* Seconds since the client of this name in the list, "… name=NAME … idle=SECONDS …", sent its latest command; -1 if it
 * is not there. */
static long idle_seconds(const char *list, const char *name)
{
    char wanted[REDIS_TOKEN_MAX + 8];
    (void)snprintf(wanted, sizeof wanted, " name=%s ", name);
    const char *const found = strstr(list, wanted);
    const char *const idle = found == NULL ? NULL : strstr(found, " idle=");
    return idle == NULL ? -1 : strtol(idle + strlen(" idle="), NULL, 10);
}

/* A process that was killed is not in the server's list of clients any more, and one whose machine died says nothing
 * there. Without the right to see the list only the lease tells. */
static bool is_connected(struct redis_store *store, const char *token)
{
    call_begin(store);
    CALL(store, WORD_OF("CLIENT"), WORD_OF("LIST"));
    struct redis_reply *const list = call_next(store);
    const long idle =
        list != NULL && list->type == REPLY_STRING ? idle_seconds(list->bytes, token) : -1;
    redis_reply_free(list);
    return idle >= 0 && idle < SILENT_S;
}

static bool look(struct redis_store *store, struct holder *holder)
{
    const struct redis_key lock =
        store->is_alone_there ? call_key(store, "lock", SLICE_NONE) : call_lock(store);
    call_begin(store);
    CALL(store, WORD_OF("GET"), call_key_slice(&lock));
    CALL(store, WORD_OF("PTTL"), call_key_slice(&lock));
    struct redis_reply *const token = call_next(store);
    struct redis_reply *const rest = token == NULL ? NULL : call_next(store);
    const bool is_there = token != NULL && token->type == REPLY_STRING && rest != NULL &&
                          rest->type == REPLY_INTEGER && token->len < sizeof holder->token;
    if (is_there) {
        memcpy(holder->token, token->bytes, token->len + 1);
        holder->rest_ms = rest->integer;
    }
    redis_reply_free(token);
    redis_reply_free(rest);
    if (is_there)
        holder->is_connected = is_connected(store, holder->token);
    return is_there;
}

/* It renewed its lease, or made a new connection. */
static bool has_moved(const struct holder *before, const struct holder *now)
{
    return strcmp(before->token, now->token) != 0 || now->rest_ms > before->rest_ms;
}

/* The lease's rest at most, while its holder gives no sign of life. */
static bool outwait(struct redis_store *store)
{
    const uint64_t deadline = uv_hrtime() + WAIT_MS * MS_NS;
    struct holder before, now;
    if (!look(store, &before))
        return store->link != NULL;
    if (is_dead(before.token)) {
        memcpy(store->heir_of, before.token, sizeof store->heir_of);
        return true;
    }
    while (!before.is_connected && uv_hrtime() < deadline) {
        uv_sleep(LOOK_EVERY_MS);
        if (!look(store, &now))
            return store->link != NULL;
        if (has_moved(&before, &now) || now.is_connected)
            return false;
        before = now;
    }
    return false;
}

enum store_opening lease_wait(struct redis_store *store, struct buf *mistake)
{
    enum store_result result = lease_take(store);
    if (store->is_others && outwait(store))
        result = lease_take(store);
    store->heir_of[0] = '\0';
    if (result == STORE_DONE)
        return STORE_OPENED;
    buf_add(mistake, slice_from(store->base.why));
    /* A server that went away while we waited for its lock says nothing about who has it. */
    return store->is_others && store->link != NULL ? STORE_LOCKED : STORE_UNUSABLE;
}

static bool release_once(struct redis_store *store, struct slice lock)
{
    bool is_released = false;
    call_begin(store);
    CALL(store, WORD_OF("MULTI"));
    CALL(store, WORD_OF("DEL"), lock);
    CALL(store, WORD_OF("EXEC"));
    for (unsigned i = 0; i < 3; i++) {
        struct redis_reply *const reply = call_next(store);
        is_released = reply != NULL && reply->type != REPLY_ERROR;
        redis_reply_free(reply);
    }
    return is_released;
}

/* A server without memory queues no command of a transaction, but runs a script that only deletes. */
static void release_when_full(struct redis_store *store, struct slice lock)
{
    struct redis_reply *digest = NULL;
    if (ASK(store, &digest, WORD_OF("SCRIPT"), WORD_OF("LOAD"),
            WORD_OF("if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) "
                    "end")) != STORE_DONE)
        return;
    call_begin(store);
    CALL(store, WORD_OF("EVALSHA"), redis_reply_slice(digest), WORD_OF("1"), lock,
         slice_from(store->token));
    redis_reply_free(digest);
    redis_reply_free(call_next(store));
}

void lease_release(struct redis_store *store)
{
    const struct redis_key lock = call_lock(store);
    if (store->link == NULL || !store->is_held)
        return;
    if (!release_once(store, call_key_slice(&lock)) && store->link != NULL)
        release_when_full(store, call_key_slice(&lock));
    store->is_held = false;
}
