/* The simulation: the real engine in a fake world of vendor, callbacks, disk and clients, where one seed is one run. */
#ifndef SOLVEGATE_TESTS_SIM_SIM_H
#define SOLVEGATE_TESTS_SIM_SIM_H

#include "base/assert.h"
#include "base/rand.h"
#include "map.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

/* ---- what can go wrong ------------------------------------------------------------------- */

/* name, word, highest strength in thousandths. A seed first draws which of them exist and how strong they are. */
#define FAULT_LIST(X)                          \
    X(NOT_SENT, "not_sent", 300)               \
    X(REJECTED, "rejected", 250)               \
    X(ACCOUNT, "account", 60)                  \
    X(REQUEST_LOST, "request_lost", 200)       \
    X(REPLY_LOST, "reply_lost", 300)           \
    X(REPLY_SLOW, "reply_slow", 300)           \
    X(DOUBLED, "doubled", 100)                 \
    X(UNSOLVABLE, "unsolvable", 300)           \
    X(NEVER, "never", 100)                     \
    X(SLOW_SOLVE, "slow_solve", 200)           \
    X(QUICK_SOLVE, "quick_solve", 500)         \
    X(POLL_UNHEARD, "poll_unheard", 400)       \
    X(CALLBACK_LOST, "callback_lost", 900)     \
    X(CALLBACK_AGAIN, "callback_again", 500)   \
    X(CALLBACK_LATE, "callback_late", 200)     \
    X(CALLBACK_OTHER, "callback_other", 100)   \
    X(CALLBACK_NO_ID, "callback_no_id", 500)   \
    X(CALLBACK_EMPTY, "callback_empty", 100)   \
    X(CALLBACK_FORGED, "callback_forged", 100) \
    X(PROBE_BAD, "probe_bad", 500)             \
    X(LEAVE, "leave", 400)                     \
    X(COME_BACK, "come_back", 900)             \
    X(REPEAT, "repeat", 400)                   \
    X(MUTATE, "mutate", 300)                   \
    X(TWIN, "twin", 500)                       \
    X(DETACH, "detach", 100)                   \
    X(REPORT, "report", 300)                   \
    X(STRANGER, "stranger", 100)               \
    X(SINGLE, "single", 700)                   \
    X(NONE, "none", 300)                       \
    X(IDEMPOTENCY, "idempotency", 700)         \
    X(ONE_TIME, "one_time", 300)               \
    X(LETTERS, "letters", 60)                  \
    X(ASK_ACCOUNT, "ask_account", 100)         \
    X(CRASH, "crash", 1000)                    \
    X(DOWN_LONG, "down_long", 300)             \
    X(LOSE_ALL, "lose_all", 500)               \
    X(DISK_SLOW, "disk_slow", 300)             \
    X(DISK_FULL, "disk_full", 20)              \
    X(STALL, "stall", 10)                      \
    X(WALL, "wall", 10)

/* The same for what a world may have besides, drawn from a stream of its own: without these a seed is the
 * world that it was before they came. */
#define EXTRA_LIST(X)                        \
    X(POOL, "pool", 1000)                    \
    X(PINGBACK, "pingback", 700)             \
    X(NOTICE_REFUSED, "notice_refused", 700) \
    X(NOTICE_UNHEARD, "notice_unheard", 300) \
    X(NOTICE_BUSY, "notice_busy", 300)       \
    X(RELOAD, "reload", 20)                  \
    X(DRAIN, "drain", 10)                    \
    X(QUEUED, "queued", 700)                 \
    X(TASK_TWICE, "task_twice", 300)         \
    X(CLIENTS, "clients", 600)               \
    X(SHADOW, "shadow", 1)

enum fault {
#define FAULT_AS_ENUM(name, word, most) FAULT_##name,
    FAULT_LIST(FAULT_AS_ENUM) FAULT_EXTRAS,
    FAULT_BEFORE_EXTRAS = FAULT_EXTRAS - 1,
    EXTRA_LIST(FAULT_AS_ENUM)
#undef FAULT_AS_ENUM
        FAULT_COUNT
};

const char *fault_word(enum fault fault);
/* Small worlds are checked after every step, the others now and then. */
enum size { SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE };

#define SIM_CLIENTS 3
#define SIM_POOLS 3
#define SIM_RELOADS 3

/* What a reload brings. */
struct reload {
    struct engine_options options;
    struct client_options clients[SIM_CLIENTS];
};

/* Everything that is decided before the first step. */
struct plan {
    uint64_t seed;
    enum size size;
    uint32_t needs;  /* how many come in all */
    uint32_t keys;   /* how many different things they want */
    uint32_t gap_ms; /* mean time between two of them */
    uint32_t solve_ms;
    uint32_t crash_every; /* effects, on average; 0: never */
    bool is_roomy;        /* there is a place for everybody */
    bool has_reference;   /* small, and compared with the slow model after every step */
    uint16_t strength[FAULT_COUNT];
    struct engine_options options;
    struct client_options clients[SIM_CLIENTS];
    struct pool_options pools[SIM_POOLS]; /* key and parameters come with the world */
    uint32_t other_sizes[SIM_POOLS];      /* of the pools at every second start; 0: the same */
    struct reload reloads[SIM_RELOADS];
};

/* What may be in force: as drawn, and after each reload. */
struct spans {
    struct engine_options least, most; /* times and retries only */
    uint64_t budget_least[SIM_CLIENTS], budget_most[SIM_CLIENTS];
};

void plan_draw(struct plan *plan, uint64_t seed);
/* Pools, pingbacks, reloads and drains: everything before must have been drawn. */
void plan_draw_extras(struct plan *plan);
void plan_span(const struct plan *plan, struct spans *spans);

/* ---- the ledger: every submit, judged ------------------------------------------------------ */

struct submit {
    attempt_id name;
    uint64_t flight;       /* its uid: of the one that made it, or rides on it since */
    uint64_t maker;        /* the one that made it */
    uint64_t model_flight; /* the same as the reference has it */
    uint64_t issued_ms;    /* when the engine decided it */
    uint64_t ready_ms;     /* when the vendor is done; UINT64_MAX: never, or not accepted */
    uint64_t deadline_ms;  /* of its flight */
    uint32_t key;
    uint32_t token;                /* its solution, or MAP_NONE */
    uint32_t task;                 /* the submit whose task id the vendor gave it: mostly its own */
    uint32_t twin;                 /* solution of the second task, when the transport doubled it */
    uint32_t other;                /* another text for the same task */
    uint32_t handed;               /* which of token and other a caller got */
    uint32_t next_open, prev_open; /* of its key */
    uint32_t polled_in;            /* incarnation in which a poll is under way, or 0 */
    uint32_t submitted_in;         /* the same of its submit */
    uint16_t number;               /* within its flight, as the reference counts */
    client_id client;
    enum reuse reuse;
    enum error_class error; /* how the vendor gives up, or CLASS_NONE */
    bool has_intent;        /* its row was seen */
    bool is_issued, is_executed, is_accepted, is_open, is_replay;
    bool is_waiting;   /* in the shell's queue: it can be taken back */
    bool is_lossy;     /* nobody knows what became of it: the window ends it */
    bool is_id_told;   /* the engine knows the task id */
    bool is_void;      /* the engine was told that it does not exist */
    bool is_ended;     /* the engine was told its solution or failure */
    bool is_solved;    /* the engine was told a solution */
    bool is_forgotten; /* the engine dropped its row */
    bool is_durable;   /* a solution of it was on the disk */
    bool has_id_row;   /* its task id is in a row */
    bool is_ridden;    /* by a flight that did not make it */
    bool is_unnamed;   /* a crash may have made us forget its task's name */
    bool must_poll;    /* paid for before the crash: fetched at once after it */
};

/* A solution the vendor made. */
struct token {
    uint64_t born_ms;
    uint64_t bad_ms;     /* when somebody said so and was answered; 0: never */
    uint64_t expires_ms; /* as its row said */
    uint32_t key;
    uint32_t submit;
    uint32_t handed;      /* requests that got it */
    uint32_t emitted;     /* requests that were to get it, before any crash */
    uint64_t idempotency; /* of the first */
    uint64_t uid;         /* of its row */
    bool is_exclusive;    /* one of them must be the only one */
    bool is_durable;      /* its row was on the synced disk once */
    bool is_partial;      /* safe in its attempt's row, while the rest of the answer is asked for */
    bool is_unsafe;       /* given out or dropped while the disk was full: nothing is promised */
    bool is_taken;        /* its row said that somebody gets it: a crash may come before that */
    bool is_reported;     /* somebody is saying that it is bad */
    bool is_reached;      /* the engine was told it */
    bool is_lettered;     /* a letter of its client that was gone had it */
    bool is_stored;       /* its row waits for anybody who asks */
    bool is_bound; /* a crash came before its hand-out was written: an idempotency key has it */
};

struct flight_note {
    uint64_t deadline_ms;
    uint32_t key;
    bool is_solved; /* by whichever of its submits */
};

/* ---- clients ------------------------------------------------------------------------------- */

enum need_state { NEED_AWAY, NEED_ASKING, NEED_KNOWN, NEED_LOOKING, NEED_DONE };

/* Somebody who wants something: asks, waits, leaves, comes back. */
struct need {
    enum need_state state;
    uint32_t key;
    uint32_t other_key;   /* what a mutated repeat asks for */
    uint32_t known;       /* its request, or MAP_NONE */
    uint64_t idempotency; /* number, or 0 */
    client_id client;
    enum reuse reuse;
    uint8_t priority;
    uint8_t tries;
    bool is_told, is_mutated, is_reporting;
    bool is_strict; /* min_ttl and max_age */
    bool is_picky;  /* nothing that exists is new enough */
};

/* A request as far as its callers were told. */
struct known {
    request_id id;
    uint64_t seen_ms; /* last told that it goes on */
    uint64_t asked_ms;
    uint64_t idempotency;
    uint32_t key;
    uint32_t token; /* it got, or MAP_NONE */
    client_id client;
    enum reuse reuse;
    enum request_state state;
    bool is_final;
    bool is_end_told; /* the engine answered with its end */
    bool is_unsafe;   /* told while the disk was full */
    bool is_detached;
};

/* What an idempotency number stands for. */
struct promise {
    uint32_t key;
    uint32_t token;    /* MAP_NONE: nothing is promised */
    uint64_t until_ms; /* the record lives at least as long */
    uint64_t fresh_ms; /* and its solution is fresh */
    uint64_t since_ms; /* a table that was full later may have lost it */
    uint32_t epoch;    /* changes whenever the record may have changed its mind */
};

/* A request whose end is to be told to an address. */
struct notice_note {
    request_id id;
    uint64_t asked_ms;
    uint64_t idempotency;
    uint32_t key;
    client_id client;
    uint32_t token;   /* it was told, or MAP_NONE */
    uint32_t wire_in; /* incarnation in which it is on the wire, or 0 */
    uint32_t refused; /* since it started or became a letter */
    enum reuse reuse;
    bool is_taken;   /* the engine was told so */
    bool has_letter; /* written, not dropped with a crash */
    bool is_settled; /* a row without the address is on the disk */
    bool is_unsafe;  /* sent while the disk was full */
};

enum caller_kind {
    CALLER_ASK,
    CALLER_LOOK,
    CALLER_DETACH,
    CALLER_REPORT,
    CALLER_ACCOUNT,
    CALLER_LETTERS,
    CALLER_CALLBACK,
};

enum caller_state { CALLER_OPEN, CALLER_TOLD, CALLER_CLOSED };

struct caller {
    enum caller_kind kind;
    enum caller_state state;
    bool is_gone;
    bool is_good;      /* of a report */
    bool must_be_same; /* of a repeat: the promise holds */
    bool must_refuse;  /* of a mutated repeat */
    bool must_be_pool; /* there is something in the pool for it */
    bool is_drained;   /* came after the gateway said that it ends */
    bool has_pingback;
    uint32_t need;  /* or MAP_NONE */
    uint32_t about; /* known request, or the token of a callback */
    uint32_t open_place;
    uint64_t since_ms;
    uint64_t told_ms; /* when the engine answered; the answer may wait for the disk */
    uint32_t epoch;   /* of its promise */
    uint32_t hold_ms, min_ttl_ms, max_age_ms;
    uint32_t submit; /* of a callback */
};

/* ---- the world ----------------------------------------------------------------------------- */

enum happening {
    HAPPEN_ARRIVE,    /* somebody new needs something */
    HAPPEN_NEED,      /* somebody acts again */
    HAPPEN_LEAVE,     /* a caller closes its connection */
    HAPPEN_SENT,      /* a submit that waited has its connection */
    HAPPEN_SUBMITTED, /* a submit's reply arrives */
    HAPPEN_POLLED,
    HAPPEN_PROBED,
    HAPPEN_CALLBACK,
    HAPPEN_SYNCED, /* the disk is done */
    HAPPEN_ROOM,   /* there is room on the disk again */
    HAPPEN_UP,     /* the gateway starts again */
    HAPPEN_NOTIFIED,
    HAPPEN_STOP, /* it was drained long enough */
};

struct moment {
    uint64_t at_ms;
    uint64_t order;
    enum happening what;
    uint32_t incarnation; /* it belongs to; 0: to all */
    uint32_t subject;
    uint32_t detail;
    uint32_t detail2;
};

struct disk_row {
    struct record record; /* owned */
    uint64_t number;      /* its name */
    uint32_t next_free;
    bool is_used;
};

struct disk {
    struct record *log; /* owned: appended and not yet synced, a ring */
    size_t log_first, log_count, log_room;
    journal_seq synced, appended; /* numbers of this incarnation */
    journal_seq syncing;          /* what the sync under way covers; 0: none */
    struct disk_row *rows;        /* owned */
    size_t row_count, row_room;
    uint32_t free_row;
    struct map by_name;
    bool is_full;
};

/* What the engine must have counted since it started. */
struct counted {
    uint64_t requests, submits, polls, probes, accepted, rejected, not_sent, ambiguous;
    uint64_t callbacks, forged, refused, taken, refills;
};

struct reference;

struct sim {
    struct plan plan;
    struct rand rand;
    struct engine *engine; /* NULL while it is down */
    uint64_t now_ms;
    int64_t wall_skew_ms;
    uint64_t hash;
    uint64_t steps, effects, step_limit;
    uint64_t submitted_step; /* the last one that submitted anything */
    uint64_t crash_at;       /* effects */
    uint32_t incarnation, crashes;
    uint32_t strays; /* after the step before */
    uint32_t first_day, last_day;
    bool is_traced, is_healing, has_skewed, is_stepping, crash_now, is_crowded;
    uint64_t crash_ms;
    uint64_t requests_full_ms, keys_full_ms; /* one more than when that table was last full, or 0 */
    uint64_t up_ms;                          /* when it started, or will start, last */
    uint64_t heal_ms;
    uint64_t order;

    struct moment *heap; /* owned */
    size_t heap_count, heap_room;
    struct action *held; /* owned: a ring */
    size_t held_first, held_count, held_room;
    struct disk disk;

    struct key *keys;      /* owned, with params */
    struct blob **params;  /* owned */
    uint32_t *open_of_key; /* owned: head of the open submits of each */
    uint32_t key_count;

    struct submit *submits;
    size_t submit_count, submit_room;
    struct token *tokens;
    size_t token_count, token_room;
    struct flight_note *flights;
    size_t flight_count, flight_room;
    struct need *needs;
    size_t need_count, need_room;
    size_t needs_done;
    struct known *knowns;
    size_t known_count, known_room;
    struct promise *promises;
    size_t promise_count, promise_room;
    struct caller *callers;
    size_t caller_count, caller_room;
    uint32_t *open_callers;
    size_t open_count, open_room;
    struct notice_note *notes;
    size_t note_count, note_room;
    struct map submit_by_name, flight_by_uid, known_by_id, token_by_uid, note_by_id;

    struct spans spans;
    uint32_t pool_keys[SIM_POOLS];
    uint32_t stored[SIM_POOLS];               /* solutions for it, by the rows */
    uint32_t bound[SIM_POOLS];                /* of them, those that may be somebody\'s already */
    uint64_t pool_flights;                    /* rows of new ones for pools, in this incarnation */
    uint64_t step_refills, step_pool_flights; /* when the last step was checked */
    uint64_t pool_submit_step;                /* the last one that submitted anything for one */
    uint64_t pool_flight_step[SIM_POOLS];     /* the last one that made a flight for it */
    uint32_t asking;                          /* the caller that asks in this step, or MAP_NONE */
    uint32_t submits_out;
    uint32_t drains;
    uint64_t drained_flights; /* made when it began to drain */
    bool is_draining;
    client_id name_at[SIM_CLIENTS],
        place_of[SIM_CLIENTS]; /* clients in the engine's configuration */
    bool is_absent[SIM_CLIENTS];
    uint64_t absent_ms[SIM_CLIENTS]; /* one more than when it was last known to be, or 0 */
    struct client_options placed[SIM_CLIENTS];
    uint32_t free_key; /* whoever asks in this step need not pay for this, or MAP_NONE */
    uint64_t accepted[SIM_CLIENTS];
    uint64_t spent[SIM_CLIENTS]; /* as the rows say */
    uint64_t solved;             /* tasks the vendor solved */
    uint64_t answered;
    uint32_t attempt_rows; /* of this incarnation */
    uint32_t probing_in[PROBE_COUNT];
    struct counted tally;
    struct stats base;           /* the engine's, when it started */
    struct reference *reference; /* owned, or NULL */
};

/* Runs the whole world; aborts at the first broken rule. */
void sim_run(struct sim *sim, const struct plan *plan);
/* Memory is kept for the next run; this gives it back. */
void sim_close(struct sim *sim);

_Noreturn void sim_fail(const struct sim *sim, const char *rule, const char *file, int line);
#define CHECK(sim, rule) ((rule) ? (void)0 : sim_fail(sim, #rule, __FILE__, __LINE__))

bool sim_chance(struct sim *sim, enum fault fault);
uint64_t sim_below(struct sim *sim, uint64_t bound);
bool sim_coin(struct sim *sim, uint32_t permille);
void sim_at(struct sim *sim, uint64_t in_ms, struct moment moment);
int64_t sim_wall_ms(const struct sim *sim);
/* Being one-time is a property of the thing. */
bool sim_is_one_time(const struct sim *sim, uint32_t key);
/* Answers to these are more than a text: a poll follows a callback. */
static inline bool sim_wants_rest(uint32_t key)
{
    return key % 3 == 1;
}
/* Applies the event with the world's time and does what the engine asks for. */
void sim_step(struct sim *sim, struct event *event);
/* One more boundary between two effects: the crash may come here. */
bool sim_is_cut(struct sim *sim);
bool sim_may_crash(const struct sim *sim);

/* ---- shell: actions in, effects out -------------------------------------------------------- */

void shell_take(struct sim *sim);
void shell_on_synced(struct sim *sim, uint64_t upto);
void shell_set_full(struct sim *sim, bool is_full);
void shell_drop(struct sim *sim);

/* ---- disk ------------------------------------------------------------------------------------ */

void disk_open(struct disk *disk);
void disk_close(struct disk *disk);
void disk_reset(struct disk *disk);
void disk_append(struct disk *disk, journal_seq seq, const struct record *take_record);
/* Makes the log durable up to a number, telling the checker of each row. */
void disk_sync(struct sim *sim, journal_seq upto);
/* Keeps some prefix of what was not synced, loses the rest. */
void disk_crash(struct sim *sim, size_t kept);
const struct record *disk_find(const struct disk *disk, enum record_kind kind, uint64_t number);
/* Gives every row to the engine in the order of a store. */
void disk_load(const struct sim *sim);

/* ---- vendor ---------------------------------------------------------------------------------- */

void vendor_submit(struct sim *sim, const struct action *action);
void vendor_withdraw(struct sim *sim, const struct withdrawal *withdrawal);
void vendor_poll(struct sim *sim, const struct call *call);
void vendor_probe(struct sim *sim, enum probe probe);
void vendor_on_ack(struct sim *sim, const struct caller *caller, bool is_refused);
void vendor_happens(struct sim *sim, const struct moment *moment);
uint32_t token_of(const struct sim *sim, struct slice text);

/* ---- clients --------------------------------------------------------------------------------- */

caller_id clients_call(struct sim *sim, enum caller_kind kind, uint32_t need);
void clients_happen(struct sim *sim, const struct moment *moment);
void clients_on_answer(struct sim *sim, struct caller *caller, const struct answer *answer);
void clients_on_crash(struct sim *sim);
void clients_close_caller(struct sim *sim, caller_id id);
void clients_operate(struct sim *sim, enum letter_verb verb);
/* Somebody who asks now and is content with nothing but a new solution. */
void clients_come_for_new(struct sim *sim, uint32_t key, client_id client);

/* ---- checks ---------------------------------------------------------------------------------- */

/* An action leaves the engine. */
void check_emitted(struct sim *sim, const struct action *action);
/* An action is executed; unsafe: while the disk was full, before its records were safe. */
void check_answer(struct sim *sim, const struct caller *caller, const struct answer *answer,
                  bool is_unsafe);
void check_ack(struct sim *sim, const struct caller *caller);
void check_notice(struct sim *sim, struct notice_note *note, const struct notify *notify,
                  bool is_unsafe);
void check_after_step(struct sim *sim);
void check_after_restart(struct sim *sim);
void check_at_the_end(struct sim *sim);

/* ---- the ledger's rules ------------------------------------------------------------------------ */

/* A submit or a record leaves the engine. */
void ledger_issue(struct sim *sim, const struct action *action);
void ledger_record(struct sim *sim, const struct action *action);
/* A submit is sent. */
void ledger_sent(struct sim *sim, const struct submit *submit);
/* A record is on the disk. */
void ledger_row(struct sim *sim, const struct record *record);
void ledger_after_crash(struct sim *sim);
void ledger_after_restart(struct sim *sim);
void ledger_after_told(struct sim *sim, uint32_t place);
void ledger_at_the_end(struct sim *sim);
/* The first tick after it is over. */
void ledger_after_first_tick(struct sim *sim);
/* The engine was told something about a submit. */
void ledger_told(struct sim *sim, uint32_t place, const struct vendor_result *result);

/* ---- pools ------------------------------------------------------------------------------------- */

/* The pool that a thing is in, counted from 1; 0: none. */
uint16_t pool_of_key(const struct sim *sim, uint32_t key);
/* May a solution for the one thing be given to who asked for the other? */
bool pool_fits(const struct sim *sim, uint32_t token_key, uint32_t key);
/* What must be left of a solution's life for it to stay. */
uint32_t pool_min_ttl_ms(const struct sim *sim, uint32_t token_key);
bool pool_has_for(const struct sim *sim, const struct ask *ask);
void pools_note_flight(struct sim *sim, const struct flight_row *row);
void pools_note_submit(struct sim *sim, uint32_t key);
void pools_note_solution(struct sim *sim, uint32_t token, const struct solution_row *row);
void pools_forget_solution(struct sim *sim, uint32_t token);
void pools_after_crash(struct sim *sim);
void pools_check(struct sim *sim);
bool pools_are_full(const struct sim *sim);
/* Somebody wants something new from each that is not. */
void pools_demand(struct sim *sim);

/* ---- notices ----------------------------------------------------------------------------------- */

void notices_emitted(struct sim *sim, const struct notify *notify);
void notices_record(struct sim *sim, const struct record *record);
void notices_row(struct sim *sim, const struct record *record);
void notices_send(struct sim *sim, const struct notify *notify, bool is_unsafe);
void notices_happen(struct sim *sim, const struct moment *moment);
void notices_after_crash(struct sim *sim);
/* Is anybody still to be told? */
bool notices_are_owed(const struct sim *sim);
struct notice_note *notice_of(const struct sim *sim, request_id id);

/* ---- places ------------------------------------------------------------------------------------ */

/* places.c says more. */
bool places_change(const struct sim *sim);
void places_open(struct sim *sim);
bool places_missed(const struct sim *sim, client_id client, uint64_t since_ms);
void places_draw(struct sim *sim);
void places_reload(struct sim *sim);
void places_options(struct sim *sim, struct engine_options *options);
struct record places_row(const struct sim *sim, const struct record *row);
void places_name(const struct sim *sim, struct action *action);
struct event places_event(const struct sim *sim, const struct event *event);
void places_replay(struct sim *sim, struct letter_order *order);
uint32_t places_free_key(const struct sim *sim, const struct ask *ask);
bool places_fit_params(const struct sim *sim, const struct blob *params, uint32_t key);
void places_note_letter(struct sim *sim, const struct letter_row *row);
void places_rekey(struct sim *sim); /* after a crash */

/* ---- the operator ------------------------------------------------------------------------------ */

/* Reloads and drains come with any moment. */
void operator_acts(struct sim *sim);
bool operator_is_done(const struct sim *sim); /* Has everybody been answered, and may it end? */
void operator_check(struct sim *sim, const struct gauges *gauges);
bool operator_knows_plan(const struct sim *sim);

/* ---- the slow model -------------------------------------------------------------------------- */

void reference_open(struct sim *sim);
void reference_close(struct sim *sim);
void reference_event(struct sim *sim, const struct event *event);
void reference_action(struct sim *sim, const struct action *action);
void reference_compare(struct sim *sim);

/* ---- the trace ------------------------------------------------------------------------------- */

void trace_event(struct sim *sim, const struct event *event);
void trace_action(struct sim *sim, const struct action *action);
void trace_note(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_engine(struct sim *sim);
void trace_mix(struct sim *sim, uint64_t value);

#endif
