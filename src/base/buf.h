/* A growing byte buffer with a hard cap: writes beyond it are dropped, and is_full remembers that. */
#ifndef SOLVEGATE_BASE_BUF_H
#define SOLVEGATE_BASE_BUF_H

#include "base/slice.h"

#include <stdarg.h>
#include <stdint.h>

struct buf {
    char *data; /* owned, NULL while nothing was written */
    size_t len;
    size_t room;
    size_t cap;
    bool is_full; /* something was dropped; stays until buf_reset */
};

/* Allocates nothing before the first write. */
void buf_init(struct buf *buf, size_t cap);
void buf_close(struct buf *buf);

/* Empties it and keeps the memory. */
void buf_reset(struct buf *buf);

/* The room after writing `extra` more bytes, for callers that count memory before it is allocated. */
size_t buf_room_with(const struct buf *buf, size_t extra);

/* The slow path of buf_reserve, for when there is too little room. */
char *buf_make_room(struct buf *buf, size_t extra);

/* Contiguous room for `extra` more bytes, or NULL beyond the cap; call buf_commit for the bytes
 * written. Inline like the writes below: a reply takes fifty of them, most with a length the
 * compiler knows. */
static inline char *buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->data != NULL && extra <= buf->room - buf->len)
        return buf->data + buf->len;
    return buf_make_room(buf, extra);
}

void buf_commit(struct buf *buf, size_t filled);

/* Writes all of the bytes or none. */
static inline void buf_add(struct buf *buf, struct slice bytes)
{
    if (bytes.len == 0)
        return;
    char *place = buf_reserve(buf, bytes.len);
    if (place == NULL)
        return;
    memcpy(place, bytes.data, bytes.len);
    buf->len += bytes.len;
}

static inline void buf_add_char(struct buf *buf, char c)
{
    char *place = buf_reserve(buf, 1);
    if (place == NULL)
        return;
    *place = c;
    buf->len++;
}

void buf_add_u64(struct buf *buf, uint64_t number);
void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes bytes from the front. */
void buf_consume(struct buf *buf, size_t count);

static inline struct slice buf_slice(const struct buf *buf)
{
    return (struct slice){.data = buf->data == NULL ? "" : buf->data, .len = buf->len};
}

void buf_check(const struct buf *buf);

#endif
