/* Without configured clients, programs on this machine may spend without a key, but web pages in
 * its browsers may not. */
#ifndef SOLVEGATE_DOORS_FOREIGN_H
#define SOLVEGATE_DOORS_FOREIGN_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* True if a web page may have sent this request: one of another origin (another port of this
 * machine counts as one), or one that uses a name that is not this machine's. An <img> in an old
 * browser, which sends neither Origin nor Sec-Fetch-Site, looks like a program. */
bool foreign_is(const struct http_request *request);

/* Always true with configured clients, since each call then needs a key. Otherwise false for a page
 * of another origin or with a rebound name (docs/reliability.md threat 15). */
bool foreign_may_enter(const struct gate *gate, const struct http_request *request);

/* Replies in the visit's dialect. */
void foreign_refuse(struct gate *gate, const struct http_request *request,
                    const struct visit *visit);

#endif
