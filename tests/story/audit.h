/* The audit: random events against the engine, a careless vendor, and a dumb model of what may be answered. */
#ifndef SOLVEGATE_TESTS_STORY_AUDIT_H
#define SOLVEGATE_TESTS_STORY_AUDIT_H

#include "base/assert.h"
#include "base/rand.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

#define AUDIT_STEPS 1000 /* of one seed */
#define AUDIT_START_MS 5000000
#define AUDIT_KEYS 4
#define AUDIT_CLIENTS 3
#define AUDIT_NAMES 3 /* idempotency keys per client */
#define AUDIT_TEXT_MAX 32
/* Everybody who can come in one seed: one a step, and the healing. */
#define AUDIT_MOST (AUDIT_STEPS * 4)

/* What a caller wants; each is answered exactly once, or is gone. */
enum visit_kind {
    VISIT_ASK,
    VISIT_LOOK,
    VISIT_DETACH,
    VISIT_REPORT,
    VISIT_ACCOUNT,
    VISIT_LETTERS,
    VISIT_CALLBACK,
};

struct visit {
    enum visit_kind kind;
    bool is_open;
    struct ask ask;    /* of VISIT_ASK */
    request_id wanted; /* of those that name a request */
    client_id client;
    unsigned step;
    char callback_text[AUDIT_TEXT_MAX]; /* of a callback that brought a solution */
};

/* A request as far as its callers were told. */
struct known_request {
    request_id id;
    client_id client;
    struct key key;
    enum reuse reuse;
    bool has_idempotency;
    struct key idempotency;
    unsigned step; /* when it was asked */
    bool is_final;
    enum request_state state;
    char text[AUDIT_TEXT_MAX];
};

/* A solution that the vendor made. */
struct token {
    char text[AUDIT_TEXT_MAX];
    struct key key;
    uint64_t born_ms;
    journal_seq seq;      /* of its record */
    unsigned handed;      /* requests that got it */
    bool is_exclusive;    /* one of them must be the only one */
    bool has_idempotency; /* the first of them had such a key: its retries may have it too */
    struct key idempotency;
    bool is_bad;
    unsigned bad_step;
};

/* One submit, as vendor and model see it. */
struct known_attempt {
    attempt_id id;
    struct key key;
    client_id client;
    enum reuse reuse;
    uint64_t started_ms;
    uint64_t deadline_ms; /* of its flight; only for shared keys */
    journal_seq intent;
    bool is_submitting;
    bool is_polling;
    bool asks_double;  /* the poll is about the second task */
    bool is_accepted;  /* at the vendor, whatever we heard of it */
    bool is_open;      /* nothing allows a second submit for its key yet */
    bool is_uncertain; /* the reply was lost: closed when the window is over */
    bool is_solved;
    uint64_t solved_ms;
    uint64_t asked_ms; /* by the poll under way */
    char task[TASK_ID_MAX];
    char text[AUDIT_TEXT_MAX];
};

/* Which faults exist in this seed, and how often, in percent. */
struct swarm {
    unsigned not_sent, rejected, lost, hidden_double;
    unsigned failed, unheard, pending;
    unsigned callback, callback_failed, callback_repeated, callback_different;
    unsigned probe_failed, jump, gone, reuse_single, reuse_none, idempotency, one_time, store;
};

struct audit {
    uint64_t seed;
    unsigned step;
    struct rand rand;
    struct engine *engine;
    struct engine_options options;
    struct client_options clients[AUDIT_CLIENTS];
    struct swarm swarm;
    uint64_t now_ms;
    int64_t wall_ms;
    unsigned days;
    bool is_healing;
    bool is_store_writable;
    bool is_probing[PROBE_COUNT];
    journal_seq seq;

    struct visit visits[AUDIT_MOST]; /* a caller's id is its place plus one */
    size_t visit_count;
    struct known_request requests[AUDIT_MOST];
    size_t request_count;
    struct known_attempt attempts[AUDIT_MOST];
    size_t attempt_count;
    struct token tokens[AUDIT_MOST];
    size_t token_count;
    uint64_t accepted[AUDIT_CLIENTS];
    uint64_t flight_deadline_ms[AUDIT_KEYS][AUDIT_CLIENTS + 1]; /* of each key's shared flight */
};

/* Says which seed and step broke the rule. */
_Noreturn void audit_fail(const struct audit *audit, const char *rule, const char *file, int line);
#define AUDIT(audit, rule) ((rule) ? (void)0 : audit_fail(audit, #rule, __FILE__, __LINE__))

bool audit_chance(struct audit *audit, unsigned percent);
uint64_t audit_below(struct audit *audit, uint64_t bound);

/* ---- the driver -------------------------------------------------------------------------- */

/* One whole seed: swarm, heal, and see that nobody waits. */
void audit_run(struct audit *audit, uint64_t seed, unsigned steps);

/* Applies one event and hands every action to the model. */
void audit_step(struct audit *audit, struct event *event);
caller_id audit_visit(struct audit *audit, enum visit_kind kind, client_id client);

/* ---- the trace --------------------------------------------------------------------------- */

/* From now on every step and what the engine says about it goes to stderr. */
void audit_trace(void);
void trace_engine(struct audit *audit);
void trace_event(const struct audit *audit, const struct event *event);
void trace_action(const struct audit *audit, const struct action *action);

/* ---- the vendor -------------------------------------------------------------------------- */

/* Ends a call that is on its way, or calls back; false when there is nothing to do. */
bool vendor_end_submit(struct audit *audit);
bool vendor_end_poll(struct audit *audit);
bool vendor_end_probe(struct audit *audit);
bool vendor_call_back(struct audit *audit);

/* Solves a task and tells nobody yet. */
bool vendor_solve(struct audit *audit);

/* ---- the model --------------------------------------------------------------------------- */

/* Holds an action against everything that must be true. */
void model_see(struct audit *audit, const struct action *action);

/* After every step: the flights that are visible, the limits, the slots. */
void model_after_step(struct audit *audit);

/* The vendor made a solution. */
void model_add_token(struct audit *audit, const struct known_attempt *attempt, const char *text);

/* Something ended this attempt: another submit for its key is allowed. */
void model_close(struct audit *audit, struct known_attempt *attempt, bool is_solved);

struct known_request *model_request(struct audit *audit, request_id id);

/* After healing: nobody waits, nothing is held. */
void model_at_the_end(struct audit *audit);

#endif
