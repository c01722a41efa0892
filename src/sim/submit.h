/* The doors in.php and solve.php: what is accepted, and what happens to it. */
#ifndef SOLVEGATE_SIM_SUBMIT_H
#define SOLVEGATE_SIM_SUBMIT_H

#include "sim/vendor.h"

/* The parameters are already parsed; a synchronous submit is answered once it is solved. */
void submit_serve(struct vendor *vendor, const struct http_request *request,
                  struct http_reply *reply, bool is_sync);

#endif
