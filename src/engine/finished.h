/* Finished requests: kept readable as long as there is room for them, and never in the way of others (share.h). */
#ifndef SOLVEGATE_ENGINE_FINISHED_H
#define SOLVEGATE_ENGINE_FINISHED_H

#include "engine/state.h"

/* It is final and nobody has to be told any more: its place can be taken back. */
void finished_enter(struct engine *engine, struct request *request);
/* Its end was told to somebody. The first of each client to be forgotten are those. */
void finished_mark_read(struct engine *engine, struct request *request);
/* It is about to be freed. */
void finished_leave(struct engine *engine, struct request *request);

/* Is there a place for one more of this client, perhaps after somebody gives way? */
bool finished_gives_room(const struct engine *engine, client_id client);
/* Makes it. */
void finished_make_room(struct engine *engine, client_id client);

/* Forgets those that were read beyond their number: at the end of a step, since until then somebody may hold one. */
void finished_trim(struct engine *engine);

#endif
