/* The gateways that share the store, as this one knows them: their names, whether they live, what they demand. */
#ifndef SOLVEGATE_GATE_ROSTER_H
#define SOLVEGATE_GATE_ROSTER_H

#include "store/store_driver.h"

struct store_beat;

enum node_state {
    NODE_UNHEARD, /* in the store since before we joined, and its beat has not moved since */
    NODE_ALIVE,
    NODE_DEAD,    /* its beat has not moved for a lease, by our own clock */
    NODE_LEFT,    /* it ended in order while we looked */
    NODE_ADOPTED, /* another one goes on with its tasks, since we looked */
};
#define NODE_STATES (NODE_ADOPTED + 1)
const char *node_state_name(enum node_state state);

struct known_node {
    node_id id; /* of this run: a restart has another one */
    uint64_t beat;
    int64_t moved_ms; /* when the beat was last seen to move, by the machine's even clock */
    struct demand demand;
    enum node_state state;
    bool is_self;
    bool is_rewriting; /* it lives, and has not written again yet what the store lost */
    unsigned differs;  /* bits of the parts of the configuration that are not as ours */
    char name[STORE_NAME_MAX];
};

struct roster {
    struct known_node *nodes; /* owned, in the order of their ids; NULL: not initialised */
    struct known_node *before;
    uint32_t count, before_count;
    bool has_heard;              /* a beat came */
    char parts[STORE_PARTS_MAX]; /* our configuration, with which the others' are compared */
};

void roster_init(struct roster *roster);
void roster_close(struct roster *roster);

/* Takes over the members that came with a beat, and logs who came, left or died. */
void roster_on_beat(struct roster *roster, const struct store_beat *beat, uint16_t self,
                    uint32_t lease_ms);

/* NULL: no node of this number is known. */
const struct known_node *roster_find(const struct roster *roster, node_id id);

/* STORE_NAME_MAX bytes; "" before the first beat. */
const char *roster_own_name(const struct roster *roster);

/* Those that live and have another configuration. */
uint32_t roster_count_differing(const struct roster *roster);
uint32_t roster_count(const struct roster *roster, enum node_state state);
bool roster_has_rewriting(const struct roster *roster);

/* The slots of the plan that each node may take, by place; 0 for those that have left. */
void roster_shares(const struct roster *roster, uint32_t plan, uint32_t *shares);

#endif
