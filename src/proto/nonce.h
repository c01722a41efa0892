/* Pingback nonces: an attempt's id with a keyed MAC, so that only the vendor we told can call back. */
#ifndef SOLVEGATE_PROTO_NONCE_H
#define SOLVEGATE_PROTO_NONCE_H

#include "base/slice.h"

#include <solvegate/types.h>

#define NONCE_SECRET_BYTES 32
/* 16 hex digits of the attempt, 8 of the moment, 32 of the MAC; no NUL counted. */
#define NONCE_CHARS 56

struct nonce {
    attempt_id attempt;
    uint32_t
        told_s; /* when it was told to the vendor, since 1970; 0: an older version did not say */
};

void nonce_write(const uint8_t secret[NONCE_SECRET_BYTES], const struct nonce *nonce,
                 char out[NONCE_CHARS + 1]);

/* Also one of an older version, without the moment. Constant time in the MAC; false leaves *nonce alone. */
bool nonce_read(const uint8_t secret[NONCE_SECRET_BYTES], struct slice text, struct nonce *nonce);

#endif
