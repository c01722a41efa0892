#include "base/buf.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* A smaller first allocation would only cause another one soon. */
#define FIRST_ROOM 64

void buf_init(struct buf *buf, size_t cap)
{
    /* Leaves room for the hidden NUL and keeps doubling from overflowing. */
    ASSERT(cap < SIZE_MAX / 2);
    *buf = (struct buf){.cap = cap};
}

void buf_close(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.cap = buf->cap};
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    buf->is_full = false;
}

size_t buf_room_with(const struct buf *buf, size_t extra)
{
    if (extra > buf->cap - buf->len || (buf->data != NULL && extra <= buf->room - buf->len))
        return buf->room;
    /* Doubling keeps the copying at O(1) per byte. */
    size_t room = buf->room < FIRST_ROOM ? FIRST_ROOM : buf->room * 2;
    if (room < buf->len + extra)
        room = buf->len + extra;
    return room > buf->cap ? buf->cap : room;
}

static void grow(struct buf *buf, size_t extra)
{
    const size_t room = buf_room_with(buf, extra);
    /* One byte more than room, for the NUL that vsnprintf always writes. */
    char *data = realloc(buf->data, room + 1);
    ASSERT(data != NULL);
    buf->data = data;
    buf->room = room;
}

char *buf_make_room(struct buf *buf, size_t extra)
{
    if (extra > buf->cap - buf->len) {
        buf->is_full = true;
        return NULL;
    }
    grow(buf, extra);
    return buf->data + buf->len;
}

void buf_commit(struct buf *buf, size_t filled)
{
    ASSERT(filled <= buf->room - buf->len);
    buf->len += filled;
}

void buf_add_u64(struct buf *buf, uint64_t number)
{
    /* Two digits a division: an answer has a dozen numbers, and divisions are most of their cost. */
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    char digits[20]; /* 2^64 - 1 has 20 */
    size_t start = sizeof digits;
    for (; number >= 100; number /= 100) {
        start -= 2;
        memcpy(digits + start, pairs + 2 * (number % 100), 2);
    }
    if (number >= 10)
        digits[--start] = pairs[2 * number + 1];
    digits[--start] = number >= 10 ? pairs[2 * number] : (char)('0' + number);
    buf_add(buf, (struct slice){.data = digits + start, .len = sizeof digits - start});
}

void buf_addf(struct buf *buf, const char *format, ...)
{
    /* The first try uses the existing room, which is nearly always enough. */
    const size_t room = buf->data == NULL ? 0 : buf->room - buf->len + 1;
    va_list args;
    va_start(args, format);
    const int count = vsnprintf(room == 0 ? NULL : buf->data + buf->len, room, format, args);
    va_end(args);
    ASSERT(count >= 0);
    const size_t wanted = (size_t)count;
    if (wanted >= room) {
        char *place = buf_reserve(buf, wanted);
        if (place == NULL)
            return;
        va_start(args, format);
        (void)vsnprintf(place, wanted + 1, format, args);
        va_end(args);
    }
    buf->len += wanted;
}

void buf_consume(struct buf *buf, size_t count)
{
    ASSERT(count <= buf->len);
    if (count == 0)
        return;
    buf->len -= count;
    memmove(buf->data, buf->data + count, buf->len);
}

void buf_check(const struct buf *buf)
{
    ASSERT(buf->len <= buf->room);
    ASSERT(buf->room <= buf->cap);
    ASSERT(buf->data != NULL || buf->room == 0);
}
