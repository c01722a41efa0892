/* Finished requests: kept readable as long as there is room, without keeping other clients out (share.h). */
#ifndef SOLVEGATE_ENGINE_FINISHED_H
#define SOLVEGATE_ENGINE_FINISHED_H

#include "engine/state.h"

/* Enters a final request whose end needs no further notice; its place can be reclaimed from now on. */
void finished_enter(struct engine *engine, struct request *request);
/* Records that somebody was told the request's end. Read requests are the first of each client to
 * be forgotten. */
void finished_mark_read(struct engine *engine, struct request *request);
/* Removes the request, which is about to be freed. */
void finished_leave(struct engine *engine, struct request *request);

/* Is there a place for one more request of this client, possibly after another is forgotten? */
bool finished_gives_room(const struct engine *engine, client_id client);
/* Frees a place if none is free. */
void finished_make_room(struct engine *engine, client_id client);

/* Forgets read requests beyond the limit. Called at the end of a step, because callers may hold
 * pointers until then. */
void finished_trim(struct engine *engine);

#endif
