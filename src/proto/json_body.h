/* Parameters of a JSON body. */
#ifndef SOLVEGATE_PROTO_JSON_BODY_H
#define SOLVEGATE_PROTO_JSON_BODY_H

#include "proto/params.h"

/* As params_add_body. */
int params_add_json(struct params *params, struct slice body) MUST_CHECK;

#endif
