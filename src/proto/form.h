/* Parameters of a query or an urlencoded form. */
#ifndef SOLVEGATE_PROTO_FORM_H
#define SOLVEGATE_PROTO_FORM_H

#include "proto/params.h"

/* As params_add_body. */
int params_add_form(struct params *params, struct slice encoded) MUST_CHECK;

#endif
