/* Which flights can be found by their keys: those that may be joined in one table, those that wait for the word of the
 * store in another. */
#ifndef SOLVEGATE_ENGINE_FLIGHT_TABLE_H
#define SOLVEGATE_ENGINE_FLIGHT_TABLE_H

#include "engine/state.h"

/* From now on nobody joins it; whoever looks for its key still finds it. */
void flight_table_hide(struct engine *engine, struct flight *flight);
/* It may be joined again. */
void flight_table_show(struct engine *engine, struct flight *flight);
/* It is over. */
void flight_table_leave(struct engine *engine, struct flight *flight);

#endif
