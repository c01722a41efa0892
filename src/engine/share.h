/* Fair shares: one rule for every limit that all clients share and that one of them could exhaust.
 *
 * Part of what a client holds cannot be taken back (a waiting request, a solve under way, a held
 * caller). A client may take more of this while it has at most four times what is left. So it stops
 * at four fifths, and a client that has little finds a place; n clients that want everything get
 * 4 / (4n + 1) each. A single client gets everything.
 *
 * The rest is loose and can be taken back (a readable answer, an idempotency record, a cached
 * solution, a dead letter). Loose holdings keep nobody out: in a full table the greediest client
 * loses its oldest item. */
#ifndef SOLVEGATE_ENGINE_SHARE_H
#define SOLVEGATE_ENGINE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {
    uint64_t *held;  /* owned; by client, in places or bytes */
    uint64_t *loose; /* owned; the part of it that can be taken back */
    uint64_t total, total_loose;
    uint64_t room;
    uint32_t client_room;
    uint32_t holders; /* clients that hold anything */
};

#define NO_CLIENT UINT32_MAX

/* Aborts if memory runs out. */
void share_init(struct share *share, uint32_t client_room, uint64_t room);
void share_close(struct share *share);

void share_take(struct share *share, uint32_t client, uint64_t amount);
void share_give(struct share *share, uint32_t client, uint64_t amount);

/* Make part of a client's holdings loose, or fixed again. Only fixed holdings are given back. */
void share_loosen(struct share *share, uint32_t client, uint64_t amount);
void share_fasten(struct share *share, uint32_t client, uint64_t amount);

/* May this client hold this much more that cannot be taken back? `clients` tells whether it is the only one. */
bool share_admits(const struct share *share, uint32_t clients, uint32_t client, uint64_t amount);

/* The client that holds most, of those with loose holdings; NO_CLIENT if there is none. */
uint32_t share_greediest(const struct share *share);

/* The client that makes room for a new item of this client. NO_CLIENT also if this client holds
 * more than the greediest and more than an even part: nobody makes room for the client that fills
 * the table. */
uint32_t share_yields(const struct share *share, uint32_t client);

#endif
