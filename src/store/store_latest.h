/* The last word of a batch on each of its rows. */
#ifndef SOLVEGATE_STORE_STORE_LATEST_H
#define SOLVEGATE_STORE_STORE_LATEST_H

#include "store/store_driver.h"

/* An entry of a batch, to be sorted. */
struct store_row {
    const struct store_entry *entry; /* borrowed */
    uint32_t place;                  /* in the batch */
};

/* Leaves the last record of each name in rows, sorted by kind and name, and says how many there are; there must be room
 * for all entries. */
size_t store_latest(const struct store_batch *batch, struct store_row *rows);

#endif
