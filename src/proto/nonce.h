/* Pingback nonces: an attempt's id with a keyed MAC, so that only the vendor we told can call back. */
#ifndef SOLVEGATE_PROTO_NONCE_H
#define SOLVEGATE_PROTO_NONCE_H

#include "base/slice.h"

#include <solvegate/types.h>

#define NONCE_SECRET_BYTES 32
/* 16 hex digits of the attempt, 32 of the MAC; no NUL counted. */
#define NONCE_CHARS 48

void nonce_write(const uint8_t secret[NONCE_SECRET_BYTES], attempt_id attempt,
                 char out[NONCE_CHARS + 1]);

/* Constant time in the MAC; false leaves *attempt alone. */
bool nonce_read(const uint8_t secret[NONCE_SECRET_BYTES], struct slice text, attempt_id *attempt);

#endif
