/* All of the engine's state; only the engine's own files include this. */
#ifndef SOLVEGATE_ENGINE_STATE_H
#define SOLVEGATE_ENGINE_STATE_H

#include "base/assert.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/numbers.h"
#include "base/rand.h"
#include "base/slab.h"
#include "base/table.h"
#include "base/wheel.h"
#include "engine/flight.h"
#include "engine/letter_job.h"
#include "engine/share.h"
#include "engine/show_wait.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>
#include <solvegate/words.h>

/* The purpose of a wheel timer; CONTAINER_OF finds its owner. */
enum timer_kind {
    TIMER_FLIGHT_PHASE,
    TIMER_FLIGHT_DEADLINE,
    TIMER_REQUEST,     /* forget a finished request that nobody read */
    TIMER_HOLD,        /* answer a held caller with the current state */
    TIMER_SOLUTION,    /* expire a cached solution */
    TIMER_IDEMPOTENCY, /* expire an idempotency record */
    TIMER_ATTEMPT,     /* poll for an attempt without a flight, or forget it */
    TIMER_BREAKER,     /* probe the account */
    TIMER_LETTER,      /* drop a dead letter that was kept long enough */
    TIMER_REPLAY,      /* replay the next letter */
    TIMER_SWEEP,       /* look for letters to retry automatically */
    TIMER_PLAN,        /* slots: auto asks again */
    TIMER_POOL,        /* put an idle pool to sleep, or retry a refill */
    TIMER_NOTICE,      /* tell a caller's address again */
    TIMER_BOOKS,       /* journal the day's page */
    TIMER_SEARCH,      /* ask again for another node's request, or forget it */
    TIMER_PAUSE,       /* submit again after busy replies with nothing of ours in flight */
};

/* One caller's ask. On its flight's list while it waits, on a finished list of its client afterwards. */
struct request {
    struct numbers_node by_id; /* its number is the public id */
    struct list link;
    struct list holds;  /* callers held until it is final */
    struct list reader; /* of its solution, once finished */
    struct wheel_timer expiry;
    struct flight *flight;     /* borrowed; NULL once final */
    struct solution *solution; /* owned reference, when solved */
    struct blob *error;        /* owned, when failed */
    struct blob *pingback;     /* owned, or NULL: the `pingback=` address still to be told */
    struct notice *notice;     /* borrowed, or NULL: the notice under way */
    journal_seq seq;           /* of its record: no answer before it is durable */
    uint64_t letter;           /* number of the letter with its undeliverable answer, or 0 */
    uint32_t retry_after_ms;
    uint16_t attempts;
    client_id client;
    enum type type : 8;
    enum request_state state : 8; /* SOLVED and FAILED are final; else ask the flight */
    enum source source : 8;
    enum error_class error_class : 8;
    bool is_replayed : 1;
    bool is_renewed : 1;
    bool is_id_told : 1;  /* its caller can come back for it */
    bool is_promised : 1; /* and has its id: an answer with it was given */
    bool is_journaled : 1;
    bool is_finished : 1; /* final, and no notice is due: in a finished list of its client */
    bool is_read : 1;     /* its final state was told to somebody */
    bool is_reported : 1;
    bool is_fresh : 1;  /* asked for while its flight was being claimed (placed.h) */
    bool is_booked : 1; /* its end is in the books of the node that it was adopted from */
};

/* A caller held at a door. */
struct hold {
    struct numbers_node by_caller;
    struct list link; /* of its request or search */
    struct wheel_timer timer;
    struct request *request;    /* borrowed; NULL: it asks for another node's */
    struct search *search;      /* borrowed, or NULL: that one (find.h) */
    uint64_t ticket;            /* of an errand at another node, or 0 (errand.h) */
    struct letter_wait letters; /* of an order about letters */
    client_id client;
    struct list brief; /* of its flight, if it waits only until that is claimed */
    bool is_id_only;   /* its caller only learns the id (in.php): a final state stays unread */
};

/* The state of an attempt's task at the vendor, as far as we know it. attempt_enter() performs every change. */
enum attempt_state {
    ATTEMPT_SENT,        /* its submit is under way */
    ATTEMPT_AMBIGUOUS,   /* its submit ended without telling whether the vendor accepted it */
    ATTEMPT_UNCONFIRMED, /* the ambiguity window is over: only late news can tell */
    ATTEMPT_WORKING,     /* the vendor named its task */
    /* The following states are final: all further news but a first solution is a repeat. */
    ATTEMPT_VOID,   /* proven not to exist at the vendor */
    ATTEMPT_FAILED, /* the vendor gave it up */
    ATTEMPT_SOLVED, /* its text may be gone after a restart */
};

/* One submit. Outlives its flight while a late callback may still come. */
struct attempt {
    struct numbers_node by_name; /* its number is the attempt_id */
    struct numbers_node by_task; /* by a hash of its task's name, while it stands for the task */
    struct flight *flight;       /* borrowed; NULL once the flight let go of it */
    struct vigil *vigil;         /* owned; NULL while it has a flight (vigil.h) */
    struct blob *partial;        /* owned, or NULL: the text of an answer whose rest is missing */
    struct blob *cause;          /* owned, or NULL: the error that this attempt follows */
    uint64_t text_hash;          /* of the solution it brought, to recognise repeats; 0: none */
    uint64_t partial_hash;       /* the same of `partial`, once the attempt is over */
    uint64_t started_ms;
    uint64_t unborn_ms;    /* the latest moment at which the solution certainly did not exist */
    uint64_t asked_ms;     /* when the current poll was sent */
    uint64_t accepted_ms;  /* when the vendor accepted it; until that is known, when it was sent */
    journal_seq named_seq; /* once this is durable, a row has the task's name */
    int64_t spent_day;     /* the day whose budget counted it before its submit's reply came */
    struct blob *task_id;  /* owned, or NULL: the task's name, shared with the task */
    struct blob
        *other_task_id;  /* likewise of a second task on the same nonce: our submit was doubled */
    uint16_t number;     /* counts from 1 within its flight */
    uint8_t odd_letters; /* letters made of solutions that do not belong to it */
    uint8_t questions;   /* polls that did not bring the rest */
    client_id client;
    enum type type : 8;
    enum reuse reuse : 8;
    enum cause why : 8;
    enum error_class cause_class : 8;
    enum attempt_state state : 8;
    bool is_stray : 1, is_unheard : 1; /* in the table of that name */
    bool is_one_time : 1;
    bool wants_rest : 1;      /* its answer is more than a text */
    bool is_replied : 1;      /* the submit ended; a callback may have come before that */
    bool is_paid : 1;         /* known to be paid for, and counted */
    bool is_polling : 1;      /* a poll is on its way */
    bool is_resent : 1;       /* another attempt was submitted in its stead */
    bool is_missed : 1;       /* a poll brought the result, its callback has not come */
    bool is_other_closed : 1; /* a solution of the other task was taken */
    bool is_twin : 1;         /* the vendor gave it the task of another attempt */
    bool is_restored : 1;     /* from the journal, which does not record the other task */
    bool stands_for_task : 1; /* by its task's name, for which there is no record yet (task.h) */
    bool is_disowned : 1;     /* what it brings came too late for its own flight */
    bool was_let_go : 1;      /* by a flight, perhaps before another one rode on it */
};

/* A task of the vendor, by its id. Outlives its attempt, which stands for it until it is let go or there is more to
 * remember than the name (task.h). */
struct task {
    struct numbers_node node; /* by a hash of its name */
    struct list link;         /* engine's tasks, the oldest first */
    attempt_id attempt;       /* the first attempt that named it */
    struct key key;           /* the key of that attempt */
    uint64_t since_ms;        /* when it was last claimed, or first named */
    uint64_t text_hash;       /* of its solution; 0 if unknown */
    uint64_t unborn_ms;       /* of its solution, as in struct attempt */
    uint64_t own_hash;        /* hash of the text a callback brought another attempt; 0: none */
    bool is_claimed;          /* an attempt has its solution */
    bool is_restored;         /* others may have had its solution before the restart */
    bool is_shared;           /* its solution is shared by all requests of the same key */
    struct blob *name;        /* owned reference */
};

/* An answer with its birth and expiry; a negative one caches a caller's mistake. */
struct solution {
    struct table_node node; /* by key, while cached */
    struct list link;       /* its client's cached list, oldest first, while cached */
    struct list readers;    /* finished requests that hold it */
    struct list records;    /* idempotency records that stand for it */
    struct list kept;       /* in one of its client's two queues, while only those hold it */
    struct list *kept_in;   /* borrowed, or NULL: that queue */
    struct wheel_timer expiry;
    struct blob *text;  /* owned; the error code of a negative one */
    struct blob *extra; /* owned, or NULL */
    struct blob *host;  /* owned, or NULL: of the page, for advice about its target */
    uint64_t born_ms;
    uint64_t expires_ms;
    uint64_t solve_ms;    /* slot time it cost, and that a hit saves */
    uint64_t uid;         /* in the journal; 0 without one */
    uint64_t flight_uid;  /* the flight whose requests it is for, or 0: for whoever asks */
    attempt_id attempt;   /* the attempt that brought it */
    struct pool *pool;    /* borrowed, while it waits in one */
    journal_seq seq;      /* of its record: nobody gets it before it is durable */
    journal_seq born_seq; /* of its first record; 1 if that was another run's */
    uint32_t refs;        /* holders: requests, idempotency records, flights, and the cache */
    uint32_t handed;      /* requests that got it */
    uint32_t unread;      /* readers that were not told yet */
    uint32_t bytes;
    uint16_t attempts;
    client_id client;
    enum type type : 8;
    bool is_cached;
    bool is_restored; /* from a row that another run wrote */
    bool is_shared;   /* else it is handed out once */
    bool is_negative;
    bool is_one_time;     /* for a one-time input: never cached */
    bool is_waning;       /* in a pool: too old soon, so a replacement is wanted */
    bool is_bad;          /* reported as bad: nobody gets it any more */
    bool is_missed;       /* of a gone client: its requests or idempotency keys referred to it */
    bool is_set_aside;    /* kept for the retry of an idempotency key: no pool hands it out */
    bool is_offered;      /* all nodes may take it, and only the store gives it (offer.h) */
    bool is_proposed;     /* a claim of ours is about to take it */
    bool is_taken;        /* a claim has given it to one flight */
    struct blob *task_id; /* owned reference, or NULL */
};

/* The meaning of an idempotency key: a running flight or a solution. */
struct idempotency {
    struct table_node node; /* by digest */
    slab_id id;
    struct list link;   /* of its flight while that runs, then its client's settled list */
    struct list holder; /* of its solution */
    struct wheel_timer expiry;
    struct key fingerprint;
    struct flight *flight;     /* borrowed, while it runs */
    struct solution *solution; /* owned reference, when solved */
    uint64_t serves_until_ms;  /* a retry gets the solution until then */
    client_id client;
    bool is_journaled;
    bool is_unconfirmed; /* its flight is being claimed, or the row is another node's */
};

/* How a flight's attempts ended; allocated when the first one fails. */
#define HISTORY_MAX NOTES_MAX
struct history {
    size_t count;
    struct attempt_note notes[HISTORY_MAX];
};

/* A dead letter: idle, queued for replay (on the replays list), or riding on a flight. */
struct letter {
    struct numbers_node node; /* by number */
    slab_id id;
    struct table_node orphan; /* by key, while an orphan's solution can be given back */
    struct table_node answer; /* by key, of an answer that cannot be handed out */
    struct list link;         /* engine's letters, oldest first */
    struct list own;          /* its client's letters, oldest first */
    struct list ride;         /* engine's replays, or the flight's letters */
    struct wheel_timer expiry;
    struct flight *flight;   /* borrowed; the replay under way, or NULL */
    struct notice *notice;   /* borrowed; the replay of a letter about a notice, or NULL */
    struct history *history; /* owned */
    struct blob *params;     /* owned */
    struct blob *error;      /* owned */
    struct blob *pingback;   /* owned, or NULL */
    struct blob *text;       /* owned, or NULL: a solution that could not be handed out */
    struct blob *extra;      /* owned, or NULL: the solution's further members */
    uint64_t fresh_ms;       /* when the solution expires, or 0 */
    struct key key;
    uint64_t number;
    request_id request; /* the request whose address could not be told, or 0 */
    int64_t created_wall_ms;
    uint32_t told;
    uint64_t idle_ms; /* since when it has not been replayed */
    uint16_t replays;
    uint16_t retries; /* automatic replays among `replays` */
    client_id client;
    enum type type;
    enum error_class class;
    enum reuse reuse;
    enum letter_kind kind;
    uint8_t priority;
    bool is_one_time;
    bool wants_rest;
    bool is_retried; /* queued for an automatic replay */
    char task_id[TASK_ID_MAX];
};

/* Tells a caller's address until it accepts. On the wire while the timer is not armed. */
struct notice {
    struct numbers_node node; /* by request */
    slab_id id;
    struct wheel_timer timer;
    struct request *request; /* borrowed, or NULL: it stays until the notice is over */
    struct letter *letter;   /* borrowed, or NULL: the letter that this notice replays */
    struct history *history; /* owned, or NULL */
    struct blob *url;        /* owned */
    struct blob *code;       /* owned */
    request_id request_id;
    uint64_t started_ms;
    uint16_t tries;
    client_id client;
};

/* A caller waiting for balance or threads. */
struct account_wait {
    struct list link;
    slab_id id;
    caller_id caller;
    client_id client;
};

/* One kind of probe: the vendor's last answer, and the callers who wait for the next one. */
struct account_probe {
    bool is_asked;     /* a probe is on its way */
    uint64_t heard_ms; /* when the last answer came */
    struct probed last;
    struct list waits;
};

#define PRIORITIES 10

/* A client's part of the queue and of the slots. */
struct client {
    struct list again[PRIORITIES];  /* flights that had a turn before: they go first */
    struct list queues[PRIORITIES]; /* newcomers */
    struct list turn;               /* in the engine's ring while it may start a flight */
    struct list unread, read;       /* its finished requests, oldest first */
    struct list settled; /* its idempotency records that stand for a solution, oldest first */
    struct list cached;  /* its cached solutions, oldest first */
    struct list kept_unread,
        kept_read;       /* its solutions that only finished requests hold, oldest first */
    struct list letters; /* its letters, oldest first */
    struct client_options options;
    uint32_t queued, slots_used;
    uint32_t credit;   /* flights it may still start in this round */
    uint32_t requests; /* waiting */
    uint32_t hints;    /* ids that the store is asked for, for nobody in particular */
    struct look_errands looks;
    uint64_t spent;                  /* of today's budget */
    uint64_t spent_past[STATS_DAYS]; /* of the days before, newest first */
    uint64_t reserved;               /* by flights not yet submitted */
    uint64_t allowance;    /* what it may spend here: its budget, or what was drawn (budget.h) */
    uint64_t budget_top;   /* the largest budget since the start, for the auditor */
    bool is_spent_written; /* today's amount has a row */
    bool is_overdrawn;     /* more is reserved than drawn: nothing is started */
};

/* Limits that clients share (share.h); bytes count parameters and texts. */
struct shares {
    struct share requests, read, holds, flights, flight_bytes, idempotency, cached, cached_bytes,
        finished_bytes, letters, letter_bytes, pingback_bytes, account_waits;
};

struct pool {
    struct pool_options options; /* holds its own reference to params */
    struct list ready;           /* solutions */
    struct wheel_timer timer;    /* armed while the pool is awake */
    uint64_t asked_ms;
    uint64_t retry_at_ms;
    uint32_t ready_count, waning_count, solving;
    uint32_t wasted; /* solutions that expired unused, in a row */
    unsigned fails;  /* refills that failed, in a row */
    bool is_asleep;
    bool shares_bit; /* with another pool, in beats (divide.c) */
    /* What beats told of it: at last, and at least since one was answered. */
    uint16_t told_last, told_least;
    uint64_t served, refilled, expired;
};

struct breaker {
    enum breaker_state state;
    bool is_clearing; /* flights not submitted yet are being failed, a batch per step */
    struct wheel_timer timer;
    uint32_t wait_ms; /* until the next probe; doubles while it stays open */
    enum error_class cause_class;
    bool is_short; /* money or threads are short, as far as is known */
    char cause[ERROR_CODE_MAX];
    uint64_t ambiguous_ms[5]; /* a ring of the last ambiguous submits' times */
    unsigned ambiguous_next;
};

/* The bytes of records that are not durable yet. The gate reports the last durable record, and
 * marks map that to bytes. One mark stands for many records, so that few are needed. */
#define BACKLOG_MARKS 64
struct backlog {
    struct backlog_mark {
        journal_seq last;
        uint64_t bytes;     /* total of all records up to that one, since the start */
    } marks[BACKLOG_MARKS]; /* a ring */
    uint32_t first, count;
    uint64_t taken, durable; /* bytes since the start; `durable` is never too high */
};

/* Callbacks that arrived, and solves that a poll had to find, by minute. */
#define HEALTH_MINUTES 5
struct health {
    uint64_t minute[HEALTH_MINUTES];
    uint32_t arrived[HEALTH_MINUTES];
    uint32_t missed[HEALTH_MINUTES];
};

/* Submits and retries of the last minute, by second, for the retry budget. */
struct minute {
    uint64_t second[60];
    uint32_t submits[60];
    uint32_t retries[60];
    uint32_t ambiguous[60];
};

/* Attempts that were solved although they are no longer known, in the order of their first callback. */
#define ODD_NAMES 1024
struct odd_names {
    struct odd_name {
        attempt_id name;
        uint64_t since_ms;
        uint8_t letters;
    } items[ODD_NAMES]; /* a ring */
    uint32_t first, count;
};

#define HEARD_FACTS 1024

struct day {
    int64_t number; /* since 1970, UTC */
    struct stats stats;
    struct shadow_hour hours[SHADOW_HOURS]; /* in shadow mode; they change only with the counters */
};

struct engine {
    struct engine_options options; /* .clients is not kept: see clients */
    uint64_t now_ms;
    int64_t wall_ms;
    struct rand rand;
    uint64_t last_number; /* last row number given out; 0 before the first */
    uint64_t seen_number; /* highest row number restored from the journal */
    struct wheel wheel;

    struct slab requests, holds, flights, attempts, solutions, idempotency, letters, notices,
        account_waits, task_slab, asides, vigils;
    struct numbers requests_by_id, holds_by_caller, attempts_by_name, attempts_by_task,
        letters_by_number, notices_by_request, tasks_by_name;
    struct table flights_by_key, flights_apart, strays_by_key, unheard_by_key, solutions_by_key,
        idempotency_by_key, orphans_by_key, answers_by_key;

    struct shares shares;
    struct list active; /* flights that hold a slot */
    struct list backing_off;
    struct list claiming;  /* flights that wait for the store's decision */
    struct list following; /* flights that wait for another node's */
    struct list telling;   /* claimed flights with callers who wait to be told so */
    struct list unleased;  /* flights whose claims wait for the lease */
    struct list parked;    /* flights that ended before all of their adopted rows had come */
    struct list unhanded;  /* solved flights whose hand-outs wait for the lease */
    uint64_t lease_until_ms;
    struct member *members;    /* owned, with a shared store: as the last beat's answer said */
    uint64_t *moved_ms;        /* owned: when each member's beat was last seen to move */
    struct departed *departed; /* owned: nodes that were members */
    uint16_t departed_count;
    node_id taken_over; /* the last one whose rows became ours */
    uint16_t member_count;
    node_id adopting;                    /* the node whose rows were asked for, or 0 */
    bool is_fenced;                      /* another node adopted this one */
    slab_id told_attempt, told_solution; /* of a fenced one: up to here its facts were told */
    bool are_names_told, are_facts_told;
    uint64_t heard_facts[HEARD_FACTS]; /* a ring of the entries of the inbox heard last */
    uint32_t heard_next;
    struct list waking;    /* ended flights with requests to answer */
    struct list listening; /* attempts without a flight, oldest first */
    struct list tasks;     /* oldest first */

    struct list letter_list; /* oldest first */
    uint64_t letter_bytes;   /* of their parameters */
    struct list replays;     /* letters waiting to be replayed */
    uint32_t replay_count;
    uint32_t notice_replays; /* notices under way that replay letters */
    struct wheel_timer replay_timer;
    struct wheel_timer sweep_timer;
    struct list *sweep; /* link of the letter that the sweep looks at next; NULL: the first */
    uint64_t letter_serial;
    bool letters_are_alerted;
    struct letter_job letter_jobs[LETTER_JOBS]; /* a ring */
    uint32_t letter_job_first, letter_job_count;

    struct client *clients; /* owned */
    uint16_t client_count, client_room;
    struct list ring; /* clients that may start a flight */
    uint32_t queued, slots_used, slots_plan;
    uint32_t slots_share; /* of the plan's slots, those that this node may use */
    uint32_t slots_aim;   /* those that are its part, and that it may use once the others know */
    uint32_t starved_s;   /* since when it uses none though flights wait; 0: it does not starve */
    uint64_t limit_milli; /* the adaptive limit, in thousandths of a slot */
    uint64_t limit_aim_milli; /* after a cut the limit grows fast up to here */
    uint64_t limit_cut_ms;    /* when it was last cut */
    bool is_limit_cut;        /* it is below the plan because the vendor was busy */
    bool is_plan_known;       /* from the configuration, or reported by the vendor */
    struct wheel_timer plan_timer;
    struct wheel_timer pause_timer; /* nothing is submitted while it is armed */

    struct pool *pools; /* owned */
    uint16_t pool_count, next_pool;

    struct breaker breaker;
    struct minute minute;
    struct health health;
    struct odd_names odd_names;

    struct account_probe probes[PROBE_COUNT];
    uint32_t verdict_number; /* number of the next verdict, from 1 */
    uint32_t verdict_waits;  /* flights that back off and wait for the verdict */
    bool is_verdict_due;     /* a flight failed before the verdict on money or threads */
    uint32_t verdict_slots;  /* most slots in use at such a refusal since the probe was sent */

    uint32_t work;        /* items touched by this step */
    uint32_t starts_left; /* flights that may still be started in this step */
    bool is_starting;     /* more flights could start than this step may */

    struct action *actions; /* owned; a queue that grows to the largest step */
    size_t action_head, action_count, action_room;
    journal_seq seq;     /* last handed out */
    journal_seq durable; /* durable up to here */
    struct backlog backlog;
    unsigned rewriting; /* kind of row that is written again, plus one, or claims; 0: none is */
    slab_id rewritten;  /* of this kind, up to here */
    journal_seq rewritten_seq; /* the last row that was written again */
    size_t repaged;            /* tallies of earlier days, up to here */
    bool store_is_writable, store_is_away, is_draining;
    bool is_stopped; /* no more submits */
    struct stats stats;
    struct stats written_stats;      /* today's page as last journaled */
    struct day days[STATS_DAYS + 1]; /* [0] is today */
    struct tally *tallies;           /* owned; see tally_at */
    struct tally *written_tallies;   /* owned; today's as they were last journaled */
    size_t tally_at;                 /* index of the next tally to journal */
    bool is_tallying;
    struct unknown_errors unknown_errors;
    struct histogram timings[TIMING_COUNT];
    struct wheel_timer books_timer;
    struct recovery *recovery; /* owned, while rows are being restored */
    struct shadow *shadow;     /* owned; NULL until somebody asks in shadow mode */
    struct advice *advice;     /* owned; NULL until somebody reports */
    struct look_errands looks; /* of all clients */
    struct show_errand shows[SHOW_ERRANDS];
    struct finding *finding;   /* owned; NULL without a shared store (find.h) */
    struct bad_ones *bad_ones; /* owned; NULL without a shared store (bad.h) */
    struct budgets *budgets;   /* likewise (budget.h) */
    uint64_t vain_second;      /* in which `vain_count` claims got nothing, and were refused */
    uint32_t vain_count;
    uint32_t flight_serial;

    trace_fn trace;
    void *trace_context;
    struct buf trace_buf;
};

/* Counts in the totals and in today's page. */
#define COUNT_BY(engine, field, amount)            \
    do {                                           \
        (engine)->stats.field += (amount);         \
        (engine)->days[0].stats.field += (amount); \
    } while (0)
#define COUNT(engine, field) COUNT_BY(engine, field, 1)

/* The tally of a client and type, by days from today; ENGINE_SINCE_START: the totals. */
static inline struct tally *tally_at(const struct engine *engine, unsigned days_ago,
                                     client_id client, enum type type)
{
    const size_t row = (size_t)days_ago * engine->client_room + client;
    return &engine->tallies[row * TYPE_COUNT + type];
}

#define TALLY_BY(engine, client, type, field, amount)                          \
    do {                                                                       \
        tally_at(engine, 0, client, type)->field += (amount);                  \
        tally_at(engine, ENGINE_SINCE_START, client, type)->field += (amount); \
    } while (0)
#define TALLY(engine, of, field) TALLY_BY(engine, (of)->client, (of)->type, field, 1)

/* Is `other` the configured client that has the name of `one`, which a restart found gone? */
static inline bool client_is_heir(const struct engine *engine, client_id one, client_id other)
{
    return engine->clients[one].options.has_heir && engine->clients[one].options.heir == other;
}

/* May `other` have solutions of `one`? Keys tell clients apart as well; this is a second check. */
static inline bool clients_may_share(const struct engine *engine, client_id one, client_id other)
{
    return one == other || engine->options.clients_share || client_is_heir(engine, one, other);
}

/* True if the client is no longer configured and shares its solutions with nobody. */
static inline bool client_is_gone(const struct engine *engine, client_id client)
{
    return engine->clients[client].options.is_gone && !engine->options.clients_share;
}

/* Is this client served as if there were no gateway (docs/design.md 5.11)? */
static inline bool client_is_shadow(const struct engine *engine, client_id client)
{
    return engine->clients[client].options.is_shadow;
}

#define TRACE(engine, ...)                               \
    do {                                                 \
        if ((engine)->trace != NULL) {                   \
            buf_reset(&(engine)->trace_buf);             \
            buf_addf(&(engine)->trace_buf, __VA_ARGS__); \
            engine_trace_emit(engine);                   \
        }                                                \
    } while (0)

void engine_trace_emit(struct engine *engine);

/* Appends a zeroed action to the queue. */
struct action *engine_push(struct engine *engine, enum action_kind kind);

/* Copies a code, truncated to fit. */
void code_copy(char out[ERROR_CODE_MAX], struct slice code);

#endif
