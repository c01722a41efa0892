/* The store port: durable rows in batches, off the loop. SQLite implements it; others may later. */
#ifndef SOLVEGATE_STORE_STORE_H
#define SOLVEGATE_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "sys/clocks.h"

#include <solvegate/record.h>

struct uv_loop_s;
struct store;

/* What the loop hears of the writer. */
enum store_state {
    STORE_WRITABLE,
    STORE_FULL,   /* the disk is full: what is queued is kept and tried again until it fits */
    STORE_BROKEN, /* input/output failed: nothing written from now on can be trusted */
};

struct store_handlers {
    void *context;
    /* Everything appended up to this number is on disk. */
    void (*on_durable)(void *context, journal_seq seq);
    void (*on_state)(void *context, enum store_state state, const char *why);
};

/* Clients are stored by name, since their numbers change with the configuration. */
struct store_names {
    void *context;
    const char *(*name_of)(void *context, client_id client);
    bool (*find)(void *context, struct slice name, client_id *client);
    /* One that is no longer configured, for rows that hold what was paid for; NULL: they are passed over. */
    bool (*find_gone)(void *context, struct slice name, client_id *client);
};

enum store_opening {
    STORE_OPENED,
    STORE_LOCKED,   /* another instance has it: exit 73 */
    STORE_UNUSABLE, /* cannot be created, read or understood: exit 74 */
};

/* Makes the directory if it is not there and locks it, which takes no time: whoever has the lock may take the
 * ports, too. mistake gets a sentence that says what to do; without the lock *store is NULL. */
enum store_opening store_lock(const char *directory, struct store **store, struct buf *mistake);

/* Makes the locked directory's database if it is not there, and migrates it. Blocks: for before the loop runs.
 * Whether it is sound is checked beside the writer, unless it has to be migrated. */
enum store_opening store_open(struct store *store, const struct store_names *names,
                              struct buf *mistake);

/* A secret of this many bytes that stays the same over restarts; made when it is asked for first. */
int store_secret(struct store *store, const char *name, uint8_t *bytes, size_t count) MUST_CHECK;

/* The same, made anew when it is older than max_age_ms; old_bytes gets the one before, which what it
 * signed is still to be recognised by. Without one before, both are the same. */
int store_rotating_secret(struct store *store, const char *name, int64_t max_age_ms, uint8_t *bytes,
                          uint8_t *old_bytes, size_t count) MUST_CHECK;

/* Every row that is still worth something, in the order of enum record_kind and of their names, by these
 * clocks, which also tell whether the wall's was set since they were written. Expired ones are passed over
 * and deleted by the writer. The record is borrowed during the call. Blocks. */
int store_load(struct store *store, const struct clocks *now,
               void (*on_row)(void *context, const struct record *record),
               void *context) MUST_CHECK;

/* Why the latest call failed, as a sentence that says what to do. */
void store_explain(const struct store *store, struct buf *mistake);

/* Starts the writer thread, and another that looks for damage; from now on the handlers run on the loop. */
void store_start(struct store *store, struct uv_loop_s *loop,
                 const struct store_handlers *handlers);

/* Queues a record under its number (which only grows); takes the record's references. Never blocks. */
void store_append(struct store *store, journal_seq seq, struct record *take_record);

/* The wall clock was set by so much: what was appended before has times of the old one and is to live as
 * long as it would have. Never blocks. */
void store_leap(struct store *store, int64_t by_ms, const struct clocks *now);

struct store_counters {
    uint64_t records, commits, bytes;
    uint64_t commit_ms_max; /* the slowest commit so far */
    struct histogram commit_times;
    uint64_t skipped; /* rows of clients that are no longer configured */
    /* What an older version's database held under keys that mean nothing any more. */
    uint64_t lost_solutions, lost_idempotency;
    uint32_t waiting; /* records not durable yet */
};
void store_counters(const struct store *store, struct store_counters *counters);

/* Writes what is queued, then ends the writer; on_closed runs on the loop. If the disk is full it is
 * tried once more, not for ever: waiting tells what was lost. Without a writer on_closed runs at once. */
void store_close(struct store *store, void (*on_closed)(void *context), void *context);
void store_free(struct store *store);

#endif
