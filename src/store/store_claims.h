/* Claims in a shared store: sent in one order with the records, answered once each. */
#ifndef SOLVEGATE_STORE_STORE_CLAIMS_H
#define SOLVEGATE_STORE_STORE_CLAIMS_H

#include "store/store.h"

struct store_entry;

/* True if this build's driver for the URL lets several gateways share it. */
bool store_can_share(const char *url);

/* This gateway's number among those that share the store, from store_open() on; 0: it is alone. */
uint16_t store_node(const struct store *store);

/* Gives the claims that the gateway's earlier run had; after store_load(). Blocks. */
int store_load_claims(struct store *store,
                      void (*on_claim)(void *context, const struct key *name, uint64_t flight),
                      void *context) MUST_CHECK;

/* Queue a claim, which ends in on_claimed, or the end of one. Never block. */
void store_claim(struct store *store, const struct claim *claim, uint32_t idempotency_ttl_ms);
void store_release(struct store *store, const struct release *release);

/* For the port itself: tells the loop how the entry's claim ended, unless it is none. */
void store_tell_claimed(struct store *store, struct store_entry *entry);

#endif
