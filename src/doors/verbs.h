/* The verbs that every dialect has: from a parsed request to the engine's event. */
#ifndef SOLVEGATE_DOORS_VERBS_H
#define SOLVEGATE_DOORS_VERBS_H

#include "doors/intake.h"

/* Reads the parameters and finds the client, which must have these scopes; writes the error reply
 * itself. */
bool verb_enter(struct gate *gate, const struct http_request *request, struct visit *visit,
                unsigned scopes);

/* Completes an ask as its route demands; false with the mistake. */
typedef bool (*ask_finish_fn)(struct ask *ask, struct mistake *mistake);

/* finish may be NULL. Call it without verb_enter: a repeated request is recognised by its bytes. */
void verb_ask(struct gate *gate, const struct http_request *request, struct visit *visit,
              ask_finish_fn finish);

/* The id, or 0 if it is one of another dialect. */
request_id verb_own_id(const struct visit *visit, request_id id);

/* Call verb_enter before the others. */
void verb_look(struct gate *gate, const struct http_request *request, struct visit *visit,
               request_id id);
/* Lets the gateway look for a request that another one has, so that engine_peek() knows of it the next time. */
void verb_look_for(struct gate *gate, const struct visit *visit, request_id id);
/* Could nobody say what became of the request, or does the next start know? In dialects whose clients take an
 * error for its end it is not ready. */
bool verb_must_look_again(const struct gate *gate, const struct visit *visit,
                          const struct answer *answer);
void verb_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id);
void verb_report(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id, bool is_good);
void verb_account(struct gate *gate, const struct http_request *request, struct visit *visit,
                  enum probe probe);

#endif
