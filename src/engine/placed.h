/* Requests whose flight is being claimed: nobody is told anything before the store has decided. */
#ifndef SOLVEGATE_ENGINE_PLACED_H
#define SOLVEGATE_ENGINE_PLACED_H

#include "engine/state.h"

/* Is the request's flight being claimed? Its caller then has to wait. */
static inline bool request_must_wait(const struct request *request)
{
    return request->flight != NULL && request->flight->state == FLIGHT_CLAIMING;
}

/* May the request still be refused? */
static inline bool request_is_unsure(const struct request *request)
{
    return request->is_fresh && request_must_wait(request);
}

/* Is there a place for this client's caller to wait in? */
bool request_may_wait(const struct engine *engine, client_id client);

/* Lets the caller wait for the store's decision, and then on as it asked for. */
void request_wait(struct engine *engine, struct request *request, const struct ask *ask);

/* The store has decided: whoever asked only for the id or the state is to be told. */
void flight_tell(struct engine *engine, struct flight *flight);
/* Tells at most `batch` of them; ticks do the rest. */
void flights_tell(struct engine *engine, uint32_t batch);

/* Refuses a request that nobody was told of, because its flight failed with a refusal. */
void request_turn_away(struct engine *engine, struct request *request, const struct flight *flight);
/* Refuses a request whose caller has waited long enough for the store. */
void request_give_up(struct engine *engine, struct request *request);

/* Moves a waiting request to another flight. */
void request_move(struct engine *engine, struct request *request, struct flight *into);

/* The flight's first request does not pay for it: another node does, or nobody. All others are
 * answered as its joiners anyway. */
void flight_set_source(struct engine *engine, struct flight *flight, enum source source);

#endif
