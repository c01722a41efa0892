/* A world with one pool, for the target "P". */
#ifndef SOLVEGATE_TESTS_STORY_POOL_WORLD_H
#define SOLVEGATE_TESTS_STORY_POOL_WORLD_H

#include "world.h"

/* Of the pool only what is said: its target is "P", of a type that lives 250 s, of which 10 must be left
 * when it is handed out. */
struct world *pool_world(struct engine_options options, struct pool_options pool);

struct pool_view pool_view_of(const struct world *world);

#endif
