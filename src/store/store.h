/* The store port: records become durable in batches, off the loop, in the database that a URL
 * names. */
#ifndef SOLVEGATE_STORE_STORE_H
#define SOLVEGATE_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "sys/clocks.h"

#include <solvegate/budgets.h>
#include <solvegate/claims.h>
#include <solvegate/finding.h>
#include <solvegate/record.h>

struct uv_loop_s;
struct store;
struct store_beat;
struct store_letters;
struct adopted;
struct fact;

/* The writer's state, as reported to the loop. */
enum store_state {
    STORE_WRITABLE,
    STORE_AWAY,   /* the database cannot be reached: records stay queued and are sent again */
    STORE_FULL,   /* nothing can be written now: records stay queued and are retried */
    STORE_BROKEN, /* writing failed for good: nothing written from now on can be trusted */
    STORE_FENCED, /* another gateway adopted this one: close it, and join again with a new store */
};

struct store_handlers {
    void *context;
    /* Every record up to this number is durable. */
    void (*on_durable)(void *context, journal_seq seq);
    void (*on_state)(void *context, enum store_state state, const char *why);
    /* The store came back without rows that it had acknowledged: they have to be appended again.
     * NULL: not interested. */
    void (*on_lost)(void *context, const char *why);
    /* store_about() changed. NULL: not interested. */
    void (*on_about)(void *context);
    /* The rotating secret was replaced, and both are durable. NULL: not interested. */
    void (*on_secret)(void *context, const uint8_t *bytes, const uint8_t *old_bytes);
    /* With a shared store, see store_claims.h, store_pulse.h, store_adoption.h, store_inbox.h,
     * store_find.h, store_letters.h and store_budget.h. */
    void (*on_claimed)(void *context, const struct claimed *claimed);
    void (*on_woken)(void *context, const struct key *name);
    void (*on_beat)(void *context, const struct store_beat *beat);
    void (*on_adopted)(void *context, const struct adopted *adopted);
    void (*on_told)(void *context, const struct fact *fact);
    void (*on_found)(void *context, const struct found *found);
    void (*on_books)(void *context, struct slice text);
    void (*on_letters)(void *context, const struct store_letters *letters);
    void (*on_drawn)(void *context, const struct drawn *drawn);
};

/* Clients are stored by name, since their numbers change with the configuration. */
struct store_names {
    void *context;
    const char *(*name_of)(void *context, client_id client);
    bool (*find)(void *context, struct slice name, client_id *client);
    /* Finds or makes a client that is no longer configured, for rows that hold paid work; NULL: they are skipped. */
    bool (*find_gone)(void *context, struct slice name, client_id *client);
};

enum store_opening {
    STORE_OPENED,
    STORE_LOCKED,   /* another instance has it: exit 73 */
    STORE_UNUSABLE, /* cannot be created, read or understood: exit 74 */
};

#define STORE_RUN_MAX 32

/* Where the journal is kept. Everything is borrowed during the call that gets it. */
struct store_place {
    const char
        *url; /* "sqlite:/var/lib/solvegate"; may contain a password, so it is never logged */
    const char *prefix;   /* a PostgreSQL schema, or what the keys in Redis begin with */
    const char *ca_file;  /* verifies the server's certificate; NULL: the system's authorities do */
    bool allow_async;     /* accepts a server whose settings may lose what it acknowledged */
    unsigned patience_ms; /* a server that says nothing for so long is away; 0: the driver knows */
    /* How often a store is asked whether it is still there, and twice as often one without room; 0: STORE_BEAT_MS. A
     * lease must outlive several of these. */
    unsigned beat_ms;
    /* The gateway's name among those that share the store; NULL: it has the store for itself. */
    const char *node;
    /* Visible characters that only this process has, at most STORE_RUN_MAX: by them a lock that it left behind on a
     * connection that died is told from another gateway's. NULL: each opening is a stranger to the others. */
    const char *run;
    uint32_t lease_ms;     /* how long the others believe in one of them that is silent */
    uint32_t heartbeat_ms; /* how often it says that it lives */
};

/* True if this build has a driver for the URL; else mistake gets a sentence that quotes nothing but the scheme. */
bool store_is_known(const char *url, struct buf *mistake);

/* The same, and URL and prefix make sense to the driver, as far as can be told without asking the server. */
bool store_is_sound(const struct store_place *place, struct buf *mistake);

/* Locks the store; this is fast, and the holder of the lock may open the ports. mistake gets a sentence that says
 * what to do; without the lock *store is NULL. */
enum store_opening store_lock(const struct store_place *place, struct store **store,
                              struct buf *mistake);

/* Creates or migrates the locked store's tables. Blocks: call it before the loop runs. After a failure only
 * store_free() may follow. */
enum store_opening store_open(struct store *store, const struct store_names *names,
                              struct buf *mistake);

/* The secrets of a gateway; store_copy() takes them along. */
#define STORE_SECRET_IDENTITY "identity"
#define STORE_SECRET_NONCE "nonce"

/* A secret of this many bytes that stays the same over restarts; made on first use. */
int store_secret(struct store *store, const char *name, uint8_t *bytes, size_t count) MUST_CHECK;

/* As store_secret, but replaced once it is older than max_age_ms. old_bytes gets the secret before, so that signatures
 * made with it can still be verified; if there is none, it gets the current one. The writer keeps replacing it, at
 * most an hour late. A store has one such secret; name must outlive the store. */
int store_rotating_secret(struct store *store, const char *name, int64_t max_age_ms, uint8_t *bytes,
                          uint8_t *old_bytes, size_t count) MUST_CHECK;

/* Gives every row that has not expired, in the order of enum record_kind and within a kind of their names. If the
 * wall clock was set since they were written, their times move first. Expired rows are deleted later by the
 * writer. The record is borrowed during the call. Blocks. */
int store_load(struct store *store, const struct clocks *now,
               void (*on_row)(void *context, const struct record *record),
               void *context) MUST_CHECK;

/* What the store is and what an acknowledged record is worth there; valid until the loop's next turn. */
struct store_about {
    const char *kind;   /* "SQLite", "PostgreSQL", ... */
    const char *server; /* the server's version and address, without secrets; "" if there is none */
    const char *durability; /* a sentence on when a record is safe */
    bool is_async;          /* acknowledged records may be lost with the server's machine */
};
struct store_about store_about(const struct store *store);

/* Adds the reason why the latest call failed, as a sentence that says what to do. */
void store_explain(const struct store *store, struct buf *mistake);

/* Starts the writer thread, and one that looks for damage; the handlers run on the loop. */
void store_start(struct store *store, struct uv_loop_s *loop,
                 const struct store_handlers *handlers);

/* Queues a record under its number (which only grows); takes the record's references. Never blocks. */
void store_append(struct store *store, journal_seq seq, struct record *take_record);

/* The wall clock was set by so much: times in records that were appended before move with it, so that nothing
 * expires early or late. Never blocks. */
void store_leap(struct store *store, int64_t by_ms, const struct clocks *now);

struct store_counters {
    uint64_t records, commits, bytes;
    uint64_t commit_ms_max; /* the slowest commit so far */
    struct histogram commit_times;
    uint64_t skipped;       /* rows with an unknown client or invalid values */
    uint64_t migrated_from; /* the version of a journal that was brought up to date, or 0 */
    /* Rows of an older version that are lost because their keys can no longer be computed. */
    uint64_t lost_solutions, lost_idempotency;
    uint64_t reconnects; /* lost connections to the database that were made again */
    struct histogram
        round_trips; /* from a batch's first byte to its acknowledgement, in tenths of a millisecond */
    struct histogram batch_sizes; /* records in a commit */
    uint32_t waiting;             /* records not durable yet */
};
void store_counters(const struct store *store, struct store_counters *counters);

/* Writes the queue, then ends the writer; on_closed runs on the loop. If nothing can be written it is tried once
 * more: the counters' waiting then says how many records were lost. Without a writer on_closed runs at once. */
void store_close(struct store *store, void (*on_closed)(void *context), void *context);
void store_free(struct store *store);

#endif
