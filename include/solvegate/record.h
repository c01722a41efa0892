/* Rows of the journal, as plain data: everything that must survive a crash. A record replaces the
 * row of the same name, or drops it. */
#ifndef SOLVEGATE_RECORD_H
#define SOLVEGATE_RECORD_H

#include <solvegate/stats.h>
#include <solvegate/types.h>

/* In the order of restoring: each kind may refer to those before it. */
enum record_kind {
    RECORD_DAY,      /* a day's page of the books */
    RECORD_TALLY,    /* counters of one client and type on one day */
    RECORD_SPENT,    /* budget that a client spent on one day */
    RECORD_SOLUTION, /* a solution that arrived */
    RECORD_FLIGHT,  /* a flight that was, or may have been, submitted, or whose id somebody knows */
    RECORD_ATTEMPT, /* an intent before its submit's first byte; later its outcome */
    RECORD_REQUEST, /* a request whose id its caller knows */
    RECORD_IDEMPOTENCY, /* the flight or solution behind an idempotency key */
    RECORD_LETTER,
    RECORD_KIND_COUNT
};

struct day_row {
    int64_t day;
    /* Owned, or NULL: all of them zero. They are packed (record_pack_stats), since a record of any kind would have
     * to be as long as they are, and there are several for every solve. */
    struct blob *stats;
    struct blob *hours; /* owned, or NULL: the bytes of a struct shadow_hour[SHADOW_HOURS] */
};

struct tally_row {
    int64_t day;
    client_id client;
    enum type type;
    struct tally tally;
};

struct spent_row {
    client_id client;
    int64_t day;
    uint64_t spent;
};

struct solution_row {
    uint64_t id;
    uint64_t flight;    /* the flight whose requests it is for, or 0: for whoever asks */
    attempt_id attempt; /* the attempt that brought it */
    struct key key;
    client_id client;
    enum type type;
    int64_t born_wall_ms;
    int64_t expires_wall_ms;
    uint64_t solve_ms;
    uint32_t handed;
    uint16_t attempts;
    bool is_kept;   /* in the cache, for later requests */
    bool is_shared; /* for everybody; else for one request */
    bool is_bad;    /* reported as bad: only for those who have it already */
    char task_id[TASK_ID_MAX];
    struct blob *text;  /* owned */
    struct blob *extra; /* owned, or NULL */
};

struct flight_row {
    uint64_t id;
    struct key key;
    client_id client;
    enum type type;
    enum reuse reuse;
    uint8_t priority;
    bool is_one_time;
    bool wants_rest;
    bool is_over;           /* it failed, and some callers have not been told yet */
    enum error_class class; /* of the failure, or of the last attempt that failed */
    uint16_t attempts;      /* attempts that are over */
    uint8_t adoptions;      /* how often another node had to go on with it; the store counts */
    int64_t created_wall_ms;
    bool has_max_retries;
    uint16_t max_retries;    /* as its first request asked */
    uint32_t retry_delay_ms; /* as its first request asked */
    char code[ERROR_CODE_MAX];
    struct blob *params; /* owned */
    /* With a shared store only: it asks for, or waits for, what this idempotency key stands for,
     * whose row may be another node's. */
    bool has_idempotency;
    struct key idempotency;
};

struct attempt_row {
    attempt_id name;
    uint64_t flight;
    struct key key;
    client_id client;
    enum type type;
    enum reuse reuse;
    bool is_one_time;
    bool wants_rest;
    bool is_counted;              /* the budget counted it, or need not; else a restart counts it */
    bool is_closed;               /* solved or failed */
    bool is_solved;               /* any further solution is a repeat */
    uint16_t number;              /* within its flight; 0: from an older version, which has none */
    enum cause why;               /* why it was made */
    bool is_resent;               /* another attempt was submitted in its stead */
    enum error_class cause_class; /* how the previous attempt ended */
    char cause[ERROR_CODE_MAX];
    int64_t started_wall_ms;
    char task_id[TASK_ID_MAX];
    struct blob *partial; /* owned, or NULL: a callback's text, while the rest is polled for */
};

struct request_row {
    request_id id;
    client_id client;
    uint64_t flight;   /* the flight that it waits for, or 0 */
    uint64_t solution; /* the solution that it got, or 0 */
    enum request_state state;
    enum source source;
    enum error_class class;
    uint16_t attempts;
    int64_t expires_wall_ms; /* of a final request */
    char code[ERROR_CODE_MAX];
    struct blob *pingback; /* owned, or NULL: the address that is still to be told */
};

struct idempotency_row {
    struct key digest;
    client_id client;
    struct key fingerprint;
    uint64_t flight;
    uint64_t solution;
    int64_t expires_wall_ms;
};

/* One failed attempt of a flight. */
struct attempt_note {
    int64_t wall_ms; /* when it started */
    uint32_t took_ms;
    enum error_class class;
    struct blob *code;    /* owned */
    struct blob *task_id; /* owned, or NULL */
};

#define NOTES_MAX 32

/* The subject of a letter; the name is the API's word. */
#define LETTER_KIND_LIST(X) \
    X(FLIGHT, "flight")     \
    X(SOLUTION, "solution") \
    X(ANSWER, "answer")     \
    X(NOTICE, "notice")     \
    X(ORPHAN, "orphan")

enum letter_kind {
#define LETTER_KIND_AS_ENUM(name, text) LETTER_OF_##name,
    LETTER_KIND_LIST(LETTER_KIND_AS_ENUM)
#undef LETTER_KIND_AS_ENUM
        LETTER_KIND_COUNT
};

struct letter_row {
    uint64_t number;
    enum letter_kind kind;
    struct key key;
    client_id client;
    enum type type;
    enum error_class class;
    enum reuse reuse;
    uint8_t priority;
    bool is_one_time;
    bool wants_rest;
    int64_t created_wall_ms;
    uint32_t told;
    uint16_t replays;
    uint16_t retries;      /* automatic replays among `replays` */
    struct blob *error;    /* owned */
    struct blob *params;   /* owned */
    request_id request;    /* the request whose address could not be told, or 0 */
    struct blob *pingback; /* owned, or NULL: that address */
    struct blob *text;     /* owned, or NULL: a solution that could not be handed out */
    struct blob *extra;    /* owned, or NULL: the solution's further members */
    int64_t fresh_wall_ms; /* when the solution expires, or 0 */
    char task_id[TASK_ID_MAX];
    size_t note_count;
    struct attempt_note *notes; /* owned array, or NULL */
};

struct record {
    enum record_kind kind;
    bool is_drop; /* only the row's name is set */
    union {
        struct day_row day;
        struct tally_row tally;
        struct spent_row spent;
        struct solution_row solution;
        struct flight_row flight;
        struct attempt_row attempt;
        struct request_row request;
        struct idempotency_row idempotency;
        struct letter_row letter;
    };
};

struct blob *record_pack_stats(const struct stats *stats);
struct stats record_stats(const struct day_row *day);

/* Releases the references that a record holds. */
void record_close(struct record *record);

#endif
