/* Fair shares: one rule for everything that all clients use and one of them could fill.
 *
 * Some of what a client holds must stay where it is (a request that waits, a solve under way, a held caller). Of
 * this it may take more as long as it has no more than four times what is left, so that it stops at four fifths
 * and whoever has little finds a place; among n that want all they can get, each gets 4 / (4n + 1). Who is the
 * only client gets everything.
 * The rest is loose and can be taken back (an answer that can still be read, the memory of an idempotency key, a
 * cached solution, a dead letter). It keeps nobody out: in a full table the greediest client gives its oldest. */
#ifndef SOLVEGATE_ENGINE_SHARE_H
#define SOLVEGATE_ENGINE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {
    uint64_t *held;  /* owned; by client, in places or bytes */
    uint64_t *loose; /* owned; what of that can be taken back */
    uint64_t total, total_loose;
    uint64_t room;
    uint32_t client_room;
    uint32_t holders; /* clients that hold anything */
};

#define NO_CLIENT UINT32_MAX

/* Aborts without memory. */
void share_init(struct share *share, uint32_t client_room, uint64_t room);
void share_close(struct share *share);

void share_take(struct share *share, uint32_t client, uint64_t amount);
void share_give(struct share *share, uint32_t client, uint64_t amount);

/* What it holds can be taken back from now on, or no longer. Nothing loose is given back: it is fastened first. */
void share_loosen(struct share *share, uint32_t client, uint64_t amount);
void share_fasten(struct share *share, uint32_t client, uint64_t amount);

/* May this client hold so much more that must stay? The number of clients there are tells whether it is alone. */
bool share_admits(const struct share *share, uint32_t clients, uint32_t client, uint64_t amount);

/* The client that holds most of those with something loose; NO_CLIENT when nobody has. */
uint32_t share_greediest(const struct share *share);

/* The same for a newcomer of this client; NO_CLIENT also when the greediest has less than it, and it has more than
 * an even part: nobody gives way to the one who fills the table. */
uint32_t share_yields(const struct share *share, uint32_t client);

#endif
