/* One reply body taken apart: plain text or JSON, whole or cut short, before anybody judges it. */
#ifndef SOLVEGATE_PROTO_VENDOR_REPLY_H
#define SOLVEGATE_PROTO_VENDOR_REPLY_H

#include "proto/vendor.h"

struct yyjson_doc;
struct yyjson_val;

enum reading_kind {
    READING_NOTHING, /* empty, HTML, garbled, cut short: no statement of the vendor's */
    READING_ANSWER,  /* it said yes, and text is what it gave */
    READING_GEETEST, /* it gave a GeeTest object without status */
    READING_ERROR,   /* it said no (or not yet), and text is its word */
    READING_OBJECT,  /* whole JSON without a statement, as threadsinfo answers */
};

struct reading {
    enum reading_kind kind;
    struct slice text;            /* points into the body or the document; may be empty */
    bool is_number;               /* text was a JSON number, digits as written */
    struct yyjson_doc *doc;       /* owned, or NULL for plain text */
    struct yyjson_val *answer;    /* the JSON value behind an answer */
    bool is_cut;                  /* only the start of the JSON arrived */
    _Alignas(16) char pool[4096]; /* small replies are parsed without malloc */
};

/* wants_prefix: a JSON reply that was cut short still counts if a status of 1 and a whole string
 * answer arrived. Close it afterwards; it must not move in between. */
void reading_open(struct reading *reading, const struct vendor_options *options,
                  const struct vendor_reply *reply, bool wants_prefix);
void reading_close(struct reading *reading);

/* The solution's text and further members; text stays NULL when it breaks the rules for
 * solutions. */
void reading_solution(const struct reading *reading, struct blob **text, struct blob **extra);

/* A member of the reply (or of its object in `request`) as a number, also when written as a
 * string. */
bool reading_member_u32(const struct reading *reading, const char *name, uint32_t *value);

/* Without white space around it and without a byte order mark. */
struct slice vendor_trim(struct slice body);
/* 1 to 16 KiB of UTF-8 without control bytes. */
bool vendor_is_solution(struct slice text);
/* ^[A-Za-z0-9_-]{1,64}$ */
bool vendor_is_task_id(struct slice text);

#endif
