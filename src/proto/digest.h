/* Keyed BLAKE2b-256 of one thing at a time, each kind of thing in a domain of its own. */
#ifndef SOLVEGATE_PROTO_DIGEST_H
#define SOLVEGATE_PROTO_DIGEST_H

#include "base/slice.h"

#include <stdint.h>

#define DIGEST_BYTES 32
#define DIGEST_SECRET_BYTES 32

/* The domain is what goes in front; none may be the beginning of another. */
void digest_bytes(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                  struct slice bytes, uint8_t out[DIGEST_BYTES]);

/* Of the bytes that base64 text stands for, and how many they are; false if it is not base64. */
bool digest_base64(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                   struct slice text, uint8_t out[DIGEST_BYTES], size_t *size);

#endif
