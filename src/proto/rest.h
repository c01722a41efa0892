/* Which answers are more than a text, so that a callback, which carries only a text, does not bring them whole. */
#ifndef SOLVEGATE_PROTO_REST_H
#define SOLVEGATE_PROTO_REST_H

#include "proto/params.h"

/* True when one poll has to follow a callback. */
bool rest_is_wanted(const struct params *params);

#endif
