#include "fuzz.h"

#include <stdlib.h>
#include <yyjson.h>

uint8_t input_byte(struct input *input)
{
    if (input->len == 0)
        return 0;
    input->len--;
    return *input->data++;
}

uint64_t input_number(struct input *input, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)input_byte(input) << (8 * i);
    return number;
}

unsigned input_below(struct input *input, unsigned bound)
{
    return input_byte(input) % bound;
}

bool input_flag(struct input *input)
{
    return (input_byte(input) & 1) != 0;
}

struct slice input_take(struct input *input, size_t len)
{
    if (len > input->len)
        len = input->len;
    const struct slice taken = {.data = len == 0 ? "" : (const char *)input->data, .len = len};
    input->data += len;
    input->len -= len;
    return taken;
}

struct slice input_line(struct input *input)
{
    size_t len = 0;
    while (len < input->len && input->data[len] != '\n')
        len++;
    const struct slice line = input_take(input, len);
    (void)input_byte(input);
    return line;
}

struct slice input_rest(struct input *input)
{
    return input_take(input, input->len);
}

char *exact_copy(struct slice bytes)
{
    char *copy = malloc(bytes.len == 0 ? 1 : bytes.len);
    HOLDS(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

bool slice_is_within(struct slice part, struct slice whole)
{
    if (part.len == 0)
        return true;
    /* Compared as numbers, because they may belong to different objects. */
    const uintptr_t at = (uintptr_t)part.data;
    const uintptr_t start = (uintptr_t)whole.data;
    return at >= start && at - start <= whole.len && part.len <= whole.len - (at - start);
}

bool slice_is_printable(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < ' ' || text.data[i] > '~')
            return false;
    return text.len > 0;
}

static yyjson_doc *read_json(struct slice text)
{
    return yyjson_read(text.data, text.len, YYJSON_READ_NOFLAG);
}

bool json_is_valid(struct slice text)
{
    yyjson_doc *doc = read_json(text);
    yyjson_doc_free(doc);
    return doc != NULL;
}

bool json_has_string(struct slice text, const char *name, struct slice value)
{
    yyjson_doc *doc = read_json(text);
    yyjson_val *found = yyjson_obj_get(yyjson_doc_get_root(doc), name);
    const struct slice string = {.data = yyjson_get_str(found), .len = yyjson_get_len(found)};
    const bool has = yyjson_is_str(found) && slice_equals(string, value);
    yyjson_doc_free(doc);
    return has;
}

/* Length of the character by decoding its number, which is another way than the gateway's own. */
static size_t character_length(const unsigned char *s, size_t len)
{
    if (s[0] < 0x80)
        return 1;
    const size_t wanted = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0xc0 || s[0] > 0xf7 || wanted > len)
        return 0;
    uint32_t number = s[0] & (0x7fU >> wanted);
    for (size_t i = 1; i < wanted; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        number = number << 6 | (s[i] & 0x3fU);
    }
    const bool is_surrogate = number >= 0xd800 && number <= 0xdfff;
    return number < least[wanted] || number > 0x10ffff || is_surrogate ? 0 : wanted;
}

void utf8_repair(struct slice bytes, struct buf *out)
{
    for (size_t at = 0; at < bytes.len;) {
        const size_t len = character_length((const unsigned char *)bytes.data + at, bytes.len - at);
        if (len == 0)
            buf_add(out, SLICE_OF("\xef\xbf\xbd"));
        else
            buf_add(out, (struct slice){.data = bytes.data + at, .len = len});
        at += len == 0 ? 1 : len;
    }
}
