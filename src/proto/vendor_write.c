#include "proto/vendor_write.h"

#include "base/assert.h"
#include "proto/method.h"
#include "proto/pack.h"
#include "proto/params.h"
#include "proto/vendor.h"

#include <sodium.h>

#define BOUNDARY_HASH_BYTES 16
#define FILENAME_MAX_CHARS 64

static const struct slice FORM_TYPE = {
    .data = "application/x-www-form-urlencoded",
    .len = sizeof("application/x-www-form-urlencoded") - 1,
};

/* RFC 3986 2.3: letters, digits, '-', '.', '_' and '~', a bit for each byte. */
static bool is_unreserved(unsigned char c)
{
    static const uint32_t bits[8] = {0, 0x03ff6000, 0x87fffffe, 0x47fffffe};
    return (bits[c >> 5] >> (c & 31) & 1) != 0;
}

/* Are these eight bytes all letters and digits? A base64 image has a million bytes, and checking
 * them one by one would take longer than everything else. The high bit of each sum tells whether
 * its byte has reached a bound; bytes with their own high bit set do not qualify. */
static bool is_alphanumeric_word(const char *s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones << 7;
    uint64_t word;
    memcpy(&word, s, sizeof word);
    const uint64_t bytes = word & ~high;
    const uint64_t lower = bytes | ones * 0x20;
    const uint64_t digits = (bytes + ones * (0x80 - '0')) & ~(bytes + ones * (0x7f - '9'));
    const uint64_t letters = (lower + ones * (0x80 - 'a')) & ~(lower + ones * (0x7f - 'z'));
    return ((digits | letters) & ~word & high) == high;
}

static size_t unreserved_length(struct slice text, size_t from)
{
    size_t at = from;
    while (at + sizeof(uint64_t) <= text.len && is_alphanumeric_word(text.data + at))
        at += sizeof(uint64_t);
    while (at < text.len && is_unreserved((unsigned char)text.data[at]))
        at++;
    return at - from;
}

/* Each byte is written as itself or as %XX, so no value can end itself early. */
static void add_encoded(struct buf *out, struct slice text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t at = 0; at < text.len; at++) {
        const size_t plain = unreserved_length(text, at);
        buf_add(out, (struct slice){.data = text.data + at, .len = plain});
        at += plain;
        if (at == text.len)
            return;
        const unsigned char c = (unsigned char)text.data[at];
        const char escape[] = {'%', hex[c >> 4], hex[c & 15]};
        buf_add(out, (struct slice){.data = escape, .len = sizeof escape});
    }
}

static void add_pair(struct buf *out, struct slice name, struct slice value)
{
    if (out->len > 0)
        buf_add_char(out, '&');
    add_encoded(out, name);
    buf_add_char(out, '=');
    add_encoded(out, value);
}

/* ---- multipart --------------------------------------------------------------------------- */

struct boundary {
    char text[2 * BOUNDARY_HASH_BYTES + 1];
};

/* The name is part of a header, so any byte that could end the quotes or the line is escaped the
 * way browsers do it. */
static void add_part_name(struct buf *out, struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        const unsigned char c = (unsigned char)name.data[i];
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\' || c == '%')
            add_encoded(out, (struct slice){.data = name.data + i, .len = 1});
        else
            buf_add_char(out, (char)c);
    }
}

/* The vendor looks at the extension, so the caller's file name is kept as far as it is harmless. */
static void add_filename(struct buf *out, struct slice filename)
{
    /* Keeps the end, which holds the extension. */
    if (filename.len > FILENAME_MAX_CHARS) {
        filename.data += filename.len - FILENAME_MAX_CHARS;
        filename.len = FILENAME_MAX_CHARS;
    }
    if (filename.len == 0)
        buf_add(out, SLICE_OF("file"));
    for (size_t i = 0; i < filename.len; i++) {
        const unsigned char c = (unsigned char)filename.data[i];
        buf_add_char(out, is_unreserved(c) && c != '~' ? (char)c : '_');
    }
}

static void add_part(struct buf *out, const struct boundary *boundary, const struct param *param)
{
    buf_add(out, SLICE_OF("--"));
    buf_add(out, slice_from(boundary->text));
    buf_add(out, SLICE_OF("\r\nContent-Disposition: form-data; name=\""));
    add_part_name(out, param->name);
    if (slice_is_given(param->filename)) {
        buf_add(out, SLICE_OF("\"; filename=\""));
        add_filename(out, param->filename);
        buf_add(out, SLICE_OF("\"\r\nContent-Type: application/octet-stream\r\n\r\n"));
    } else {
        buf_add(out, SLICE_OF("\"\r\n\r\n"));
    }
    buf_add(out, param->value);
    buf_add(out, SLICE_OF("\r\n"));
}

static bool holds(struct slice text, const struct boundary *boundary)
{
    const size_t len = strlen(boundary->text);
    return text.len >= len && memmem(text.data, text.len, boundary->text, len) != NULL;
}

/* The boundary is a digest of the content it separates, so nobody can write content that contains
 * it; checking for it anyway costs little. */
static void choose_boundary(const struct param *items, size_t count, struct boundary *boundary)
{
    for (uint8_t round = 0;; round++) {
        ASSERT(round < UINT8_MAX);
        crypto_generichash_state state;
        uint8_t digest[BOUNDARY_HASH_BYTES];
        (void)crypto_generichash_init(&state, NULL, 0, sizeof digest);
        (void)crypto_generichash_update(&state, &round, 1);
        for (size_t i = 0; i < count; i++)
            (void)crypto_generichash_update(&state, (const uint8_t *)items[i].value.data,
                                            items[i].value.len);
        (void)crypto_generichash_final(&state, digest, sizeof digest);
        (void)sodium_bin2hex(boundary->text, sizeof boundary->text, digest, sizeof digest);
        bool is_taken = false;
        for (size_t i = 0; i < count; i++)
            is_taken = is_taken || holds(items[i].value, boundary);
        if (!is_taken)
            return;
    }
}

static void write_multipart(const struct param *items, size_t count, struct buf *body,
                            struct buf *content_type)
{
    struct boundary boundary;
    choose_boundary(items, count, &boundary);
    for (size_t i = 0; i < count; i++)
        add_part(body, &boundary, &items[i]);
    buf_add(body, SLICE_OF("--"));
    buf_add(body, slice_from(boundary.text));
    buf_add(body, SLICE_OF("--\r\n"));
    buf_add(content_type, SLICE_OF("multipart/form-data; boundary="));
    buf_add(content_type, slice_from(boundary.text));
}

static void write_form(const struct param *items, size_t count, struct buf *body,
                       struct buf *content_type)
{
    for (size_t i = 0; i < count; i++)
        add_pair(body, items[i].name, items[i].value);
    buf_add(content_type, FORM_TYPE);
}

/* ---- the two calls ----------------------------------------------------------------------- */

/* Here sitekey and googlekey are one field (docs/design.md 5.1), but the vendor reads googlekey for
 * userrecaptcha and sitekey for everything else. If a caller gave both, both are sent. */
static struct slice wire_name(const struct params *params, struct slice method,
                              const struct param *param)
{
    const bool is_google = slice_equals(method, SLICE_OF("userrecaptcha"));
    const struct slice right = is_google ? SLICE_OF("googlekey") : SLICE_OF("sitekey");
    const struct slice wrong = is_google ? SLICE_OF("sitekey") : SLICE_OF("googlekey");
    if (!slice_equals(param->name, wrong) || params_find(params, right) != NULL)
        return param->name;
    return right;
}

/* Our own fields come first, then the caller's. Transport fields are not packed, but a letter from
 * an older version might hold one, and the vendor might use a second key or pingback. */
static size_t gather(const struct params *params, struct slice api_key, struct slice pingback,
                     struct param items[PARAMS_MAX + 4], bool *has_file)
{
    size_t count = 0;
    items[count++] = (struct param){.name = SLICE_OF("key"), .value = api_key};
    items[count++] = (struct param){.name = SLICE_OF("json"), .value = SLICE_OF("1")};
    if (slice_is_given(pingback))
        items[count++] = (struct param){.name = SLICE_OF("pingback"), .value = pingback};
    /* Real clients upload, or ask a question, without naming a method (docs/protocol.md 1b). */
    const struct slice method = method_of(params);
    if (slice_is_given(method))
        items[count++] = (struct param){.name = SLICE_OF("method"), .value = method};
    *has_file = false;
    for (size_t i = 0; i < params->count; i++) {
        const struct param *param = &params->items[i];
        if (param_is_transport(param->name) || slice_equals(param->name, SLICE_OF("method")))
            continue;
        *has_file = *has_file || slice_is_given(param->filename);
        items[count] = *param;
        items[count++].name = wire_name(params, method, param);
    }
    return count;
}

int vendor_write_submit(const struct blob *packed, struct slice api_key, struct slice pingback,
                        struct buf *body, struct buf *content_type)
{
    struct params params;
    params_init(&params, (size_t)packed->len + 1);
    int status = params_unpack(&params, packed);
    if (status == 0) {
        struct param items[PARAMS_MAX + 4];
        bool has_file = false;
        const size_t count = gather(&params, api_key, pingback, items, &has_file);
        if (has_file)
            write_multipart(items, count, body, content_type);
        else
            write_form(items, count, body, content_type);
        if (body->is_full || content_type->is_full)
            status = ERR_FULL;
    }
    params_close(&params);
    return status;
}

static struct slice action_of(enum vendor_query query)
{
    switch (query) {
    case QUERY_POLL:
        return SLICE_OF("get");
    case QUERY_REPORT_GOOD:
        return SLICE_OF("reportgood");
    case QUERY_REPORT_BAD:
        return SLICE_OF("reportbad");
    case QUERY_THREADS:
        return SLICE_OF("threadsinfo");
    case QUERY_BALANCE:
        return SLICE_OF("getbalance");
    }
    UNREACHABLE();
}

void vendor_write_query(struct slice api_key, enum vendor_query query, struct slice task_id,
                        struct buf *body)
{
    add_pair(body, SLICE_OF("key"), api_key);
    add_pair(body, SLICE_OF("action"), action_of(query));
    if (slice_is_given(task_id))
        add_pair(body, SLICE_OF("id"), task_id);
    add_pair(body, SLICE_OF("json"), SLICE_OF("1"));
}

const struct vendor_protocol vendor_captchaai = {
    .name = "captchaai",
    .submit_path = "/in.php",
    .query_path = "/res.php",
    .write_submit = vendor_write_submit,
    .write_query = vendor_write_query,
    .read_submit = vendor_read_submit,
    .read_poll = vendor_read_poll,
    .read_probe = vendor_read_probe,
    .read_callback = vendor_read_callback,
};
