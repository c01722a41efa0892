/* The verbs that every dialect has, from an understood request to the engine's event. */
#ifndef SOLVEGATE_DOORS_VERBS_H
#define SOLVEGATE_DOORS_VERBS_H

#include "doors/intake.h"

/* Reads the parameters and finds the client, who must have these scopes; complains by itself. */
bool verb_enter(struct gate *gate, const struct http_request *request, struct visit *visit,
                unsigned scopes);

/* Gives an ask what its route demands; false with the mistake. */
typedef bool (*ask_finish_fn)(struct ask *ask, struct mistake *mistake);

/* finish may be NULL. The request has not been entered: a repeated one is known by its bytes. */
void verb_ask(struct gate *gate, const struct http_request *request, struct visit *visit,
              ask_finish_fn finish);

/* The others follow verb_enter. */
void verb_look(struct gate *gate, const struct http_request *request, struct visit *visit,
               request_id id);
void verb_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id);
void verb_report(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id, bool is_good);
void verb_account(struct gate *gate, const struct http_request *request, struct visit *visit,
                  enum probe probe);

#endif
