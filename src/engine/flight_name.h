/* What a flight is known by outside of its record: its place in memory, and the host of its page. */
#ifndef SOLVEGATE_ENGINE_FLIGHT_NAME_H
#define SOLVEGATE_ENGINE_FLIGHT_NAME_H

#include "engine/state.h"

slab_id flight_id(const struct engine *engine, const struct flight *flight);

/* The host lies within the flight's parameters, or is not known. */
void flight_set_host(struct flight *flight, struct slice host);
/* As a new blob in small letters, however the page's URL was written, or NULL. */
struct blob *flight_host(const struct flight *flight);

#endif
