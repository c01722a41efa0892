/* Solutions in the vendor's JSON replies. */
#ifndef SOLVEGATE_PROTO_VENDOR_SOLUTION_H
#define SOLVEGATE_PROTO_VENDOR_SOLUTION_H

#include "proto/vendor_reply.h"

/* The solution as text, and everything a JSON reply has besides a text in `request` (struct
 * vendor_result). The text stays NULL if there is none, if it is larger than a solution may be, or
 * if it is nested too deeply for callers to parse. */
void reading_solution(const struct reading *reading, struct blob **text, struct blob **extra);

/* A member of the reply (or of its object in `request`) as a number, also if written as a string. */
bool reading_member_u32(const struct reading *reading, const char *name, uint32_t *value);

#endif
