/* Who may spend without a key: programs on this machine, but no web page that a browser here has open. */
#ifndef SOLVEGATE_DOORS_FOREIGN_H
#define SOLVEGATE_DOORS_FOREIGN_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* Whether a web page may have sent this: one of another origin, be it only another port of this machine,
 * or under a name that is not this machine's. What an old browser fetches for an <img>, with neither
 * Origin nor Sec-Fetch-Site, looks as if a program had sent it. */
bool foreign_is(const struct http_request *request);

/* Always with configured clients, since each call needs a key then. Without them a page of another
 * origin, or one whose name was made to point here, must not pass for a program (docs/reliability.md threat 15). */
bool foreign_may_enter(const struct gate *gate, const struct http_request *request);

/* In the words of the visit's dialect. */
void foreign_refuse(struct gate *gate, const struct http_request *request,
                    const struct visit *visit);

#endif
