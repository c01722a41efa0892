/* One reply body taken apart: plain text or JSON, whole or cut short, before anybody judges it. */
#ifndef SOLVEGATE_PROTO_VENDOR_REPLY_H
#define SOLVEGATE_PROTO_VENDOR_REPLY_H

#include "proto/vendor.h"

struct yyjson_doc;
struct yyjson_val;

/* What is handed out at most; more than that is kept as a letter. */
#define SOLUTION_MAX_BYTES ((size_t)64 * 1024)

enum reading_kind {
    READING_NOTHING,    /* empty, HTML, garbled, cut short: no statement of the vendor's */
    READING_ANSWER,     /* it said yes, and text is what it gave */
    READING_GEETEST,    /* it gave a GeeTest object without status */
    READING_FIELDS,     /* it said yes, and whatever it gave stands in further members */
    READING_UNREADABLE, /* it said yes, and nobody can tell what it gave: its JSON is broken, or has
                           the answer twice */
    READING_ERROR,      /* it said no (or not yet), and text is its word */
    READING_OBJECT,     /* whole JSON without a statement, as threadsinfo answers */
};

struct reading {
    enum reading_kind kind;
    struct slice text;            /* points into the body or the document; may be empty */
    bool is_number;               /* text was a JSON number, digits as written */
    struct yyjson_doc *doc;       /* owned, or NULL for plain text */
    struct yyjson_val *answer;    /* the JSON value behind an answer */
    bool is_cut;                  /* only the start of the JSON arrived */
    bool is_yes;                  /* status was 1, or the text began with OK| */
    bool is_no;                   /* status was 0 */
    _Alignas(16) char pool[4096]; /* small replies are parsed without malloc */
};

/* wants_prefix: a JSON reply that was cut short still counts if a status of 1 and a whole string
 * answer arrived. Close it afterwards; it must not move in between. */
void reading_open(struct reading *reading, const struct vendor_options *options,
                  const struct vendor_reply *reply, bool wants_prefix);
void reading_close(struct reading *reading);

/* Does it hold a solution, in whatever form? */
static inline bool reading_is_answer(const struct reading *reading)
{
    return reading->kind == READING_ANSWER || reading->kind == READING_GEETEST ||
           reading->kind == READING_FIELDS;
}

/* The solution as text, and what a JSON reply has beyond a text in `request` (struct vendor_result).
 * The text stays NULL when there is none, when it is larger than a solution may be, or when callers
 * could not read it for its depth. */
void reading_solution(const struct reading *reading, struct blob **text, struct blob **extra);

/* A member of the reply (or of its object in `request`) as a number, also when written as a
 * string. */
bool reading_member_u32(const struct reading *reading, const char *name, uint32_t *value);

/* Without white space around it and without a byte order mark. */
struct slice vendor_trim(struct slice body);
/* 1 byte to 64 KiB, whatever they are. */
bool vendor_is_solution(struct slice text);
/* ^[A-Za-z0-9_-]{1,64}$ */
bool vendor_is_task_id(struct slice text);

#endif
