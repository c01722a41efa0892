/* Finding: callers ask here for requests that other nodes have. The store is asked once for all who ask for the same
 * id, and at most once a second: its answer is remembered meanwhile. */
#ifndef SOLVEGATE_ENGINE_FIND_H
#define SOLVEGATE_ENGINE_FIND_H

#include "engine/state.h"

void find_init(struct engine *engine);
void find_close(struct engine *engine);

/* Somebody asks for an id that this node does not have; without a shared store nobody has it. A caller of 0 only wants
 * it to be looked for, so that find_peek() knows more the next time. */
void find_look(struct engine *engine, const struct look *look);
/* What is remembered of the id. False: the store has not answered for it, and the answer says that it waits; or nobody
 * can have it. Takes references. */
bool find_peek(const struct engine *engine, client_id client, request_id id, struct answer *answer);

/* What is remembered of the id may be different from now on. */
void find_outdate(struct engine *engine, client_id client, request_id id);

/* The store went away, or is there again. */
void find_on_store(struct engine *engine);
void find_on_found(struct engine *engine, const struct found *found);
/* The node that gave the id replied to the errand with this ticket (look_errand.h). */
void find_on_reply(struct engine *engine, uint64_t ticket, const struct found *found);
/* A claim of this name ended, and with it perhaps what somebody waits for. */
void find_on_woken(struct engine *engine, const struct key *name);
/* Of a search: ask again, or forget it. */
void find_on_timer(struct engine *engine, struct wheel_timer *timer);
/* The caller has waited for long enough: it is told what is known. */
void find_on_hold_timer(struct engine *engine, struct hold *hold);
/* A caller no longer waits for it. */
void find_on_left(struct engine *engine, struct search *search);

/* What did not fit into the steps before: callers to be told, ends to be looked at. */
void find_work(struct engine *engine);
bool find_has_work(const struct engine *engine);

void find_check(const struct engine *engine);

#endif
