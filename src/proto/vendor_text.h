/* Forms of texts in the vendor's replies. */
#ifndef SOLVEGATE_PROTO_VENDOR_TEXT_H
#define SOLVEGATE_PROTO_VENDOR_TEXT_H

#include "base/slice.h"

/* Strips white space and a byte order mark. */
struct slice vendor_trim(struct slice body);
/* True for 1 byte to 64 KiB of any content. */
bool vendor_is_solution(struct slice text);
/* ^[A-Za-z0-9_-]{1,64}$ */
bool vendor_is_task_id(struct slice text);

#endif
