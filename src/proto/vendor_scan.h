/* What can be seen of a JSON reply without parsing it: how deep it is, what of it is whole, and whether it says yes. */
#ifndef SOLVEGATE_PROTO_VENDOR_SCAN_H
#define SOLVEGATE_PROTO_VENDOR_SCAN_H

#include "base/slice.h"

#include <stdbool.h>

/* How deep whole JSON nests. */
size_t scan_depth(struct slice json);

/* How much of a cut object is whole: up to the end of its last complete scalar member, 0 when
 * there is none. Whether those bytes are valid JSON is for the parser to say. */
size_t scan_whole_members(struct slice json);

/* Did an object that no parser accepts, or that contradicts itself, arrive to its end, and does it
 * say that the task is solved? */
bool scan_says_yes(struct slice json);

/* Members of GeeTest's answers, which come without a status: those of v3, and those of v4. */
#define GEETEST_MEMBERS 3
extern const char *const GEETEST_V3[GEETEST_MEMBERS];
extern const char *const GEETEST_V4[GEETEST_MEMBERS];

#endif
