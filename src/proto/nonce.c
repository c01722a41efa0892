#include "proto/nonce.h"

#include "base/assert.h"

#include <sodium.h>

#define ATTEMPT_CHARS 16
#define TOLD_CHARS 8
#define MAC_BYTES 16
/* The older form, without the time. */
#define OLD_CHARS (ATTEMPT_CHARS + 2 * MAC_BYTES)

/* Separates these uses of the secret from each other and from any other use. */
static const char DOMAIN[] = "solvegate pingback nonce v2";
static const char OLD_DOMAIN[] = "solvegate pingback nonce v1";
_Static_assert(sizeof(DOMAIN) == sizeof(OLD_DOMAIN), "one message has room for both");

static void write_hex(uint64_t number, int digits, char *out)
{
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
}

/* Lower case only, so that each attempt has one spelling. */
static bool read_hex(const char *text, int digits, uint64_t *number)
{
    uint64_t value = 0;
    for (int i = 0; i < digits; i++) {
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

/* Keyed BLAKE2b-128 over the domain (with its NUL), the attempt's eight bytes and, except in the
 * older form, the time's four bytes, big-endian; written as hex with a NUL. */
static void write_mac(const uint8_t secret[NONCE_SECRET_BYTES], const struct nonce *nonce,
                      bool is_old, char *out)
{
    uint8_t mac[MAC_BYTES];
    uint8_t message[sizeof(DOMAIN) + 8 + 4];
    memcpy(message, is_old ? OLD_DOMAIN : DOMAIN, sizeof(DOMAIN));
    for (size_t i = 0; i < 8; i++)
        message[sizeof(DOMAIN) + i] = (uint8_t)(nonce->attempt >> (56 - 8 * i));
    for (size_t i = 0; i < 4; i++)
        message[sizeof(DOMAIN) + 8 + i] = (uint8_t)(nonce->told_s >> (24 - 8 * i));
    const int failed =
        crypto_generichash(mac, MAC_BYTES, message, is_old ? sizeof message - 4 : sizeof message,
                           secret, NONCE_SECRET_BYTES);
    ASSERT(failed == 0);
    (void)sodium_bin2hex(out, 2 * MAC_BYTES + 1, mac, sizeof mac);
}

void nonce_write(const uint8_t secret[NONCE_SECRET_BYTES], const struct nonce *nonce,
                 char out[NONCE_CHARS + 1])
{
    write_hex(nonce->attempt, ATTEMPT_CHARS, out);
    write_hex(nonce->told_s, TOLD_CHARS, out + ATTEMPT_CHARS);
    write_mac(secret, nonce, false, out + ATTEMPT_CHARS + TOLD_CHARS);
}

bool nonce_read(const uint8_t secret[NONCE_SECRET_BYTES], struct slice text, struct nonce *nonce)
{
    const bool is_old = text.len == OLD_CHARS;
    uint64_t attempt = 0;
    uint64_t told_s = 0;
    if ((!is_old && text.len != NONCE_CHARS) || !read_hex(text.data, ATTEMPT_CHARS, &attempt) ||
        (!is_old && !read_hex(text.data + ATTEMPT_CHARS, TOLD_CHARS, &told_s)))
        return false;
    const struct nonce found = {.attempt = attempt, .told_s = (uint32_t)told_s};
    char genuine[2 * MAC_BYTES + 1];
    write_mac(secret, &found, is_old, genuine);
    /* Comparing the hex compares the MAC and refuses upper case at the same time. */
    if (sodium_memcmp(genuine, text.data + text.len - 2 * MAC_BYTES, 2 * MAC_BYTES) != 0)
        return false;
    *nonce = found;
    return true;
}
