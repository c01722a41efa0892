/* Where the gate's store is, as a copy that a thread can use while the configuration changes. */
#ifndef SOLVEGATE_GATE_PERSIST_PLACE_H
#define SOLVEGATE_GATE_PERSIST_PLACE_H

#include "config/config.h"
#include "store/store.h"

struct gate;

/* A nonce is valid for an hour, so the previous secret is needed only that long. */
#define PERSIST_NONCE_MAX_AGE_MS (INT64_C(7) * 86400 * 1000)

#define PLACE_URL_MAX (CONFIG_TEXT_MAX + sizeof("sqlite:"))
#define PLACE_NODE_MAX (2 * CONFIG_TEXT_MAX)

/* The gate's clients, as the store names them. */
struct store_names persist_names(struct gate *gate);

struct persist_place {
    struct buf url, prefix, ca_file, node;
    struct store_place place; /* borrows from those */
};
void persist_place_init(struct gate *gate, struct persist_place *place);
/* Locks and opens the store; may run on another thread. mistake gets a sentence unless it is STORE_OPENED. */
enum store_opening persist_place_open(struct gate *gate, const struct persist_place *place,
                                      struct store **store, struct buf *mistake);
/* Reads all that persist_secrets() and persist_restore() will want of it, on the same thread; false with a sentence. */
bool persist_place_read(struct store *store, struct buf *mistake);
void persist_place_close(struct persist_place *place);

#endif
