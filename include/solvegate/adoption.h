/* Adoption: a dead node's rows are restored by a living one, which goes on with its paid tasks. */
#ifndef SOLVEGATE_ADOPTION_H
#define SOLVEGATE_ADOPTION_H

#include <solvegate/members.h>
#include <solvegate/record.h>

/* For ACTION_ADOPT. The store makes all rows, claims and inbox entries of the node ours at once, and
 * counts one more adoption in each of its flights, but only if the node is as seen. From then on it
 * refuses whatever the node itself decides. */
struct adopt {
    node_id id;
    uint64_t beat; /* as in struct member */
};

/* A claim that the adopted node had. */
struct adopted_claim {
    struct key name;
    uint64_t number;
};

/* For EVENT_ADOPTED, as many as it takes: rows first, in the order of enum record_kind and of their
 * numbers, then claims. At most ENGINE_BATCH of both together in each. */
struct adopted {
    node_id id;
    bool is_ours; /* else the node lives, another one was faster, or the store did not answer */
    bool is_last;
    size_t record_count, claim_count;
    const struct record *records;       /* borrowed */
    const struct adopted_claim *claims; /* borrowed */
};

/* After an EVENT_FENCED: has the engine told everything it knew to the store, and everybody who waited
 * to come back? Then it is replaced by a new one, under a new number. */
bool engine_is_over(const struct engine *engine);

#endif
