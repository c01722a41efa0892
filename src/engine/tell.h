/* Facts about attempts that another node has, or had: what the vendor said is told through the shared
 * store to whoever has the attempt's row. */
#ifndef SOLVEGATE_ENGINE_TELL_H
#define SOLVEGATE_ENGINE_TELL_H

#include "engine/state.h"

/* Puts what the vendor said into the inbox of whoever has the attempt. */
void tell_fact(struct engine *engine, const struct vendor_result *result);

/* The vendor called back about an attempt that this node does not have. */
void tell_unknown(struct engine *engine, const struct vendor_result *result);
/* A submit or poll of an attempt that this node does not have any more ended. */
void tell_late(struct engine *engine, const struct vendor_result *result);

/* An entry of our inbox. */
void tell_on_told(struct engine *engine, const struct fact *fact);

#endif
