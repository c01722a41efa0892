/* Looks as errands: an id of which the store has no row may be in the memory of the gateway that gave it, which is
 * asked through its inbox. Made-up ids name gateways, too, so only so many are asked for that nobody knows. */
#ifndef SOLVEGATE_ENGINE_LOOK_ERRAND_H
#define SOLVEGATE_ENGINE_LOOK_ERRAND_H

#include "engine/state.h"

enum look_sent {
    LOOK_NOBODY, /* no other living node gave this id: the store's word is the last one */
    LOOK_LATER,  /* the store is away, or too many ids were asked for that nobody knows */
    LOOK_SENT,   /* find_on_reply() is called if a reply comes */
};

/* Asks the node that gave the id; the ticket of the errand is returned in *ticket. */
enum look_sent look_errand_send(struct engine *engine, const struct find *find, uint64_t *ticket);
/* It was found: it does not count as one that nobody knows. */
void look_errand_forgive(struct engine *engine, client_id client);

/* Replies to the node that asks. */
void look_errand_take(struct engine *engine, const struct errand *errand);
void look_errand_on_reply(struct engine *engine, const struct fact *fact);

#endif
