/* The parameters of one call, in any encoding: query, form, multipart or JSON. */
#ifndef SOLVEGATE_PROTO_PARAMS_H
#define SOLVEGATE_PROTO_PARAMS_H

#include "base/blob.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

/* docs/reliability.md threat 6: at most 64 parts; some methods have about 20 parameters besides ours. */
#define PARAMS_MAX 64
#define PARAM_NAME_MAX 64

struct param {
    struct slice name;
    struct slice value;    /* decoded */
    struct slice filename; /* given only for a multipart file part */
};

/* Kept and reused: params_reset keeps the arena's memory. */
struct params {
    struct param items[PARAMS_MAX];
    size_t count;
    struct buf arena;     /* decoded bytes; values point here or into the caller's bytes */
    struct buf json_room; /* working memory of the JSON reader, empty between calls */
    char mistake[160];    /* after an error: the mistake, for a person */
    bool is_too_long;     /* after ERR_FULL: too many bytes, not too many parameters or values */
};

/* Refuses decoded bytes beyond cap with ERR_FULL. */
void params_init(struct params *params, size_t cap);
void params_close(struct params *params);
void params_reset(struct params *params);

/* Detects the body's encoding as docs/design.md 6.1 says and adds its parameters: multipart with
 * boundary, else JSON if the first non-space byte is `{` whatever the content type, else a form.
 * Returns 0, ERR_INVALID or ERR_FULL with params->mistake set. The bytes must outlive the params,
 * because values may point into them. If a name is given twice, the last one wins within and across
 * encodings, as in PHP (which the vendor's servers run), except in JSON, where a duplicate member is
 * a mistake (docs/reliability.md 1.1). */
int params_add_body(struct params *params, struct slice content_type, struct slice body) MUST_CHECK;

/* NULL when not given. */
const struct param *params_find(const struct params *params, struct slice name);
/* SLICE_NONE when not given. */
struct slice params_value(const struct params *params, struct slice name);
/* 1, true, yes, on (any case) are true; everything else, and a missing parameter, is false. */
bool params_flag(const struct params *params, struct slice name);

/* Strips the blanks and line ends that copying leaves around a value. */
struct slice params_trim(struct slice value);

/* True for fields about the call, not the captcha (docs/design.md 5.1): never part of the identity,
 * never sent on. */
bool param_is_transport(struct slice name);

#endif
