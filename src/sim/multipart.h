/* multipart/form-data bodies, parsed in place. */
#ifndef SOLVEGATE_SIM_MULTIPART_H
#define SOLVEGATE_SIM_MULTIPART_H

#include "sim/params.h"

/* The boundary parameter of a multipart content type, or SLICE_NONE. */
struct slice multipart_boundary(struct slice content_type);

/* Adds every part; ERR_INVALID when the body does not follow the boundary. */
int multipart_parse(struct params *params, struct slice boundary, struct slice body) MUST_CHECK;

#endif
