/* Members: the gateways that share a store. Each tells the others by a beat that it lives, and trusts
 * its own lease only while its beats are confirmed. */
#ifndef SOLVEGATE_MEMBERS_H
#define SOLVEGATE_MEMBERS_H

#include <solvegate/types.h>

struct engine;

/* One run of one gateway. The store gives the number; it is never used twice. */
typedef uint64_t node_id;

/* Pools are told by a bit each, chosen by their key. */
#define DEMAND_POOLS 64
/* A level in a beat is at most so large; whoever has more says this. */
#define DEMAND_LEVEL_MOST 4095

/* What a beat tells the others. */
struct demand {
    uint32_t slots; /* flights that hold a slot or wait for one */
    uint32_t held;  /* slots of the plan that the node may use, or uses; others leave them alone */
    uint32_t
        waiting; /* 0, or since when it has none though flights wait: seconds, modulo DEMAND_SECONDS, plus 1 */
    uint64_t pools; /* a bit for each pool that is awake */
    /* For each bit: solutions of the pool that the node has ready, solves, or may begin to solve; others leave them to
     * it. */
    uint16_t levels[DEMAND_POOLS];
};

/* Numbers in a beat are at most so large; whoever demands more demands this. */
#define DEMAND_MOST ((1u << 20) - 1)
/* Moments in a beat begin again after as many seconds, which are six weeks. */
#define DEMAND_SECONDS (1u << 22)

/* What this node's next beat tells. What it tells less of than before is others' from now on. */
void engine_demand(struct engine *engine, struct demand *demand);

/* Are rows that the store has lost (EVENT_STORE_LOST) still to be written again? What others seem to have to solve may
 * be among them. */
bool engine_is_rewriting(const struct engine *engine);
/* Should the next beat come sooner than usual? It would give away slots, or get some that are needed. */
bool engine_must_hurry(const struct engine *engine);

/* A node as the store knows it. */
struct member {
    node_id id;
    uint16_t node; /* its gateway's number, as in struct engine_options */
    uint64_t beat; /* counts up as long as it lives */
    struct demand demand;
    bool is_self;
    bool is_leaving; /* it has shut down and left its rows to whoever comes first */
};

/* A beat of ours was confirmed by the store. */
struct beat {
    /* When it was sent, on the clock of the events. The lease counts from then, so that clock must
     * also run while the machine sleeps. */
    uint64_t sent_ms;
    /* Every beat since the one before was confirmed: whoever's beat did not move did not send any. */
    bool is_unbroken;
    const struct member *members; /* borrowed: all nodes of the store, in the order of their ids */
    uint16_t member_count;        /* at most ENGINE_NODES */
};

#endif
