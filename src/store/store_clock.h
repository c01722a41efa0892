/* The clock that the stored times follow, which differs from the wall clock once that was set. */
#ifndef SOLVEGATE_STORE_STORE_CLOCK_H
#define SOLVEGATE_STORE_STORE_CLOCK_H

#include "store/store_driver.h"

/* Call it before rows are loaded: moves their times if the wall clock was set since they were
 * written and the machine was not rebooted. If nothing can be written now, they stay: the engine
 * then clamps lifetimes. */
enum store_result store_clock_catch_up(struct store_backend *backend, const struct clocks *now);

/* The time by the clock of the stored rows; adjusts the mark if the clocks drifted apart. */
enum store_result store_clock_read(struct store_backend *backend, int64_t *wall_ms);

/* Lets this process go by the wall clock of the server that it shares: rows of several gateways, and those of a script
 * there, compare times only if all have the same. */
enum store_result store_clock_follow(struct store_backend *backend);

/* For drivers that shift times: was the mark set to these very clocks? */
bool store_clock_is_at(const struct store_mark *mark, const struct clocks *clocks);

#endif
