/* Actions as lines of text, with readable names instead of random numbers. */
#ifndef SOLVEGATE_TESTS_STORY_LINES_H
#define SOLVEGATE_TESTS_STORY_LINES_H

#include "world.h"

/* Logs one action, checks what every action has to obey, and counts it. Does not close it. */
void lines_add_action(struct world *world, const struct action *action);

/* The words of a journal record. */
void lines_add_record(struct world *world, const struct record *record);

/* r1 and a1 are the first that were seen. */
size_t number_of_request(struct world *world, request_id id);
size_t number_of_attempt(struct world *world, attempt_id id);

/* f1 is the first flight that asked a shared store for anything. */
size_t number_of_claim(struct world *world, uint64_t flight);

/* A line of the engine's own trace. */
void lines_add_trace(void *world, uint64_t now_ms, const char *text);

/* A key that shows its short name, which may be at most KEY_BYTES - 1 long, and back. */
struct key key_named(const char *name);
const char *name_of_key(const struct key *key);

#endif
