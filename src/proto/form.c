/* URL-encoded forms and query strings, read as PHP reads them. */
#include "proto/form.h"

#include "proto/params_private.h"

/* Limits repeated names and empty pairs, so that a body of ampersands does not cost milliseconds
 * (docs/reliability.md threat 5). */
#define PAIRS_MAX (4 * PARAMS_MAX)

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* A '%' without two hex digits stands for itself, as in PHP's urldecode. Returns the length. */
static size_t decode_bytes(struct slice raw, char *out)
{
    const char *at = raw.data;
    const char *const end = raw.data + raw.len;
    char *to = out;
    while (at < end) {
        const char c = *at++;
        if (c == '%' && end - at >= 2) {
            const int high = hex_digit(at[0]);
            const int low = hex_digit(at[1]);
            if (high >= 0 && low >= 0) {
                *to++ = (char)(high * 16 + low);
                at += 2;
                continue;
            }
        }
        *to++ = c == '+' ? ' ' : c;
    }
    return (size_t)(to - out);
}

/* The index of the next byte that needs decoding, or the length. */
static size_t find_encoded(struct slice form, size_t from)
{
    const char *const percent = memchr(form.data + from, '%', form.len - from);
    const size_t end = percent == NULL ? form.len : (size_t)(percent - form.data);
    const char *const plus = memchr(form.data + from, '+', end - from);
    return plus == NULL ? end : (size_t)(plus - form.data);
}

/* The caller reserved room for raw.len bytes. */
static struct slice decode(struct params *params, struct slice raw)
{
    char *const room = params->arena.data + params->arena.len;
    const struct slice decoded = {.data = room, .len = decode_bytes(raw, room)};
    buf_commit(&params->arena, decoded.len);
    return decoded;
}

static int add_pair(struct params *params, struct slice pair, bool is_plain)
{
    const char *const equals = memchr(pair.data, '=', pair.len);
    const size_t name_len = equals == NULL ? pair.len : (size_t)(equals - pair.data);
    const size_t value_at = equals == NULL ? name_len : name_len + 1;
    /* PHP ignores a value without a name. */
    if (name_len == 0)
        return 0;
    struct param item = {
        .name = {.data = pair.data, .len = name_len},
        .value = {.data = pair.data + value_at, .len = pair.len - value_at},
        .filename = SLICE_NONE,
    };
    /* A value that needs no decoding keeps pointing into the caller's bytes. */
    if (!is_plain) {
        if (params_reserve(params, pair.len) == NULL)
            return params_fail_length(params);
        item.name = decode(params, item.name);
        item.value = decode(params, item.value);
    }
    return params_put(params, item);
}

int params_add_form(struct params *params, struct slice encoded)
{
    size_t from = 0;
    size_t next_encoded = encoded.len == 0 ? 0 : find_encoded(encoded, 0);
    for (int pairs = 0; from < encoded.len; pairs++) {
        if (pairs == PAIRS_MAX)
            return params_fail(params, ERR_FULL, "more than %d pairs", PAIRS_MAX);
        const char *const at = encoded.data + from;
        const char *const ampersand = memchr(at, '&', encoded.len - from);
        const size_t len = ampersand == NULL ? encoded.len - from : (size_t)(ampersand - at);
        const bool is_plain = next_encoded >= from + len;
        const int code = len == 0 ? 0 : add_pair(params, (struct slice){at, len}, is_plain);
        if (code != 0)
            return code;
        from += len + 1;
        if (next_encoded < from && from < encoded.len)
            next_encoded = find_encoded(encoded, from);
    }
    return 0;
}
