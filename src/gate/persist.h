/* Persist before reply: actions wait here until the records they depend on are on disk. */
#ifndef SOLVEGATE_GATE_PERSIST_H
#define SOLVEGATE_GATE_PERSIST_H

#include "store/store.h"

#include <stdbool.h>

struct gate;
struct action;

struct persist {
    struct store *store; /* owned; NULL: memory only */
    struct action *held; /* owned: a ring, in the order in which they were asked for */
    size_t first, count, room;
    size_t unlooked; /* of those, how many the last news may free */
    journal_seq durable;
    enum store_state state;
    uint64_t restored_flights; /* how many the start found */
    struct clocks clocks;      /* as they were seen last */
};

/* Locks data_dir, if there is one; else an exit code, with a sentence logged. */
int persist_lock(struct gate *gate);
/* Opens its store, the same way. */
int persist_open(struct gate *gate);

/* The identity's and the nonces' secrets: the same as before a restart where there is a store. */
int persist_secrets(struct gate *gate);

/* Gives every row to the engine, then starts the writer. */
int persist_restore(struct gate *gate);

/* Takes the action: journals it, holds it back, or has it performed. */
void persist_take(struct gate *gate, struct action *take_action);

/* Has what is on disk follow a wall clock that was set since it was seen last. */
void persist_see_clocks(struct gate *gate, const struct clocks *now);

/* Every submit that is held back. */
void persist_each_waiting_submit(const struct gate *gate,
                                 void (*see)(void *context, attempt_id attempt), void *context);

/* More was freed than fits into one turn: the next ones go on. */
bool persist_has_work(const struct gate *gate);
void persist_work(struct gate *gate);

/* Is anything held back? */
bool persist_is_idle(const struct gate *gate);

/* The last page of the books, then the writer ends; and when the loop has ended, the rest. */
void persist_close(struct gate *gate);
void persist_free(struct gate *gate);

#endif
