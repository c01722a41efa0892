/* A world whose store is shared: the engine claims keys, and the story says what the store decides. */
#ifndef SOLVEGATE_TESTS_STORY_SHARED_WORLD_H
#define SOLVEGATE_TESTS_STORY_SHARED_WORLD_H

#include "world.h"

/* NULL: world_options(). Records are not told, nor what waits for them. */
struct world *shared_world(const struct engine_options *options);

/* One with callbacks, in which ann's flight f1 has the claim of K and the task T1, and may take 20 s. */
struct world *shared_world_with_task(void);

/* The same with a lease, which the first beat begins: it is trusted for 8 of 10 s. */
#define LEASE_MS 10000
#define LEASE_MARGIN_MS 2000
struct world *leased_world(const struct engine_options *options);
/* The store confirms a beat that was sent so long ago. */
void beat(struct world *world, uint64_t ago_ms);
/* It confirms one that was sent just now, and tells who the members are. */
#define members(world, ...)                                    \
    world_members(world, (const struct member[]){__VA_ARGS__}, \
                  sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member))
void world_members(struct world *world, const struct member *members, size_t count);

/* What the store decides about the flight that asked. f1 is the first that asked for anything. */
void won(struct world *world, const char *flight);
void unavailable(struct world *world, const char *flight);
void mismatch(struct world *world, const char *flight);
/* The flight follows: one of another node, one of another node whose task is at the vendor, one of our own, or the
 * one of its idempotency key. */
void follow(struct world *world, const char *flight);
void follow_solving(struct world *world, const char *flight);
void follow_own(struct world *world, const char *flight, const char *other);
void follow_replayed(struct world *world, const char *flight);
void remembered(struct world *world, const char *flight, enum error_class class, const char *code);
/* There is a solution with this text that was born so long ago and lives for 80 s from then. */
void found(struct world *world, const char *flight, const char *text, uint32_t age_ms);
void found_replayed(struct world *world, const char *flight, const char *text, uint32_t age_ms);
/* A single-use solution of another node is ours. */
void took(struct world *world, const char *flight, const char *text);

/* A claim ended somewhere. */
void woken(struct world *world, const char *name);

/* Power off and on again, and the store still has the claim of this flight. */
void crash_with_claim(struct world *world, const char *name, const char *flight);

#endif
