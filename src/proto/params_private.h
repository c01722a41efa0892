/* What the readers of the single encodings share to fill a struct params; nobody else includes this. */
#ifndef SOLVEGATE_PROTO_PARAMS_PRIVATE_H
#define SOLVEGATE_PROTO_PARAMS_PRIVATE_H

#include "proto/params.h"

/* Room for a stranger's name inside a sentence of ours. */
#define PARAMS_QUOTE_MAX 41

/* Writes the sentence into params->mistake and returns code, so that callers can return it. */
int params_fail(struct params *params, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for decoded bytes beyond the cap. */
int params_fail_length(struct params *params);

/* A stranger's bytes made fit for a sentence: cut to 40, everything unprintable becomes '?'. */
const char *params_quote(struct slice bytes, char out[PARAMS_QUOTE_MAX]);

/* Room for extra bytes in the arena, or NULL past its cap. The arena may move: slices in items
 * move with it, any other pointer into it is gone. Commit with buf_commit. */
char *params_reserve(struct params *params, size_t extra);

/* Adds the item or replaces the one of the same name. */
int params_put(struct params *params, struct param item) MUST_CHECK;

/* The boundary of a multipart content type, quoted or not; false when it is none or has none. */
bool multipart_boundary(struct slice content_type, struct slice *boundary);

#endif
