/* The door res.php: answers, balance, threads and reports. */
#ifndef SOLVEGATE_SIM_POLLS_H
#define SOLVEGATE_SIM_POLLS_H

#include "sim/vendor.h"

/* The parameters are already parsed. */
void polls_serve(struct vendor *vendor, struct http_reply *reply);

#endif
