/* Idempotency keys: read and digested. */
#ifndef SOLVEGATE_PROTO_IDEMPOTENCY_H
#define SOLVEGATE_PROTO_IDEMPOTENCY_H

#include "proto/key.h"

/* Digests an idempotency key within its client, also when solutions are shared by all clients: a
 * retry belongs to its client alone. */
struct key idempotency_digest(const struct identity_scope *scope, struct slice idempotency_key);

/* Accepts 1 to 255 visible ASCII characters and strips quotes; false leaves *out unchanged
 * (docs/design.md 5.3). */
bool idempotency_key_parse(struct slice raw, struct slice *out);

#endif
