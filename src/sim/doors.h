/* Maps paths to their handlers. */
#ifndef SOLVEGATE_SIM_DOORS_H
#define SOLVEGATE_SIM_DOORS_H

#include "sim/vendor.h"

/* An http_handler. The context is the vendor. */
void doors_serve(void *vendor, const struct http_request *request, struct http_reply *reply);

#endif
