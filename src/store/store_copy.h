/* Copies a journal to another store while no gateway has either, and proves it. */
#ifndef SOLVEGATE_STORE_STORE_COPY_H
#define SOLVEGATE_STORE_STORE_COPY_H

#include "store/store.h"

struct store_copied {
    uint64_t rows[RECORD_KIND_COUNT];
    uint64_t skipped; /* rows that cannot be understood; a gateway would skip them, too */
    unsigned secrets;
};

/* Copies every row that has not expired, the secrets and the clocks to a store without rows and secrets, and then
 * compares what both give back. Both are locked meanwhile. STORE_LOCKED also means that the second has something. */
enum store_opening store_copy(const struct store_place *from, const struct store_place *to,
                              struct store_copied *copied, struct buf *mistake);

#endif
