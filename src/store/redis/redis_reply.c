#include "store/redis/redis_reply.h"

#include "base/assert.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

/* Several times the largest row, and more than a list of all clients of a large server. */
#define REPLY_BYTES_MAX (REDIS_ROW_MAX + ((size_t)1 << 20))
/* Of a line, that is of all but the bytes of a string. hiredis looks for its end from the start each time. */
#define REPLY_LINE_MAX 65536
#define NUMBER_LINE_MAX 32
/* A batch has at most 4096 rows and a page of names 10000. */
#define REPLY_ITEMS_MAX 65536

struct redis_reader {
    redisReader *hiredis; /* owned */
    size_t fed;           /* bytes since the latest complete reply */
    size_t items;         /* announced by the arrays of the reply being read */
};

/* ---- replies ----------------------------------------------------------------------------- */

static struct redis_reply *reply_new(enum reply_type type, size_t room)
{
    struct redis_reply *const reply = malloc(sizeof *reply + room);
    ASSERT(reply != NULL);
    *reply = (struct redis_reply){.type = type};
    return reply;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the reader of hiredis lets replies nest */
void redis_reply_free(struct redis_reply *reply)
{
    if (reply == NULL)
        return;
    if (reply->type == REPLY_ARRAY)
        for (size_t i = 0; i < reply->len; i++)
            redis_reply_free(reply->items[i]);
    free(reply->items);
    free(reply);
}

struct slice redis_reply_slice(const struct redis_reply *reply)
{
    const bool is_text =
        reply != NULL &&
        (reply->type == REPLY_STRING || reply->type == REPLY_STATUS || reply->type == REPLY_ERROR);
    return is_text ? (struct slice){.data = reply->bytes, .len = reply->len} : SLICE_NONE;
}

const struct redis_reply *redis_reply_item(const struct redis_reply *reply, size_t place)
{
    const bool has_item = reply != NULL && reply->type == REPLY_ARRAY && place < reply->len;
    return has_item ? reply->items[place] : NULL;
}

bool redis_reply_is(const struct redis_reply *reply, const char *text)
{
    return reply != NULL && reply->type != REPLY_ERROR &&
           slice_equals(redis_reply_slice(reply), slice_from(text)) &&
           slice_is_given(redis_reply_slice(reply));
}

/* ---- hiredis builds them ----------------------------------------------------------------- */

/* Its array exists already, and has room for it. */
static void *put(const redisReadTask *task, struct redis_reply *reply)
{
    if (task->parent != NULL) {
        struct redis_reply *const parent = task->parent->obj;
        ASSERT(parent->type == REPLY_ARRAY && (size_t)task->idx < parent->len);
        parent->items[task->idx] = reply;
    }
    return reply;
}

static void *create_string(const redisReadTask *task, char *bytes, size_t len)
{
    const enum reply_type type = task->type == REDIS_REPLY_ERROR    ? REPLY_ERROR
                                 : task->type == REDIS_REPLY_STATUS ? REPLY_STATUS
                                                                    : REPLY_STRING;
    struct redis_reply *const reply = reply_new(type, len + 1);
    memcpy(reply->bytes, bytes, len);
    reply->bytes[len] = '\0';
    reply->len = len;
    return put(task, reply);
}

/* NULL, which hiredis takes for a lack of memory, ends a reply that announces too much. */
static void *create_items(const redisReadTask *task, size_t count)
{
    struct redis_reader *const reader = task->privdata;
    if (count > REPLY_ITEMS_MAX - reader->items)
        return NULL;
    reader->items += count;
    struct redis_reply *const reply = reply_new(REPLY_ARRAY, 0);
    reply->len = count;
    reply->items = calloc(count == 0 ? 1 : count, sizeof *reply->items);
    ASSERT(reply->items != NULL);
    return put(task, reply);
}

#if HIREDIS_MAJOR >= 1
static void *create_array(const redisReadTask *task, size_t count)
{
    return create_items(task, count);
}
#else
static void *create_array(const redisReadTask *task, int count)
{
    return count < 0 ? NULL : create_items(task, (size_t)count);
}
#endif

static void *create_integer(const redisReadTask *task, long long number)
{
    struct redis_reply *const reply = reply_new(REPLY_INTEGER, 0);
    reply->integer = number;
    return put(task, reply);
}

static void *create_nil(const redisReadTask *task)
{
    return put(task, reply_new(REPLY_NIL, 0));
}

/* Types of the newer protocol, which we did not ask for, have no function here: hiredis then gives a small number in
 * place of an object. */
static bool is_object(const void *object)
{
    return (uintptr_t)object > 4096;
}

static void free_object(void *object)
{
    if (is_object(object))
        redis_reply_free(object);
}

static redisReplyObjectFunctions functions = {
    .createString = create_string,
    .createArray = create_array,
    .createInteger = create_integer,
    .createNil = create_nil,
    .freeObject = free_object,
};

/* ---- the reader -------------------------------------------------------------------------- */

struct redis_reader *redis_reader_new(void)
{
    struct redis_reader *const reader = calloc(1, sizeof *reader);
    ASSERT(reader != NULL);
    reader->hiredis = redisReaderCreateWithFunctions(&functions);
    ASSERT(reader->hiredis != NULL);
    reader->hiredis->privdata = reader;
    return reader;
}

void redis_reader_free(struct redis_reader *reader)
{
    if (reader == NULL)
        return;
    redisReaderFree(reader->hiredis);
    free(reader);
}

bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len)
{
    reader->fed += len;
    return reader->fed <= REPLY_BYTES_MAX &&
           redisReaderFeed(reader->hiredis, bytes, len) == REDIS_OK;
}

/* A string waits for its bytes behind the line with their number; everything else is that line. */
static bool is_endless(const redisReader *hiredis)
{
    return hiredis->len - hiredis->pos > REPLY_LINE_MAX &&
           memchr(hiredis->buf + hiredis->pos, '\n', NUMBER_LINE_MAX) == NULL;
}

enum reading redis_reader_next(struct redis_reader *reader, struct redis_reply **reply)
{
    void *object = NULL;
    *reply = NULL;
    if (redisReaderGetReply(reader->hiredis, &object) != REDIS_OK)
        return READING_BAD;
    if (object == NULL)
        return is_endless(reader->hiredis) ? READING_BAD : READING_MORE;
    if (!is_object(object))
        return READING_BAD;
    reader->fed = 0;
    reader->items = 0;
    *reply = object;
    return READING_REPLY;
}
