/* Accepted submits: found by id, timed by the clock, kept for the ledger. */
#ifndef SOLVEGATE_SIM_TASKS_H
#define SOLVEGATE_SIM_TASKS_H

#include "base/blob.h"
#include "base/list.h"
#include "base/slab.h"
#include "base/table.h"
#include "base/wheel.h"

#include "sim/fault.h"

enum task_state {
    TASK_SOLVING, /* on the solving list; timer: solved, or none if it never will be */
    TASK_SOLVED,  /* on the finished list; timer: result expires */
    TASK_FAILED,  /* as TASK_SOLVED, with an error code as its answer */
    TASK_EXPIRED, /* on the finished list, kept for the ledger only; no timer */
};

enum answer_kind {
    ANSWER_TOKEN,      /* text in request */
    ANSWER_TEXT,       /* short text in request: images */
    ANSWER_CELLS,      /* a JSON array as text in request: BLS and grids */
    ANSWER_ENTERPRISE, /* result and user_agent, no request */
    ANSWER_CLEARANCE,  /* the same for the Cloudflare challenge, where vendors differ */
    ANSWER_GEETEST,    /* challenge, validate, seccode, no status */
    ANSWER_AGENT,      /* text in request, with a key and a user agent beside it: hCaptcha */
    ANSWER_NUMBER,     /* digits in request: an angle */
    /* An object or array in request; the answers of 2captcha, which this vendor does not document. */
    ANSWER_GEETEST_4,
    ANSWER_AMAZON,
    ANSWER_LEMIN,
    ANSWER_CAPY,
    ANSWER_TENCENT,
    ANSWER_POINTS,
    ANSWER_OUTLINE,
    ANSWER_BOXES,
    ANSWER_STEPS,
};

enum report { REPORT_NONE, REPORT_GOOD, REPORT_BAD };

#define CALLBACKS_SHOWN 4

struct callback_record {
    uint64_t at_ms; /* when it was answered or given up */
    int status;     /* HTTP status, or a negative libuv error */
    uint8_t sort;   /* enum callback_sort */
};

/* Data for the ledger only; the oldest entries are dropped if there are too many. */
struct task_detail {
    struct list link; /* ledger order */
    struct task *task;
    struct blob *params; /* as a JSON object */
    struct callback_record callbacks[CALLBACKS_SHOWN];
    uint32_t callback_count;
    const char *submit_fault; /* name, or NULL */
    const char *task_fault;
    const char *callback_fault;
};

struct task {
    struct table_node by_id;
    struct list link;
    struct wheel_timer timer;
    slab_id self;
    slab_id waiter; /* the connection of a synchronous call, or 0 */
    uint64_t number;
    uint64_t owner; /* hash of the key that submitted it */
    uint64_t accepted_ms;
    uint64_t solve_ms;       /* its solve time */
    uint64_t settles_ms;     /* when it is or was settled */
    struct blob *pingback;   /* URL, or NULL */
    struct blob *user_agent; /* repeated in irregular answers, or NULL */
    const char *error;       /* the error code it ends with, or NULL; never freed */
    const char *reply;       /* the reply to polls once it is solved, or NULL; never freed */
    struct fault callback_fault;
    struct fault poll_fault; /* applied to every poll, set by a magic sitekey */
    struct task_detail *detail;
    uint32_t reads;
    uint8_t state;
    uint8_t kind;
    uint8_t report;
    bool is_json; /* the submit wanted JSON, so a synchronous answer is too */
    bool is_never;
    bool is_called_back; /* the callbacks were started, early or in time */
};

struct tasks {
    struct slab slab;
    struct table table;
    struct list solving;
    struct list finished;
    struct list ledger;
    uint64_t ledger_count;
    uint64_t ledger_max;
    uint64_t forgotten; /* dropped ledger entries */
    uint64_t in_flight;
    uint64_t next_number;
};

void tasks_init(struct tasks *tasks, uint32_t capacity, uint64_t ledger_max, uint64_t first_number,
                const uint64_t secret[2]);

/* Timers must have been cancelled. */
void tasks_close(struct tasks *tasks);

/* Makes a solving task with the next number; NULL if every entry is a task in flight. forget is
 * called for a finished task that has to make room. */
struct task *tasks_new(struct tasks *tasks, void (*forget)(void *context, struct task *task),
                       void *context);

struct task *tasks_find(const struct tasks *tasks, uint64_t number);
struct task *tasks_get(const struct tasks *tasks, slab_id self);

/* Gives the task a ledger entry and drops the oldest one past the limit. Owns params. */
void tasks_add_detail(struct tasks *tasks, struct task *task, struct blob *take_params);

/* Moves it from solving to solved or failed. */
void tasks_settle(struct tasks *tasks, struct task *task, enum task_state state);

/* Moves it to expired; releases it if the ledger does not show it. The timer must not be armed. */
void tasks_expire(struct tasks *tasks, struct task *task);

/* Frees it. The timer must not be armed. */
void tasks_release(struct tasks *tasks, struct task *task);

#endif
