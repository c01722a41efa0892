/* Everything the engine knows, in one place: open to the engine's own files, closed to all others. */
#ifndef SOLVEGATE_ENGINE_STATE_H
#define SOLVEGATE_ENGINE_STATE_H

#include "base/assert.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/rand.h"
#include "base/slab.h"
#include "base/table.h"
#include "base/wheel.h"
#include "engine/flight.h"
#include "engine/share.h"

#include <solvegate/engine.h>
#include <solvegate/words.h>

/* What a wheel timer is for; CONTAINER_OF finds whose. */
enum timer_kind {
    TIMER_FLIGHT_PHASE,
    TIMER_FLIGHT_DEADLINE,
    TIMER_REQUEST,     /* a finished request that nobody read is forgotten */
    TIMER_HOLD,        /* a held caller is told the state as it is */
    TIMER_SOLUTION,    /* a cached solution expires */
    TIMER_IDEMPOTENCY, /* a record expires */
    TIMER_ATTEMPT,     /* an attempt we listen for is given up for good */
    TIMER_BREAKER,     /* time to probe */
    TIMER_LETTER,      /* a dead letter was kept long enough */
    TIMER_REPLAY,      /* the next letter of a replay may go */
    TIMER_SWEEP,       /* letters are looked through for those to replay by themselves */
    TIMER_PLAN,        /* slots: auto asks again */
    TIMER_POOL,        /* nobody asked for long, or a refill may be tried again */
    TIMER_NOTICE,      /* a caller's own address is told again */
    TIMER_BOOKS,       /* the day's page is written */
    TIMER_PAUSE,       /* the vendor was busy with nothing of ours: time to try again */
};

/* One caller's ask. On its flight's list while waiting, on a finished list afterwards. */
struct request {
    struct table_node node; /* by public id */
    slab_id id;
    struct list link;
    struct list holds; /* callers held until it is final */
    struct wheel_timer expiry;
    struct flight *flight;     /* borrowed; NULL once final */
    struct solution *solution; /* owned reference, when solved */
    struct blob *error;        /* owned, when failed */
    struct blob *pingback;     /* owned, or NULL: where its end is still to be told */
    struct notice *notice;     /* borrowed, or NULL: while that is under way */
    request_id public_id;
    journal_seq seq; /* of its record: no answer before it is durable */
    uint32_t retry_after_ms;
    uint16_t attempts;
    client_id client;
    enum type type;
    enum request_state state; /* SOLVED and FAILED are final; else ask the flight */
    enum source source;
    enum error_class error_class;
    bool is_replayed;
    bool is_renewed;
    bool is_id_told; /* its caller can come back for it */
    bool is_journaled;
    bool is_finished; /* final, and nothing is left to be told: in a finished list of its client */
    bool is_read;     /* its final state was told to somebody */
    bool is_reported;
};

/* A caller held at a door. */
struct hold {
    struct table_node node; /* by caller */
    slab_id id;
    struct list link; /* of its request */
    struct wheel_timer timer;
    struct request *request; /* borrowed */
    caller_id caller;
};

/* What is known of an attempt at the vendor. attempt_enter() performs every change. */
enum attempt_state {
    ATTEMPT_SENT,        /* its submit is under way */
    ATTEMPT_AMBIGUOUS,   /* its submit ended without telling whether the vendor took it */
    ATTEMPT_UNCONFIRMED, /* the time to hear of it is over: only what comes late can tell */
    ATTEMPT_WORKING,     /* the vendor named its task */
    /* From here on it is over: anything further but a first solution is a repeat. */
    ATTEMPT_VOID,   /* proven not to exist at the vendor */
    ATTEMPT_FAILED, /* the vendor gave it up */
    ATTEMPT_SOLVED, /* its text may be gone after a restart */
};

/* One submit. Outlives its flight while a late callback may still come. */
struct attempt {
    struct table_node node; /* by name */
    slab_id id;
    struct list link; /* engine's listening list, oldest first, once its flight is done with it */
    struct table_node stray; /* by key, while it has no flight and may still be solved */
    struct table_node
        unheard_node; /* by key, while it has none and nobody knows whether it is paid for */
    struct wheel_timer expiry;
    struct flight *flight; /* borrowed; NULL once the flight is done with it */
    slab_id origin;        /* that flight's place, to find it again while it tries anew */
    uint64_t flight_uid;   /* the same in the journal */
    struct blob *text;     /* owned: the solution it brought, to recognise repeats */
    struct blob *partial;  /* owned, or NULL: what a callback brought of an answer that is more */
    struct blob *cause;    /* owned, or NULL: the error for which it was made */
    attempt_id name;
    struct key key; /* of its flight, to bank a late solution */
    uint64_t started_ms;
    uint64_t unborn_ms;     /* the latest moment at which the solution certainly did not exist */
    uint64_t asked_ms;      /* when the poll under way was asked for */
    uint64_t accepted_ms;   /* when the vendor took it; until that is known, when it was sent */
    uint64_t let_go_ms;     /* when its flight was done with it */
    uint64_t until_ms;      /* how long it is listened for since */
    uint64_t slot_since_ms; /* of a stray */
    int64_t spent_day;      /* whose budget paid for it before its submit's reply came */
    uint16_t number;        /* counts from 1 within its flight */
    uint8_t odd_letters;    /* made of solutions that it should not have had */
    uint8_t questions;      /* polls that did not bring the rest */
    client_id client;
    enum type type;
    enum reuse reuse;
    enum cause why;
    enum error_class cause_class;
    enum attempt_state state;
    bool is_one_time;
    bool wants_rest;      /* its answer is more than a text */
    bool is_replied;      /* the submit ended; a callback may have come before that */
    bool is_paid;         /* known to be, and written down */
    bool is_polling;      /* a poll is on its way */
    bool is_resent;       /* another one was sent in its stead */
    bool is_missed;       /* a poll brought it, its callback has not come */
    bool is_other_closed; /* the same for the other task */
    bool is_twin;         /* the vendor gave it the task of another attempt */
    bool is_restored;     /* from the journal, which knows nothing of the other task */
    char task_id[TASK_ID_MAX];
    char other_task_id[TASK_ID_MAX]; /* a second one on the same nonce: our submit was doubled */
};

/* A task of the vendor, by the id it gave it. Outlives its attempt. */
struct task {
    struct table_node node; /* by a hash of its name */
    slab_id id;
    struct list link;   /* engine's tasks, the oldest first */
    attempt_id attempt; /* that heard of it first */
    struct key key;     /* of that */
    uint64_t since_ms;  /* when it was last news */
    uint64_t text_hash; /* of its solution; 0 when that is not known */
    uint64_t unborn_ms; /* of the same, as of an attempt */
    uint64_t own_hash;  /* of what a callback brought to another attempt; 0: nothing */
    bool is_claimed;    /* somebody has its solution */
    bool is_restored;   /* others may have had it before the restart */
    bool is_shared;     /* and that is for everybody who asks for the same */
    char name[TASK_ID_MAX];
};

/* An answer with its birth and expiry; a negative one remembers a caller's mistake. */
struct solution {
    struct table_node node; /* by key, while cached */
    slab_id id;
    struct list link; /* its client's cached list, oldest first, while cached */
    struct wheel_timer expiry;
    struct blob *text;  /* owned; of a negative one the error code */
    struct blob *extra; /* owned, or NULL */
    uint64_t born_ms;
    uint64_t expires_ms;
    uint64_t solve_ms;   /* slot time it cost: what a hit saves */
    uint64_t uid;        /* in the journal; 0 without one */
    uint64_t flight_uid; /* that it solved, or 0 */
    attempt_id attempt;  /* that brought it */
    struct pool *pool;   /* borrowed, while it waits in one */
    journal_seq seq;     /* of its record: nobody gets it before it is durable */
    uint32_t refs;   /* requests, idempotency records and flights that hold it, +1 while cached */
    uint32_t handed; /* requests that got it */
    uint32_t bytes;
    uint16_t attempts;
    client_id client;
    enum type type;
    bool is_cached;
    bool is_shared; /* else it is handed out once */
    bool is_negative;
    bool is_one_time;  /* never cached */
    bool is_waning;    /* in a pool: a replacement is on its way */
    bool is_bad;       /* reported: nobody gets it any more */
    bool is_missed;    /* of a client that is gone: requests or keys of its stood for it */
    bool is_set_aside; /* nobody has it, but an idempotency key: no pool gives it away */
    char task_id[TASK_ID_MAX];
};

/* What an idempotency key stands for: a running flight or a solution. */
struct idempotency {
    struct table_node node; /* by digest */
    slab_id id;
    struct list link; /* of its flight while that runs, then its client's settled list */
    struct wheel_timer expiry;
    struct key fingerprint;
    struct flight *flight;     /* borrowed, while it runs */
    struct solution *solution; /* owned reference, when solved */
    uint64_t serves_until_ms;  /* a retry gets the solution until then */
    client_id client;
};

/* What became of a flight's attempts; made with the first that ends badly. */
#define HISTORY_MAX NOTES_MAX
struct history {
    size_t count;
    struct attempt_note notes[HISTORY_MAX];
};

/* A dead letter. Idle, waiting to be replayed (on the replays list), or riding on a flight. */
struct letter {
    struct table_node node; /* by number */
    slab_id id;
    struct table_node orphan; /* by key, while an orphan's solution may be given back */
    struct list link;         /* engine's letters, oldest first */
    struct list own;          /* its client's letters, oldest first */
    struct list ride;         /* engine's replays, or the flight's letters */
    struct wheel_timer expiry;
    struct flight *flight;   /* borrowed; the replay under way, or NULL */
    struct notice *notice;   /* borrowed; the same for one about a notice */
    struct history *history; /* owned */
    struct blob *params;     /* owned */
    struct blob *error;      /* owned */
    struct blob *pingback;   /* owned, or NULL */
    struct blob *text;       /* owned, or NULL: the solution that found no place */
    struct blob *extra;      /* owned, or NULL: its further members */
    uint64_t fresh_ms;       /* until when that is good, or 0 */
    struct key key;
    uint64_t number;
    request_id request; /* whose caller could not be told, or 0 */
    int64_t created_wall_ms;
    uint32_t told;
    uint64_t idle_ms; /* since when it waits for somebody to replay it */
    uint16_t replays;
    uint16_t retries; /* of those, by itself */
    client_id client;
    enum type type;
    enum error_class class;
    enum reuse reuse;
    enum letter_kind kind;
    uint8_t priority;
    bool is_one_time;
    bool wants_rest;
    bool is_retried; /* it waits for its replay, and nobody ordered that */
    char task_id[TASK_ID_MAX];
};

/* An order about dead letters under way: it looks at some of them in each step. */
#define LETTER_JOBS 64
struct letter_job {
    struct letter_order order;
    struct list
        *next;      /* the letter to look at next; the list's head: none is left; NULL: not begun */
    uint64_t last;  /* the newest letter when the order came */
    uint32_t count; /* that matched, or that it reached */
    uint32_t found_count;
    uint64_t *found; /* owned: of a list, the numbers on its page */
    bool has_more;
    bool is_unheard; /* its caller hung up */
};

/* A caller's own address, told until it is heard. On the wire while its timer is not armed. */
struct notice {
    struct table_node node; /* by request */
    slab_id id;
    struct wheel_timer timer;
    struct request *request; /* borrowed, or NULL: it stays until this is over */
    struct letter *letter;   /* borrowed, or NULL: whose replay this is */
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

/* One of the two free questions: what the vendor last said, and who waits for it to say it again. */
struct account_probe {
    bool is_asked;     /* a call is on its way */
    uint64_t heard_ms; /* when the last answer came */
    struct probed last;
    struct list waits;
};

#define PRIORITIES 10

/* A client's part of the queue and of the plan. */
struct client {
    struct list again[PRIORITIES];  /* flights that had their turn before: they go first */
    struct list queues[PRIORITIES]; /* newcomers */
    struct list turn;               /* in the ring of clients that have something queued */
    struct list unread, read;       /* its finished requests, oldest first */
    struct list settled; /* its idempotency records that stand for a solution, the same */
    struct list cached;  /* its solutions, the same */
    struct list letters; /* the same */
    struct client_options options;
    uint32_t queued;
    uint32_t slots_used;
    uint32_t credit;                 /* flights it may still start in this round */
    uint32_t requests;               /* waiting */
    uint64_t spent;                  /* of today's budget */
    uint64_t spent_past[STATS_DAYS]; /* of the pages behind today's */
    uint64_t reserved;               /* by flights not yet submitted */
    uint64_t budget_top;             /* the largest since the start: for the auditor */
    bool is_spent_written;           /* there is a row of today */
};

/* What clients have to share (share.h); bytes are those of parameters and texts. */
struct shares {
    struct share requests, read, holds, flights, flight_bytes, idempotency, cached, cached_bytes,
        letters, letter_bytes, pingback_bytes, account_waits;
};

struct pool {
    struct pool_options options; /* params is a reference of its own */
    struct list ready;           /* solutions */
    struct wheel_timer timer;    /* while it is awake */
    uint64_t asked_ms;
    uint64_t retry_at_ms;
    uint32_t ready_count, waning_count, solving;
    uint32_t wasted; /* in a row */
    unsigned fails;  /* in a row */
    bool is_asleep;
    uint64_t served, refilled, expired;
};

struct breaker {
    enum breaker_state state;
    bool is_clearing; /* what was not submitted is being failed, as many a step as fit */
    struct wheel_timer timer;
    uint32_t wait_ms; /* until the next probe; doubles while it stays open */
    enum error_class cause_class;
    bool is_short; /* of money or of threads, for all that is known */
    char cause[ERROR_CODE_MAX];
    uint64_t ambiguous_ms[5]; /* when the last ambiguous submits happened, a ring */
    unsigned ambiguous_next;
};

/* How many bytes wait for the disk: the shell says up to which record it has come, and a mark says how many bytes
 * those are. A mark stands for many records, so that they are few. */
#define BACKLOG_MARKS 64
struct backlog {
    struct backlog_mark {
        journal_seq last;
        uint64_t bytes;     /* of all records up to that one, since the start */
    } marks[BACKLOG_MARKS]; /* a ring */
    uint32_t first, count;
    uint64_t taken, durable; /* bytes, since the start; durable ones are never overrated */
};

/* Callbacks that came and those a poll had to stand in for, by minute. */
#define HEALTH_MINUTES 5
struct health {
    uint64_t minute[HEALTH_MINUTES];
    uint32_t arrived[HEALTH_MINUTES];
    uint32_t missed[HEALTH_MINUTES];
};

/* Submits and retries of the last minute, by second: the retry budget's memory. */
struct minute {
    uint64_t second[60];
    uint32_t submits[60];
    uint32_t retries[60];
    uint32_t ambiguous[60];
};

/* Attempts that are no longer known and yet were solved, in the order in which they were heard of. */
#define ODD_NAMES 1024
struct odd_names {
    struct odd_name {
        attempt_id name;
        uint64_t since_ms;
        uint8_t letters;
    } items[ODD_NAMES]; /* a ring */
    uint32_t first, count;
};

struct day {
    int64_t number; /* since 1970, UTC */
    struct stats stats;
};

struct engine {
    struct engine_options options; /* .clients is not kept: see clients */
    uint64_t now_ms;
    int64_t wall_ms;
    struct rand rand;
    uint64_t last_number; /* given to a row; 0 before the first */
    uint64_t seen_number; /* the highest in rows of a life before */
    struct wheel wheel;

    struct slab requests, holds, flights, attempts, solutions, idempotency, letters, notices,
        account_waits, task_slab;
    struct table requests_by_id, holds_by_caller, flights_by_key, attempts_by_name, strays_by_key,
        unheard_by_key, solutions_by_key, idempotency_by_key, letters_by_number, orphans_by_key,
        notices_by_request, tasks_by_name;

    struct shares shares;
    struct list active; /* flights that hold a slot */
    struct list backing_off;
    struct list waking;    /* ended flights with requests to answer */
    struct list listening; /* attempts without a flight, oldest first */
    struct list tasks;     /* oldest first */

    struct list letter_list; /* oldest first */
    uint64_t letter_bytes;   /* of their parameters */
    struct list replays;     /* letters waiting to be replayed */
    uint32_t replay_count;
    uint32_t notice_replays; /* letters about notices that are told again */
    struct wheel_timer replay_timer;
    struct wheel_timer sweep_timer;
    struct list *sweep; /* the link of the letter to look at next, or NULL: the first */
    uint64_t letter_serial;
    bool letters_are_alerted;
    struct letter_job letter_jobs[LETTER_JOBS]; /* a ring */
    uint32_t letter_job_first, letter_job_count;

    struct client *clients; /* owned */
    uint16_t client_count, client_room;
    struct list ring; /* clients whose turn comes */
    uint32_t queued;
    uint32_t slots_used;
    uint32_t slots_plan;
    uint64_t limit_milli;     /* the adaptive limit, in thousandths of a slot */
    uint64_t limit_aim_milli; /* after a cut it grows fast up to here */
    uint64_t limit_cut_ms;    /* when it was last cut */
    bool is_limit_cut;        /* it is below the plan because the vendor was busy */
    bool is_plan_known;       /* by configuration, or the vendor told */
    struct wheel_timer plan_timer;
    struct wheel_timer pause_timer; /* while it is armed nothing is submitted */

    struct pool *pools; /* owned */
    uint16_t pool_count, next_pool;

    struct breaker breaker;
    struct minute minute;
    struct health health;
    struct odd_names odd_names;

    struct account_probe probes[PROBE_COUNT];
    uint32_t verdict_number; /* of the next verdict, from 1 */
    uint32_t verdict_waits;  /* flights that back off and wait for it */
    bool
        is_verdict_due; /* a flight ended for want of money or threads before anybody could tell of which */
    uint32_t verdict_slots; /* most slots in use when that was said, since the question was asked */

    uint32_t work;        /* things touched by this step */
    uint32_t starts_left; /* flights that may still be started in this step */
    bool is_starting;     /* more could be */

    struct action *actions; /* owned; a queue that grows to the largest step */
    size_t action_head, action_count, action_room;
    journal_seq seq;     /* last handed out */
    journal_seq durable; /* safe up to here */
    struct backlog backlog;
    bool store_is_writable;
    bool is_draining;
    bool is_stopped; /* nothing more is submitted */

    struct stats stats;
    struct stats written_stats;      /* of the last page that was journaled */
    struct day days[STATS_DAYS + 1]; /* [0] is today */
    struct tally *tallies;           /* owned; see tally_at */
    struct tally *written_tallies;   /* owned; today's as they were last journaled */
    size_t tally_at;                 /* the next to be looked at, while they are written */
    bool is_tallying;
    struct unknown_errors unknown_errors;
    struct histogram timings[TIMING_COUNT];
    struct wheel_timer books_timer;
    struct recovery *recovery; /* owned, while rows are restored */
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

/* Of each client and type: by days from today, and at ENGINE_SINCE_START the totals. */
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

/* Is the other one the client that has the name of the one again, which a restart did not find configured? */
static inline bool client_is_heir(const struct engine *engine, client_id one, client_id other)
{
    const struct client_options *options = &engine->clients[one].options;
    return options->has_heir && options->heir == other;
}

/* May the other client have what was solved for the one? Keys tell clients apart as well; this is the second lock. */
static inline bool clients_may_share(const struct engine *engine, client_id one, client_id other)
{
    return one == other || engine->options.clients_share || client_is_heir(engine, one, other);
}

/* Is what was solved for this client nobody's? It is no longer configured, and shared with none. */
static inline bool client_is_gone(const struct engine *engine, client_id client)
{
    return engine->clients[client].options.is_gone && !engine->options.clients_share;
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

/* A new action at the end of the queue, zeroed. */
struct action *engine_push(struct engine *engine, enum action_kind kind);

/* Copies a code, cut to fit. */
void code_copy(char out[ERROR_CODE_MAX], struct slice code);

#endif
