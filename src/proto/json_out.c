#include "proto/json_out.h"

#include <sodium.h>
#include <time.h>
#include <yyjson.h>

/* Bytes that need no escaping inside a JSON string. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* is_plain() of eight bytes at once. */
static bool is_plain_word(const unsigned char *s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, s, 8);
    /* The high bit of each sum or difference marks a byte that needs care: a control, a quote, a
     * backslash, DEL, or one with its high bit set. A carry can only affect bytes after such a
     * byte. */
    const uint64_t odd = (word - ones * ' ') | ((word ^ ones * '"') - ones) |
                         ((word ^ ones * '\\') - ones) | (word + ones) | word;
    return (odd & ones << 7) == 0;
}

/* The length of the plain prefix. Looks at eight bytes at a time: most text is plain, and a token
 * has hundreds of bytes. */
static size_t plain_length(const unsigned char *s, size_t len)
{
    size_t at = 0;
    while (at + 8 <= len && is_plain_word(s + at))
        at += 8;
    while (at < len && is_plain(s[at]))
        at++;
    return at;
}

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of the valid UTF-8 sequence at the start, or 0. Overlong forms, surrogates and numbers
 * beyond Unicode are invalid (RFC 3629). */
static size_t utf8_length(const unsigned char *s, size_t len)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        return len >= 2 && is_continuation(s[1]) ? 2 : 0;
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        if (len < 3 || !is_continuation(s[1]) || !is_continuation(s[2]))
            return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
            return 0;
        return 3;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        if (len < 4 || !is_continuation(s[1]) || !is_continuation(s[2]) || !is_continuation(s[3]))
            return 0;
        if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
            return 0;
        return 4;
    }
    return 0;
}

static void add_escape(struct buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    switch (c) {
    case '"':
        buf_add(out, SLICE_OF("\\\""));
        return;
    case '\\':
        buf_add(out, SLICE_OF("\\\\"));
        return;
    case '\n':
        buf_add(out, SLICE_OF("\\n"));
        return;
    case '\r':
        buf_add(out, SLICE_OF("\\r"));
        return;
    case '\t':
        buf_add(out, SLICE_OF("\\t"));
        return;
    default: {
        const char text[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        buf_add(out, (struct slice){.data = text, .len = sizeof text});
        return;
    }
    }
}

/* Writes one character that is not plain; returns how many bytes it took, and notes if it had to be
 * replaced. */
static size_t add_odd(struct buf *out, const unsigned char *s, size_t len, bool *is_exact)
{
    if (s[0] < 0x80) {
        add_escape(out, s[0]);
        return 1;
    }
    const size_t length = utf8_length(s, len);
    if (length == 0) {
        buf_add(out, SLICE_OF("\\ufffd"));
        *is_exact = false;
        return 1;
    }
    buf_add(out, (struct slice){.data = (const char *)s, .len = length});
    return length;
}

bool json_add_string(struct buf *out, struct slice text)
{
    const unsigned char *s = (const unsigned char *)text.data;
    bool is_exact = true;
    size_t at = 0;
    buf_add_char(out, '"');
    while (at < text.len) {
        const size_t plain = plain_length(s + at, text.len - at);
        buf_add(out, (struct slice){.data = text.data + at, .len = plain});
        at += plain;
        if (at < text.len)
            at += add_odd(out, s + at, text.len - at, &is_exact);
    }
    buf_add_char(out, '"');
    return is_exact;
}

void json_add_bytes(struct buf *out, struct slice text)
{
    const unsigned char *s = (const unsigned char *)text.data;
    buf_add_char(out, '"');
    for (size_t at = 0; at < text.len;) {
        const size_t plain = plain_length(s + at, text.len - at);
        buf_add(out, (struct slice){.data = text.data + at, .len = plain});
        at += plain;
        if (at == text.len)
            break;
        if (s[at] < 0x80)
            add_escape(out, s[at]);
        else
            buf_add_char(out, text.data[at]);
        at++;
    }
    buf_add_char(out, '"');
}

/* The number of valid UTF-8 bytes from there on. */
static size_t good_length(struct slice text, size_t from)
{
    size_t at = from;
    while (at < text.len) {
        const size_t length = utf8_length((const unsigned char *)text.data + at, text.len - at);
        if (length == 0)
            break;
        at += length;
    }
    return at - from;
}

bool json_add_clean(struct buf *out, struct slice json)
{
    bool is_exact = true;
    for (size_t at = 0; at < json.len; at++) {
        const size_t good = good_length(json, at);
        buf_add(out, (struct slice){.data = json.data + at, .len = good});
        at += good;
        if (at < json.len) {
            buf_add(out, SLICE_OF("\xEF\xBF\xBD"));
            is_exact = false;
        }
    }
    return is_exact;
}

bool json_add_plain(struct buf *out, struct yyjson_val *value)
{
    if (yyjson_is_raw(value)) {
        buf_add(out, (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)});
        return true;
    }
    const struct slice text = {.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    if (!yyjson_is_str(value) ||
        plain_length((const unsigned char *)text.data, text.len) < text.len)
        return false;
    buf_add_char(out, '"');
    buf_add(out, text);
    buf_add_char(out, '"');
    return true;
}

static bool needs_comma(const struct buf *out)
{
    if (out->len == 0)
        return false;
    const char last = out->data[out->len - 1];
    return last != '{' && last != '[' && last != ':';
}

static void add_comma(struct buf *out)
{
    if (needs_comma(out))
        buf_add_char(out, ',');
}

void json_open(struct buf *out, char bracket)
{
    add_comma(out);
    buf_add_char(out, bracket);
}

void json_close(struct buf *out, char bracket)
{
    buf_add_char(out, bracket);
}

void json_item(struct buf *out)
{
    add_comma(out);
}

void json_add_name(struct buf *out, struct slice name)
{
    char *const start = buf_reserve(out, name.len + 4);
    if (start == NULL)
        return;
    char *at = start;
    if (needs_comma(out))
        *at++ = ',';
    *at++ = '"';
    memcpy(at, name.data, name.len);
    at += name.len;
    *at++ = '"';
    *at++ = ':';
    buf_commit(out, (size_t)(at - start));
}

void json_bool(struct buf *out, const char *name, bool value)
{
    json_member(out, name);
    buf_add(out, value ? SLICE_OF("true") : SLICE_OF("false"));
}

void json_null(struct buf *out, const char *name)
{
    json_member(out, name);
    buf_add(out, SLICE_OF("null"));
}

void json_seconds(struct buf *out, const char *name, uint64_t milliseconds)
{
    json_member(out, name);
    buf_add_u64(out, milliseconds / 1000);
    const unsigned rest = (unsigned)(milliseconds % 1000);
    if (rest == 0)
        return;
    const char digits[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                           (char)('0' + rest % 10)};
    size_t len = sizeof digits;
    while (digits[len - 1] == '0')
        len--;
    buf_add(out, (struct slice){.data = digits, .len = len});
}

void json_id(struct buf *out, const char *name, uint64_t id)
{
    json_member(out, name);
    buf_add_char(out, '"');
    buf_add_u64(out, id);
    buf_add_char(out, '"');
}

void json_time(struct buf *out, const char *name, int64_t wall_ms)
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm date;
    char text[32];
    gmtime_r(&seconds, &date);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
    json_member(out, name);
    buf_addf(out, "\"%s.%03dZ\"", text, (int)(wall_ms % 1000));
}

void json_hex(struct buf *out, const char *name, const uint8_t *bytes, size_t count)
{
    static const char hex[] = "0123456789abcdef";
    json_member(out, name);
    buf_add_char(out, '"');
    for (size_t i = 0; i < count; i++) {
        buf_add_char(out, hex[bytes[i] >> 4]);
        buf_add_char(out, hex[bytes[i] & 15]);
    }
    buf_add_char(out, '"');
}

void json_base64(struct buf *out, const char *name, struct slice bytes)
{
    const int variant = sodium_base64_VARIANT_ORIGINAL;
    const size_t room = sodium_base64_encoded_len(bytes.len, variant);
    json_member(out, name);
    buf_add_char(out, '"');
    char *place = buf_reserve(out, room);
    if (place != NULL) {
        (void)sodium_bin2base64(place, room, (const unsigned char *)bytes.data, bytes.len, variant);
        buf_commit(out, room - 1); /* without the NUL */
    }
    buf_add_char(out, '"');
}
