#include "store/postgres/postgres_array.h"

#include "base/assert.h"

#include <string.h>

#define INT8_OID 20
#define TEXT_OID 25
#define BYTEA_OID 17
#define JSON_OID 114

/* Dimensions, has NULLs, type, items, first index; then each item with its length. */
#define ITEMS_OFFSET 12

static void put_u32(char *place, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        place[i] = (char)(number >> (24 - 8 * i));
}

static void add_u32(struct buf *out, uint32_t number)
{
    char bytes[4];
    put_u32(bytes, number);
    buf_add(out, (struct slice){.data = bytes, .len = sizeof bytes});
}

static uint32_t oid_of(const char *type)
{
    if (strcmp(type, "bigint") == 0)
        return INT8_OID;
    if (strcmp(type, "bytea") == 0)
        return BYTEA_OID;
    return strcmp(type, "json") == 0 ? JSON_OID : TEXT_OID;
}

void pg_array_begin(struct buf *out, const char *type)
{
    buf_reset(out);
    add_u32(out, 1);
    add_u32(out, 1);
    add_u32(out, oid_of(type));
    add_u32(out, 0);
    add_u32(out, 1);
}

void pg_array_add(struct buf *out, const struct row_value *value)
{
    if (value->type == VALUE_NULL) {
        add_u32(out, UINT32_MAX);
    } else if (value->type == VALUE_INTEGER) {
        add_u32(out, sizeof value->integer);
        add_u32(out, (uint32_t)((uint64_t)value->integer >> 32));
        add_u32(out, (uint32_t)value->integer);
    } else {
        add_u32(out, (uint32_t)value->bytes.len);
        buf_add(out, value->bytes);
    }
}

void pg_array_end(struct buf *out, uint32_t items)
{
    ASSERT(!out->is_full);
    put_u32(out->data + ITEMS_OFFSET, items);
}
