/* Parameters held against each other: what every reader must keep, and the same ones written in other encodings. */
#ifndef SOLVEGATE_TESTS_FUZZ_SAME_H
#define SOLVEGATE_TESTS_FUZZ_SAME_H

#include "fuzz.h"

#include "proto/params.h"

/* Decoded bytes that any target's params may hold. */
#define PARAMS_CAP ((size_t)1 << 20)

/* What is true after every reading: limits, names that differ, a sentence exactly when it failed. */
void check_reading(const struct params *params, int code);

/* The same names, values and files in the same order; file names themselves may differ. */
bool params_are_same(const struct params *a, const struct params *b);

/* All of them in the plainest spelling of an encoding; files become plain values. */
void write_as_form(struct buf *out, const struct params *params);
void write_as_json(struct buf *out, const struct params *params);

/* Reads a form that must be readable, and compares. */
void check_form_means(struct slice form, const struct params *params);

/* What is packed for a submit is unpacked the same, but for transport fields, which stay at home. */
void check_packing(const struct params *params);

#endif
