/* The Redis driver's own state: one connection, the lease that it holds, and the commands being made. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_PRIVATE_H
#define SOLVEGATE_STORE_REDIS_REDIS_PRIVATE_H

#include "store/redis/redis_link.h"
#include "store/store_kept.h"

#define REDIS_OWNER_MAX 144
#define REDIS_TOKEN_MAX (REDIS_OWNER_MAX + 16)

/* How long a silent gateway keeps its lock: several beats, and longer than a short break of the network. */
#define REDIS_LEASE_MS 10000

/* See redis_script.c. */
enum redis_script {
    SCRIPT_TAKE_LOCK,
    SCRIPT_JOIN,
    SCRIPT_AGAIN,
    SCRIPT_TAKE_BACK,
    SCRIPT_LEAVE,
    SCRIPT_BEAT,
    SCRIPT_WRITE,
    SCRIPT_ADOPT,
    SCRIPT_EMPTY,
    SCRIPT_TELL,
    SCRIPT_INBOX,
    SCRIPT_TIDY,
    SCRIPT_FIND,
    SCRIPT_LETTERS,
    REDIS_SCRIPTS
};
#define REDIS_DIGEST_MAX 48
#define REDIS_HISTORY_MAX 48

struct redis_store {
    struct store_backend base; /* must be first */
    char *address;             /* owned: the whole URL; may contain a password */
    char node[STORE_NAME_MAX]; /* our name among those that share the store, or "" */
    uint32_t lease_ms;
    char scripts[REDIS_SCRIPTS]
                [REDIS_DIGEST_MAX]; /* what the server calls them; "": not known yet */
    struct redis_store *ear;        /* owned; of a pulse: the connection that hears, or NULL */
    struct redis_chest *chest;      /* owned: the one that is being emptied, or NULL */
    struct redis_url url;
    char place[REDIS_URL_HOST_MAX + 16]; /* "host:port" or the socket's path, for people */
    char *prefix;                        /* owned */
    char *ca_file;                       /* owned, or NULL */
    bool allow_async;
    unsigned patience_ms; /* without a byte from or to the server */
    bool is_open; /* open() succeeded: a connection that is made from now on replaces a lost one */

    bool is_older;   /* an older version has written the store */
    bool is_loading; /* the server reads its file and can do nothing else yet */

    struct redis_link *link; /* owned; NULL while there is no connection */
    struct buf out;  /* commands; they stay until the next ones, since they may be sent again */
    size_t sent;     /* bytes of them */
    unsigned queued; /* commands of the transaction being made */

    char owner[REDIS_OWNER_MAX]; /* who we are: host, process and a random number */
    char token[REDIS_TOKEN_MAX]; /* the lock's value: the owner and the name of its connection */
    char heir_of
        [REDIS_TOKEN_MAX]; /* a token that may be taken, since its process is dead; "": none */
    bool
        is_held; /* the lock was ours when we looked last, and the server tells if it changed since */
    bool is_others;      /* another gateway had the lock when we wanted to take it */
    bool is_alone_there; /* it has the store for itself, and we wanted to share it */
    bool is_refused; /* the latest transaction was, since the lock had changed; nothing was done */

    struct store_kept kept;
    uint64_t written; /* number of the latest batch with rows that a shared store acknowledged */
    char history
        [REDIS_HISTORY_MAX]; /* the server's master_replid, as of the latest look; "": not known */
    int64_t moved_ms;        /* stored times plus this are times of the wall clock */
    struct buf scratch, body, names;
};

static inline struct redis_store *redis_store_of(struct store_backend *backend)
{
    return (struct redis_store *)(void *)backend;
}

#endif
