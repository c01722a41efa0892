/* The engine: one step function in, a queue of actions out. It never calls out, sleeps, reads a clock or logs. */
#ifndef SOLVEGATE_ENGINE_H
#define SOLVEGATE_ENGINE_H

#include <solvegate/event.h>
#include <solvegate/stats.h>

struct engine;

/* How often another attempt is made, by the class of the failure, and how soon. */
struct retry_options {
    uint32_t base_ms, cap_ms;
    uint16_t busy, unsolvable, transient;
};

struct client_options {
    uint32_t slots;          /* how many of the plan's it may hold; 0: as many as there are */
    uint32_t weight;         /* share of the queue, at least 1 */
    uint32_t requests;       /* how many may wait; 0: as the engine's limit */
    uint64_t budget_per_day; /* accepted submits; UINT64_MAX: no limit */
    bool is_gone;            /* no longer configured: what it paid for becomes letters */
    client_id heir;          /* with is_gone: the client that has its name again */
    bool has_heir;
    bool has_retry; /* `retry` counts for it, not the engine's */
    struct retry_options retry;
};

/* A target whose solutions are solved ahead. */
struct pool_options {
    uint32_t size;
    uint32_t idle_after_ms; /* without a request: no more refills until the next one */
    uint32_t max_waste;     /* the same after so many that nobody took in a row; 0: never */
    uint32_t min_ttl_ms;    /* minimum remaining lifetime worth keeping */
    client_id client;       /* whose budget and slots its refills use */
    enum type type;
    bool wants_rest;     /* as struct ask has it */
    struct key key;      /* of the target, whoever asks */
    struct blob *params; /* borrowed during engine_new */
};

/* So much of a kind is done per step: enough to be quick, little enough to keep the loop short. */
#define ENGINE_BATCH 256

/* The engine has no defaults of its own: those of the configuration's table hold (docs/design.md 6.5). */
struct engine_options {
    /* Fixed at start, up to `slots`: memory is reserved for the limits by engine_new. */
    uint32_t max_requests;
    uint32_t max_flights;
    uint64_t max_flight_bytes;   /* of the parameters of all flights, images included */
    uint64_t max_pingback_bytes; /* of the addresses that are still to be told */
    uint32_t max_per_flight;
    uint32_t max_callers; /* held at the same time */
    uint32_t max_solutions;
    uint64_t max_solution_bytes;
    uint32_t max_idempotency;
    uint32_t max_records;      /* appended and not durable; above it nobody may ask */
    uint64_t max_record_bytes; /* of their texts and parameters; the same */
    uint32_t max_finished;     /* answered and read requests kept readable; the oldest go first */
    uint32_t max_letters;      /* the oldest are dropped beyond */
    uint64_t max_letter_bytes; /* of their parameters; the same */
    uint16_t max_clients;      /* how many there may be after a reload */
    /* ENGINE_BATCH, or fewer for tests */
    uint32_t wake_batch; /* requests answered per step when a flight ends */
    uint32_t
        step_batch; /* of everything else that may be much, done per step: the rest waits for ticks */
    bool has_journal;   /* else no records are made and nothing waits for them */
    bool has_callbacks; /* public_url is set: poll only as a fallback */
    uint16_t pool_count;
    const struct pool_options *pools; /* borrowed during the call */
    uint64_t secret[2];               /* of the hash tables */

    /* A reload may change what follows. */
    uint32_t slots;      /* of the plan */
    bool slots_are_auto; /* ask threadsinfo, adapt */

    uint32_t solve_timeout_ms;
    uint32_t ambiguity_window_ms;
    bool resend_ambiguous; /* on_ambiguous: resend */

    uint32_t poll_first_ms[TYPE_COUNT];
    uint32_t poll_interval_ms;
    uint32_t fallback_after_ms;

    uint32_t ttl_ms[TYPE_COUNT];
    uint64_t price_micro[TYPE_COUNT]; /* of one submit, in millionths of some unit */
    uint32_t caller_error_ttl_ms;
    uint32_t idempotency_ttl_ms;

    uint32_t retry_base_ms;
    uint32_t retry_cap_ms;
    uint32_t retry_jitter_ms;
    uint16_t retry_busy;
    uint16_t retry_unsolvable;
    uint16_t retry_transient;
    uint16_t retry_unknown;
    uint32_t retry_budget_permille; /* of the last minute's submits; 0: no budget */

    uint32_t breaker_probe_ms;      /* from opening to the first free probe */
    uint32_t breaker_probe_most_ms; /* it doubles up to here while the breaker stays open */

    uint64_t letter_keep_ms;
    uint32_t letter_alert_above;
    uint32_t replay_interval_ms; /* between two letters of a replay */
    uint32_t
        letter_retry_every_ms; /* a letter is replayed by itself so long after it failed; 0: never */
    uint32_t letter_retry_classes; /* which: a bit for each enum class */
    uint16_t letter_retry_max;     /* how often, at most */

    uint16_t notice_retries; /* of telling a caller's own address, before it becomes a letter */
    uint32_t notice_base_ms;
    uint32_t notice_cap_ms;

    bool clients_share;                   /* dedup.scope: global; else each has its own */
    uint16_t client_count;                /* at least 1 */
    const struct client_options *clients; /* borrowed during the call */
};

/* Aborts without memory. now_ms and wall_ms start the clocks. */
struct engine *engine_new(const struct engine_options *options, uint64_t now_ms, int64_t wall_ms);
void engine_free(struct engine *engine);

/* After engine_new and before the first step: every row the store kept, in the order of enum
 * record_kind, then engine_restored once. Rows are borrowed. What is paid for goes on at once. */
void engine_restore(struct engine *engine, const struct record *record);
void engine_restored(struct engine *engine);

/* Takes what may change while it runs: times, retries, slots, and the clients, of which there may be
 * more than before. Limits, the journal and pools stay as they were. */
void engine_configure(struct engine *engine, const struct engine_options *options);

/* Applies one event. Actions gather until they are taken. */
void engine_step(struct engine *engine, const struct event *event);

/* Takes the oldest action; the caller now owns its blobs and gives them back with action_close. */
bool engine_next_action(struct engine *engine, struct action *action);
void action_close(struct action *action);
void answer_close(struct answer *answer);

/* Of an action that waited, for the disk or in a queue: does it still serve anybody? A submit or poll that does
 * not is not sent and ends with OUTCOME_WITHDRAWN; a notice that does not is just not sent. */
bool engine_wants(const struct engine *engine, const struct action *action);

/* The end: no more submits from now on. Then, for each that waited and is not sent: the next start knows that it
 * was not. */
void engine_stop_submits(struct engine *engine);
void engine_forgo_submit(struct engine *engine, attempt_id attempt);

/* The day's page as a last record, when nothing more is to come. */
void engine_close_books(struct engine *engine);

/* When to step with EVENT_TICK at the latest; UINT64_MAX when nothing is armed. Now, or a moment before it, when
 * there is more to do than fits into one step. */
uint64_t engine_next_deadline(const struct engine *engine);

/* ---- looking without touching ------------------------------------------------------------ */

/* Would this ask be answered from memory right now, and by which mechanism? (POST /v1/explain) */
struct outlook {
    enum refusal refusal;
    bool would_hit;  /* a solution is at hand */
    bool would_join; /* a flight is under way */
    enum source source;
    uint64_t age_ms;
    uint64_t expires_in_ms;
};
void engine_explain(const struct engine *engine, const struct ask *ask, struct outlook *outlook);

/* The state of a request at once (`ids=`); whoever is told has read. answer_close afterwards. False: unknown. */
bool engine_peek(struct engine *engine, client_id client, request_id id, struct answer *answer);

/* Adds for each client below room how many submits are at the vendor, or may be. */
void engine_count_tasks(const struct engine *engine, uint32_t *counts, size_t room);

/* Would a callback about this attempt find it? */
bool engine_knows_attempt(const struct engine *engine, attempt_id attempt);

/* One flight for people: GET /v1/flights. */
struct flight_view {
    struct key key;
    enum request_state state;
    const char *phase; /* queued, submitting, ambiguous, solving, backing_off */
    client_id client;
    enum type type;
    enum reuse reuse;
    uint32_t requests;
    uint16_t attempts;
    uint64_t age_ms;
    uint64_t deadline_in_ms;
    char task_id[TASK_ID_MAX];
    char last_error[ERROR_CODE_MAX];
};

/* Fills up to room views after the cursor (0: from the start); *cursor becomes 0 at the end. Where few flights are left
 * of very many, fewer views than there is room for, even none, do not mean the end. Ages count
 * up to now_ms: the engine's own clock stands while nothing happens, and looking does not move it. */
size_t engine_list_flights(const struct engine *engine, uint64_t now_ms, uint64_t *cursor,
                           struct flight_view *views, size_t room);

/* A dead letter for people and for replay; everything is borrowed until the next step. */
struct letter_view {
    uint64_t number;
    enum letter_kind kind;
    client_id client;
    enum type type;
    enum error_class class;
    struct slice code;
    request_id request;    /* whose caller could not be told, or 0 */
    struct slice pingback; /* where */
    struct slice text;     /* the solution that found no place, or was not heard */
    struct slice task_id;  /* the vendor's, of that */
    struct key key;
    int64_t created_wall_ms;
    int64_t expires_wall_ms;
    uint32_t told; /* callers that heard of the failure */
    uint16_t replays;
    uint16_t retries;  /* of those, by itself */
    bool is_replaying; /* queued for it, or under way */
    const struct blob *params;
    const struct attempt_note *notes;
    size_t note_count;
};

/* One of them; false when there is none of this number. EVENT_LETTERS finds those that match a filter. */
bool engine_find_letter(const struct engine *engine, uint64_t number, struct letter_view *view);

/* One pool for people, in the order of the options. */
struct pool_view {
    uint32_t size;
    uint32_t ready;
    uint32_t banked; /* it has no room for, and hands out all the same */
    uint32_t solving;
    bool is_asleep;
    uint64_t served;
    uint64_t refilled;
    uint64_t expired; /* that nobody took */
};
size_t engine_list_pools(const struct engine *engine, struct pool_view *views, size_t room);

struct gauges {
    uint32_t requests; /* kept, finished ones included */
    uint32_t waiting;  /* not answered yet */
    uint32_t flights;
    uint32_t queued;
    uint32_t callers;
    uint32_t solutions;
    uint64_t solution_bytes;
    uint32_t idempotency;
    uint32_t letters;
    uint32_t replays; /* letters waiting to be replayed */
    uint32_t strays;  /* tasks without a flight that the vendor may still solve; each has a slot */
    uint32_t slots_used;
    uint32_t slots_limit; /* the adaptive one */
    uint32_t slots_plan;
    bool slots_are_cut;         /* the limit is below the plan because the vendor was busy */
    bool callbacks_are_healthy; /* enough of them arrive, or there are none to expect */
    enum breaker_state breaker;
    char breaker_cause[ERROR_CODE_MAX];
};
void engine_gauges(const struct engine *engine, struct gauges *gauges);

/* Counters since start, and of today and the days before (0 is today); NULL for a day before our time. */
const struct stats *engine_stats(const struct engine *engine);
const struct stats *engine_stats_of_day(const struct engine *engine, unsigned days_ago,
                                        int64_t *day);

/* The same for one client and type; days_ago as above, ENGINE_SINCE_START for the totals. Never NULL. */
#define ENGINE_SINCE_START (STATS_DAYS + 1)
const struct tally *engine_tally(const struct engine *engine, unsigned days_ago, client_id client,
                                 enum type type);

/* What the vendor said of class unknown, about attempts (of each once) and the account, since start. */
const struct unknown_errors *engine_unknown_errors(const struct engine *engine);

/* Durations since start. */
const struct histogram *engine_timing(const struct engine *engine, enum timing timing);

/* How many things the last step touched: timers, flights, letters, actions. engine_check holds it below
 * ENGINE_WORK_MOST, whatever there is in the world, so that no step keeps the loop for long. */
#define ENGINE_WORK_MOST 16384
uint32_t engine_work(const struct engine *engine);

/* Aborts if anything inside disagrees: for tests and the simulator. */
void engine_check(const struct engine *engine);

/* One line per state change, for tests and debug logs; text is borrowed during the call. */
typedef void (*trace_fn)(void *context, uint64_t now_ms, const char *text);
void engine_set_trace(struct engine *engine, trace_fn trace, void *context);

#endif
