/* The Retry-After of a vendor's reply. */
#ifndef SOLVEGATE_PROTO_VENDOR_DATE_H
#define SOLVEGATE_PROTO_VENDOR_DATE_H

#include "base/slice.h"

#include <stdint.h>

/* Accepts seconds or an HTTP date, 0 for anything else; at most cap_ms. */
uint32_t vendor_retry_after_ms(struct slice value, int64_t wall_ms, uint32_t cap_ms);

#endif
