/* Notices: tell a caller's `pingback=` address how its request ended, with retries, then a letter
 * (docs/design.md 6.1). */
#ifndef SOLVEGATE_ENGINE_NOTICE_H
#define SOLVEGATE_ENGINE_NOTICE_H

#include "engine/state.h"

/* Maximum number of notices, given the maximum number of requests. */
uint32_t notices_room(uint32_t requests);

/* Tells the address of a final request, and retries until it is accepted. */
void notice_start(struct engine *engine, struct request *request);

/* Tells the address of a letter about a failed notice again; false when there is no room. */
bool notice_replay(struct engine *engine, struct letter *letter);

/* True if the notice still exists and is not waiting for its retry. */
bool notice_is_due(const struct engine *engine, request_id request);

/* Cancels a notice that is no longer wanted. */
void notice_cancel(struct engine *engine, struct notice *notice);

void notice_on_told(struct engine *engine, const struct notified *notified);
void notice_on_timer(struct engine *engine, struct notice *notice);

/* Frees the notice's members when the engine is freed. */
void notice_close(struct notice *notice);

#endif
