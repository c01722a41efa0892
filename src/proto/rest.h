/* Tells which answers are more than a text: a callback carries only a text and does not bring them whole. */
#ifndef SOLVEGATE_PROTO_REST_H
#define SOLVEGATE_PROTO_REST_H

#include "proto/params.h"

/* True if one poll has to follow a callback. */
bool rest_is_wanted(const struct params *params);

#endif
