/* Events of existing requests: look, hang-up, detach, an id that was not told, report, expiry. */
#ifndef SOLVEGATE_ENGINE_REQUEST_EVENTS_H
#define SOLVEGATE_ENGINE_REQUEST_EVENTS_H

#include "engine/state.h"

void request_on_look(struct engine *engine, const struct look *look);
void request_on_gone(struct engine *engine, caller_id caller);
/* EVENT_DETACH and EVENT_UNTOLD. */
void request_on_given_up(struct engine *engine, const struct event *event);
void request_on_report(struct engine *engine, const struct report *report);

/* What another node's caller wants of a request of ours, as far as there is one of this client. */
enum refusal request_withdraw(struct engine *engine, client_id client, request_id id);
enum refusal request_report(struct engine *engine, client_id client, request_id id, bool is_good);

void request_on_expiry(struct engine *engine, struct request *request);

#endif
