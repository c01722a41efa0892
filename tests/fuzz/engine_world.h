/* The world around the engine as the fuzzer plays it: a shell that keeps the contract and a vendor that may do
 * anything. */
#ifndef SOLVEGATE_TESTS_FUZZ_ENGINE_WORLD_H
#define SOLVEGATE_TESTS_FUZZ_ENGINE_WORLD_H

#include "fuzz.h"

#include "base/rand.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

#define WORLD_CLIENTS 3
#define WORLD_KEYS 4
#define VISITS_MAX 512
#define REQUESTS_MAX 512
#define ATTEMPTS_MAX 1024
#define PENDING_MAX 512
#define NOTICES_MAX 512

enum visit_kind {
    VISIT_ASK,
    VISIT_LOOK,
    VISIT_DETACH,
    VISIT_REPORT,
    VISIT_ACCOUNT,
    VISIT_LETTERS,
    VISIT_CALLBACK,
};

/* Somebody at a door; a caller's id is its place plus one. */
struct visit {
    enum visit_kind kind;
    client_id client;
    request_id wanted; /* of those that name a request */
    struct key key;    /* of an ask */
    bool is_told;      /* the engine has said its answer, which may still wait for the journal */
    bool is_gone;
};

/* A request as far as its callers were told. */
struct known_request {
    request_id id;
    client_id client;
    struct key key;
    bool is_final;
    enum request_state state;
};

struct known_attempt {
    attempt_id id;
    struct key key;
    bool is_submitting, is_polling;
    char task[TASK_ID_MAX];
};

struct world {
    struct engine *engine;
    struct engine_options options;
    struct client_options clients[WORLD_CLIENTS];
    struct rand rand;
    uint64_t now_ms;
    uint64_t start_ms;
    bool is_draining; /* at the end */
    bool is_healing;
    bool is_probing[PROBE_COUNT];
    journal_seq seq;     /* of the last record */
    journal_seq durable; /* as far as the engine was told */
    unsigned solutions;

    struct visit visits[VISITS_MAX];
    size_t visit_count;
    struct known_request requests[REQUESTS_MAX];
    size_t request_count;
    struct known_attempt attempts[ATTEMPTS_MAX];
    size_t attempt_count;
    request_id notices[NOTICES_MAX]; /* whose own addresses are being told */
    size_t notice_count;
    struct action pending[PENDING_MAX]; /* owned; they wait for the journal, in order */
    size_t pending_count;
};

void world_open(struct world *world);
void world_close(struct world *world);

/* Whether another deed fits into the arrays; the rest of the input is left alone then. */
bool world_has_room(const struct world *world);

/* Applies the event with the world's time, takes every action and checks what must be true after each step. */
void world_step(struct world *world, struct event *event);
/* One that has nothing to say. */
void world_event(struct world *world, enum event_kind kind);
/* Time, with a tick at every deadline on the way. */
void world_pass(struct world *world, uint64_t ms);

caller_id world_visit(struct world *world, enum visit_kind kind, client_id client,
                      request_id wanted);
struct key world_key(unsigned number, client_id client);
/* One that somebody was told of, counted from the newest; NULL when there are fewer. */
const struct known_request *world_request(const struct world *world, size_t back);

/* The vendor: ends a call that is under way; false when there is none. */
bool world_end_submit(struct world *world, struct input *input);
bool world_end_poll(struct world *world, struct input *input);
bool world_end_probe(struct world *world, struct input *input);
/* Not the vendor, but as fallible: a caller's own address. */
bool world_end_notice(struct world *world, struct input *input);
void world_call_back(struct world *world, struct input *input);

/* The journal is on disk, but for this many of the newest records. */
void world_become_durable(struct world *world, unsigned lag);

/* All faults end, the vendor answers everything, and after enough time nobody may still wait. */
void world_heal(struct world *world);

#endif
