/* Notices: telling a caller's own address how its request ended, with retries, then a letter (docs/design.md 6.1). */
#ifndef SOLVEGATE_ENGINE_NOTICE_H
#define SOLVEGATE_ENGINE_NOTICE_H

#include "engine/state.h"

/* How many there may be, with so many requests. */
uint32_t notices_room(uint32_t requests);

/* The request is final and has an address: tell it until it is heard. */
void notice_start(struct engine *engine, struct request *request);

/* The same for a letter about a notice that was not heard; false when there is no room. */
bool notice_replay(struct engine *engine, struct letter *letter);

/* Is it to be told now, and not later or never? */
bool notice_is_due(const struct engine *engine, request_id request);

/* Nobody wants it any more. */
void notice_cancel(struct engine *engine, struct notice *notice);

void notice_on_told(struct engine *engine, const struct notified *notified);
void notice_on_timer(struct engine *engine, struct notice *notice);

/* Frees what it holds: for the end of the engine. */
void notice_close(struct notice *notice);

#endif
