/* JSON written straight into a buffer: commas kept right by the writer, text escaped, bad UTF-8 replaced. */
#ifndef SOLVEGATE_PROTO_JSON_OUT_H
#define SOLVEGATE_PROTO_JSON_OUT_H

#include "base/buf.h"

#include <stdint.h>

/* A quoted, escaped string; false when bytes that are not UTF-8 had to be replaced. */
bool json_add_string(struct buf *out, struct slice text);
/* The same with every byte of 0x80 and above as it is, also where that is not UTF-8. */
void json_add_bytes(struct buf *out, struct slice text);
/* JSON that may hold bytes which are not UTF-8, in its strings: those are replaced, which false tells. */
bool json_add_clean(struct buf *out, struct slice json);

/* Members of the object or array being written; the comma before one is added when it is needed,
 * which the byte before tells. A name is a literal and needs no escaping. */
void json_open(struct buf *out, char bracket);
void json_close(struct buf *out, char bracket);
void json_item(struct buf *out);
void json_add_name(struct buf *out, struct slice name);

/* In line, like the short ones below, so that the compiler counts the letters of a name. */
static inline void json_member(struct buf *out, const char *name)
{
    json_add_name(out, slice_from(name));
}

static inline void json_text(struct buf *out, const char *name, struct slice value)
{
    json_member(out, name);
    (void)json_add_string(out, value);
}

/* A C string. */
static inline void json_string(struct buf *out, const char *name, const char *text)
{
    json_text(out, name, slice_from(text));
}

static inline void json_number(struct buf *out, const char *name, uint64_t value)
{
    json_member(out, name);
    buf_add_u64(out, value);
}

/* Text that is JSON already. */
static inline void json_raw(struct buf *out, const char *name, struct slice json)
{
    json_member(out, name);
    buf_add(out, json);
}

void json_bool(struct buf *out, const char *name, bool value);
void json_null(struct buf *out, const char *name);
/* Milliseconds as seconds with up to three decimals. */
void json_seconds(struct buf *out, const char *name, uint64_t milliseconds);
/* A number that must survive parsers which think in doubles: as a string. */
void json_id(struct buf *out, const char *name, uint64_t id);
/* Milliseconds since 1970 as "2026-01-31T23:59:59.123Z". */
void json_time(struct buf *out, const char *name, int64_t wall_ms);
void json_base64(struct buf *out, const char *name, struct slice bytes);
/* Bytes in hexadecimal. */
void json_hex(struct buf *out, const char *name, const uint8_t *bytes, size_t count);

#endif
