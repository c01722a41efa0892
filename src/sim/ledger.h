/* The ledger: every accepted submit and the totals, as JSON. */
#ifndef SOLVEGATE_SIM_LEDGER_H
#define SOLVEGATE_SIM_LEDGER_H

#include "base/buf.h"

#include "sim/params.h"
#include "sim/vendor.h"

/* Adds the parameters as a JSON object: the key redacted, files and long values as length and hash. */
void ledger_add_params(struct buf *out, const struct params *params);

/* Adds the ledger, or the part that the query selects: summary=1, id=, after=, limit=. */
void ledger_add(struct buf *out, struct vendor *vendor, const struct params *query);

#endif
