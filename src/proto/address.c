#include "proto/address.h"

/* Parses four decimal numbers into four bytes. A leading zero is refused: some programs read it as octal. */
static bool parse_quad(struct slice text, uint8_t out[4])
{
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i > 0 && (at >= text.len || text.data[at++] != '.'))
            return false;
        const size_t start = at;
        unsigned number = 0;
        while (at < text.len && at - start < 3 && text.data[at] >= '0' && text.data[at] <= '9')
            number = number * 10 + (unsigned)(text.data[at++] - '0');
        if (at == start || number > 255 || (at - start > 1 && text.data[start] == '0'))
            return false;
        out[i] = (uint8_t)number;
    }
    return at == text.len;
}

bool address_parse_v4(struct slice text, uint8_t out[ADDRESS_BYTES])
{
    memset(out, 0, 10);
    out[10] = 0xff;
    out[11] = 0xff;
    return parse_quad(text, out + 12);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses one to four hexadecimal digits at *at. */
static bool parse_group(struct slice text, size_t *at, uint8_t out[2])
{
    const size_t start = *at;
    unsigned number = 0;
    while (*at < text.len && *at - start < 4 && hex_digit(text.data[*at]) >= 0)
        number = number << 4 | (unsigned)hex_digit(text.data[(*at)++]);
    out[0] = (uint8_t)(number >> 8);
    out[1] = (uint8_t)number;
    return *at > start;
}

/* Parses groups up to "::" or the end; the last two may be written as IPv4. Returns the number of
 * bytes, or a negative number. */
static long parse_groups(struct slice text, size_t *at, size_t room, uint8_t *out)
{
    size_t len = 0;
    while (*at < text.len && text.data[*at] != ':') {
        const size_t start = *at;
        if (len + 2 > room || !parse_group(text, at, out + len))
            return -1;
        len += 2;
        if (*at < text.len && text.data[*at] == '.') {
            if (len + 2 > room || !parse_quad(slice_skip(text, start), out + len - 2))
                return -1;
            *at = text.len;
            return (long)len + 2;
        }
        if (*at == text.len)
            break;
        if (text.data[*at] != ':')
            return -1;
        /* A single colon separates and must be followed by a group; the caller handles a double one. */
        if (*at + 1 == text.len)
            return -1;
        if (text.data[*at + 1] == ':')
            break;
        (*at)++;
    }
    return (long)len;
}

bool address_parse_v6(struct slice text, uint8_t out[ADDRESS_BYTES])
{
    memset(out, 0, ADDRESS_BYTES);
    size_t at = 0;
    const long head = parse_groups(text, &at, ADDRESS_BYTES, out);
    if (head < 0)
        return false;
    if (at == text.len)
        return head == ADDRESS_BYTES;
    if (!slice_starts_with(slice_skip(text, at), SLICE_OF("::")))
        return false;
    at += 2;
    uint8_t tail[ADDRESS_BYTES];
    /* "::" stands for at least one group. */
    const size_t room = ADDRESS_BYTES - 2 - (size_t)head;
    const long len = head > ADDRESS_BYTES - 2 ? -1 : parse_groups(text, &at, room, tail);
    if (len < 0 || at != text.len)
        return false;
    memcpy(out + ADDRESS_BYTES - len, tail, (size_t)len);
    return true;
}

bool address_is_loopback(const uint8_t address[ADDRESS_BYTES])
{
    static const uint8_t v6_loopback[ADDRESS_BYTES] = {[15] = 1};
    static const uint8_t v4_loopback[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
    return memcmp(address, v6_loopback, sizeof v6_loopback) == 0 ||
           memcmp(address, v4_loopback, sizeof v4_loopback) == 0;
}

bool address_host_matches(const char *pattern, struct slice host)
{
    if (pattern[0] != '*')
        return slice_equals(slice_from(pattern), host);
    const struct slice tail = slice_from(pattern + 1);
    return host.len > tail.len && memcmp(host.data + host.len - tail.len, tail.data, tail.len) == 0;
}
