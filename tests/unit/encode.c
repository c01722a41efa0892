#include "encode.h"

#include "base/assert.h"

#include <stdlib.h>

bool one_in(struct rand *rand, uint64_t n)
{
    return rand != NULL && rand_below(rand, n) == 0;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

static void add_encoded(struct buf *out, struct slice text, struct rand *rand)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (c == ' ' && one_in(rand, 2))
            buf_add_char(out, '+');
        else if (is_unreserved(c) && !one_in(rand, 10))
            buf_add_char(out, c);
        else if (strchr("/:?@,;!$'()*", c) != NULL && c != '\0' && one_in(rand, 3))
            buf_add_char(out, c); /* allowed as they are, and many clients leave them */
        else
            buf_addf(out, one_in(rand, 2) ? "%%%02x" : "%%%02X", (unsigned)(unsigned char)c);
    }
}

void encode_form(struct buf *out, const struct field *fields, size_t count, struct rand *rand)
{
    buf_reset(out);
    for (size_t i = 0; i < count; i++) {
        ASSERT(!fields[i].is_file);
        if (i > 0 || one_in(rand, 20))
            buf_add_char(out, '&');
        add_encoded(out, fields[i].name, rand);
        if (fields[i].value.len > 0 || !one_in(rand, 4))
            buf_add_char(out, '=');
        add_encoded(out, fields[i].value, rand);
    }
}

static void add_json_string(struct buf *out, struct slice text, struct rand *rand)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || (c < 0x80 && one_in(rand, 30)))
            buf_addf(out, one_in(rand, 2) ? "\\u%04x" : "\\u%04X", (unsigned)c);
        else if (c == '"' || c == '\\' || (c == '/' && one_in(rand, 2)))
            buf_addf(out, "\\%c", c);
        else
            buf_add_char(out, (char)c);
    }
    buf_add_char(out, '"');
}

static void add_blank(struct buf *out, struct rand *rand)
{
    if (one_in(rand, 8))
        buf_add_char(out, "\r\n\t "[rand_below(rand, 4)]);
}

static bool is_number(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.len > 0 && (text.data[0] != '0' || text.len == 1);
}

static bool is_word(struct slice text)
{
    return slice_equals(text, SLICE_OF("true")) || slice_equals(text, SLICE_OF("false"));
}

void encode_json(struct buf *out, const struct field *fields, size_t count, struct rand *rand)
{
    buf_reset(out);
    add_blank(out, rand);
    buf_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        ASSERT(!fields[i].is_file);
        add_blank(out, rand);
        add_json_string(out, fields[i].name, rand);
        buf_add_char(out, ':');
        add_blank(out, rand);
        if ((is_number(fields[i].value) || is_word(fields[i].value)) && one_in(rand, 2))
            buf_add(out, fields[i].value);
        else
            add_json_string(out, fields[i].value, rand);
        if (i + 1 < count)
            buf_add_char(out, ',');
    }
    add_blank(out, rand);
    buf_add_char(out, '}');
}

static void add_part(struct buf *out, const struct field *field, struct rand *rand)
{
    buf_addf(out, "--" ENCODE_BOUNDARY "%s\r\n", one_in(rand, 10) ? " " : "");
    if (one_in(rand, 6))
        buf_addf(out, "Content-Type: text/plain; charset=utf-8\r\n");
    const char *const header = one_in(rand, 4) ? "content-disposition" : "Content-Disposition";
    buf_addf(out, "%s:%sform-data; name=\"", header, one_in(rand, 4) ? "" : " ");
    buf_add(out, field->name);
    buf_addf(out, "\"");
    if (field->is_file)
        buf_addf(out,
                 one_in(rand, 2) ? ";filename=captcha.png" : "; filename=\"my \\\"file\\\".jpg\"");
    if (field->is_file && !one_in(rand, 3))
        buf_addf(out, "\r\nContent-Type: image/png");
    buf_addf(out, "\r\n\r\n");
    buf_add(out, field->value);
    buf_addf(out, "\r\n");
}

void encode_multipart(struct buf *out, const struct field *fields, size_t count, struct rand *rand)
{
    buf_reset(out);
    if (one_in(rand, 10))
        buf_addf(out, "a preamble that nobody reads\r\n");
    for (size_t i = 0; i < count; i++)
        add_part(out, &fields[i], rand);
    buf_addf(out, "--" ENCODE_BOUNDARY "--%s", one_in(rand, 3) ? "" : "\r\n");
    if (one_in(rand, 10))
        buf_addf(out, "\r\nan epilogue");
}

static void touch(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        (void)*(const volatile char *)&s.data[i];
}

int add_exactly(struct params *params, struct slice content_type, struct slice body)
{
    static char *copy;
    free(copy);
    copy = NULL;
    if (params == NULL)
        return 0;
    copy = malloc(body.len == 0 ? 1 : body.len);
    ASSERT(copy != NULL);
    if (body.len > 0)
        memcpy(copy, body.data, body.len);
    const int code = params_add_body(params, content_type, (struct slice){copy, body.len});
    ASSERT(params->count <= PARAMS_MAX);
    ASSERT((code == 0) == (params->mistake[0] == '\0'));
    for (size_t i = 0; i < params->count; i++) {
        touch(params->items[i].name);
        touch(params->items[i].value);
        touch(params->items[i].filename);
    }
    return code;
}

static void mutate_once(struct buf *body, struct rand *rand)
{
    static const char favourites[] = "\r\n-\"\\{}[]:,=&%+;\0 u0";
    if (body->len == 0)
        return;
    const size_t at = (size_t)rand_below(rand, body->len);
    const size_t left = body->len - at;
    const size_t some = 1 + (size_t)rand_below(rand, left < 40 ? left : 40);
    switch (rand_below(rand, 6)) {
    case 0:
        body->data[at] = (char)rand_below(rand, 256);
        break;
    case 1:
        body->data[at] = favourites[rand_below(rand, sizeof(favourites) - 1)];
        break;
    case 2:
        body->data[at] = (char)(body->data[at] ^ (1 << rand_below(rand, 8)));
        break;
    case 3: /* cuts the end */
        body->len = at;
        break;
    case 4: /* takes some out of the middle */
        memmove(body->data + at, body->data + at + some, left - some);
        body->len -= some;
        break;
    case 5: /* repeats some of the middle */
        if (buf_reserve(body, some) == NULL)
            return;
        memmove(body->data + at + some, body->data + at, left);
        buf_commit(body, some);
        break;
    }
}

void mutate(struct buf *body, struct rand *rand)
{
    for (uint64_t times = 1 + rand_below(rand, 4); times > 0; times--)
        mutate_once(body, rand);
}
