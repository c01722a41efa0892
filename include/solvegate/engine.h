/* The engine: events go in through one step function, actions come out of a queue. It never calls
 * out, sleeps, reads a clock or logs. */
#ifndef SOLVEGATE_ENGINE_H
#define SOLVEGATE_ENGINE_H

#include <solvegate/event.h>

struct engine;

/* How many retries each error class gets, and how soon they follow. */
struct retry_options {
    uint32_t base_ms, cap_ms;
    uint16_t busy, unsolvable, transient;
};

struct client_options {
    uint32_t slots;          /* the plan's slots it may hold; 0: all of them */
    uint32_t weight;         /* share of the queue, at least 1 */
    uint32_t requests;       /* requests that may wait; 0: the engine's limit */
    uint64_t budget_per_day; /* accepted submits per day; UINT64_MAX: no limit */
    bool is_gone;            /* no longer configured: solutions it paid for become letters */
    bool is_shadow;          /* mode: shadow (docs/design.md 5.11) */
    client_id heir;          /* with has_heir: the configured client that has its name now */
    bool has_heir;
    bool has_retry; /* `retry` replaces the engine's limits */
    struct retry_options retry;
};

/* A target whose solutions are solved ahead of requests. */
struct pool_options {
    uint32_t size;
    uint32_t idle_after_ms; /* refills stop after this long without a request */
    uint32_t max_waste;     /* or after this many unused solutions in a row; 0: never */
    uint32_t min_ttl_ms;    /* minimum remaining lifetime worth keeping */
    client_id client;       /* its budget and slots pay for the refills */
    enum type type;
    bool wants_rest;     /* as in struct ask */
    struct key key;      /* the target's key, for all clients that ask */
    struct blob *params; /* borrowed during engine_new */
};

/* Items of one kind processed per step: large enough to be quick, small enough to keep a turn short. */
#define ENGINE_BATCH 256

/* Nodes that can be told apart by the numbers of their rows. */
#define ENGINE_NODES 512

/* The engine has no defaults of its own: they are in the configuration's table (docs/design.md 6.5). */
struct engine_options {
    /* Options up to `slots` are fixed at start: engine_new reserves memory for the limits. */
    uint32_t max_requests;
    uint32_t max_flights;
    uint64_t max_flight_bytes;   /* parameters of all flights, images included */
    uint64_t max_pingback_bytes; /* `pingback=` addresses that are still to be told */
    uint32_t max_per_flight;
    uint32_t max_callers; /* callers held at the same time */
    uint32_t max_solutions;
    uint64_t max_solution_bytes;
    uint32_t max_idempotency;
    uint32_t max_records;      /* appended and not durable; above it all requests are refused */
    uint64_t max_record_bytes; /* texts and parameters of those records; also refuses requests */
    uint32_t max_finished;     /* read requests kept readable; the oldest are forgotten first */
    uint64_t
        max_finished_bytes;    /* solutions that only finished requests and idempotency keys hold */
    uint32_t max_letters;      /* beyond it the oldest are dropped */
    uint64_t max_letter_bytes; /* parameters of all letters; beyond it the oldest are dropped */
    uint32_t max_shadow_keys;  /* keys whose savings are predicted in shadow mode */
    uint32_t max_shadow_top;   /* keys that repeat most, and targets with reports */
    uint16_t max_clients;      /* maximum after any reload */
    /* ENGINE_BATCH; tests use less. */
    uint32_t wake_batch; /* requests answered per step when a flight ends */
    uint32_t step_batch; /* items of any other kind processed per step: ticks do the rest */
    bool has_journal;    /* without it no records are made and nothing waits for them */
    bool has_callbacks;  /* public_url is set: poll only as a fallback */
    /* Other gateways write to the same journal, so that keys are claimed before they are solved. */
    bool store_is_shared;
    /* The shared store can adopt dead nodes, and takes facts for others, who get them by EVENT_TOLD. */
    bool store_adopts;
    uint16_t node; /* with a shared store: this gateway's number, below ENGINE_NODES */
    /* With a shared store: how long after a beat others may take this node for dead, and how much
     * sooner it stops deciding. A lease of 0 is always valid. */
    uint32_t lease_ms, lease_margin_ms;
    uint16_t pool_count;
    const struct pool_options *pools; /* borrowed during the call */
    uint64_t secret[2];               /* keys of the hash tables */

    /* A reload may change the following options. */
    uint32_t slots;      /* threads of the plan */
    bool slots_are_auto; /* ask threadsinfo, adapt */

    uint32_t solve_timeout_ms;
    uint32_t ambiguity_window_ms;
    bool resend_ambiguous; /* on_ambiguous: resend */

    uint32_t poll_first_ms[TYPE_COUNT];
    uint32_t poll_interval_ms;
    uint32_t fallback_after_ms;

    uint32_t ttl_ms[TYPE_COUNT];
    uint64_t price_micro[TYPE_COUNT]; /* price of one submit, in millionths of a unit */
    uint32_t caller_error_ttl_ms;
    uint32_t idempotency_ttl_ms;

    uint32_t retry_base_ms;
    uint32_t retry_cap_ms;
    uint32_t retry_jitter_ms;
    uint16_t retry_busy;
    uint16_t retry_unsolvable;
    uint16_t retry_transient;
    uint16_t retry_unknown;
    uint32_t retry_budget_permille; /* retries per 1000 submits of the last minute; 0: no limit */

    uint32_t breaker_probe_ms;      /* from opening to the first free probe */
    uint32_t breaker_probe_most_ms; /* the pause doubles up to here while the breaker stays open */

    uint64_t letter_keep_ms;
    uint32_t letter_alert_above;
    uint32_t replay_interval_ms;    /* between two letters of a replay */
    uint32_t letter_retry_every_ms; /* pause before an automatic replay of a letter; 0: never */
    uint32_t letter_retry_classes;  /* bits by enum error_class: which are replayed automatically */
    uint16_t letter_retry_max;      /* automatic replays of one letter, at most */
    /* May the client still ask for what its letter is about? Asked before each replay; NULL: always. */
    bool (*letter_is_allowed)(const void *context, client_id client, const struct blob *params);
    const void *letter_context;

    uint16_t notice_retries; /* retries of a notice before it becomes a letter */
    uint32_t notice_base_ms;
    uint32_t notice_cap_ms;

    bool clients_share;                   /* dedup.scope: global; else each has its own */
    uint16_t client_count;                /* at least 1 */
    const struct client_options *clients; /* borrowed during the call */
};

/* Aborts if memory runs out. now_ms and wall_ms start the clocks. */
struct engine *engine_new(const struct engine_options *options, uint64_t now_ms, int64_t wall_ms);
void engine_free(struct engine *engine);

/* Restores the engine: after engine_new and before the first step, call engine_restore for every
 * row of the store, in the order of enum record_kind, then engine_restored once. Rows are borrowed.
 * Paid tasks resume at once. */
void engine_restore(struct engine *engine, const struct record *record);
/* With a shared store also call this for every claim that this gateway held, after the rows. */
void engine_restore_claim(struct engine *engine, const struct key *name, uint64_t flight);
void engine_restored(struct engine *engine);

/* Applies a reload: times, retries, slots and clients, of which there may be more than before.
 * Limits, journal and pools stay as they were. */
void engine_configure(struct engine *engine, const struct engine_options *options);

/* Applies one event. Actions collect in the queue until they are taken. */
void engine_step(struct engine *engine, const struct event *event);

/* Takes the oldest action; the caller now owns its blobs and gives them back with action_close. */
bool engine_next_action(struct engine *engine, struct action *action);
void action_close(struct action *action);
void answer_close(struct answer *answer);

/* Does an action that waited, for durability or in a queue, still serve anybody? If not, a submit
 * or poll is not sent and ends with OUTCOME_WITHDRAWN; a notice is just not sent. */
bool engine_wants(const struct engine *engine, const struct action *action);

/* For the shutdown: allows no more submits, then marks each pending submit as not sent, so that the
 * next start knows it. */
void engine_stop_submits(struct engine *engine);
void engine_forgo_submit(struct engine *engine, attempt_id attempt);

/* Then refuses held callers, a batch of them; their requests stay. False when nobody is held any more. */
bool engine_dismiss_callers(struct engine *engine);

/* Journals the day's page as the last record of a shutdown. */
void engine_close_books(struct engine *engine);

/* When to step with EVENT_TICK at the latest; UINT64_MAX when no timer is armed. Now or earlier
 * when work did not fit into the last step. */
uint64_t engine_next_deadline(const struct engine *engine);

/* Items touched by the last step: timers, flights, letters, actions. engine_check keeps it below
 * ENGINE_WORK_MOST whatever the load, so that no step blocks the loop for long. */
#define ENGINE_WORK_MOST 16384

/* An answer counts once more for each so many bytes: copying and escaping them is most of its cost. */
#define ANSWER_UNIT_BYTES 2048
uint32_t engine_work(const struct engine *engine);

/* Aborts on any internal inconsistency; for tests and the simulator. */
void engine_check(const struct engine *engine);

/* One line per state change, for tests and debug logs; text is borrowed during the call. */
typedef void (*trace_fn)(void *context, uint64_t now_ms, const char *text);
void engine_set_trace(struct engine *engine, trace_fn trace, void *context);

#endif
