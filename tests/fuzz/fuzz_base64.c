/* Base64 of images: pieces of any size make the same bytes, and libsodium agrees about them.
 *
 * Input: one byte that chooses the size of pieces, then text that is decoded and bytes that are encoded. */
#include "fuzz.h"

#include "proto/base64.h"

#include <sodium.h>
#include <stdlib.h>

#define LEAST_ROOM 3

/* Reads in pieces of at most room bytes, each into memory of exactly that size. */
static bool decode(struct slice text, size_t room, struct buf *out)
{
    struct base64 reader;
    base64_open(&reader, text);
    for (;;) {
        uint8_t *piece = malloc(room);
        HOLDS(piece != NULL);
        const size_t len = base64_read(&reader, piece, room);
        HOLDS(len <= room);
        buf_add(out, (struct slice){.data = (const char *)piece, .len = len});
        free(piece);
        if (len == 0)
            return base64_is_good(&reader);
    }
}

static void check_pieces(struct slice text, size_t room)
{
    struct buf whole, pieces;
    buf_init(&whole, (size_t)1 << 20);
    buf_init(&pieces, (size_t)1 << 20);
    const bool is_good = decode(text, text.len + LEAST_ROOM, &whole);
    HOLDS(is_good == decode(text, room, &pieces));
    HOLDS(!is_good || slice_equals(buf_slice(&whole), buf_slice(&pieces)));
    HOLDS(whole.len <= text.len / 4 * 3 + 3);
    buf_close(&pieces);
    buf_close(&whole);
}

/* What libsodium takes we take, too, and understand it the same; we take more. */
static void check_sodium(struct slice text, int variant)
{
    uint8_t *bytes = malloc(text.len + 1);
    size_t len = 0;
    HOLDS(bytes != NULL);
    if (sodium_base642bin(bytes, text.len + 1, text.data, text.len, " \t\r\n", &len, NULL,
                          variant) == 0) {
        struct buf ours;
        buf_init(&ours, (size_t)1 << 20);
        if (decode(text, 64, &ours))
            HOLDS(slice_equals(buf_slice(&ours),
                               (struct slice){.data = (const char *)bytes, .len = len}));
        buf_close(&ours);
    }
    free(bytes);
}

static void check_round_trip(struct slice bytes, int variant)
{
    const size_t room = sodium_base64_encoded_len(bytes.len, variant);
    char *text = malloc(room);
    struct buf back;
    HOLDS(text != NULL);
    buf_init(&back, (size_t)1 << 20);
    (void)sodium_bin2base64(text, room, (const uint8_t *)bytes.data, bytes.len, variant);
    HOLDS(decode(slice_from(text), 7, &back));
    HOLDS(slice_equals(buf_slice(&back), bytes));
    buf_close(&back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int variants[] = {
        sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
        sodium_base64_VARIANT_URLSAFE, sodium_base64_VARIANT_URLSAFE_NO_PADDING};
    struct input input = {.data = data, .len = size};
    HOLDS(sodium_init() >= 0);
    const size_t room = LEAST_ROOM + input_byte(&input);
    const struct slice rest = input_rest(&input);
    char *bytes = exact_copy(rest);
    const struct slice text = {.data = bytes, .len = rest.len};
    check_pieces(text, room);
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        check_sodium(text, variants[i]);
        check_round_trip(text, variants[i]);
    }
    free(bytes);
    return 0;
}
