/* Parameters as one blob, for the engine and the journal. */
#ifndef SOLVEGATE_PROTO_PACK_H
#define SOLVEGATE_PROTO_PACK_H

#include "proto/params.h"

/* Packs everything but transport fields into one blob, which outlives the call: a submit sends it,
 * and a letter keeps it. */
struct blob *params_pack(const struct params *params);

/* Unpacks a blob: items point into it, so it must outlive them. */
int params_unpack(struct params *params, const struct blob *packed) MUST_CHECK;

#endif
