#include "store/redis/redis_body.h"

#include "base/assert.h"
#include "proto/base64.h"
#include "proto/json_out.h"
#include "store/redis/redis_reply.h"

#include <sodium.h>
#include <stdlib.h>
#include <yyjson.h>

/* The server's clock may be off by some hours, and it deletes only what everybody has forgotten. */
#define LIFETIME_GRACE_MS INT64_C(86400000)
/* Bytes that are not UTF-8 are an object with this member. */
#define BASE64_MEMBER "base64"

static bool is_time(enum column_type type)
{
    return type == COLUMN_TIME || type == COLUMN_TIME_OR_0;
}

static bool is_json(enum column_type type)
{
    return type == COLUMN_STATS || type == COLUMN_TALLY || type == COLUMN_NOTES;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void add_integer(struct buf *out, enum column_type type, int64_t number)
{
    if (type == COLUMN_U64)
        buf_add_u64(out, (uint64_t)number);
    else
        buf_addf(out, "%lld", (long long)number);
}

static void add_hex(struct buf *out, struct slice bytes)
{
    char *const place = buf_reserve(out, 2 * bytes.len + 1);
    if (place == NULL)
        return;
    (void)sodium_bin2hex(place, 2 * bytes.len + 1, (const uint8_t *)bytes.data, bytes.len);
    buf_commit(out, 2 * bytes.len);
}

void body_add_name(struct buf *out, enum record_kind kind, const struct row_value *values)
{
    const struct row_table *const table = &row_tables[kind];
    for (size_t i = 0; i < table->key_count; i++) {
        const enum column_type type = table->columns[i].type;
        if (i > 0)
            buf_add_char(out, ':');
        if (column_is_integer(type))
            add_integer(out, type, values[i].integer);
        else if (type == COLUMN_KEY)
            add_hex(out, values[i].bytes);
        else
            buf_add(out, values[i].bytes);
    }
}

/* A time that makes no sense is no time. One that happens to be stored as 0, which would mean none, is a millisecond
 * late. */
static bool store_time(const struct column *column, int64_t moved_ms, int64_t *time)
{
    const bool is_none = column->type == COLUMN_TIME_OR_0 && *time == 0;
    if (is_none)
        return true;
    if (*time < 0 || *time > ROW_TIME_MAX)
        return false;
    *time -= moved_ms;
    if (column->type == COLUMN_TIME_OR_0 && *time == 0)
        *time = 1;
    return true;
}

static void add_bytes(struct buf *out, const char *name, struct slice bytes)
{
    const size_t len = out->len;
    json_member(out, name);
    if (json_add_string(out, bytes))
        return;
    out->len = len;
    json_member(out, name);
    json_open(out, '{');
    json_base64(out, BASE64_MEMBER, bytes);
    json_close(out, '}');
}

static void add_column(struct buf *out, const struct column *column, const struct row_value *value,
                       int64_t moved_ms)
{
    int64_t number = value->integer;
    if (value->type == VALUE_NULL)
        return;
    if (is_time(column->type) && !store_time(column, moved_ms, &number))
        return;
    if (column_is_integer(column->type)) {
        json_member(out, column->name);
        add_integer(out, column->type, number);
    } else if (column->type == COLUMN_KEY || column->type == COLUMN_KEY_OR_NONE) {
        json_hex(out, column->name, (const uint8_t *)value->bytes.data, value->bytes.len);
    } else if (is_json(column->type)) {
        json_raw(out, column->name, value->bytes);
    } else {
        add_bytes(out, column->name, value->bytes);
    }
}

void body_add(struct buf *out, enum record_kind kind, const struct row_value *values,
              int64_t moved_ms)
{
    const struct row_table *const table = &row_tables[kind];
    json_open(out, '{');
    for (size_t i = 0; i < table->count; i++)
        add_column(out, &table->columns[i], &values[i], moved_ms);
    json_close(out, '}');
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Where decoded values go: never more bytes than the JSON has. */
struct room {
    char *next;
    size_t left;
};

static struct row_value no_value(void)
{
    return (struct row_value){.type = VALUE_NULL};
}

static struct row_value take(struct room *room, enum value_type type, size_t len)
{
    const struct row_value value = {.type = type, .bytes = {.data = room->next, .len = len}};
    room->next += len;
    room->left -= len;
    return value;
}

static struct row_value read_integer(const struct column *column, yyjson_val *item,
                                     int64_t moved_ms)
{
    if (!yyjson_is_int(item))
        return no_value();
    int64_t number = yyjson_is_uint(item) ? (int64_t)yyjson_get_uint(item) : yyjson_get_sint(item);
    const bool is_none = column->type == COLUMN_TIME_OR_0 && number == 0;
    if (is_time(column->type) && !is_none) {
        if (number < -ROW_TIME_MAX || number > 2 * ROW_TIME_MAX)
            return no_value();
        number += moved_ms;
        if (number < 0)
            number = 0;
    }
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value read_hex(yyjson_val *item, struct room *room)
{
    size_t len = 0;
    if (!yyjson_is_str(item) ||
        sodium_hex2bin((uint8_t *)room->next, room->left, yyjson_get_str(item),
                       yyjson_get_len(item), NULL, &len, NULL) != 0)
        return no_value();
    return take(room, VALUE_BYTES, len);
}

static struct row_value read_json(yyjson_val *item, struct room *room)
{
    size_t len = 0;
    char *const text = yyjson_val_write(item, 0, &len);
    const bool fits = text != NULL && len <= room->left;
    if (fits)
        memcpy(room->next, text, len);
    free(text);
    return fits ? take(room, VALUE_TEXT, len) : no_value();
}

static struct row_value read_base64(yyjson_val *item, struct room *room)
{
    struct base64 reader;
    size_t len = 0;
    size_t count = 0;
    if (!yyjson_is_str(item))
        return no_value();
    base64_open(&reader, (struct slice){.data = yyjson_get_str(item), .len = yyjson_get_len(item)});
    while (room->left - len >= 3 &&
           (count = base64_read(&reader, (uint8_t *)room->next + len, room->left - len)) > 0)
        len += count;
    return base64_is_good(&reader) ? take(room, VALUE_BYTES, len) : no_value();
}

/* What rows of an earlier version do not have, and what it would have been in them. */
static struct row_value default_of(const struct column *column)
{
    if (strcmp(column->name, "adoptions") == 0 || strcmp(column->name, "bad") == 0)
        return (struct row_value){.type = VALUE_INTEGER, .integer = 0};
    return no_value();
}

static struct row_value read_column(const struct column *column, yyjson_val *item,
                                    struct room *room, int64_t moved_ms)
{
    if (item == NULL)
        return default_of(column);
    if (column_is_integer(column->type))
        return read_integer(column, item, moved_ms);
    if (column->type == COLUMN_KEY || column->type == COLUMN_KEY_OR_NONE)
        return read_hex(item, room);
    if (is_json(column->type))
        return read_json(item, room);
    if (yyjson_is_obj(item))
        return read_base64(yyjson_obj_get(item, BASE64_MEMBER), room);
    if (!yyjson_is_str(item))
        return no_value();
    return (struct row_value){.type = VALUE_BYTES,
                              .bytes = {.data = yyjson_get_str(item), .len = yyjson_get_len(item)}};
}

void body_read(struct redis_body *body, struct slice json, enum record_kind kind, int64_t moved_ms)
{
    const struct row_table *const table = &row_tables[kind];
    struct room room = {.left = json.len + 64};
    body->bytes = room.next = malloc(room.left);
    ASSERT(body->bytes != NULL);
    body->doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const object = yyjson_doc_get_root(body->doc);
    for (size_t i = 0; i < table->count; i++)
        body->values[i] = read_column(
            &table->columns[i], yyjson_obj_get(object, table->columns[i].name), &room, moved_ms);
}

void body_add_score(struct redis_body *body, enum record_kind kind, const struct redis_reply *score)
{
    const struct row_table *const table = &row_tables[kind];
    const bool has_score = score != NULL && score->type == REPLY_STRING;
    const int64_t more = has_score ? strtoll(score->bytes, NULL, 10) : 0;
    for (size_t i = 0; i < table->count && kind == RECORD_FLIGHT && more > 0; i++) {
        struct row_value *const value = &body->values[i];
        if (strcmp(table->columns[i].name, "adoptions") == 0 && value->type == VALUE_INTEGER)
            value->integer = value->integer + more < UINT8_MAX ? value->integer + more : UINT8_MAX;
    }
}

void body_close(struct redis_body *body)
{
    yyjson_doc_free(body->doc);
    free(body->bytes);
}

/* ---- expiry ------------------------------------------------------------------------------ */

const struct row_value *body_value(enum record_kind kind, const struct row_value *values,
                                   const char *name)
{
    const struct row_table *const table = &row_tables[kind];
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &values[i];
    UNREACHABLE();
}

/* As the condition of its table says. */
static bool is_open(enum record_kind kind, const struct row_value *values)
{
    if (kind == RECORD_ATTEMPT)
        return body_value(kind, values, "closed")->integer == 0;
    if (kind != RECORD_REQUEST)
        return false;
    const struct slice state = body_value(kind, values, "state")->bytes;
    return !slice_equals(state, SLICE_OF("solved")) && !slice_equals(state, SLICE_OF("failed"));
}

/* Rows that expire by the day are few, and no server's clock may take them. */
static bool has_milliseconds(enum record_kind kind)
{
    return row_tables[kind].expiry.unit_ms == 1;
}

struct body_expiry body_expiry(enum record_kind kind, const struct row_value *values,
                               int64_t moved_ms)
{
    const char *const column = row_tables[kind].expiry.column;
    struct body_expiry expiry = {.has_time = column != NULL};
    if (column == NULL)
        return expiry;
    expiry.is_open = is_open(kind, values);
    expiry.time = body_value(kind, values, column)->integer;
    if (has_milliseconds(kind) && expiry.time >= 0 && expiry.time <= ROW_TIME_MAX)
        expiry.time -= moved_ms;
    return expiry;
}

int64_t body_expired_until(enum record_kind kind, int64_t wall_ms, int64_t moved_ms)
{
    const int64_t until = row_expired_until(&row_tables[kind].expiry, wall_ms);
    return has_milliseconds(kind) ? until - moved_ms : until;
}

int64_t body_lifetime(enum record_kind kind, const struct body_expiry *expiry, int64_t wall_ms,
                      int64_t moved_ms)
{
    if (!expiry->has_time || expiry->is_open || !has_milliseconds(kind) ||
        expiry->time > ROW_TIME_MAX)
        return 0;
    const int64_t rest = expiry->time - body_expired_until(kind, wall_ms, moved_ms);
    return (rest > 0 ? rest : 0) + LIFETIME_GRACE_MS;
}
