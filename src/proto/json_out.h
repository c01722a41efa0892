/* JSON written straight into a buffer: the writer adds commas, escapes text and replaces bad UTF-8. */
#ifndef SOLVEGATE_PROTO_JSON_OUT_H
#define SOLVEGATE_PROTO_JSON_OUT_H

#include "base/buf.h"

#include <stdint.h>

struct yyjson_val;

/* Writes a quoted, escaped string; false if bytes that are not UTF-8 had to be replaced. */
bool json_add_string(struct buf *out, struct slice text);
/* Writes a quoted, escaped string with all bytes of 0x80 and above unchanged, UTF-8 or not. */
void json_add_bytes(struct buf *out, struct slice text);
/* Writes JSON whose strings may hold bytes that are not UTF-8; these are replaced, and false is returned. */
bool json_add_clean(struct buf *out, struct slice json);
/* Writes a number or a string of plain ASCII, else nothing and returns false: a reply may hold a
 * hundred thousand of them, and every text that yyjson writes is an allocation. */
bool json_add_plain(struct buf *out, struct yyjson_val *value);

/* Members of the object or array being written. The comma before a member is added if the previous
 * byte requires it. A name is a literal and needs no escaping. */
void json_open(struct buf *out, char bracket);
void json_close(struct buf *out, char bracket);
void json_item(struct buf *out);
void json_add_name(struct buf *out, struct slice name);

/* Inline, like the short ones below, so that the compiler knows the length of the name. */
static inline void json_member(struct buf *out, const char *name)
{
    json_add_name(out, slice_from(name));
}

static inline void json_text(struct buf *out, const char *name, struct slice value)
{
    json_member(out, name);
    (void)json_add_string(out, value);
}

/* A member with a C string. */
static inline void json_string(struct buf *out, const char *name, const char *text)
{
    json_text(out, name, slice_from(text));
}

static inline void json_number(struct buf *out, const char *name, uint64_t value)
{
    json_member(out, name);
    buf_add_u64(out, value);
}

/* A member whose text is JSON already. */
static inline void json_raw(struct buf *out, const char *name, struct slice json)
{
    json_member(out, name);
    buf_add(out, json);
}

void json_bool(struct buf *out, const char *name, bool value);
void json_null(struct buf *out, const char *name);
/* A member with milliseconds as seconds, with up to three decimals. */
void json_seconds(struct buf *out, const char *name, uint64_t milliseconds);
/* A number as a string, because many parsers read numbers as doubles. */
void json_id(struct buf *out, const char *name, uint64_t id);
/* A member with milliseconds since 1970 as "2026-01-31T23:59:59.123Z". */
void json_time(struct buf *out, const char *name, int64_t wall_ms);
void json_base64(struct buf *out, const char *name, struct slice bytes);
/* A member with bytes in hexadecimal. */
void json_hex(struct buf *out, const char *name, const uint8_t *bytes, size_t count);

#endif
