/* Callers held at a door until their request is final, or for as long as they asked for. */
#ifndef SOLVEGATE_ENGINE_HOLD_H
#define SOLVEGATE_ENGINE_HOLD_H

#include "engine/state.h"

/* Holds a caller, for WHEEL_NEVER without a limit; NULL when there is no room. */
struct hold *hold_new(struct engine *engine, struct request *request, caller_id caller,
                      uint64_t hold_ms);
/* Holds one who asks for another node's request, in a list of its caller's; there must be room. */
struct hold *hold_for_search(struct engine *engine, struct search *search, client_id client,
                             caller_id caller, uint64_t hold_ms);
/* Holds one who waits for the end of an errand, unless it is 0 (then NULL); there must be room. */
struct hold *hold_for_errand(struct engine *engine, uint64_t ticket, client_id client,
                             caller_id caller, uint64_t hold_ms);
/* Lets go of a held caller, who was or will be answered otherwise, or is gone. */
void hold_free(struct engine *engine, struct hold *hold);

/* The caller has waited for long enough: it is told the request's state. */
void hold_on_timer(struct engine *engine, struct hold *hold);

#endif
