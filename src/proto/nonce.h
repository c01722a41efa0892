/* Nonces of callbacks: an attempt's id and the time with a keyed MAC, so that only the vendor, whom
 * we told it, can call back. */
#ifndef SOLVEGATE_PROTO_NONCE_H
#define SOLVEGATE_PROTO_NONCE_H

#include "base/slice.h"

#include <solvegate/types.h>

#define NONCE_SECRET_BYTES 32
/* 16 hex digits of the attempt, 8 of the time, 32 of the MAC; without a NUL. */
#define NONCE_CHARS 56

struct nonce {
    attempt_id attempt;
    uint32_t told_s; /* when it was told to the vendor, since 1970; 0: the older form without it */
};

void nonce_write(const uint8_t secret[NONCE_SECRET_BYTES], const struct nonce *nonce,
                 char out[NONCE_CHARS + 1]);

/* Also reads the older form without the time. Constant time in the MAC; false leaves *nonce unchanged. */
bool nonce_read(const uint8_t secret[NONCE_SECRET_BYTES], struct slice text, struct nonce *nonce);

#endif
