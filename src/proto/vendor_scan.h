/* Facts about a JSON reply that need no parser: its depth, how much of it is whole, and whether it
 * reports success. */
#ifndef SOLVEGATE_PROTO_VENDOR_SCAN_H
#define SOLVEGATE_PROTO_VENDOR_SCAN_H

#include "base/slice.h"

#include <stdbool.h>

/* Callers must be able to parse an answer: Ruby's parser stops at 100 levels. No known reply has
 * more than four. */
#define SCAN_DEPTH_MAX 64
/* Is JSON, which may be truncated or have something behind its end, nested deeper than that? */
bool scan_is_too_deep(struct slice json);

/* The length of a truncated object up to the end of its last complete scalar member, 0 if there is
 * none. The parser decides whether those bytes are valid JSON. */
size_t scan_whole_members(struct slice json);

/* For an object that no parser accepts or that contradicts itself: did it arrive in full, and does
 * it report that the task is solved? */
bool scan_says_yes(struct slice json);

/* Members of GeeTest's answers, which come without a status: those of v3 and those of v4. */
#define GEETEST_MEMBERS 3
extern const char *const GEETEST_V3[GEETEST_MEMBERS];
extern const char *const GEETEST_V4[GEETEST_MEMBERS];

#endif
