/* Views into the engine that change (nearly) nothing: explain, flights, letters, pools, gauges,
 * statistics. */
#ifndef SOLVEGATE_VIEW_H
#define SOLVEGATE_VIEW_H

#include <solvegate/event.h>
#include <solvegate/stats.h>

struct engine;

/* Predicts whether an ask would be answered from memory, and by which mechanism (POST /v1/explain). */
struct outlook {
    enum refusal refusal;
    bool would_hit;  /* a solution is at hand */
    bool would_join; /* a flight is under way */
    uint64_t letter; /* the letter for whose undeliverable answer it would fail, or 0 */
    enum source source;
    uint64_t age_ms;
    uint64_t expires_in_ms;
};
void engine_explain(const struct engine *engine, const struct ask *ask, struct outlook *outlook);

/* Returns a request's current state (`ids=`) and marks a final one as read. Call answer_close
 * afterwards. False if the id is unknown. */
bool engine_peek(struct engine *engine, client_id client, request_id id, struct answer *answer);

/* Adds to counts, for each client below room, its submits that are, or may be, at the vendor. */
void engine_count_tasks(const struct engine *engine, uint32_t *counts, size_t room);

/* Is the attempt of a callback known? */
bool engine_knows_attempt(const struct engine *engine, attempt_id attempt);

/* One flight, for GET /v1/flights. */
struct flight_view {
    struct key key;
    enum request_state state;
    const char
        *phase; /* claiming, following, queued, submitting, ambiguous, solving, backing_off */
    client_id client;
    enum type type;
    enum dialect_kind
        dialect; /* of the request that started it; NONE after a restart, or if nobody asked */
    enum reuse reuse;
    uint32_t requests;
    uint16_t attempts;
    uint64_t age_ms;
    uint64_t deadline_in_ms;
    char task_id[TASK_ID_MAX];
    char last_error[ERROR_CODE_MAX];
};

/* Fills up to room views after the cursor (0: from the start); *cursor becomes 0 at the end. A page
 * may be short or even empty before the end, where few of very many places hold flights. Ages count
 * up to now_ms, because the engine's own clock stands still between events. */
size_t engine_list_flights(const struct engine *engine, uint64_t now_ms, uint64_t *cursor,
                           struct flight_view *views, size_t room);

/* One dead letter, for the API and for replay; everything is borrowed until the next step. */
struct letter_view {
    uint64_t number;
    enum letter_kind kind;
    client_id client;
    enum type type;
    enum error_class class;
    struct slice code;
    request_id request;    /* the request whose address could not be told, or 0 */
    struct slice pingback; /* that address */
    struct slice text;     /* a solution that could not be handed out or delivered */
    struct slice task_id;  /* the vendor's task id of that solution */
    struct key key;
    int64_t created_wall_ms;
    int64_t expires_wall_ms;
    uint32_t told; /* callers that were told of the failure */
    uint16_t replays;
    uint16_t retries;  /* automatic replays among `replays` */
    bool is_replaying; /* queued for replay, or under way */
    const struct blob *params;
    const struct attempt_note *notes;
    size_t note_count;
};

/* Finds a letter by number; false when there is none. EVENT_LETTERS finds letters by a filter. */
bool engine_find_letter(const struct engine *engine, uint64_t number, struct letter_view *view);

/* One pool, in the order of the options. */
struct pool_view {
    uint32_t size;
    uint32_t ready;
    uint32_t waning; /* of these, soon too old: they are replaced */
    uint32_t banked; /* solutions it has no room for, but still hands out */
    uint32_t solving;
    bool is_asleep;
    uint64_t served;
    uint64_t refilled;
    uint64_t expired; /* solutions that expired unused */
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
    uint64_t finished_bytes; /* solutions that only finished requests and idempotency keys hold */
    uint32_t idempotency;
    uint32_t letters;
    uint32_t replays; /* letters waiting to be replayed */
    uint32_t strays;  /* tasks without a flight that may still be solved; each holds a slot */
    uint32_t slots_used;
    uint32_t slots_limit; /* the adaptive limit */
    uint32_t slots_plan;
    bool slots_are_cut;         /* the limit is below the plan because the vendor was busy */
    bool callbacks_are_healthy; /* enough of them arrive, or none are expected */
    enum breaker_state breaker;
    char breaker_cause[ERROR_CODE_MAX];
};
void engine_gauges(const struct engine *engine, struct gauges *gauges);

/* A client's budget for today (UTC), in submits. With a shared store the limit is that of all gateways: used and
 * reserved are this one's, and left is what it can still use as far as the store has told it. Alone, used, reserved and
 * left make up the limit, unless it was lowered below what is used. */
struct budget_view {
    uint64_t limit;
    uint64_t used;
    uint64_t reserved; /* for requests that wait or are being submitted */
    uint64_t left;
};
/* False for a client without a budget. */
bool engine_budget(const struct engine *engine, client_id client, struct budget_view *view);

/* Counters since start, and by day (0 is today); NULL for a day without a page. */
const struct stats *engine_stats(const struct engine *engine);
const struct stats *engine_stats_of_day(const struct engine *engine, unsigned days_ago,
                                        int64_t *day);

/* The tally of one client and type, by days_ago as above; ENGINE_SINCE_START: the totals. Never NULL. */
#define ENGINE_SINCE_START (STATS_DAYS + 1)
const struct tally *engine_tally(const struct engine *engine, unsigned days_ago, client_id client,
                                 enum type type);

/* Unknown error codes since start, counted once per attempt and for the account. */
const struct unknown_errors *engine_unknown_errors(const struct engine *engine);

/* Durations since start. */
const struct histogram *engine_timing(const struct engine *engine, enum timing timing);

#endif
