/* What names a row within its kind, for tests and models of stores. */
#ifndef SOLVEGATE_TESTS_RECORD_NUMBER_H
#define SOLVEGATE_TESTS_RECORD_NUMBER_H

#include <solvegate/record.h>

/* Of an idempotency record it is the beginning of its digest. */
uint64_t record_number(const struct record *record);

#endif
