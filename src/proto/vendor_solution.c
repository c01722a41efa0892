#include "proto/vendor_reply.h"

#include "base/assert.h"

#include <stdlib.h>
#include <yyjson.h>

/* As long as the longest solution: more than that beside it is no answer any client understands. */
#define EXTRA_MAX_BYTES ((size_t)16 * 1024)

static void add_json(struct buf *out, const yyjson_val *value)
{
    size_t len = 0;
    char *text = yyjson_val_write(value, 0, &len);
    /* What was read can be written, so that only memory can be missing; the member must not vanish silently. */
    ASSERT(text != NULL);
    buf_add(out, (struct slice){.data = text, .len = len});
    free(text);
}

static bool is_statement(const struct reading *reading, yyjson_val *key, yyjson_val *value)
{
    return yyjson_equals_str(key, "status") ||
           (value == reading->answer &&
            (yyjson_equals_str(key, "request") || yyjson_equals_str(key, "result")));
}

/* Everything the reply holds besides its statement, as one JSON object; NULL when that is
 * nothing. */
static struct blob *further_members(const struct reading *reading)
{
    struct buf out;
    buf_init(&out, EXTRA_MAX_BYTES);
    buf_add_char(&out, '{');
    yyjson_obj_iter members = yyjson_obj_iter_with(yyjson_doc_get_root(reading->doc));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (is_statement(reading, key, value))
            continue;
        if (out.len > 1)
            buf_add_char(&out, ',');
        add_json(&out, key);
        buf_add_char(&out, ':');
        add_json(&out, value);
    }
    const bool is_empty = out.len == 1;
    buf_add_char(&out, '}');
    struct blob *extra = is_empty || out.is_full ? NULL : blob_new(buf_slice(&out));
    buf_close(&out);
    return extra;
}

/* The form the vendor uses in plain replies (PROTOCOL.md 1a). */
static void add_geetest(struct buf *out, yyjson_val *root)
{
    static const char *const names[] = {"challenge", "validate", "seccode"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        yyjson_val *value = yyjson_obj_get(root, names[i]);
        if (i > 0)
            buf_add_char(out, ',');
        buf_add(out, slice_from(names[i]));
        buf_add_char(out, ':');
        buf_add(out, (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)});
    }
}

static void add_text(struct buf *out, const struct reading *reading)
{
    if (reading->kind == READING_GEETEST)
        add_geetest(out, yyjson_doc_get_root(reading->doc));
    else if (slice_is_given(reading->text))
        buf_add(out, reading->text);
    else
        add_json(out, reading->answer); /* an object or array is handed on as its compact text */
}

void reading_solution(const struct reading *reading, struct blob **text, struct blob **extra)
{
    struct buf out;
    buf_init(&out, EXTRA_MAX_BYTES + 1);
    add_text(&out, reading);
    const bool is_good = !out.is_full && vendor_is_solution(buf_slice(&out));
    *text = is_good ? blob_new(buf_slice(&out)) : NULL;
    *extra = is_good && reading->doc != NULL ? further_members(reading) : NULL;
    buf_close(&out);
}

static bool to_u32(yyjson_val *value, uint32_t *number)
{
    struct slice text = SLICE_NONE;
    if (yyjson_is_raw(value))
        text = (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
    else if (yyjson_is_str(value))
        text = (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    unsigned long long wide = 0;
    if (text.len == 0 || !slice_to_u64(text, &wide) || wide > UINT32_MAX)
        return false;
    *number = (uint32_t)wide;
    return true;
}

bool reading_member_u32(const struct reading *reading, const char *name, uint32_t *value)
{
    if (reading->doc == NULL)
        return false;
    yyjson_val *root = yyjson_doc_get_root(reading->doc);
    yyjson_val *found = yyjson_obj_get(root, name);
    if (found == NULL)
        found = yyjson_obj_get(yyjson_obj_get(root, "request"), name);
    return to_u32(found, value);
}
