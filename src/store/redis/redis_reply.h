/* Replies of the server, with limits on what a reply may announce. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_REPLY_H
#define SOLVEGATE_STORE_REDIS_REDIS_REPLY_H

#include "base/slice.h"

#include <stdint.h>

/* A row that is larger is neither written nor read. */
#define REDIS_ROW_MAX ((size_t)64 << 20)

enum reply_type {
    REPLY_NIL,
    REPLY_STATUS,
    REPLY_ERROR,
    REPLY_INTEGER,
    REPLY_STRING,
    REPLY_ARRAY,
};

struct redis_reply {
    enum reply_type type;
    int64_t integer;
    size_t len;                 /* of bytes, or the number of items */
    struct redis_reply **items; /* owned */
    char bytes[]; /* of a string, status or error; ends with a NUL that is not counted */
};

void redis_reply_free(struct redis_reply *reply);

/* The bytes of a string or status, or an error's sentence; not given for anything else. */
struct slice redis_reply_slice(const struct redis_reply *reply);
/* An item of an array; NULL if it is no array or has no such item. */
const struct redis_reply *redis_reply_item(const struct redis_reply *reply, size_t place);
bool redis_reply_is(const struct redis_reply *reply, const char *text);

struct redis_reader;
struct redis_reader *redis_reader_new(void);
void redis_reader_free(struct redis_reader *reader);

enum reading {
    READING_REPLY,
    READING_MORE, /* bytes are missing */
    READING_BAD,  /* not the protocol, or larger than any reply that we may get */
};
/* The next reply of those that were fed; it is the caller's. */
enum reading redis_reader_next(struct redis_reader *reader, struct redis_reply **reply);
bool redis_reader_feed(struct redis_reader *reader, const char *bytes, size_t len);

#endif
