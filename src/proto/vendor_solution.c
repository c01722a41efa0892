#include "proto/vendor_solution.h"

#include "base/assert.h"
#include "proto/json_out.h"
#include "proto/vendor_reply.h"
#include "proto/vendor_scan.h"
#include "proto/vendor_text.h"

#include <stdlib.h>
#include <yyjson.h>

/* Maximum size of the further members: a whole reply, with room for escapes. */
#define EXTRA_MAX_BYTES (2 * VENDOR_REPLY_MAX_BYTES)

static struct slice scalar_text(yyjson_val *value)
{
    if (yyjson_is_raw(value))
        return (struct slice){.data = yyjson_get_raw(value), .len = yyjson_get_len(value)};
    if (yyjson_is_str(value))
        return (struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    return SLICE_NONE;
}

static void add_json(struct buf *out, yyjson_val *value)
{
    size_t len = 0;
    if (out->is_full || json_add_plain(out, value))
        return;
    char *text = yyjson_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    /* JSON that was read can be written, so only memory can run out; the member must not vanish silently. */
    ASSERT(text != NULL);
    buf_add(out, (struct slice){.data = text, .len = len});
    free(text);
}

/* ---- members ----------------------------------------------------------------------------- */

static void begin_member(struct buf *out)
{
    if (out->data[out->len - 1] != '{')
        buf_add_char(out, ',');
}

/* Writes all members except the status and `request`, which the caller handles, and the one with
 * the value `but`. */
static void add_members_but(struct buf *out, const struct reading *reading, const yyjson_val *but)
{
    yyjson_obj_iter members = yyjson_obj_iter_with(yyjson_doc_get_root(reading->doc));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
        if (yyjson_equals_str(key, "status") || yyjson_equals_str(key, "request"))
            continue;
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (value == but)
            continue;
        begin_member(out);
        add_json(out, key);
        buf_add_char(out, ':');
        add_json(out, value);
    }
}

static void add_members(struct buf *out, const struct reading *reading)
{
    add_members_but(out, reading, NULL);
}

/* Writes an answer in further members as one object. */
static void add_fields(struct buf *out, const struct reading *reading)
{
    buf_add_char(out, '{');
    add_members(out, reading);
    buf_add_char(out, '}');
}

static bool is_in_fields(const struct reading *reading)
{
    return reading->kind == READING_GEETEST || reading->kind == READING_FIELDS;
}

/* The members besides the answer have the same limit as the answer itself. An answer in `result`
 * is none of them, nor are fields that make up the answer. */
static bool is_rest_small(const struct reading *reading)
{
    if (reading->doc == NULL || reading->kind == READING_FIELDS)
        return true;
    struct buf rest;
    buf_init(&rest, SOLUTION_MAX_BYTES);
    buf_add_char(&rest, '{');
    add_members_but(&rest, reading, reading->answer);
    buf_add_char(&rest, '}');
    const bool is_small = !rest.is_full;
    buf_close(&rest);
    return is_small;
}

/* Writes everything besides a text in `request`. `request` comes first if its value is not a string. */
static void add_extra(struct buf *out, const struct reading *reading)
{
    buf_add_char(out, '{');
    if (is_in_fields(reading)) {
        buf_add(out, SLICE_OF("\"request\":"));
        add_fields(out, reading);
    } else if (!yyjson_is_str(reading->answer)) {
        buf_add(out, SLICE_OF("\"request\":"));
        add_json(out, reading->answer);
    }
    add_members(out, reading);
    buf_add_char(out, '}');
}

/* ---- text -------------------------------------------------------------------------------- */

/* Writes the form that the vendor uses in plain replies (docs/protocol.md 1a). */
static void add_geetest(struct buf *out, yyjson_val *root)
{
    static const char *const names[] = {"challenge", "validate", "seccode"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        buf_add(out, slice_from(names[i]));
        buf_add_char(out, ':');
        buf_add(out, scalar_text(yyjson_obj_get(root, names[i])));
    }
}

static bool is_point(yyjson_val *value)
{
    return yyjson_obj_size(value) == 2 && slice_is_given(scalar_text(yyjson_obj_get(value, "x"))) &&
           slice_is_given(scalar_text(yyjson_obj_get(value, "y")));
}

static bool are_points(yyjson_val *list)
{
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items)) != NULL;)
        if (!is_point(item))
            return false;
    return yyjson_arr_size(list) > 0;
}

/* Writes the plain form of points: coordinates:x=39,y=59;x=252,y=72 */
static void add_points(struct buf *out, yyjson_val *list)
{
    const char *before = "coordinates:x=";
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items)) != NULL;) {
        buf_add(out, slice_from(before));
        buf_add(out, scalar_text(yyjson_obj_get(item, "x")));
        buf_add(out, SLICE_OF(",y="));
        buf_add(out, scalar_text(yyjson_obj_get(item, "y")));
        before = ";x=";
    }
}

/* Writes the vendor's plain form of the answer; other objects and arrays are written as JSON. */
static void add_text(struct buf *out, const struct reading *reading)
{
    if (reading->kind == READING_GEETEST)
        add_geetest(out, yyjson_doc_get_root(reading->doc));
    else if (reading->kind == READING_FIELDS)
        add_fields(out, reading);
    else if (slice_is_given(reading->text))
        buf_add(out, reading->text);
    else if (are_points(reading->answer))
        add_points(out, reading->answer);
    else
        add_json(out, reading->answer);
}

static bool is_empty_object(struct slice json)
{
    return slice_equals(json, SLICE_OF("{}"));
}

void reading_solution(const struct reading *reading, struct blob **text, struct blob **extra)
{
    struct buf whole;
    struct buf members;
    buf_init(&whole, SOLUTION_MAX_BYTES + 1);
    buf_init(&members, EXTRA_MAX_BYTES);
    add_text(&whole, reading);
    if (reading->doc != NULL)
        add_extra(&members, reading);
    const struct slice made = buf_slice(&whole);
    const bool has_text = !whole.is_full && vendor_is_solution(made) &&
                          !(reading->kind == READING_FIELDS && is_empty_object(made));
    const bool is_good = has_text && !members.is_full && is_rest_small(reading) &&
                         !scan_is_too_deep(buf_slice(&members));
    const bool has_extra = reading->doc != NULL && !is_empty_object(buf_slice(&members));
    *text = is_good ? blob_new(made) : NULL;
    *extra = is_good && has_extra ? blob_new(buf_slice(&members)) : NULL;
    buf_close(&whole);
    buf_close(&members);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool to_u32(yyjson_val *value, uint32_t *number)
{
    const struct slice text = scalar_text(value);
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
