/* The whole engine in a fake world: short verbs happen to it, lines of text tell what it did. */
#ifndef SOLVEGATE_TESTS_STORY_WORLD_H
#define SOLVEGATE_TESTS_STORY_WORLD_H

#include "base/buf.h"
#include "base/rand.h"
#include "disk.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

/* cmocka.h wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stories count their time from 0; the engine's clock starts here, since a real one is never 0. */
#define WORLD_START_MS 1000000
/* Noon, UTC, of a day like any other: midnight is twelve hours away. */
#define WORLD_START_WALL_MS INT64_C(1704110400000)
#define HOURS_MS(hours) ((hours) * 3600000)
/* How long a caller is held who does not say otherwise: longer than any flight lasts. */
#define WORLD_HOLD_MS 600000

#define WORLD_NAME_MAX 24

/* Somebody at a door, known by name; everyone is answered at most once. */
struct world_caller {
    char name[WORLD_NAME_MAX];
    bool is_answered;
    bool is_gone;
};

/* An attempt as the vendor sees it; a1 is the first. */
struct world_attempt {
    attempt_id id;
    char task[TASK_ID_MAX];
    bool is_submitting;
    bool is_polling;
};

/* What a flight asked the shared store for last; f1 is the first that did. */
struct world_claim {
    struct claim last;
    bool is_asking;
};

/* How often each kind of action was seen. */
struct world_tally {
    unsigned answers, solved, failed, refused, submits, polls, probes, acks, reports, alerts, paid,
        withdrawals, records, orders, claims, releases, finds;
};

struct world {
    struct engine *engine;
    struct engine_options options;
    struct disk disk;
    struct blob *pool_params; /* owned, or NULL: of the pool in the options */
    uint64_t now_ms;          /* since the story began */
    int64_t wall_skew_ms;
    struct rand rand;
    struct buf log;
    struct world_tally tally;
    struct paid last_paid;              /* without its parameters */
    bool has_paid_params;               /* the same one: they were told */
    struct letters_answer last_letters; /* without its numbers */
    journal_seq seq;                    /* of the last record seen */
    unsigned steps;
    bool is_quiet;          /* no lines, only the tally: for crowds */
    bool shows_ages;        /* age and rest of life behind each solution */
    bool shows_flights;     /* the engine's trace between the actions */
    bool shows_withdrawals; /* what the engine takes back, whether or not it has left */
    bool hides_records;     /* neither records nor what actions wait for */

    struct world_caller *callers; /* owned; a caller's id is its place plus one */
    size_t caller_count;
    struct world_attempt *attempts; /* owned; in the order of their submits */
    size_t attempt_count;
    request_id *requests; /* owned; r1 is the first */
    size_t request_count;
    struct world_claim *claims; /* owned; f1 is the first */
    size_t claim_count;
    struct key
        kept_claim; /* with a number: the claim that a shared store gives back at the next start */
    uint64_t kept_number;
    bool last_answer_is_single;
    bool last_answer_is_promise;
    bool last_answer_is_receipt;
    journal_seq last_answer_after, last_report_after;
    struct disk will; /* the rows of a node that died */
    struct find last_find;
    struct errand last_errand;
    struct draw last_draw;
    struct key will_claim; /* with a number: the claim that it had */
    uint64_t will_number;
};

/* ---- the world itself -------------------------------------------------------------------- */

/* Small limits, the product's times, and no jitter, so that stories can name the moment. */
struct engine_options world_options(void);

/* NULL: world_options(). The world before, if any, ends. */
struct world *world_new(const struct engine_options *options);

/* A world whose two clients share solutions, or do not. */
enum { CRAWLER, SHOP, CLIENTS };
struct world *crawler_and_shop(bool share, bool has_journal);

/* A cmocka teardown: nothing may be left untold. */
int world_end(void **state);

#define STORY(test) cmocka_unit_test_teardown(test, world_end)

/* Moves time, ticking at each deadline of the engine on the way, as the shell does. */
void pass(struct world *world, uint64_t ms);

/* One event, with the world's clocks, and what the engine does then: for the parts of the world. */
void world_step(struct world *world, struct event *event);
caller_id world_caller(struct world *world, const char *name);
request_id world_request(const struct world *world, const char *name);

/* One tick and nothing else: a turn of the loop. */
void tick(struct world *world);

/* Everything that was logged since the last time, line by line. "[5000..6000] " allows a span of time. */
#define expect(world, lines) world_expect(world, lines, __FILE__, __LINE__)
void world_expect(struct world *world, const char *lines, const char *file, int line);

/* Forgets what was logged: the beginning of a story that another one tells. */
void skip_lines(struct world *world);

const struct stats *stats_of(const struct world *world);
struct gauges gauges_of(const struct world *world);

/* The letters there are, newest first; up to room of those that match and are older than *cursor (0: from the
 * newest); *cursor becomes 0 at the end. *total counts all that match. */
size_t engine_list_letters(const struct engine *engine, const struct letter_filter *filter,
                           uint64_t *cursor, struct letter_view *views, size_t room,
                           uint32_t *total);

/* ---- callers ----------------------------------------------------------------------------- */

/* What is asked for; what is not said is the usual: shared, held for long, no demands. */
struct asking {
    const char *key;
    const char *idempotency;
    client_id client;
    enum type type;
    enum reuse reuse;
    uint8_t priority;
    uint32_t hold_ms;
    uint32_t min_ttl_ms;
    uint32_t max_age_ms;
    bool has_max_retries;
    uint16_t max_retries;
    uint32_t retry_delay_ms;
    bool at_once;      /* not held at all */
    bool is_told;      /* in.php */
    bool is_one_time;  /* data-s and the like */
    bool wants_rest;   /* its answer is more than a text */
    uint8_t id_layout; /* its id is short */
    enum dialect_kind dialect;
    const char *pingback;
    const char *host;
    uint16_t pool;
};

#define ask(world, who, ...) world_ask(world, who, (struct asking){__VA_ARGS__})
void world_ask(struct world *world, const char *who, struct asking asking);

/* The same without touching anything. */
#define explain(world, ...) world_explain(world, (struct asking){__VA_ARGS__})
struct outlook world_explain(struct world *world, struct asking asking);

/* Requests by their names: r1 is the first that was told to anybody. */
void look(struct world *world, const char *who, const char *request, uint32_t hold_ms);
void look_as(struct world *world, const char *who, client_id client, const char *request);
void detach(struct world *world, const char *who, const char *request);
void report_good(struct world *world, const char *who, const char *request);
void report_bad(struct world *world, const char *who, const char *request);
void account(struct world *world, const char *who, enum probe probe);
void account_as(struct world *world, const char *who, client_id client, enum probe probe);

/* The request's state without reading it away, as one word; NULL when it is unknown. */
const char *peek(struct world *world, const char *request);

/* The newest caller of that name hangs up. */
void gone(struct world *world, const char *who);

/* ---- the vendor -------------------------------------------------------------------------- */

/* How a submit ends. */
void accepted(struct world *world, const char *attempt, const char *task);
void rejected(struct world *world, const char *attempt, enum error_class class, const char *code);
void rejected_until(struct world *world, const char *attempt, enum error_class class,
                    const char *code, uint32_t retry_after_ms);
void not_sent(struct world *world, const char *attempt);
void ambiguous(struct world *world, const char *attempt);
/* It waited in a queue of ours and was taken back. */
void withdrawn(struct world *world, const char *attempt);

/* How a poll ends. */
void pending(struct world *world, const char *attempt);
void solved(struct world *world, const char *attempt, const char *text);
void solved_with(struct world *world, const char *attempt, const char *text, const char *extra);
void failed(struct world *world, const char *attempt, enum error_class class, const char *code);
void unheard(struct world *world, const char *attempt, uint32_t retry_after_ms);
void poll_withdrawn(struct world *world, const char *attempt);
/* Solved, but with nothing that can be handed out. */
void undeliverable(struct world *world, const char *attempt, const char *bytes);

/* The vendor calls back. A task of "" is a callback that names none. */
void callback(struct world *world, const char *attempt, const char *task, const char *text);
void callback_failed(struct world *world, const char *attempt, const char *task,
                     enum error_class class, const char *code);
void callback_undeliverable(struct world *world, const char *attempt, const char *task,
                            const char *bytes);
/* Neither a solution nor an error. */
void callback_empty(struct world *world, const char *attempt, const char *task);

/* How a probe ends. */
void threads(struct world *world, uint32_t working, uint32_t all);
void balance(struct world *world, const char *amount);
void probe_failed(struct world *world, enum probe probe, enum error_class class, const char *code);

/* From accepted to solved by the first poll: 6 s later the attempt is done. */
void solve(struct world *world, const char *attempt, const char *task, const char *text);

/* How telling a caller's own address ended. */
void told(struct world *world, const char *request, enum notify_end end);

/* ---- the operator ------------------------------------------------------------------------ */

/* Any letter at all. */
struct letter_filter every_letter(void);
void order_letters(struct world *world, enum letter_verb verb, struct letter_filter filter);
void list_letters(struct world *world, struct letter_filter filter, uint64_t cursor,
                  uint32_t limit);

/* ---- the shell --------------------------------------------------------------------------- */

/* The journal is on disk up to this number. */
void durable(struct world *world, journal_seq seq);
/* Power off and on again: of the records appended since the last start only the first `kept` were
 * written (ALL_RECORDS: all). Everybody who waited is gone. */
#define ALL_RECORDS UINT64_MAX
void crash(struct world *world, uint64_t kept);

void store_is(struct world *world, bool is_writable);
/* The other reason why nothing can be written. */
void store_goes_away(struct world *world);
void drain(struct world *world);
/* Time passes without a tick, and the engine is told so; the next tick makes up for it. */
void stand_still(struct world *world, uint64_t ms);

#endif
