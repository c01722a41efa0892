/* HTTP requests fed to the parser in pieces, as http_input.c does it. */
#ifndef SOLVEGATE_TESTS_FUZZ_FEED_H
#define SOLVEGATE_TESTS_FUZZ_FEED_H

#include "fuzz.h"

#include "base/rand.h"
#include "http/http_parse.h"

/* How the bytes arrive. */
enum pieces { PIECES_WHOLE, PIECES_BYTES, PIECES_DRAWN };

/* What came of one request, independent of where its bytes lay. */
struct fed {
    enum http_parsed parsed;
    uint16_t status; /* of a bad one */
    size_t rest;     /* bytes behind a whole request */
    struct http_parse parse;
    char *base;      /* owned; the request as the parser left it */
    struct buf text; /* all parts of a whole request */
};

/* seed chooses the pieces with PIECES_DRAWN. */
void feed_open(struct fed *fed, const struct http_limits *limits, struct slice bytes,
               enum pieces pieces, uint64_t seed);
void feed_close(struct fed *fed);

bool feed_is_same(const struct fed *a, const struct fed *b);

/* A POST of this body in chunks whose sizes the seed chooses, however it is cut then. */
void write_chunked(struct buf *out, struct slice content_type, struct slice body, uint64_t seed);

#endif
