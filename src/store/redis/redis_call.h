/* Commands and their replies, and transactions that nobody but the holder of the lock can make. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_CALL_H
#define SOLVEGATE_STORE_REDIS_REDIS_CALL_H

#include "store/redis/redis_private.h"

/* "{prefix}:name" or "{prefix}:name:rest": the braces keep all keys in one slot of a cluster. */
#define REDIS_KEY_MAX 1024
struct redis_key {
    size_t len;
    char bytes[REDIS_KEY_MAX];
};
struct redis_key call_key(const struct redis_store *store, const char *name, struct slice rest);
static inline struct slice call_key_slice(const struct redis_key *key)
{
    return (struct slice){.data = key->bytes, .len = key->len};
}

/* The lock that is ours: the store's, or that of our name. */
struct redis_key call_lock(const struct redis_store *store);
/* The sorted set of our rows of a kind, and one of them. */
struct redis_key call_index(const struct redis_store *store, enum record_kind kind);
struct redis_key call_row(const struct redis_store *store, enum record_kind kind,
                          struct slice name);

/* Whether it can be the rest of a key. */
bool call_is_name(const struct redis_reply *reply);

/* Forgets all commands; those that were sent must have been answered. */
void call_begin(struct redis_store *store);
void call_add(struct redis_store *store, const struct slice *words, size_t count);
#define CALL(store, ...)                                   \
    call_add((store), (const struct slice[]){__VA_ARGS__}, \
             sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice))
#define WORD_OF(literal) SLICE_OF(literal)

/* Sends the commands that were not sent yet and gives the next reply, which is the caller's. NULL: the connection was
 * lost, and why says so. */
struct redis_reply *call_next(struct redis_store *store);
/* The same for a single command. STORE_DONE: *reply is anything but an error. */
enum store_result call_ask(struct redis_store *store, const struct slice *words, size_t count,
                           struct redis_reply **reply);
#define ASK(store, reply, ...)                             \
    call_ask((store), (const struct slice[]){__VA_ARGS__}, \
             sizeof((const struct slice[]){__VA_ARGS__}) / sizeof(struct slice), (reply))

/* What an error means for what was asked; fills in why. */
enum store_result call_judge(struct redis_store *store, const struct redis_reply *error);
/* The server answered something that makes no sense, so nothing that it says can be relied upon. */
enum store_result call_nonsense(struct redis_store *store);
void call_disconnect(struct redis_store *store);

/* A transaction: begin, CALL the commands, commit. All of them happen or none does, and only while the lock is ours,
 * which is renewed as well. If is_refused is set then, it may be made once more after session_ensure(). */
void call_transaction(struct redis_store *store);
enum store_result call_commit(struct redis_store *store);

struct slice call_number(char text[32], int64_t number);

#endif
