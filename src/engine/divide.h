/* The other members: what this node may take of the plan's slots and of each pool's size. */
#ifndef SOLVEGATE_ENGINE_DIVIDE_H
#define SOLVEGATE_ENGINE_DIVIDE_H

#include "engine/state.h"

void divide_init(struct engine *engine);
void divide_close(struct engine *engine);

/* Takes over the table of members that came with a beat. */
void divide_on_beat(struct engine *engine, const struct beat *beat);

/* The rows of this node are ours, and so are the slots that its tasks use. */
void divide_take_over(struct engine *engine, node_id id);

/* The slots of the plan that are this node's, as far as is known. */
void divide_slots(struct engine *engine);

/* At the end of each step: does anybody wait while this node has no slot at all? */
void divide_watch(struct engine *engine);

/* Finds out which pools cannot be told apart in a beat. */
void divide_mark_pools(struct engine *engine);
/* Up to how many of the pool's solutions this node has ready or solves. */
uint32_t divide_pool(const struct engine *engine, const struct pool *pool);

#endif
