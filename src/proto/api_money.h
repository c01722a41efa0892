/* Shares and money in JSON. */
#ifndef SOLVEGATE_PROTO_API_MONEY_H
#define SOLVEGATE_PROTO_API_MONEY_H

#include "base/buf.h"

#include <stdint.h>

/* A share in percent with one decimal. */
void json_percent(struct buf *out, const char *name, uint64_t part, uint64_t whole);

/* Millionths of the prices' unit, as a number with six decimals. */
void json_money(struct buf *out, const char *name, uint64_t micro);

#endif
