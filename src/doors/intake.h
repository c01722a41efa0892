/* From a caller's parameters to an ask: who is it, what is wanted, may it have it. Every dialect uses it. */
#ifndef SOLVEGATE_DOORS_INTAKE_H
#define SOLVEGATE_DOORS_INTAKE_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* The longest that a caller is held (docs/design.md 6.1, 6.2). */
#define HOLD_MAX_MS 50000

/* Something the caller did wrong, in every dialect's words. */
struct mistake {
    uint16_t status;  /* of the JSON API */
    const char *code; /* of the JSON API */
    const char *word; /* of the dialect */
    char detail[240];
};

/* Query and body into gate->params. */
bool intake_read(struct gate *gate, const struct http_request *request, struct mistake *mistake);

/* The client behind a key; an absent key is fine only without configured clients. */
bool intake_client(struct gate *gate, struct slice key, unsigned scope, client_id *client,
                   struct mistake *mistake);

/* Everything in gate->params and the headers as an ask, with gate->identity computed. ask->params
 * is left NULL: params_pack makes it when the ask is really made. Whoever lets it look at one more
 * part of the request adds that part to what ask_memo.c gathers. */
bool intake_ask(struct gate *gate, const struct http_request *request, const struct visit *visit,
                struct ask *ask, struct mistake *mistake);

/* Gives a good ask what the engine keeps of it; intake_ask_close gives that back. */
void intake_pack(const struct gate *gate, struct ask *ask);
void intake_ask_close(struct ask *ask);

/* `wait` from the parameters, or as the dialect has it from `Prefer`, capped; false when it is no duration. */
bool intake_hold(const struct gate *gate, const struct http_request *request,
                 const struct visit *visit, uint32_t *hold_ms, struct mistake *mistake);

/* `after` and `limit` of a list: where the page begins and how long it may be; false when one is no
 * number. */
struct page {
    uint64_t cursor;
    size_t limit;
};
bool intake_page(const struct gate *gate, size_t most, struct page *page, struct mistake *mistake);

/* Seconds ("10", "2.5") or with a unit ("250ms", "5s", "2m", "1h"). */
bool intake_duration(struct slice text, uint32_t *milliseconds);

#endif
