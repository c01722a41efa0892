/* The same parameters written in every encoding a client may use, with all its freedoms. */
#ifndef SOLVEGATE_TESTS_ENCODE_H
#define SOLVEGATE_TESTS_ENCODE_H

#include "base/buf.h"
#include "base/rand.h"
#include "proto/params.h"

#include <stdbool.h>

#define ENCODE_BOUNDARY "----a-boundary-7MA4YWxk"

struct field {
    struct slice name;
    struct slice value;
    bool is_file;
};

/* Each empties out first. Without rand the plainest spelling is written, with it a random one. */
void encode_form(struct buf *out, const struct field *fields, size_t count, struct rand *rand);
void encode_json(struct buf *out, const struct field *fields, size_t count, struct rand *rand);
void encode_multipart(struct buf *out, const struct field *fields, size_t count, struct rand *rand);

/* Whether only one time in n. */
bool one_in(struct rand *rand, uint64_t n);

/* Reads a copy of the body that ends where its memory ends, so that a sanitizer sees every step
 * too far, then touches all that was read. The copy lives until the next call or NULL. */
int add_exactly(struct params *params, struct slice content_type, struct slice body);

/* Damages a body: flips, cuts, doubles, inserts. */
void mutate(struct buf *body, struct rand *rand);

#endif
