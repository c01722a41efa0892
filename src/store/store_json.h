/* The parts of rows that are lists themselves, as JSON: counters and a letter's notes. */
#ifndef SOLVEGATE_STORE_STORE_JSON_H
#define SOLVEGATE_STORE_STORE_JSON_H

#include "base/buf.h"

#include <solvegate/record.h>

/* By name, so that counters can come and go between versions. */
void store_json_add_stats(struct buf *out, const struct stats *stats);
void store_json_add_tally(struct buf *out, const struct tally *tally);
/* What is missing is 0, what is unknown is passed over; false when it is no JSON object. */
bool store_json_read_stats(struct slice json, struct stats *stats);
bool store_json_read_tally(struct slice json, struct tally *tally);

void store_json_add_notes(struct buf *out, const struct letter_row *letter);
/* The notes are the letter's to give back, also after false. */
bool store_json_read_notes(struct slice json, struct letter_row *letter);

#endif
