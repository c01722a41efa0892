/* The control door for tests: /sim/faults, /sim/ledger, /sim/solve and /sim/reset. */
#ifndef SOLVEGATE_SIM_CONTROL_H
#define SOLVEGATE_SIM_CONTROL_H

#include "sim/vendor.h"

/* Serves a path that starts with /sim/. The parameters hold the query only. */
void control_serve(struct vendor *vendor, const struct http_request *request,
                   struct http_reply *reply);

#endif
