/* The life of a flight: the one solve under way for a key, owned by the engine, never by a connection. */
#ifndef SOLVEGATE_ENGINE_FLIGHT_H
#define SOLVEGATE_ENGINE_FLIGHT_H

#include "base/list.h"
#include "base/slab.h"
#include "base/wheel.h"

#include <solvegate/event.h>

struct engine;
struct pool;
struct request;
struct attempt;
struct solution;

/* A state is a list, a timer and a set of next states; flight_enter() is the only door between them. */
enum flight_state {
    FLIGHT_NEW, /* no list, no timer → QUEUED; after a restart also SOLVING, AMBIGUOUS; riding on a
                           stray also SUBMITTING */
    FLIGHT_QUEUED, /* its client's queue → SUBMITTING, SOLVED (a late solution), FAILED; riding on a
                           stray also SOLVING, AMBIGUOUS */
    FLIGHT_SUBMITTING,  /* engine's active list, holds a slot, the shell's submit timeout runs
                           → SOLVING, AMBIGUOUS, BACKING_OFF, QUEUED, SOLVED (an early callback), FAILED */
    FLIGHT_AMBIGUOUS,   /* active list, holds a slot, timer: ambiguity window
                           → QUEUED (resend), SOLVING (a callback named the task), SOLVED (the
                           callback came), BACKING_OFF, FAILED */
    FLIGHT_SOLVING,     /* active list, holds a slot, timer: next poll
                           → SOLVED, QUEUED (unsolvable: at once again), BACKING_OFF, FAILED */
    FLIGHT_BACKING_OFF, /* engine's backing-off list, timer: retry → QUEUED, SOLVED, FAILED */
    FLIGHT_SOLVED,      /* engine's waking list until its last request is answered */
    FLIGHT_FAILED,      /* the same */
    FLIGHT_STATE_COUNT
};

struct flight {
    struct table_node node; /* by key; a member while it may be found */
    slab_id id;
    struct list link; /* the list of its state */
    struct wheel_timer phase;
    struct wheel_timer deadline;
    struct list requests;      /* waiting, in the order they came */
    struct list letters;       /* dead letters whose replay this is */
    struct history *history;   /* owned; NULL until an attempt ends badly */
    struct list idempotency;   /* records that wait for its end */
    struct blob *params;       /* owned reference */
    struct blob *error;        /* owned: the last error code, or NULL */
    struct attempt *attempt;   /* the current one, or NULL */
    struct solution *solution; /* owned reference, when solved */
    struct pool *pool;         /* borrowed: it refills this one, or NULL */
    uint64_t uid;              /* in the journal; 0 without one */
    uint64_t created_ms;
    uint64_t queued_ms; /* when it last entered the queue */
    uint64_t slot_since_ms;
    uint32_t number; /* for people: counts from 1 */
    uint32_t request_count;
    uint32_t retry_after_ms;
    uint32_t verdict; /* while money or threads are short: the one that tells which; or 0 */
    uint16_t attempts;
    uint16_t earlier;         /* of them: those of flights before it, which are not its retries */
    uint16_t attempts_before; /* how many they were before the current one */
    uint16_t tries[CLASS_COUNT]; /* retries used, per class */
    uint16_t max_retries;        /* what its first request wanted, if it did */
    uint32_t retry_delay_ms;     /* the same; 0: as the operator has it */
    enum flight_state state;
    enum error_class error_class;
    enum type type;
    enum reuse reuse;
    client_id client;
    uint8_t priority;
    bool is_one_time;
    bool wants_rest; /* its answer is more than a text */
    bool has_max_retries;
    bool is_in_table;
    bool holds_slot;
    bool is_reserved; /* a unit of its client's budget is set aside for the next submit */
    bool is_paid;     /* a submit was or may have been accepted */
    bool is_journaled;
    bool is_answered; /* a letter holds its answer, which cannot be handed out */
    bool is_spared;   /* it outlived its deadline in a standstill */
};

/* Has its client a share left of the places and of the bytes (share.h)? */
bool flight_has_room(const struct engine *engine, const struct ask *ask);

/* Makes a flight for this ask, which rides on a stray or is queued; NULL when all places are taken. */
struct flight *flight_new(struct engine *engine, const struct ask *ask);

/* The flight of a row, in no state yet; NULL when all places are taken. */
struct flight *flight_restore(struct engine *engine, const struct flight_row *row,
                              uint64_t created_ms);
/* A restored flight that needs no more: nobody waits, or it was solved after all. */
void flight_dismiss(struct engine *engine, struct flight *flight);

/* The one function that changes a flight's state: checks the move, unlinks, disarms, counts, links, arms. */
void flight_enter(struct engine *engine, struct flight *flight, enum flight_state state,
                  uint64_t timer_ms);

/* Ends. Both take the flight out of the table before its requests are answered. */
void flight_solve(struct engine *engine, struct flight *flight, struct solution *solution);
void flight_fail(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code);

/* Answers at most `batch` requests of ended flights and returns how many it answered. */
uint32_t flight_wake(struct engine *engine, uint32_t batch);

/* Nobody is left to answer: free before the submit, finished for the bank after it. */
void flight_abandon(struct engine *engine, struct flight *flight);

/* Is there anybody to solve it for: a request, or a letter being replayed? */
bool flight_is_wanted(const struct flight *flight);

/* A flight for one that lost its caller after the submit, and that nobody else can come back for: it is paid for,
 * and the next request of this client with this key may have it. Or NULL. */
struct flight *flight_find_deserted(const struct engine *engine, const struct key *key,
                                    client_id client);

/* The flight a request of this client with this key may join, or NULL. */
struct flight *flight_find(const struct engine *engine, const struct key *key, client_id client);

void flight_on_phase_timer(struct engine *engine, struct flight *flight);
void flight_on_deadline(struct engine *engine, struct flight *flight);
/* What is solved may have been for long: whose time ran out meanwhile is asked for once more first. */
void flights_on_standstill(struct engine *engine);

const char *flight_state_name(enum flight_state state);

#endif
