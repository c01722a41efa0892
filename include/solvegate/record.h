/* Rows of the journal: what must survive a crash, as plain data. A record replaces the row of its name, or drops it. */
#ifndef SOLVEGATE_RECORD_H
#define SOLVEGATE_RECORD_H

#include <solvegate/stats.h>
#include <solvegate/types.h>

/* In the order in which they are restored: each may refer to those before it. */
enum record_kind {
    RECORD_DAY,      /* a page of the books */
    RECORD_TALLY,    /* what was counted of one client and type on a day */
    RECORD_SPENT,    /* what a client spent of a day's budget */
    RECORD_SOLUTION, /* a solution that reached us */
    RECORD_FLIGHT,  /* a flight that was, or may have been, submitted, or whose id somebody knows */
    RECORD_ATTEMPT, /* an intent before its submit's first byte; later its outcome */
    RECORD_REQUEST, /* a request whose id its caller knows */
    RECORD_IDEMPOTENCY, /* what an idempotency key stands for */
    RECORD_LETTER,
    RECORD_KIND_COUNT
};

struct day_row {
    int64_t day;
    struct stats stats;
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
    uint64_t flight;    /* that it solved, or 0 */
    attempt_id attempt; /* that brought it */
    struct key key;
    client_id client;
    enum type type;
    int64_t born_wall_ms;
    int64_t expires_wall_ms;
    uint64_t solve_ms;
    uint32_t handed;
    uint16_t attempts;
    bool is_kept;   /* in the cache, for whoever asks */
    bool is_shared; /* for everybody; else for one */
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
    bool is_over;           /* it failed, and not everybody has been told yet */
    enum error_class class; /* of the failure, or of the last attempt that failed */
    uint16_t attempts;      /* that are over */
    int64_t created_wall_ms;
    bool has_max_retries;
    uint16_t max_retries;    /* as its first request wanted it */
    uint32_t retry_delay_ms; /* the same */
    char code[ERROR_CODE_MAX];
    struct blob *params; /* owned */
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
    bool is_counted;              /* by the budget, or not to be; else a restart does it */
    bool is_closed;               /* solved or failed */
    bool is_solved;               /* a further solution is a repeat */
    uint16_t number;              /* within its flight; 0: of an older version, which did not say */
    enum cause why;               /* it was made */
    bool is_resent;               /* another one was sent in its stead */
    enum error_class cause_class; /* how the one before ended */
    char cause[ERROR_CODE_MAX];
    int64_t started_wall_ms;
    char task_id[TASK_ID_MAX];
    struct blob *partial; /* owned, or NULL: what a callback brought, while the rest is asked for */
};

struct request_row {
    request_id id;
    client_id client;
    uint64_t flight;   /* it waits for, or 0 */
    uint64_t solution; /* it got, or 0 */
    enum request_state state;
    enum source source;
    enum error_class class;
    uint16_t attempts;
    int64_t expires_wall_ms; /* of a final one */
    char code[ERROR_CODE_MAX];
    struct blob *pingback; /* owned, or NULL: where its end is still to be told */
};

struct idempotency_row {
    struct key digest;
    client_id client;
    struct key fingerprint;
    uint64_t flight;
    uint64_t solution;
    int64_t expires_wall_ms;
};

/* One attempt of a flight that ended badly. */
struct attempt_note {
    int64_t wall_ms; /* when it began */
    uint32_t took_ms;
    enum error_class class;
    struct blob *code;    /* owned */
    struct blob *task_id; /* owned, or NULL */
};

#define NOTES_MAX 32

/* What a letter is about; the name is the API's word. */
#define LETTER_KIND_LIST(X) \
    X(FLIGHT, "flight")     \
    X(SOLUTION, "solution") \
    X(ANSWER, "answer")     \
    X(CALLBACK, "callback") \
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
    uint16_t retries;      /* of those, by itself */
    struct blob *error;    /* owned */
    struct blob *params;   /* owned */
    request_id request;    /* whose caller could not be told, or 0 */
    struct blob *pingback; /* owned, or NULL: where it was to be told */
    struct blob *text;     /* owned, or NULL: the solution that found no place */
    struct blob *extra;    /* owned, or NULL: its further members */
    int64_t fresh_wall_ms; /* until when it is good, or 0 */
    char task_id[TASK_ID_MAX];
    size_t note_count;
    struct attempt_note *notes; /* owned array, or NULL */
};

struct record {
    enum record_kind kind;
    bool is_drop; /* only the row's name counts */
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

/* Gives back the references a record holds. */
void record_close(struct record *record);

#endif
