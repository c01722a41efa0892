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
/* It confirms one that was sent just now, or so long ago, and tells who the members are; or the first one
 * after a break. */
#define MEMBERS(...)                      \
    (const struct member[]){__VA_ARGS__}, \
        sizeof((const struct member[]){__VA_ARGS__}) / sizeof(struct member)
#define members(world, ...) world_members(world, 0, true, MEMBERS(__VA_ARGS__))
#define members_late(world, ago_ms, ...) world_members(world, ago_ms, true, MEMBERS(__VA_ARGS__))
#define members_after_a_break(world, ...) world_members(world, 0, false, MEMBERS(__VA_ARGS__))
void world_members(struct world *world, uint64_t ago_ms, bool is_unbroken,
                   const struct member *members, size_t count);

/* This node dies, and the story goes on at another one, with names and claims as before. Its flight had
 * the claim of that name; NULL: none. */
void dies(struct world *world, const char *name, const char *flight);
/* The same, and the first beat of the other one tells who the members are. */
void dies_without_a_beat(struct world *world, const char *name, const char *flight);
/* The store makes the dead node's rows ours; they come in parts of so many. Returns the most
 * work that one step was. */
#define DEAD_NODE 7
uint32_t adopted(struct world *world, size_t part);
/* Another node was faster. */
void not_adopted(struct world *world);
/* What follows is our own rows' first part only. */
void adopted_partly(struct world *world, size_t count);
/* All of its rows come, and its claims only with the next words. */
void adopted_all_but_claims(struct world *world);
void adopted_at_last(struct world *world);
/* The store makes the dead node's rows and claims ours, but we crash before we hear of any, and have them from the
 * start. */
void adopted_unseen(struct world *world);

/* Another node adopted this one. */
void fenced(struct world *world);
/* A fact from our inbox: a task of "" or a text of NULL says nothing. */
void told_fact(struct world *world, uint64_t number, const char *attempt, const char *task,
               const char *text);

/* What the store decides about the flight that asked. f1 is the first that asked for anything. */
void won(struct world *world, const char *flight);
void unavailable(struct world *world, const char *flight);
void mismatch(struct world *world, const char *flight);
/* The flight follows: one of another node, one of another node whose task is at the vendor, one of our own, or the
 * one of its idempotency key, which may be our own. */
void follow(struct world *world, const char *flight);
void follow_solving(struct world *world, const char *flight);
void follow_own(struct world *world, const char *flight, const char *other);
void follow_replayed(struct world *world, const char *flight);
void follow_own_replayed(struct world *world, const char *flight, const char *other);
void remembered(struct world *world, const char *flight, enum error_class class, const char *code);
/* There is a solution with this text, which an attempt of another node brought so long ago, and which lives for 80 s
 * from then. */
#define FOUND_ATTEMPT 4712
void found(struct world *world, const char *flight, const char *text, uint32_t age_ms);
void found_replayed(struct world *world, const char *flight, const char *text, uint32_t age_ms);
/* What the idempotency key stands for was handed out alone. */
void found_alone(struct world *world, const char *flight, const char *text);
/* A single-use solution is the flight's: another node's, or the one of ours that it proposed. */
#define FOUND_NODE 3
void took(struct world *world, const char *flight, const char *text);
void took_own(struct world *world, const char *flight, const char *text);
/* There is nothing, and what was proposed is another node's. */
void won_and_lost(struct world *world, const char *flight);
/* Another node has taken what this flight's claim proposed. */
void told_taken(struct world *world, uint64_t number, const char *flight, const char *key);

/* The store's answer to the last draw: units that this node has, and that nobody has. */
void drawn(struct world *world, uint64_t held, uint64_t left);
void not_drawn(struct world *world);

/* A claim ended somewhere. */
void woken(struct world *world, const char *name);

/* Power off and on again, and the store still has the claim of this flight. */
void crash_with_claim(struct world *world, const char *name, const char *flight);

#endif
