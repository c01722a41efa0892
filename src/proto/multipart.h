/* Parameters of a multipart form. */
#ifndef SOLVEGATE_PROTO_MULTIPART_H
#define SOLVEGATE_PROTO_MULTIPART_H

#include "proto/params.h"

/* As params_add_body. */
int params_add_multipart(struct params *params, struct slice body,
                         struct slice boundary) MUST_CHECK;

/* The boundary of a multipart content type, quoted or not; false if it is another type or has no boundary. */
bool multipart_boundary(struct slice content_type, struct slice *boundary);

#endif
