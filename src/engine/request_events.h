/* Events of existing requests: look, hang-up, detach, report, expiry. */
#ifndef SOLVEGATE_ENGINE_REQUEST_EVENTS_H
#define SOLVEGATE_ENGINE_REQUEST_EVENTS_H

#include "engine/state.h"

void request_on_look(struct engine *engine, const struct look *look);
void request_on_gone(struct engine *engine, caller_id caller);
void request_on_detach(struct engine *engine, const struct detach *detach);
void request_on_report(struct engine *engine, const struct report *report);
void request_on_expiry(struct engine *engine, struct request *request);

#endif
