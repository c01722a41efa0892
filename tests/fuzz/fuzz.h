/* What the fuzz targets share: bytes drawn from the input, copies that a sanitizer can guard, comparisons. */
#ifndef SOLVEGATE_TESTS_FUZZ_H
#define SOLVEGATE_TESTS_FUZZ_H

#include "base/assert.h"
#include "base/buf.h"
#include "base/slice.h"

#include <stdint.h>

/* A property that must hold for every input; it stays on in every build, as ASSERT does. */
#define HOLDS(property) ASSERT(property)

/* What libFuzzer and replay.c call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of an input. Past its end everything drawn is 0 or empty, so that every input means something. */
struct input {
    const uint8_t *data;
    size_t len;
};

uint8_t input_byte(struct input *input);
/* Little end first, 1 to 8 bytes. */
uint64_t input_number(struct input *input, size_t bytes);
/* 0 to bound - 1, from one byte. */
unsigned input_below(struct input *input, unsigned bound);
bool input_flag(struct input *input);
/* At most len bytes, borrowed. */
struct slice input_take(struct input *input, size_t len);
/* Up to the next line feed, which is skipped; so that a corpus can be read and written by people. */
struct slice input_line(struct input *input);
struct slice input_rest(struct input *input);

/* A copy that ends where its memory ends, so that a sanitizer sees every step too far; free() it. */
char *exact_copy(struct slice bytes);

/* Whether part lies within whole, or is empty or not given. */
bool slice_is_within(struct slice part, struct slice whole);

/* Visible ASCII and blanks only, at least one: what a message for a person may hold. */
bool slice_is_printable(struct slice text);

/* Whether text is one JSON document. */
bool json_is_valid(struct slice text);
/* Whether text is one JSON object and its member of this name is this string. */
bool json_has_string(struct slice text, const char *name, struct slice value);

/* The bytes as JSON text means them: everything that is no UTF-8 becomes U+FFFD, byte by byte. */
void utf8_repair(struct slice bytes, struct buf *out);

#endif
