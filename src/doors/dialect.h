/* How one family of clients speaks: its requests, answers and refusals. The rest of a solve is the same for all. */
#ifndef SOLVEGATE_DOORS_DIALECT_H
#define SOLVEGATE_DOORS_DIALECT_H

#include "base/slice.h"

#include <solvegate/event.h>

struct gate;
struct http_reply;
struct http_request;
struct mistake;
struct visit;

/* What a request wants; each dialect has its own way to say it and its own form of answer. */
enum verb {
    VERB_NONE,
    VERB_ASK,       /* a solution: in.php, POST /v1/solves */
    VERB_RECOGNISE, /* an image's text in the reply: solve.php */
    VERB_LOOK,      /* how a request stands */
    VERB_DETACH,    /* no longer wanted */
    VERB_REPORT,    /* whether a solution was good */
    VERB_ACCOUNT,   /* the vendor's account */
};

struct dialect {
    const char *name;
    bool has_request_id; /* replies carry X-Request-Id */
    bool has_prefer;     /* `Prefer: wait=N` (RFC 7240) counts when the parameters do not say */
    /* Reads the parameters into gate->params, finds the key, and notes in the visit what the form of the reply depends
     * on, also when something is wrong. */
    bool (*read)(struct gate *gate, const struct http_request *request, struct visit *visit,
                 struct slice *key, struct mistake *mistake);
    void (*answer)(struct gate *gate, const struct visit *visit, const struct answer *answer);
    void (*complain)(struct gate *gate, caller_id caller, const struct visit *visit,
                     const struct mistake *mistake);
    /* NULL where no request asks about the account. */
    void (*account)(struct gate *gate, const struct visit *visit,
                    const struct account_answer *answer);
    /* Says what HTTP itself refuses, in a reply that lives until the next request. NULL: HTTP writes a problem. */
    void (*refuse)(struct gate *gate, const struct http_request *request, uint16_t status,
                   struct http_reply *reply);
};

extern const struct dialect dialect_vendor; /* door_vendor.c */
extern const struct dialect dialect_api;    /* door_api.c */

#endif
