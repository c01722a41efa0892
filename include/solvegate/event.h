/* Everything that can happen to the engine, and everything it can ask the shell to do. */
#ifndef SOLVEGATE_EVENT_H
#define SOLVEGATE_EVENT_H

#include <solvegate/record.h>
#include <solvegate/types.h>

/* ---- events: what happened --------------------------------------------------------------- */

enum event_kind {
    EVENT_TICK,        /* time passed: engine_next_deadline() was reached, or a turn to wake more */
    EVENT_ASK,         /* a caller asks for a solution */
    EVENT_LOOK,        /* a caller asks how its request is doing, perhaps to be held */
    EVENT_GONE,        /* a held caller's connection closed */
    EVENT_DETACH,      /* a caller gives its request up */
    EVENT_REPORT,      /* a caller says how good its solution was */
    EVENT_ACCOUNT,     /* a caller asks for balance or threads */
    EVENT_SUBMITTED,   /* an ACTION_SUBMIT ended */
    EVENT_POLLED,      /* an ACTION_POLL ended */
    EVENT_PROBED,      /* an ACTION_PROBE ended */
    EVENT_CALLBACK,    /* the vendor called back; the nonce was genuine */
    EVENT_FORGED,      /* somebody called back with a nonce that is not ours: only counted */
    EVENT_NOTIFIED,    /* an ACTION_NOTIFY ended */
    EVENT_LETTERS,     /* the operator lists, replays, drops or stops replaying dead letters */
    EVENT_DURABLE,     /* the journal is on disk up to a number */
    EVENT_STORE_STATE, /* the journal became unwritable, or writable again */
    EVENT_STANDSTILL,  /* the process, or the machine, stood still; no timer has run since */
    EVENT_DRAIN,       /* no new requests from now on */
};

/* A caller asks. The shell has authenticated it, computed its identity and checked the parameters. */
struct ask {
    caller_id caller;
    client_id client;
    enum type type;
    enum reuse reuse; /* resolved: never REUSE_DEFAULT */
    bool is_one_time; /* holds a one-time input: joined in flight, never cached */
    bool wants_rest;  /* its answer is more than a text: one poll follows a callback */
    bool has_idempotency;
    bool is_id_told;  /* the caller learns the id at once (in.php): its leaving detaches nothing */
    uint8_t priority; /* 0 to 9, higher first within the client */
    uint16_t pool;    /* whose target this is, counted from 1; 0: of none */
    uint32_t hold_ms; /* 0: answer at once with the state; else hold until it is final */
    uint32_t min_ttl_ms;  /* what must remain of a solution that is handed out */
    uint32_t max_age_ms;  /* how old it may be; UINT32_MAX when the caller does not mind */
    bool has_max_retries; /* it wants no more attempts than max_retries after the first */
    uint16_t max_retries;
    uint32_t retry_delay_ms; /* the least pause before another attempt; 0: the operator's */
    struct key key;          /* identity within its scope */
    struct key idempotency;  /* digest of client and idempotency key */
    struct blob *params;     /* borrowed: what a submit sends */
    struct blob *pingback;   /* borrowed, or NULL: where the caller wants its end told */
};

struct look {
    caller_id caller;
    client_id client;
    request_id id;
    uint32_t hold_ms;
};

/* Who asks may be 0 where nobody waits for the answer. */
struct detach {
    caller_id caller;
    client_id client;
    request_id id;
};

struct report {
    caller_id caller;
    client_id client;
    request_id id;
    bool is_good;
};

/* How a call to the vendor ended, already classified by proto (docs/reliability.md 5.4). */
enum outcome {
    OUTCOME_NOT_SENT,      /* proven: not one byte of it can have been acted upon */
    OUTCOME_ACCEPTED,      /* submit: task_id is set */
    OUTCOME_REJECTED,      /* submit: the vendor said no; class and code say why */
    OUTCOME_AMBIGUOUS,     /* submit: sent, and never confirmed */
    OUTCOME_PENDING,       /* poll: not ready */
    OUTCOME_SOLVED,        /* poll or callback: text (and extra) are set */
    OUTCOME_FAILED,        /* poll or callback: the vendor gave up; class and code say why */
    OUTCOME_UNHEARD,       /* poll or probe: no usable reply; ask again later */
    OUTCOME_UNDELIVERABLE, /* poll or callback: solved, but nothing that can be handed out; text is
                              what came, for a letter, and code says why */
    OUTCOME_WITHDRAWN,     /* submit or poll: taken back, and so not sent */
};

struct vendor_result {
    attempt_id attempt;
    enum outcome outcome;
    enum error_class class;
    char code[ERROR_CODE_MAX]; /* the vendor's word, or ours in the vendor's style */
    char task_id[TASK_ID_MAX];
    bool is_short; /* of class account: no money, or no free thread; a probe tells which */
    uint32_t retry_after_ms; /* 0 when the vendor did not say */
    struct blob *text;       /* borrowed: the solution; the engine takes a reference */
    struct blob *extra;      /* borrowed, or NULL: a JSON object with what a JSON reply has beyond a
                                text in `request`, which is its first member where it is no string */
    caller_id caller;        /* callback: who is acknowledged once it is safe */
};

/* The two free questions about the account. */
enum probe { PROBE_BALANCE, PROBE_THREADS, PROBE_COUNT };

struct account {
    caller_id caller;
    client_id client;
    enum probe probe;
};

struct probed {
    enum probe probe; /* which question this answers */
    bool is_ok;       /* the vendor answered sensibly */
    bool has_threads;
    uint32_t threads;
    uint32_t working_threads;
    char balance[32];       /* as the vendor wrote it; empty when unknown */
    enum error_class class; /* when not ok */
    bool is_short;          /* as a result's */
    char code[ERROR_CODE_MAX];
};

/* How telling a caller's own address ended. */
enum notify_end {
    NOTICE_DELIVERED,
    NOTICE_REFUSED, /* it answered badly, or not at all */
    NOTICE_BUSY,    /* not tried: too many are on the wire */
};

struct notified {
    request_id request;
    enum notify_end end;
    char why[ERROR_CODE_MAX]; /* a word for the operator */
};

/* Which dead letters; every field that is set narrows. */
struct letter_filter {
    uint64_t number; /* 0: any */
    bool has_client;
    client_id client;
    enum error_class class;    /* CLASS_COUNT: any */
    enum type type;            /* CAPTCHA_COUNT: any */
    char code[ERROR_CODE_MAX]; /* "": any */
};

enum letter_verb {
    LETTER_REPLAY, /* queue them for another solve, counters reset */
    LETTER_CANCEL, /* take those that wait to be replayed off the queue */
    LETTER_DROP,
    LETTER_LIST, /* only look: how many there are, and a page of them */
};

/* Carried out over as many steps as it takes, and answered at its end. */
struct letter_order {
    caller_id caller;
    enum letter_verb verb;
    struct letter_filter filter;
    uint64_t cursor; /* of a list: only those older than this number; 0: from the newest */
    uint32_t limit;  /* of a list: how many there are on its page */
    /* A replay of one letter may be for another client from now on, under that one's key. */
    bool has_into;
    client_id into;
    struct key into_key;
};

struct event {
    enum event_kind kind;
    uint64_t now_ms; /* monotonic */
    int64_t wall_ms; /* since 1970, for records and days only */
    uint64_t random; /* fresh entropy: the engine has no other */
    union {
        struct ask ask;
        struct look look;
        struct detach detach;
        struct report report;
        struct account account;
        struct probed probed;
        struct letter_order letters;
        struct notified notified;
        struct vendor_result result; /* SUBMITTED, POLLED, CALLBACK */
        caller_id gone;
        journal_seq durable;
        bool store_is_writable;
    };
};

/* ---- actions: what to do ----------------------------------------------------------------- */

enum action_kind {
    ACTION_ANSWER,  /* tell a caller the state of its request; exactly once per caller */
    ACTION_ACCOUNT, /* tell a caller balance or threads */
    ACTION_LETTERS, /* tell a caller how many dead letters its order reached */
    ACTION_ACK,     /* acknowledge a callback */
    ACTION_SUBMIT,  /* send in.php; ends in EVENT_SUBMITTED */
    ACTION_POLL,    /* send res.php?action=get; ends in EVENT_POLLED */
    ACTION_REPORT,  /* send reportgood or reportbad; nobody waits for its end */
    ACTION_PROBE,   /* send getbalance or threadsinfo; ends in EVENT_PROBED */
    ACTION_NOTIFY,  /* tell a caller's own address; ends in EVENT_NOTIFIED */
    ACTION_JOURNAL, /* append a record; EVENT_DURABLE tells when its number is safe */
    ACTION_ALERT,   /* tell the operator */
    ACTION_PAID,    /* write down that a submit was paid for: the audit trail */
    /* Take a submit or poll back if it has not left yet: it ends with OUTCOME_WITHDRAWN then. */
    ACTION_WITHDRAW,
};

/* The state of a request at the moment of answering. Pointers are owned by the action. */
struct answer {
    caller_id caller;
    request_id id;
    enum refusal refusal; /* anything but NONE: the rest is not set, but retry_after_ms and code */
    enum request_state state;
    enum source source;
    enum type type;     /* of a solved request */
    bool is_replayed;   /* an idempotency key brought it back */
    bool is_renewed;    /* an idempotency key was known, but its solution had expired */
    struct blob *text;  /* owned, of a solved request */
    struct blob *extra; /* owned, or NULL */
    uint64_t age_ms;    /* of the solution */
    uint64_t expires_in_ms;
    uint16_t attempts;
    enum error_class class;    /* of a failed request */
    char code[ERROR_CODE_MAX]; /* of a failed or refused request: the vendor's word, or ours */
    char task_id[TASK_ID_MAX]; /* the vendor's, where there is one */
    uint32_t retry_after_ms;
};

struct account_answer {
    caller_id caller;
    struct probed probed;
};

struct letters_answer {
    caller_id caller;
    enum letter_verb verb;
    bool is_refused; /* too many orders are under way */
    uint32_t count;  /* that it reached; of a list, that match */
    uint32_t found_count;
    uint64_t *found; /* owned: of a list, the numbers on its page, the newest first */
    uint64_t next;   /* of a list: the cursor of the next page, or 0 */
};

/* For ACTION_SUBMIT, ACTION_POLL and ACTION_REPORT. */
struct call {
    attempt_id attempt;
    client_id client;
    struct blob *params;       /* owned; only with ACTION_SUBMIT */
    char task_id[TASK_ID_MAX]; /* not with ACTION_SUBMIT */
    bool is_good;              /* only with ACTION_REPORT */
};

/* For ACTION_WITHDRAW. */
struct withdrawal {
    attempt_id attempt;
    bool is_poll; /* else its submit */
};

struct notify {
    request_id request;
    struct blob *url;  /* owned */
    struct blob *code; /* owned: the solution, or the error */
};

/* One paid submit. */
struct paid {
    client_id client;
    enum type type;
    enum cause cause;
    enum error_class class;    /* of the attempt before, with RETRY and RESEND */
    char code[ERROR_CODE_MAX]; /* the same */
    uint16_t number;           /* of the attempt within its flight */
    struct blob *params;       /* owned; NULL when the flight is over */
    char task_id[TASK_ID_MAX]; /* empty when a callback proved it without saying */
};

enum alert_kind {
    ALERT_BREAKER_OPEN,
    ALERT_BREAKER_CLOSED,
    ALERT_DUPLICATE_PROVEN, /* two task ids on one nonce: somebody resent our submit */
    ALERT_OTHER_SOLUTION,   /* a second, different solution for one attempt */
    ALERT_TASK_TWICE,       /* one task id on two attempts: it is one of theirs only */
    ALERT_LETTERS,          /* their number passed the mark */
};

struct alert {
    enum alert_kind kind;
    attempt_id attempt;
    enum error_class class;
    uint32_t count; /* of letters */
    char code[ERROR_CODE_MAX];
};

struct action {
    enum action_kind kind;
    journal_seq after; /* execute only when the journal is durable up to here; 0: at once */
    union {
        struct answer answer;
        struct account_answer account;
        struct letters_answer letters;
        struct call call;
        struct notify notify;
        struct record record; /* its own number is in `after`: append now, durable later */
        struct alert alert;
        struct paid paid;
        struct withdrawal withdrawal;
        caller_id ack;
        enum probe probe;
    };
};

#endif
