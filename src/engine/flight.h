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
struct aside;

/* Each state has a list, a timer and a set of next states; flight_enter() performs every transition. */
enum flight_state {
    /* No list, no timer. → QUEUED, or CLAIMING with a shared store; riding on a stray also
     * SUBMITTING, AMBIGUOUS, SOLVING; after a restart also AMBIGUOUS, SOLVING, SOLVED (a callback had
     * brought the text), FAILED (no budget). */
    FLIGHT_NEW,
    /* On the engine's claiming list; the store decides, timer: ask again if it did not answer. Nobody
     * is told anything yet. May also wait for a unit of its client's budget. → QUEUED (won), FOLLOWING,
     * SOLVED, FAILED; riding on a stray also SUBMITTING, AMBIGUOUS, SOLVING. */
    FLIGHT_CLAIMING,
    /* On the engine's following list: another node's flight has the key; timer: ask again. → QUEUED
     * (that one was given up; without a unit BACKING_OFF), SOLVED, FAILED; riding on a stray also
     * SUBMITTING, AMBIGUOUS, SOLVING. */
    FLIGHT_FOLLOWING,
    /* In its client's queue. → SUBMITTING, SOLVED (a late solution), FAILED; riding on a stray also
     * AMBIGUOUS, SOLVING. */
    FLIGHT_QUEUED,
    /* On the engine's active list, holds a slot; the gate's submit timeout runs. → SOLVING,
     * AMBIGUOUS, BACKING_OFF, QUEUED, SOLVED (an early callback), FAILED. */
    FLIGHT_SUBMITTING,
    /* On the active list, holds a slot; timer: the ambiguity window. → QUEUED (resend), SOLVING (a
     * callback named the task), SOLVED (a callback brought the solution), BACKING_OFF, FAILED. */
    FLIGHT_AMBIGUOUS,
    /* On the active list, holds a slot; timer: the next poll. → SOLVED, QUEUED (unsolvable: retried
     * at once), BACKING_OFF, FAILED. */
    FLIGHT_SOLVING,
    /* On the engine's backing-off list; timer: the retry; with a shared store also without one, while
     * it waits for a unit. → QUEUED, SOLVED, FAILED. */
    FLIGHT_BACKING_OFF,
    /* On the engine's waking list until the last request is answered. */
    FLIGHT_SOLVED,
    FLIGHT_FAILED, /* likewise */
    FLIGHT_STATE_COUNT
};

struct flight {
    struct table_node node; /* by key; a member while it may be found */
    struct list link;       /* the list of its state */
    struct wheel_timer phase;
    struct wheel_timer deadline;
    struct list requests;      /* waiting, in the order they came */
    struct aside *aside;       /* owned, or NULL (aside.h) */
    struct history *history;   /* owned; NULL until an attempt ends badly */
    struct list idempotency;   /* records that wait for its end */
    struct blob *params;       /* owned reference */
    struct blob *error;        /* owned: the last error code, or NULL */
    struct attempt *attempt;   /* the current attempt, or NULL */
    struct solution *solution; /* owned reference, when solved */
    struct pool *pool;         /* borrowed, or NULL: the pool that this flight refills */
    uint64_t uid;              /* in the journal; 0 without one */
    uint64_t created_ms;
    uint64_t queued_ms; /* when it last entered the queue */
    uint64_t slot_since_ms;
    uint32_t host_at, host_len; /* of the page, within params; no length: unknown */
    uint32_t number;            /* for people: counts from 1 */
    uint32_t request_count;
    uint32_t retry_after_ms;
    uint32_t verdict; /* number of the verdict (money or threads short) it waits for; 0: none */
    uint32_t retry_delay_ms; /* as its first request asked; 0: the operator's default */
    uint16_t attempts;
    uint16_t earlier;         /* attempts of earlier flights, which do not count as its retries */
    uint16_t attempts_before; /* attempts made before the current one */
    uint16_t max_retries;     /* as its first request asked, with has_max_retries */
    enum flight_state state : 8;
    enum error_class error_class : 8;
    enum refusal refusal : 8; /* of an unclaimed one that fails: its fresh requests are refused */
    enum type type : 8;
    enum dialect_kind dialect : 8; /* of the request that started it */
    enum reuse reuse : 8;
    client_id client;
    uint8_t priority;
    uint8_t adoptions; /* how often another node had to go on with it */
    bool is_one_time : 1;
    bool wants_rest : 1; /* the answer is more than a text */
    bool has_max_retries : 1;
    bool is_in_table : 1;
    bool holds_slot : 1;
    bool is_reserved : 1; /* a unit of its client's budget is reserved for the next submit */
    bool is_paid : 1;     /* a submit was or may have been accepted */
    bool is_journaled : 1;
    bool is_answered : 1;         /* its answer cannot be handed out, or is another node's */
    bool is_spared : 1;           /* its deadline was extended once after a standstill */
    bool is_asking : 1;           /* an ACTION_CLAIM is under way */
    bool is_woken : 1;            /* what it follows ended after its claim was sent */
    bool is_followed_solving : 1; /* what it follows is at the vendor */
    bool is_restoring : 1;        /* of an adopted node: not all of its rows have come */
    bool is_merging : 1;          /* will go on as an adopted flight, which its key stands for */
    bool is_counted : 1;          /* in the books, as a flight of this node */
};

/* Does the client's share have a place and the bytes for this ask left (share.h)? */
bool flight_has_room(const struct engine *engine, const struct ask *ask);

/* Creates a flight for this ask and claims it, lets it ride on a stray or queues it; NULL when all places are taken. */
struct flight *flight_new(struct engine *engine, const struct ask *ask);

/* Lets a flight that may be submitted ride on a stray, or queues it. */
void flight_set_out(struct engine *engine, struct flight *flight);

/* Restores a flight from its row, in state NEW; NULL when all places are taken. */
struct flight *flight_restore(struct engine *engine, const struct flight_row *row,
                              uint64_t created_ms);
/* Frees a flight that is no longer needed: nobody waits for it, or it was solved after all. */
void flight_dismiss(struct engine *engine, struct flight *flight);

/* Changes a flight's state: checks the transition, unlinks, disarms, counts, links, arms. */
void flight_enter(struct engine *engine, struct flight *flight, enum flight_state state,
                  uint64_t timer_ms);

/* End a flight. Both take it out of the table before its requests are answered. */
void flight_solve(struct engine *engine, struct flight *flight, struct solution *solution);
void flight_fail(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code);

/* Answers at most `batch` requests of ended flights, fewer when their solutions are large. */
void flight_wake(struct engine *engine, uint32_t batch);

/* Called when the last request left: frees a flight before its submit; later ones run on, and their
 * solution is banked. */
void flight_abandon(struct engine *engine, struct flight *flight);

/* Is there a request or a replayed letter to solve it for? */
bool flight_is_wanted(const struct flight *flight);

/* Finds a paid single-use flight whose caller left after the submit and that nobody else can come
 * back for, or NULL. The next request of this client with this key may take it over. */
struct flight *flight_find_deserted(const struct engine *engine, const struct key *key,
                                    client_id client);

/* The flight that a request of this client with this key may join, or NULL. */
struct flight *flight_find(const struct engine *engine, const struct key *key, client_id client);

void flight_on_phase_timer(struct engine *engine, struct flight *flight);
void flight_on_deadline(struct engine *engine, struct flight *flight);
/* After a standstill, polls once more for flights whose deadline passed meanwhile: they may have
 * been solved long ago. */
void flights_on_standstill(struct engine *engine);

const char *flight_state_name(enum flight_state state);

#endif
