/* Dead letters as JSON, for /v1/letters. */
#ifndef SOLVEGATE_PROTO_API_LETTERS_H
#define SOLVEGATE_PROTO_API_LETTERS_H

#include "proto/api.h"

/* Whose a letter is. */
struct letter_place {
    const char *client; /* its name */
    const char *node;   /* the gateway that has it; NULL: the store is not shared */
    bool is_here;       /* else nobody here knows whether it is being replayed */
};

/* {"letters":[…],"total":N,"next":cursor or null}; attempts and parameters only with is_full. */
void api_write_letters(struct buf *out, const struct letter_view *views,
                       const struct letter_place *places, size_t count, uint64_t total,
                       uint64_t next);
void api_write_letter(struct buf *out, const struct letter_view *view,
                      const struct letter_place *place, bool is_full);

#endif
