#include "sys/log_escape.h"

#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 character at the start of text, or 0 if it is invalid; *code becomes the
 * character. */
static size_t decode(struct slice text, uint32_t *code)
{
    const unsigned char *const s = (const unsigned char *)text.data;
    /* RFC 3629: lead byte ranges, and the shortest character each length may hold. */
    const size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0 || len > text.len || s[0] > 0xf4)
        return 0;
    uint32_t sum = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        sum = sum << 6 | (s[i] & 0x3fu);
    }
    if (sum < least[len] || sum > 0x10ffff || (sum >= 0xd800 && sum <= 0xdfff))
        return 0;
    *code = sum;
    return len;
}

/* C0, DEL and C1 controls, line and paragraph separators, and characters that reorder text (RFC
 * 3454 C.8). */
static bool is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x206f) || code == 0x200e || code == 0x200f || code == 0xfeff;
}

/* The letter of a short JSON escape such as \n; 0 if the character has none. */
static char short_escape(uint32_t code)
{
    switch (code) {
    case '"':
    case '\\':
        return (char)code;
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

size_t log_escape_next(struct slice text, size_t *at, char out[LOG_ESCAPE_MAX])
{
    uint32_t code = 0;
    const struct slice rest = slice_skip(text, *at);
    const size_t len = decode(rest, &code);
    if (len == 0) {
        (*at)++;
        return (size_t)snprintf(out, LOG_ESCAPE_MAX, "\\\\x%02x", (unsigned char)rest.data[0]);
    }
    *at += len;
    const char short_form = short_escape(code);
    if (short_form != 0) {
        out[0] = '\\';
        out[1] = short_form;
        return 2;
    }
    if (is_harmful(code))
        return (size_t)snprintf(out, LOG_ESCAPE_MAX, "\\u%04x", (unsigned)code);
    memcpy(out, rest.data, len);
    return len;
}

bool log_is_bare(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '=')
            return false;
    }
    return text.len > 0;
}
