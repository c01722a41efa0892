/* Shared by the readers of the encodings to fill a struct params; nobody else includes this. */
#ifndef SOLVEGATE_PROTO_PARAMS_PRIVATE_H
#define SOLVEGATE_PROTO_PARAMS_PRIVATE_H

#include "proto/params.h"

/* Room for a caller's name quoted in an error message. */
#define PARAMS_QUOTE_MAX 41

/* Writes the sentence into params->mistake and returns code, for the caller to return. */
int params_fail(struct params *params, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* params_fail() for decoded bytes beyond the cap. */
int params_fail_length(struct params *params);

/* Makes bytes printable for an error message: at most 40, and '?' for each unprintable one. */
const char *params_quote(struct slice bytes, char out[PARAMS_QUOTE_MAX]);

/* Room for extra bytes in the arena, or NULL beyond its cap. The arena may move: slices in items
 * move with it, any other pointer into it becomes invalid. Commit with buf_commit. */
char *params_reserve(struct params *params, size_t extra);

/* Adds the item or replaces the one of the same name. */
int params_put(struct params *params, struct param item) MUST_CHECK;

#endif
