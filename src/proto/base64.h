/* Base64 of images: fast, but not constant-time, since an image is no secret. */
#ifndef SOLVEGATE_PROTO_BASE64_H
#define SOLVEGATE_PROTO_BASE64_H

#include "base/slice.h"

#include <stdint.h>

/* Decodes piece by piece, so that an image of a megabyte needs no megabyte of memory. */
struct base64 {
    struct slice rest;
    uint32_t held;       /* bits of an unfinished group of four */
    unsigned held_chars; /* 0 to 3 */
    unsigned padding;    /* '=' seen */
    bool is_bad;
};

/* Accepts both alphabets (+/ and -_), white space, missing padding and a `data:...;base64,` prefix. */
void base64_open(struct base64 *reader, struct slice text);

/* Decodes at most room bytes (at least 3); returns 0 at the end, then base64_is_good tells how it ended. */
size_t base64_read(struct base64 *reader, uint8_t *out, size_t room);

/* After the end: was all of it base64? */
bool base64_is_good(const struct base64 *reader);

#endif
