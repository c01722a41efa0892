/* Clients in shadow mode: exactly one submit for each request, never joined, never from the cache. */
#ifndef SOLVEGATE_TESTS_SIM_WATCHED_H
#define SOLVEGATE_TESTS_SIM_WATCHED_H

#include "sim.h"

/* Some worlds have them, and then one client or two are. */
void watched_draw(struct plan *plan);
/* The same world without them. */
void watched_remove(struct plan *plan);
bool is_watched(const struct sim *sim, client_id client);

/* What is promised to whoever asks like this: nothing is shared with anybody, not even with a retry. */
enum reuse watched_reuse(const struct sim *sim, const struct need *need);
uint64_t watched_idempotency(const struct sim *sim, const struct need *need);

/* A submit is sent. */
void watched_sent(struct sim *sim, const struct submit *submit);
/* An answer with a solution is executed; the token is the one that its request has. */
void watched_answer(struct sim *sim, const struct known *known, const struct answer *answer);

#endif
