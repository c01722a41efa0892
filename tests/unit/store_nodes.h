/* Gateways that share a store, as drivers see them: batches of records, claims and releases without the port. */
#ifndef SOLVEGATE_TESTS_STORE_NODES_H
#define SOLVEGATE_TESTS_STORE_NODES_H

#include "store/store_queue.h"
#include "store_world.h"

#define NODE_LEASE_MS 10000
#define NODE_ENTRIES_MAX 512

struct node {
    struct store_world *world;
    struct store_backend *backend; /* NULL: it did not open */
    enum store_opening opening;
    char mistake[1024];
    uint64_t number; /* of the latest batch */
    struct store_entry
        *entries[NODE_ENTRIES_MAX]; /* owned: of the next batch, or of the one that was sent */
    uint32_t count;
    bool is_sent;
};

/* NULL: a gateway that has the store for itself. */
void node_open(struct node *node, struct store_world *world, const char *name);
void node_open_with(struct node *node, struct store_world *world, const char *name,
                    uint32_t lease_ms);
/* With a run (see struct store_place); says in node->opening whether it opened. */
void node_open_run(struct node *node, struct store_world *world, const char *name, const char *run);
/* As after a crash, or having left in order. */
void node_close(struct node *node);
void node_leave(struct node *node);

/* What the next batch has. */
void node_put(struct node *node, struct record *take_record);
void node_drop(struct node *node, const struct record *record);
struct store_asked *node_claim(struct node *node, const struct claim *claim);
struct store_drawn *node_draw(struct node *node, const char *client, const struct draw *draw);
void node_release(struct node *node, const struct release *release);
void node_tell(struct node *node, const struct fact *take_fact);
void node_forget(struct node *node, uint64_t number);
/* Sends it; fails the test unless that works. What was claimed stays until the next batch is begun. */
void node_send(struct node *node);
enum store_result node_try(struct node *node);
/* How the driver says that somebody else has what the node had. */
enum store_result node_refusal(const struct node *node);
/* Sends the same batch once more, as after a lost reply. */
void node_send_again(struct node *node);

/* One claim in a batch of its own. */
struct claimed node_ask(struct node *node, const struct claim *claim);

struct key key_of(uint32_t number);
/* A claim of a shared key; of a single-use solution without a name; of an idempotency key. */
struct claim claim_shared(uint32_t key, uint64_t flight);
struct claim claim_single(uint32_t key, uint64_t flight);
struct claim claim_with(struct claim claim, uint32_t idempotency);
/* A fresh solution, for all or for one. */
struct record solution_of(struct store_world *world, uint64_t id, uint32_t key, bool is_shared);

#endif
