/* Persist before reply: actions wait here until the records they depend on are durable. */
#ifndef SOLVEGATE_GATE_PERSIST_H
#define SOLVEGATE_GATE_PERSIST_H

#include "store/store.h"

#include <stdbool.h>

struct gate;
struct action;

struct persist {
    struct store *store; /* owned; NULL: memory only */
    struct action *held; /* owned: a ring, in the order of the engine's actions */
    size_t first, count, room;
    size_t unlooked; /* how many of those the last commit may have freed */
    journal_seq durable;
    enum store_state state;
    uint64_t restored_flights; /* number of flights that the start restored */
    struct clocks clocks;      /* the last reading */
    bool is_stuck;             /* the store did not close in time */
};

/* Locks the store, if there is one; returns 0, or an exit code after logging a sentence. */
int persist_lock(struct gate *gate);
/* Opens the store; returns the same. */
int persist_open(struct gate *gate);

/* Loads the secrets of identity and nonces; with a store they stay the same over restarts. */
int persist_secrets(struct gate *gate);

/* Gives every row to the engine, then starts the writer. */
int persist_restore(struct gate *gate);

/* Another store for the next run; frees the one before, which is closed. */
void persist_replace(struct gate *gate, struct store *take_store);

/* A key of zeros, which rows of an older version have, is computed again. */
void persist_mend_key(struct gate *gate, struct record *record);

/* Takes the action: journals it, holds it back, or has it performed. */
void persist_take(struct gate *gate, struct action *take_action);

/* Moves the stored times if the wall clock was set since the last call. */
void persist_see_clocks(struct gate *gate, const struct clocks *now);

/* Calls the function for every submit that is held back. */
void persist_each_waiting_submit(const struct gate *gate,
                                 void (*see)(void *context, attempt_id attempt), void *context);

/* True if more actions were freed than fit into one turn. */
bool persist_has_work(const struct gate *gate);
void persist_work(struct gate *gate);

/* True if nothing is held back. */
bool persist_is_idle(const struct gate *gate);

/* Sends away whoever waits for a record that may never become durable. */
void persist_dismiss(struct gate *gate);
/* The same for all actions of a fenced run, none of which is performed any more. */
void persist_send_away(struct gate *gate);

/* Writes the last page of the books and ends the writer. A store that does not take everything in this time stops the
 * loop; then persist_is_stuck(), and its thread uses what persist_free() would free. */
void persist_close(struct gate *gate, uint64_t wait_ms);
bool persist_is_stuck(const struct gate *gate);
/* False, once with a line in the log, if records were not written. */
bool persist_is_complete(const struct gate *gate);
void persist_free(struct gate *gate);

#endif
