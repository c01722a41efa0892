/* Turns a caller's parameters into an ask: identifies the client, reads the request, checks
 * permissions. Every dialect uses it. */
#ifndef SOLVEGATE_DOORS_INTAKE_H
#define SOLVEGATE_DOORS_INTAKE_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* The longest time that a caller is held (docs/design.md 6.1, 6.2). */
#define HOLD_MAX_MS 50000

/* A mistake of the caller's, for every dialect. */
struct mistake {
    uint16_t status;  /* of the JSON API */
    const char *code; /* of the JSON API */
    const char *word; /* of the dialect */
    char detail[240];
};

/* Reads query and body into gate->params. */
bool intake_read(struct gate *gate, const struct http_request *request, struct mistake *mistake);

/* The key of `Authorization: Bearer KEY`; not given without one. */
struct slice intake_bearer(const struct http_request *request);

/* Finds the client of a key; a missing key is accepted only without configured clients. */
bool intake_client(struct gate *gate, struct slice key, unsigned scope, client_id *client,
                   struct mistake *mistake);

/* Builds an ask from gate->params and the headers and computes gate->identity. ask->params stays
 * NULL: params_pack makes it when the ask is really made. If this ever reads another part of the
 * request, ask_memo.c has to gather that part as well. */
bool intake_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                struct ask *ask, struct mistake *mistake);

/* Adds what the engine keeps of an ask; intake_ask_close frees it. */
void intake_pack(const struct gate *gate, struct ask *ask);
void intake_ask_close(struct ask *ask);

/* Reads `wait` from the parameters, or from `Prefer` if the dialect has that, and caps it; false if
 * it is not a duration. */
bool intake_hold(const struct gate *gate, const struct http_request *request,
                 const struct visit *visit, uint32_t *hold_ms, struct mistake *mistake);

/* `after` and `limit` of a list: where the page begins and its length; false if one is not a
 * number. */
struct page {
    uint64_t cursor;
    size_t limit;
};
bool intake_page(const struct gate *gate, size_t most, struct page *page, struct mistake *mistake);

#endif
