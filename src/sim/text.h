/* Text helpers: durations, sizes, escaping, hashing, suggestions. */
#ifndef SOLVEGATE_SIM_TEXT_H
#define SOLVEGATE_SIM_TEXT_H

#include "base/buf.h"
#include "base/slice.h"

#include <stdint.h>

/* "250ms", "5s", "1.5m", "2h", "1d" or "0"; false leaves *ms unchanged. At most ten years. */
bool text_to_ms(struct slice text, uint64_t *ms);

/* Digits with an optional KiB or MiB. */
bool text_to_bytes(struct slice text, uint64_t *bytes);

/* A plain decimal number, no exponent, no sign. */
bool text_to_double(struct slice text, double *number);

/* Quoted and escaped; bytes that are not UTF-8 become the replacement character. */
void text_add_json(struct buf *out, struct slice text);

/* Percent-encoded so that it can stand as a value in a query or form. */
void text_add_url(struct buf *out, struct slice text);

/* FNV-1a, 64 bits: easy to recompute in any language, and good enough for the ledger. */
uint64_t text_hash(struct slice bytes);

/* A copy that lives as long as the process, one per distinct word; their number is bounded. */
const char *text_intern(struct slice word);

/* Frees all words of text_intern. */
void text_forget_interned(void);

/* The candidate nearest to word, or NULL if none is near. */
const char *text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
