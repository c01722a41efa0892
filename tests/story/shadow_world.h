/* A world with a client in shadow mode and one that is served, and what the books say about it. */
#ifndef SOLVEGATE_TESTS_STORY_SHADOW_WORLD_H
#define SOLVEGATE_TESTS_STORY_SHADOW_WORLD_H

#include "world.h"

#include <solvegate/findings.h>

/* The price of every type, in millionths. */
#define PRICE 2000

enum { WATCHED, SERVED };
extern const struct client_options watched_and_served[2];

struct engine_options shadow_options(void);
struct world *shadow_world(void);

/* Today's tally of the watched client. */
const struct tally *tally_of(const struct world *w, enum type type);

/* Submits since the start that serving would have spared. */
uint64_t duplicates(const struct world *w);

/* What the last 24 hours must say. */
void expect_day(const struct world *w, uint64_t paid, uint64_t doubled);

#endif
