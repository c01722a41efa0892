/* A growing byte buffer with a hard cap: past it, writes are dropped and the buffer remembers. */
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

/* Nothing is allocated before the first write. */
void buf_init(struct buf *buf, size_t cap);
void buf_close(struct buf *buf);

/* Empties it and keeps the memory. */
void buf_reset(struct buf *buf);

/* The room it will have when extra more bytes were written, for whoever counts memory before it is taken. */
size_t buf_room_with(const struct buf *buf, size_t extra);

/* What buf_reserve does when there is too little room. */
char *buf_make_room(struct buf *buf, size_t extra);

/* Room for extra more bytes in one piece, or NULL past the cap; then buf_commit what was filled.
 * In line like the writes below: a reply is fifty of them, most of a length the compiler knows. */
static inline char *buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->data != NULL && extra <= buf->room - buf->len)
        return buf->data + buf->len;
    return buf_make_room(buf, extra);
}

void buf_commit(struct buf *buf, size_t filled);

/* A write is all or nothing. */
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

/* Drops bytes from the front. */
void buf_consume(struct buf *buf, size_t count);

static inline struct slice buf_slice(const struct buf *buf)
{
    return (struct slice){.data = buf->data == NULL ? "" : buf->data, .len = buf->len};
}

void buf_check(const struct buf *buf);

#endif
