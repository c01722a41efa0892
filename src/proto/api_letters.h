/* Dead letters as JSON, for /v1/letters. */
#ifndef SOLVEGATE_PROTO_API_LETTERS_H
#define SOLVEGATE_PROTO_API_LETTERS_H

#include "proto/api.h"

/* {"letters":[…],"total":N,"next":cursor or null}; attempts and parameters only with is_full. */
void api_write_letters(struct buf *out, const struct letter_view *views, size_t count,
                       uint64_t total, uint64_t next, const struct api_names *names);
void api_write_letter(struct buf *out, const struct letter_view *view, bool is_full,
                      const struct api_names *names);

#endif
