/* Keyed BLAKE2b-256 of one value, with a separate domain for each kind of value. */
#ifndef SOLVEGATE_PROTO_DIGEST_H
#define SOLVEGATE_PROTO_DIGEST_H

#include "base/slice.h"

#include <stdint.h>

#define DIGEST_BYTES 32
#define DIGEST_SECRET_BYTES 32

/* The domain is hashed first; none may be a prefix of another. */
void digest_bytes(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                  struct slice bytes, uint8_t out[DIGEST_BYTES]);

/* Digests the decoded bytes of base64 text and returns their number; false if it is not base64. */
bool digest_base64(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                   struct slice text, uint8_t out[DIGEST_BYTES], size_t *size);

#endif
