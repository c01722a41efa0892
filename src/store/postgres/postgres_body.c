#include "store/postgres/postgres_body.h"

#include "base/assert.h"
#include "proto/json_out.h"
#include "store/postgres/postgres_schema.h"

#include <sodium.h>
#include <yyjson.h>

/* Of the meaning of members; a member that is added does not need a new one. */
#define BODY_VERSION 1
#define BYTES_MAX ((size_t)64 << 20)

/* ---- writing ----------------------------------------------------------------------------- */

/* A text that is not UTF-8 becomes {"hex": "…"}: a strange task id must not be lost, nor block the batch. */
static void add_text(struct buf *out, const char *name, struct slice text)
{
    json_member(out, name);
    const size_t start = out->len;
    if (json_add_string(out, text))
        return;
    out->len = start;
    json_open(out, '{');
    json_hex(out, "hex", (const uint8_t *)text.data, text.len);
    json_close(out, '}');
}

/* What a missing member means. Words have no default of this kind: their order may change. */
static bool is_default(const struct column *column, const struct row_value *value)
{
    if (column->type == COLUMN_U16_OR_NONE)
        return value->integer < 0;
    if (value->type == VALUE_INTEGER)
        return value->integer == 0;
    return value->type == VALUE_NULL || (column->type == COLUMN_STRING && value->bytes.len == 0);
}

static void add_value(struct buf *out, const struct column *column, const struct row_value *value)
{
    if (is_default(column, value))
        return;
    if (column->type == COLUMN_BOOL)
        json_bool(out, column->name, true);
    else if (value->type == VALUE_INTEGER)
        json_number(out, column->name, (uint64_t)value->integer);
    else
        add_text(out, column->name, value->bytes);
}

void pg_body_add(struct buf *out, const struct row_table *table, const struct row_value *values)
{
    json_open(out, '{');
    json_number(out, "v", BODY_VERSION);
    for (size_t i = 0; i < table->count; i++)
        if (!pg_schema_is_own(table, i))
            add_value(out, &table->columns[i], &values[i]);
    json_close(out, '}');
}

/* ---- reading ----------------------------------------------------------------------------- */

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value text(struct slice bytes)
{
    return (struct row_value){.type = VALUE_TEXT, .bytes = bytes};
}

/* Of a row that was written before the column existed, a word is the first one. */
static struct row_value default_of(const struct column *column)
{
    if (column->type == COLUMN_U16_OR_NONE)
        return integer(-1);
    if (column_is_integer(column->type))
        return integer(0);
    if (column->type == COLUMN_WORD)
        return text(slice_from(column->words->name_at(0)));
    return column->type == COLUMN_TEXT ? (struct row_value){.type = VALUE_NULL}
                                       : text(SLICE_OF(""));
}

/* Room for all bytes was reserved, so that they stay where they are. */
static struct row_value unhex(struct buf *bytes, yyjson_val *value)
{
    yyjson_val *const hex = yyjson_obj_get(value, "hex");
    const size_t len = yyjson_get_len(hex);
    size_t count = 0;
    char *const place = yyjson_is_str(hex) ? buf_reserve(bytes, len) : NULL;
    if (place == NULL ||
        sodium_hex2bin((uint8_t *)place, len, yyjson_get_str(hex), len, NULL, &count, NULL) != 0)
        return (struct row_value){.type = VALUE_NULL};
    buf_commit(bytes, count);
    return text((struct slice){.data = place, .len = count});
}

static struct row_value read_value(struct buf *bytes, const struct column *column,
                                   yyjson_val *value)
{
    if (value == NULL)
        return default_of(column);
    if (yyjson_is_bool(value))
        return integer(yyjson_get_bool(value));
    if (yyjson_is_int(value))
        return integer(yyjson_get_sint(value));
    if (yyjson_is_obj(value))
        return unhex(bytes, value);
    if (!yyjson_is_str(value))
        return (struct row_value){.type = VALUE_NULL};
    return text((struct slice){.data = yyjson_get_str(value), .len = yyjson_get_len(value)});
}

void pg_body_read(struct pg_body *body, struct slice json, const struct row_table *table,
                  struct row_value *values)
{
    body->doc = yyjson_read(json.data, json.len, 0);
    buf_init(&body->bytes, BYTES_MAX);
    (void)buf_reserve(&body->bytes, json.len);
    yyjson_val *const object = yyjson_doc_get_root(body->doc);
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->columns[i];
        if (pg_schema_is_own(table, i))
            continue;
        values[i] = yyjson_is_obj(object)
                        ? read_value(&body->bytes, column, yyjson_obj_get(object, column->name))
                        : (struct row_value){.type = VALUE_NULL};
    }
}

void pg_body_close(struct pg_body *body)
{
    yyjson_doc_free(body->doc);
    buf_close(&body->bytes);
}
