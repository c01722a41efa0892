/* The parts of rows that are lists, as JSON: counters and a letter's notes. */
#ifndef SOLVEGATE_STORE_ROW_JSON_H
#define SOLVEGATE_STORE_ROW_JSON_H

#include "base/buf.h"

#include <solvegate/record.h>

/* Stored by name, so that versions can add and remove counters. */
void row_json_add_stats(struct buf *out, const struct day_row *day);
void row_json_add_tally(struct buf *out, const struct tally *tally);
/* A missing counter is 0, an unknown one is skipped; false when it is no JSON object. */
bool row_json_read_stats(struct slice json, struct day_row *day);
bool row_json_read_tally(struct slice json, struct tally *tally);

void row_json_add_notes(struct buf *out, const struct letter_row *letter);
/* The letter owns the notes that were read, even if it returns false. */
bool row_json_read_notes(struct slice json, struct letter_row *letter);

#endif
