/* How one family of clients speaks: its requests, answers and refusals. All other parts of a solve
 * are common to all dialects. */
#ifndef SOLVEGATE_DOORS_DIALECT_H
#define SOLVEGATE_DOORS_DIALECT_H

#include "base/slice.h"

#include <solvegate/event.h>

struct gate;
struct http_reply;
struct http_request;
struct mistake;
struct visit;

/* The purpose of a request; each dialect has its own request and answer for it. */
enum verb {
    VERB_NONE,
    VERB_ASK,       /* a solution: in.php, POST /v1/solves, createTask */
    VERB_RECOGNISE, /* an image's text in the reply: solve.php */
    VERB_LOOK,      /* the state of a request */
    VERB_DETACH,    /* the request is no longer wanted */
    VERB_REPORT,    /* whether a solution was good */
    VERB_ACCOUNT,   /* the vendor's account */
};

struct dialect {
    enum dialect_kind kind;
    bool has_request_id; /* replies carry X-Request-Id */
    bool has_short_ids;  /* its ids are below SHORT_ID_LIMIT; those of all others are not */
    bool has_prefer;     /* `Prefer: wait=N` (RFC 7240) counts if the parameters have no wait */
    /* Reads the parameters into gate->params, finds the key, and notes in the visit what the form
     * of the reply depends on, even if the request is invalid. */
    bool (*read)(struct gate *gate, const struct http_request *request, struct visit *visit,
                 struct slice *key, struct mistake *mistake);
    void (*answer)(struct gate *gate, const struct visit *visit, const struct answer *answer);
    void (*complain)(struct gate *gate, caller_id caller, const struct visit *visit,
                     const struct mistake *mistake);
    /* NULL if the dialect has no request for the account. */
    void (*account)(struct gate *gate, const struct visit *visit,
                    const struct account_answer *answer);
    /* Writes the dialect's refusal of a request that HTTP itself refuses; the reply lives until the
     * next request. NULL: HTTP writes a problem. */
    void (*refuse)(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply);
};

extern const struct dialect dialect_vendor; /* door_vendor.c */
extern const struct dialect dialect_api;    /* door_api.c */
extern const struct dialect dialect_task;   /* door_task.c */

#endif
