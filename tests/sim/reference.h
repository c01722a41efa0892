/* What the slow model knows (reference.c), and how it looks things up. */
#ifndef SOLVEGATE_TESTS_SIM_REFERENCE_H
#define SOLVEGATE_TESTS_SIM_REFERENCE_H

#include "sim.h"

enum phase { QUEUED, SUBMITTING, AMBIGUOUS, SOLVING, BACKING_OFF };

struct ref_flight {
    bool is_live, is_matched;
    bool may_end, must_end; /* in this step */
    bool may_queue;         /* a timer may have brought it back to the queue */
    bool is_named;          /* a callback named its task */
    bool must_board;        /* in this step it took over a task: whatever state that is in */
    bool is_partial;        /* a callback brought its text, and the rest is asked for */
    enum phase phase;
    uint32_t key;
    client_id client;
    enum reuse reuse;
    uint8_t priority;
    uint32_t requests;
    uint16_t attempts;
    uint16_t attempts_before; /* the current one */
    uint16_t tries[CLASS_COUNT];
    uint64_t uid; /* 0 until its row was seen */
    uint64_t created_ms, started_ms;
    uint64_t deadline_ms, window_ms; /* as the options were when they were set */
    attempt_id attempt;              /* the current one, or 0 */
    attempt_id boards;               /* which it may have taken over in this step, or 0 */
    uint32_t token;                  /* that ends it, when it is known */
};

struct ref_request {
    bool is_live;
    bool is_told;
    uint32_t flight;
    request_id id; /* 0 until somebody was told */
};

struct ref_hold {
    caller_id caller;
    uint32_t request;
};

struct reference {
    struct ref_flight *flights; /* owned */
    size_t flight_count, flight_room;
    struct ref_request *requests; /* owned */
    size_t request_count, request_room;
    struct ref_hold *holds; /* owned */
    size_t hold_count, hold_room;
    uint32_t *bound; /* owned: the flight of each idempotency number, or MAP_NONE */
    size_t bound_count, bound_room;
    attempt_id intent; /* the last that was written */
    uint64_t intent_flight;
    uint16_t intent_number; /* within its flight */
    /* The caller that asks or looks in this step, and what it may get. */
    caller_id caller;
    uint32_t request, flight;
    uint64_t number;    /* of its idempotency key, or 0 */
    uint32_t bound_old; /* what that stood for */
    bool is_new, is_told, is_over, is_refused;
    bool is_lost; /* it cannot follow any more, and is silent from now on */
};

/* Places, or MAP_NONE. */
uint32_t ref_flight_of_attempt(const struct reference *ref, attempt_id attempt);
uint32_t ref_shared_flight(const struct reference *ref, uint32_t key);
uint32_t ref_deserted_flight(struct reference *ref, uint32_t key);
uint32_t ref_request_of_id(const struct reference *ref, request_id id);
size_t ref_holds_of(const struct reference *ref, uint32_t request);
uint32_t *ref_binding(struct reference *ref, uint64_t number);
uint64_t ref_number_in(const struct key *key);

#endif
