/* Parses one reply body, plain text or JSON, whole or truncated, without judging it. */
#ifndef SOLVEGATE_PROTO_VENDOR_REPLY_H
#define SOLVEGATE_PROTO_VENDOR_REPLY_H

#include "proto/vendor.h"

struct yyjson_doc;
struct yyjson_val;

/* Maximum size of a solution that is handed out; a larger one is kept as a letter. */
#define SOLUTION_MAX_BYTES ((size_t)64 * 1024)

enum reading_kind {
    READING_NOTHING,    /* empty, HTML, garbled or truncated: no statement by the vendor */
    READING_ANSWER,     /* success, and text is the answer */
    READING_GEETEST,    /* a GeeTest object without status */
    READING_FIELDS,     /* success, and the answer is in further members */
    READING_UNREADABLE, /* success, but the answer is unclear: broken JSON, or has it twice */
    READING_ERROR,      /* refused (or not ready), and text is the code */
    READING_OBJECT,     /* whole JSON without a statement, as for threadsinfo */
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

/* wants_prefix: a truncated JSON reply still counts if a status of 1 and a whole string answer
 * arrived. Call reading_close afterwards; the struct must not move in between. */
void reading_open(struct reading *reading, const struct vendor_options *options,
                  const struct vendor_reply *reply, bool wants_prefix);
void reading_close(struct reading *reading);

/* Does it hold a solution, in any form? */
static inline bool reading_is_answer(const struct reading *reading)
{
    return reading->kind == READING_ANSWER || reading->kind == READING_GEETEST ||
           reading->kind == READING_FIELDS;
}

#endif
