#include "proto/nonce.h"

#include "base/assert.h"

#include <sodium.h>

#define ATTEMPT_CHARS 16
#define MAC_BYTES 16

/* Separates this use of the secret from any other, now and later. */
static const char DOMAIN[] = "solvegate pingback nonce v1";

static void write_hex_u64(uint64_t number, char out[ATTEMPT_CHARS])
{
    for (int i = ATTEMPT_CHARS - 1; i >= 0; i--) {
        out[i] = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
}

/* Lower case only: one attempt has one spelling. */
static bool read_hex_u64(const char text[ATTEMPT_CHARS], uint64_t *number)
{
    uint64_t value = 0;
    for (int i = 0; i < ATTEMPT_CHARS; i++) {
        const char c = text[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return false;
        value = value << 4 | digit;
    }
    *number = value;
    return true;
}

/* Keyed BLAKE2b-128 over the domain (with its NUL) and the attempt's eight bytes, big end first. */
static void compute_mac(const uint8_t secret[NONCE_SECRET_BYTES], attempt_id attempt,
                        uint8_t mac[MAC_BYTES])
{
    uint8_t message[sizeof(DOMAIN) + 8];
    memcpy(message, DOMAIN, sizeof(DOMAIN));
    for (size_t i = 0; i < 8; i++)
        message[sizeof(DOMAIN) + i] = (uint8_t)(attempt >> (56 - 8 * i));
    const int failed =
        crypto_generichash(mac, MAC_BYTES, message, sizeof(message), secret, NONCE_SECRET_BYTES);
    ASSERT(failed == 0);
}

void nonce_write(const uint8_t secret[NONCE_SECRET_BYTES], attempt_id attempt,
                 char out[NONCE_CHARS + 1])
{
    uint8_t mac[MAC_BYTES];
    compute_mac(secret, attempt, mac);
    write_hex_u64(attempt, out);
    (void)sodium_bin2hex(out + ATTEMPT_CHARS, 2 * MAC_BYTES + 1, mac, sizeof(mac));
}

bool nonce_read(const uint8_t secret[NONCE_SECRET_BYTES], struct slice text, attempt_id *attempt)
{
    uint64_t number = 0;
    if (text.len != NONCE_CHARS || !read_hex_u64(text.data, &number))
        return false;
    char genuine[NONCE_CHARS + 1];
    nonce_write(secret, number, genuine);
    /* Comparing the spelling compares the MAC and refuses upper case in one go. */
    if (sodium_memcmp(genuine, text.data, NONCE_CHARS) != 0)
        return false;
    *attempt = number;
    return true;
}
