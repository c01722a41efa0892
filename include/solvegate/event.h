/* Events, which are everything that can happen to the engine, and actions, which are everything it
 * can ask the gate to do. */
#ifndef SOLVEGATE_EVENT_H
#define SOLVEGATE_EVENT_H

#include <solvegate/adoption.h>
#include <solvegate/budgets.h>
#include <solvegate/claims.h>
#include <solvegate/errands.h>
#include <solvegate/finding.h>
#include <solvegate/letter_order.h>
#include <solvegate/members.h>
#include <solvegate/record.h>
#include <solvegate/types.h>

/* ---- events: what happened --------------------------------------------------------------- */

enum event_kind {
    EVENT_TICK,        /* time passed: engine_next_deadline() was reached, or work is left over */
    EVENT_ASK,         /* a caller asks for a solution */
    EVENT_LOOK,        /* a caller asks for its request's state, possibly to be held */
    EVENT_GONE,        /* a held caller's connection closed */
    EVENT_DETACH,      /* a caller gives up its request */
    EVENT_UNTOLD,      /* an answer with is_promise was not given: nobody knows the request */
    EVENT_REPORT,      /* a caller says how good its solution was */
    EVENT_ACCOUNT,     /* a caller asks for balance or threads */
    EVENT_SUBMITTED,   /* an ACTION_SUBMIT ended */
    EVENT_POLLED,      /* an ACTION_POLL ended */
    EVENT_PROBED,      /* an ACTION_PROBE ended */
    EVENT_CALLBACK,    /* the vendor called back; the nonce was genuine */
    EVENT_FORGED,      /* somebody called back with an invalid nonce: only counted */
    EVENT_NOTIFIED,    /* an ACTION_NOTIFY ended */
    EVENT_LETTERS,     /* the operator lists, replays, drops or stops replaying dead letters */
    EVENT_DURABLE,     /* the journal is on disk up to a number */
    EVENT_STORE_STATE, /* the journal became unwritable, or writable again */
    EVENT_STORE_LOST,  /* the store came back without rows that it had: write all of them again */
    EVENT_STANDSTILL,  /* the process or the machine stood still; no timer has fired since */
    EVENT_DRAIN,       /* no new requests from now on */
    EVENT_CLAIMED,     /* an ACTION_CLAIM ended */
    EVENT_WOKEN,       /* a claim that may be followed here has ended; may be lost or repeated */
    EVENT_BEAT,        /* a beat of this node was confirmed: its lease goes on */
    EVENT_ADOPTED,     /* an ACTION_ADOPT ended, or a part of it */
    EVENT_FENCED,      /* another node adopted this one: it decides nothing any more */
    EVENT_TOLD,        /* another node told us a fact; repeated until ACTION_FORGET */
    EVENT_FOUND,       /* an ACTION_FIND ended */
    EVENT_DRAWN,       /* an ACTION_DRAW ended */
    EVENT_SHOW,        /* a caller asks what other nodes know of a key; ends in ACTION_SHOWN */
};

/* A caller asks. The gate has authenticated it, computed its key and checked the parameters. */
struct ask {
    caller_id caller;
    client_id client;
    enum type type;
    enum dialect_kind dialect;
    enum reuse reuse; /* resolved: never REUSE_DEFAULT */
    bool is_one_time; /* holds a one-time input: joined in flight, never cached */
    bool wants_rest;  /* the answer is more than a text: one poll follows a callback */
    bool has_idempotency;
    bool is_id_told;     /* the caller learns the id at once (in.php): a hang-up detaches nothing */
    uint8_t id_layout;   /* 0: the id is long; else short, and its low bits are this number */
    uint8_t priority;    /* 0 to 9, higher first within the client */
    uint16_t pool;       /* number of the target's pool, counted from 1; 0: none */
    uint32_t hold_ms;    /* 0: answer at once with the state; else hold until it is final */
    uint32_t min_ttl_ms; /* minimum remaining lifetime of a solution */
    uint32_t max_age_ms; /* maximum age of a solution; UINT32_MAX: any */
    bool has_max_retries; /* at most max_retries attempts after the first */
    uint16_t max_retries;
    uint32_t retry_delay_ms; /* minimum pause before a retry; 0: the operator's */
    struct key key;          /* identity within its scope */
    struct key idempotency;  /* digest of client and idempotency key */
    struct blob *params;     /* borrowed: what a submit sends */
    struct blob *pingback;   /* borrowed, or NULL: the address for the notice */
    struct slice host;       /* of the page, within `params`, or none: for people and for advice */
};

/* A `caller` of 0 only wants the request to be looked for at other nodes, for the next engine_peek(). */
struct look {
    caller_id caller;
    client_id client;
    request_id id;
    uint32_t hold_ms;
};

/* `caller` is 0 where nobody waits for the answer. */
struct detach {
    caller_id caller;
    client_id client;
    request_id id;
};

struct untold {
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
    OUTCOME_NOT_SENT,      /* proven: the vendor cannot have acted on any byte of it */
    OUTCOME_ACCEPTED,      /* submit: task_id is set */
    OUTCOME_REJECTED,      /* submit: the vendor said no; class and code say why */
    OUTCOME_AMBIGUOUS,     /* submit: sent, but never confirmed */
    OUTCOME_PENDING,       /* poll: not ready */
    OUTCOME_SOLVED,        /* poll or callback: text (and extra) are set */
    OUTCOME_FAILED,        /* poll or callback: the vendor gave up; class and code say why */
    OUTCOME_UNHEARD,       /* poll or probe: no usable reply; ask again later */
    OUTCOME_UNDELIVERABLE, /* poll or callback: solved, but the answer cannot be handed out; text is
                            * what arrived, for a letter, and code says why */
    OUTCOME_WITHDRAWN,     /* submit or poll: withdrawn, so not sent */
};

struct vendor_result {
    attempt_id attempt;
    enum outcome outcome;
    enum error_class class;
    char code[ERROR_CODE_MAX]; /* the vendor's code, or ours in the vendor's style */
    char task_id[TASK_ID_MAX];
    bool is_short; /* of class account: no money, or no free thread; a probe tells which of them */
    uint32_t retry_after_ms; /* 0 when the vendor did not say */
    struct blob *text;       /* borrowed: the solution; the engine takes a reference */
    struct blob *extra;      /* borrowed, or NULL: a JSON object with whatever a JSON reply has
                              * besides a text in `request`; `request` comes first if it is not a
                              * string */
    caller_id caller;        /* of a callback: the caller to acknowledge once it is durable */
};

/* An entry of the inbox of the node that it is for (errands.h), or of the teller itself if there is no such
 * node. Facts of one attempt come in the order in which they were told. */
struct fact {
    uint64_t number; /* of the entry */
    enum fact_kind kind;
    struct vendor_result result; /* as of a callback without a caller; owned by an ACTION_TELL */
    struct errand errand;
    union {
        struct letter_order letters; /* with an ERRAND_LETTERS */
        struct sighting sighting;    /* of a reply to an ERRAND_LOOK */
        struct show
            show; /* with an ERRAND_SHOW; what is known of it is the extra of the result, which the
                                      * gate sets, and then the text of the reply */
        struct bad_solution bad;
        struct taken_solution taken;
    };
};

/* The two free calls about the account. */
enum probe { PROBE_BALANCE, PROBE_THREADS, PROBE_COUNT };

struct account {
    caller_id caller;
    client_id client;
    enum probe probe;
};

struct probed {
    enum probe probe; /* which call this answers */
    bool is_ok;       /* the vendor answered sensibly */
    bool has_threads;
    uint32_t threads;
    uint32_t working_threads;
    char balance[32];       /* as the vendor wrote it; empty if unknown */
    enum error_class class; /* if not ok */
    bool is_short;          /* as in struct vendor_result */
    char code[ERROR_CODE_MAX];
};

/* How telling a caller's `pingback=` address ended. */
enum notify_end {
    NOTICE_DELIVERED,
    NOTICE_REFUSED, /* it answered with an error, or not at all */
    NOTICE_BUSY,    /* not tried: too many notices are on the wire */
};

struct notified {
    request_id request;
    enum notify_end end;
    char why[ERROR_CODE_MAX]; /* a code for the operator */
};

struct event {
    enum event_kind kind;
    uint64_t now_ms; /* monotonic */
    int64_t wall_ms; /* since 1970, for records and days only */
    uint64_t random; /* fresh entropy, the engine's only source */
    union {
        struct ask ask;
        struct look look;
        struct detach detach;
        struct untold untold;
        struct report report;
        struct account account;
        struct probed probed;
        struct letter_order letters;
        struct notified notified;
        struct vendor_result result; /* SUBMITTED, POLLED, CALLBACK */
        caller_id gone;
        journal_seq durable;
        struct {
            bool store_is_writable;
            bool store_is_away; /* if not: why its refusals say so */
        };
        struct claimed claimed;
        struct key woken; /* the name of the claim */
        struct beat beat;
        struct adopted adopted;
        struct fact told; /* borrowed */
        struct found found;
        struct drawn drawn;
        struct show show;
    };
};

/* ---- actions: what to do ----------------------------------------------------------------- */

enum action_kind {
    ACTION_ANSWER,  /* tell a caller the state of its request; exactly once per caller */
    ACTION_ACCOUNT, /* tell a caller balance or threads */
    ACTION_LETTERS, /* tell a caller how many dead letters its order matched or changed */
    ACTION_ACK,     /* acknowledge a callback */
    ACTION_SUBMIT,  /* send in.php; ends in EVENT_SUBMITTED */
    ACTION_POLL,    /* send res.php?action=get; ends in EVENT_POLLED */
    /* Send reportgood or reportbad; its result is ignored. With a shared store a bad one is never sent before `after`
     * is durable: whoever hears it again after a crash must know that the vendor may have been told. */
    ACTION_REPORT,
    ACTION_PROBE,   /* send getbalance or threadsinfo; ends in EVENT_PROBED */
    ACTION_NOTIFY,  /* tell a caller's own address; ends in EVENT_NOTIFIED */
    ACTION_JOURNAL, /* append a record; EVENT_DURABLE tells when its number is durable */
    ACTION_ALERT,   /* tell the operator */
    ACTION_PAID,    /* record that a submit was paid for: the audit trail */
    /* Withdraw a submit or poll that has not been sent yet: it then ends with OUTCOME_WITHDRAWN. */
    ACTION_WITHDRAW,
    /* Both go to the shared store in the order of the journal's records: neither overtakes a record
     * or another of them. */
    ACTION_CLAIM,   /* ask for a key; ends in EVENT_CLAIMED */
    ACTION_RELEASE, /* end a claim */
    ACTION_FORGET, /* drop an entry of our inbox: everything that it caused is among the records before */
    /* Put a fact into the inbox of whoever has the attempt. It has a number in `after`, as a record does,
     * and goes the same way, but is written even if this node was adopted. */
    ACTION_TELL,
    ACTION_ADOPT, /* take a dead node's rows; ends in EVENT_ADOPTED */
    ACTION_FIND,  /* look for another node's request; ends in EVENT_FOUND */
    /* Draw units of a client's day, or give some back; goes the way of claims, ends in EVENT_DRAWN. */
    ACTION_DRAW,
    ACTION_SHOWN, /* tell a caller what another node knows of a key */
};

/* The state of a request at the moment of answering. Pointers are owned by the action. */
struct answer {
    caller_id caller;
    request_id id;
    enum refusal refusal; /* unless NONE, only retry_after_ms and code are set besides */
    enum request_state state;
    enum source source;
    enum type type;   /* of a solved request */
    bool is_replayed; /* returned by an idempotency key */
    bool is_renewed;  /* the idempotency key was known, but its solution had expired */
    /* Nobody else may get the solution: with a shared store it is never told before `after` is durable,
     * not even while the store cannot be written, since another node may have it by then. */
    bool is_single;
    /* The caller is told for the first time under which id to come back for the end. It may do so after a crash, so
     * while the store cannot be written this becomes a refusal and EVENT_UNTOLD. */
    bool is_promise;
    /* The caller is told that others will know what it said. So while the store cannot be written this becomes a
     * refusal: a gateway that ends meanwhile would have been the only one that heard it. */
    bool is_receipt;
    client_id client;    /* of a promise */
    bool is_turned_down; /* in shadow mode: failed before the vendor accepted its submit */
    struct blob *text;   /* owned, of a solved request */
    struct blob *extra;  /* owned, or NULL */
    uint64_t age_ms;     /* of the solution */
    uint64_t solve_ms;   /* how long it took to solve */
    uint64_t expires_in_ms;
    uint16_t attempts;
    enum error_class class;    /* of a failed request */
    uint64_t letter;           /* of a failed request: the letter with its answer, or 0 */
    char code[ERROR_CODE_MAX]; /* of a failed or refused request: the vendor's code, or ours */
    char task_id[TASK_ID_MAX]; /* the vendor's task id, if there is one */
    uint32_t retry_after_ms;
};

/* `text` is owned, and NULL unless the refusal is NONE. UNKNOWN_ID: no other node knows the key; else not all of them
 * could be asked. */
struct shown_answer {
    enum refusal refusal;
    enum shown shown;
    struct show show;
    struct blob *text;
};

struct account_answer {
    caller_id caller;
    struct probed probed;
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
    bool is_poll; /* withdraw the poll, not the submit */
};

struct notify {
    request_id request;
    client_id client;
    struct blob *url;  /* owned */
    struct blob *code; /* owned: the solution, or the error */
};

/* One paid submit. */
struct paid {
    client_id client;
    enum type type;
    enum cause cause;
    enum error_class class;    /* with RETRY and RESEND: how the previous attempt ended */
    char code[ERROR_CODE_MAX]; /* with RETRY and RESEND: its code */
    uint16_t number;           /* of the attempt within its flight */
    struct blob *params;       /* owned; NULL when the flight is over */
    char task_id[TASK_ID_MAX]; /* empty if a callback proved the payment without naming the task */
};

enum alert_kind {
    ALERT_BREAKER_OPEN,
    ALERT_BREAKER_CLOSED,
    ALERT_DUPLICATE_PROVEN, /* two task ids on one nonce: our submit was doubled */
    ALERT_OTHER_SOLUTION,   /* a second, different solution for one attempt */
    ALERT_TASK_TWICE,       /* one task id on two attempts: it belongs to only one of them */
    ALERT_LETTERS,          /* the number of letters passed letter_alert_above */
};

struct alert {
    enum alert_kind kind;
    attempt_id attempt;
    enum error_class class;
    uint32_t count; /* number of letters */
    char code[ERROR_CODE_MAX];
};

struct action {
    enum action_kind kind;
    journal_seq after; /* perform it only when the journal is durable up to here; 0: at once */
    union {
        struct answer answer;
        struct account_answer account;
        struct letters_answer letters;
        struct shown_answer shown;
        struct call call;
        struct notify notify;
        struct record record; /* append it now; its own number is in `after` */
        struct alert alert;
        struct paid paid;
        struct withdrawal withdrawal;
        struct claim claim;
        struct release release;
        struct fact tell;
        struct adopt adopt;
        struct find find;
        struct draw draw;
        uint64_t forget; /* number of the entry */
        caller_id ack;
        enum probe probe;
    };
};

#endif
