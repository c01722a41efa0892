/* Bodies of the JSON API: answers, problems (RFC 9457), flights, explanations. */
#ifndef SOLVEGATE_PROTO_API_H
#define SOLVEGATE_PROTO_API_H

#include "base/buf.h"
#include "proto/key.h"

#include <solvegate/view.h>

/* A mistake or a failure, for programs and for people. */
struct problem {
    uint16_t status;
    const char *code;           /* our own code, a literal: "unknown_id" */
    struct slice detail;        /* a sentence that names what was wrong */
    struct slice upstream_code; /* the vendor's code, or not given */
    bool is_retryable;
    uint32_t retry_after_ms; /* 0: no Retry-After */
    request_id id;           /* the request it is about, or 0 */
    uint64_t letter;         /* the dead letter that keeps the answer, or 0 */
};

void api_write_problem(struct buf *out, const struct problem *problem);

/* Writes an answer that is not a failure: queued, solving or solved. */
void api_write_answer(struct buf *out, const struct answer *answer);
/* Writes the member `solution`, and `solution_base64` if its bytes are not UTF-8, which JSON cannot carry. */
void api_write_text(struct buf *out, struct slice text);

/* Turns a refused or failed answer into a problem; detail lives in scratch. */
void api_problem_of(const struct answer *answer, struct buf *scratch, struct problem *problem);

void api_write_explanation(struct buf *out, const struct identity *identity, const struct ask *ask,
                           const struct outlook *outlook);

/* Looks up client names, which come from the config. */
struct api_names {
    const char *(*client_name)(void *context, client_id client);
    void *context;
};

/* Names and prices for writing tallies. */
struct stats_scope {
    const struct api_names *names;
    uint16_t client_count;
    bool has_price;  /* prices are configured; else money is left out */
    bool has_shadow; /* somebody is in shadow mode, or was since the start */
};

/* Ends the list and the object around it, as on every page. */
void api_close_page(struct buf *out, uint64_t total, uint64_t next);

/* {"flights":[…],"total":N,"next":cursor or null}, and first "node", unless that is NULL */
void api_write_flights(struct buf *out, const struct flight_view *views, size_t count,
                       uint64_t total, uint64_t next, const struct api_names *names,
                       const char *node);

#endif
