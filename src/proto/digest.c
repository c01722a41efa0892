#include "proto/digest.h"

#include "base/assert.h"
#include "proto/base64.h"

#include <sodium.h>

_Static_assert(DIGEST_SECRET_BYTES >= crypto_generichash_KEYBYTES_MIN, "the secret is long enough");

/* Small enough for the stack and the L1 cache, large enough to make the call overhead negligible. */
#define PIECE_BYTES 3072

/* libsodium's calls fail only on invalid lengths, and these are constants. */
static void start(crypto_generichash_state *state, const uint8_t *secret, struct slice domain)
{
    int code = crypto_generichash_init(state, secret, DIGEST_SECRET_BYTES, DIGEST_BYTES);
    ASSERT(code == 0);
    code = crypto_generichash_update(state, (const uint8_t *)domain.data, domain.len);
    ASSERT(code == 0);
}

static void finish(crypto_generichash_state *state, uint8_t out[DIGEST_BYTES])
{
    const int code = crypto_generichash_final(state, out, DIGEST_BYTES);
    ASSERT(code == 0);
}

void digest_bytes(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                  struct slice bytes, uint8_t out[DIGEST_BYTES])
{
    crypto_generichash_state state;
    start(&state, secret, domain);
    const int code = crypto_generichash_update(&state, (const uint8_t *)bytes.data, bytes.len);
    ASSERT(code == 0);
    finish(&state, out);
}

bool digest_base64(const uint8_t secret[DIGEST_SECRET_BYTES], struct slice domain,
                   struct slice text, uint8_t out[DIGEST_BYTES], size_t *size)
{
    crypto_generichash_state state;
    struct base64 reader;
    uint8_t piece[PIECE_BYTES];
    size_t len;
    start(&state, secret, domain);
    base64_open(&reader, text);
    *size = 0;
    while ((len = base64_read(&reader, piece, sizeof piece)) > 0) {
        const int code = crypto_generichash_update(&state, piece, len);
        ASSERT(code == 0);
        *size += len;
    }
    finish(&state, out);
    return base64_is_good(&reader);
}
