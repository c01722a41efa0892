#include "proto/vendor_reply.h"

#define SOLUTION_MAX_BYTES ((size_t)16 * 1024)

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice vendor_trim(struct slice body)
{
    if (slice_starts_with(body, SLICE_OF("\xEF\xBB\xBF"))) {
        body.data += 3;
        body.len -= 3;
    }
    while (body.len > 0 && is_space(body.data[0])) {
        body.data++;
        body.len--;
    }
    while (body.len > 0 && is_space(body.data[body.len - 1]))
        body.len--;
    return body;
}

bool vendor_is_task_id(struct slice text)
{
    if (text.len == 0 || text.len >= TASK_ID_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return true;
}

/* The length of the well-formed UTF-8 sequence at place, by table 3-7 of the Unicode standard; 0 if
 * there is none. */
static size_t utf8_sequence(struct slice text, size_t place)
{
    const unsigned char *byte = (const unsigned char *)text.data + place;
    const size_t left = text.len - place;
    if (byte[0] < 0x80)
        return 1;
    const size_t len = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
    if (byte[0] < 0xC2 || byte[0] > 0xF4 || left < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    const bool is_overlong =
        (byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xF0 && byte[1] < 0x90);
    const bool is_no_character =
        (byte[0] == 0xED && byte[1] > 0x9F) || (byte[0] == 0xF4 && byte[1] > 0x8F);
    return is_overlong || is_no_character ? 0 : len;
}

bool vendor_is_solution(struct slice text)
{
    if (text.len == 0 || text.len > SOLUTION_MAX_BYTES)
        return false;
    for (size_t i = 0; i < text.len;) {
        const unsigned char byte = (unsigned char)text.data[i];
        const size_t len = utf8_sequence(text, i);
        if (len == 0 || byte < 0x20 || byte == 0x7F)
            return false;
        i += len;
    }
    return true;
}
