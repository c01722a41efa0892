/* A fact of the inbox as text: what every driver keeps of it besides its number, its attempt and its two blobs. */
#ifndef SOLVEGATE_STORE_STORE_FACT_H
#define SOLVEGATE_STORE_STORE_FACT_H

#include "base/buf.h"

#include <solvegate/event.h>

/* Adds a JSON object. */
void fact_add_body(struct buf *out, const struct vendor_result *result);
/* Reads it, and leaves attempt, text and extra alone; false if it makes no sense. */
bool fact_read_body(struct slice body, struct vendor_result *result);

/* Releases text and extra. */
void fact_close(struct fact *fact);

#endif
