#include "proto/base64.h"

#include "base/assert.h"

/* A letter of the alphabet has this bit set in LETTERS, with its value below it. */
#define IS_LETTER 0x40U
/* The sum of the four IS_LETTER bits when four letters are put together without masking them. */
#define FOUR_LETTERS ((IS_LETTER << 18) + (IS_LETTER << 12) + (IS_LETTER << 6) + IS_LETTER)

static const uint8_t LETTERS[256] = {
    ['A'] = 0x40, ['B'] = 0x41, ['C'] = 0x42, ['D'] = 0x43, ['E'] = 0x44, ['F'] = 0x45,
    ['G'] = 0x46, ['H'] = 0x47, ['I'] = 0x48, ['J'] = 0x49, ['K'] = 0x4a, ['L'] = 0x4b,
    ['M'] = 0x4c, ['N'] = 0x4d, ['O'] = 0x4e, ['P'] = 0x4f, ['Q'] = 0x50, ['R'] = 0x51,
    ['S'] = 0x52, ['T'] = 0x53, ['U'] = 0x54, ['V'] = 0x55, ['W'] = 0x56, ['X'] = 0x57,
    ['Y'] = 0x58, ['Z'] = 0x59, ['a'] = 0x5a, ['b'] = 0x5b, ['c'] = 0x5c, ['d'] = 0x5d,
    ['e'] = 0x5e, ['f'] = 0x5f, ['g'] = 0x60, ['h'] = 0x61, ['i'] = 0x62, ['j'] = 0x63,
    ['k'] = 0x64, ['l'] = 0x65, ['m'] = 0x66, ['n'] = 0x67, ['o'] = 0x68, ['p'] = 0x69,
    ['q'] = 0x6a, ['r'] = 0x6b, ['s'] = 0x6c, ['t'] = 0x6d, ['u'] = 0x6e, ['v'] = 0x6f,
    ['w'] = 0x70, ['x'] = 0x71, ['y'] = 0x72, ['z'] = 0x73, ['0'] = 0x74, ['1'] = 0x75,
    ['2'] = 0x76, ['3'] = 0x77, ['4'] = 0x78, ['5'] = 0x79, ['6'] = 0x7a, ['7'] = 0x7b,
    ['8'] = 0x7c, ['9'] = 0x7d, ['+'] = 0x7e, ['-'] = 0x7e, ['/'] = 0x7f, ['_'] = 0x7f,
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool ends_with_nocase(struct slice s, struct slice end)
{
    if (s.len < end.len)
        return false;
    return slice_equals_nocase((struct slice){s.data + s.len - end.len, end.len}, end);
}

void base64_open(struct base64 *reader, struct slice text)
{
    *reader = (struct base64){.rest = text};
    while (text.len > 0 && is_space(text.data[0]))
        text = (struct slice){text.data + 1, text.len - 1};
    if (text.len < 5 || !slice_equals_nocase((struct slice){text.data, 5}, SLICE_OF("data:")))
        return;
    /* RFC 2397; a media type is short, so a far comma belongs to no prefix. */
    const char *const comma = memchr(text.data, ',', text.len < 256 ? text.len : 256);
    const size_t prefix = comma == NULL ? 0 : (size_t)(comma - text.data);
    if (!ends_with_nocase((struct slice){text.data, prefix}, SLICE_OF(";base64")))
        reader->is_bad = true;
    else
        reader->rest = (struct slice){comma + 1, text.len - prefix - 1};
}

/* Decodes the run of whole groups of plain letters, which is nearly everything. */
static size_t read_groups(struct base64 *reader, uint8_t *out, size_t room)
{
    const uint8_t *at = (const uint8_t *)reader->rest.data;
    size_t groups = reader->rest.len / 4 < room / 3 ? reader->rest.len / 4 : room / 3;
    uint8_t *to = out;
    for (; groups > 0; groups--, at += 4, to += 3) {
        const uint32_t a = LETTERS[at[0]];
        const uint32_t b = LETTERS[at[1]];
        const uint32_t c = LETTERS[at[2]];
        const uint32_t d = LETTERS[at[3]];
        if ((a & b & c & d & IS_LETTER) == 0)
            break;
        const uint32_t bits = (a << 18) + (b << 12) + (c << 6) + d - FOUR_LETTERS;
        to[0] = (uint8_t)(bits >> 16);
        to[1] = (uint8_t)(bits >> 8);
        to[2] = (uint8_t)bits;
    }
    const size_t used = (size_t)(at - (const uint8_t *)reader->rest.data);
    reader->rest = (struct slice){reader->rest.data + used, reader->rest.len - used};
    return (size_t)(to - out);
}

/* Skips any amount of white space in one go: a body may consist of nothing else, and one by one it
 * would take eight times as long as letters. */
static void skip_space(struct base64 *reader)
{
    size_t at = 0;
    while (at < reader->rest.len && is_space(reader->rest.data[at]))
        at++;
    reader->rest = (struct slice){reader->rest.data + at, reader->rest.len - at};
}

/* Decodes one character of a group that is interrupted by white space or padding. */
static size_t read_char(struct base64 *reader, uint8_t *out)
{
    const char c = reader->rest.data[0];
    const uint32_t letter = LETTERS[(unsigned char)c];
    reader->rest = (struct slice){reader->rest.data + 1, reader->rest.len - 1};
    if (is_space(c)) {
        skip_space(reader);
        return 0;
    }
    if (c == '=' && reader->held_chars >= 2 && reader->held_chars + reader->padding < 4) {
        reader->padding++;
        return 0;
    }
    if (letter == 0 || reader->padding > 0) {
        reader->is_bad = true;
        return 0;
    }
    reader->held = reader->held << 6 | (letter - IS_LETTER);
    if (++reader->held_chars < 4)
        return 0;
    out[0] = (uint8_t)(reader->held >> 16);
    out[1] = (uint8_t)(reader->held >> 8);
    out[2] = (uint8_t)reader->held;
    reader->held = 0;
    reader->held_chars = 0;
    return 3;
}

/* Decodes an incomplete last group: two letters make one byte, three make two. */
static size_t read_last(struct base64 *reader, uint8_t *out)
{
    const uint32_t bits = reader->held << (6 * (4 - reader->held_chars));
    const unsigned chars = reader->held_chars;
    reader->held_chars = 0;
    if (chars == 1)
        reader->is_bad = true;
    if (chars < 2)
        return 0;
    out[0] = (uint8_t)(bits >> 16);
    out[1] = (uint8_t)(bits >> 8);
    return chars - 1;
}

size_t base64_read(struct base64 *reader, uint8_t *out, size_t room)
{
    ASSERT(room >= 3);
    size_t len = 0;
    while (reader->rest.len > 0 && room - len >= 3 && !reader->is_bad) {
        if (reader->held_chars == 0)
            len += read_groups(reader, out + len, room - len);
        if (reader->rest.len > 0 && room - len >= 3)
            len += read_char(reader, out + len);
    }
    if (reader->rest.len == 0 && room - len >= 3 && !reader->is_bad && reader->held_chars > 0)
        len += read_last(reader, out + len);
    return reader->is_bad ? 0 : len;
}

bool base64_is_good(const struct base64 *reader)
{
    return !reader->is_bad && reader->rest.len == 0 && reader->held_chars == 0;
}
