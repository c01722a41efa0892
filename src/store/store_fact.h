/* A fact of the inbox as text: what every driver keeps of it besides its number, its subject and its two blobs. */
#ifndef SOLVEGATE_STORE_STORE_FACT_H
#define SOLVEGATE_STORE_STORE_FACT_H

#include "base/buf.h"

#include <solvegate/event.h>

/* Adds a JSON object. */
void fact_add_body(struct buf *out, const struct fact *fact);
/* Reads it, and leaves number, subject, text and extra alone; false if it makes no sense. */
bool fact_read_body(struct slice body, struct fact *fact);

/* The name of the row whose owner reads the fact, of an attempt, of a request or, less than 0 if it had a sign, of a
 * letter: attempts are drawn from so many numbers that none is that of another row. 0: there is none. */
uint64_t fact_subject(const struct fact *fact);
bool fact_is_about_letter(const struct fact *fact);
void fact_set_subject(struct fact *fact, uint64_t subject);

/* Releases text and extra. */
void fact_close(struct fact *fact);

#endif
