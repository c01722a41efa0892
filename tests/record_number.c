#include "record_number.h"

#include "base/assert.h"

#include <string.h>

uint64_t record_number(const struct record *record)
{
    uint64_t number = 0;
    switch (record->kind) {
    case RECORD_DAY:
        return (uint64_t)record->day.day;
    case RECORD_TALLY:
        return (uint64_t)record->tally.day << 32 | (uint64_t)record->tally.client << 8 |
               record->tally.type;
    case RECORD_SPENT:
        return record->spent.client;
    case RECORD_SOLUTION:
        return record->solution.id;
    case RECORD_FLIGHT:
        return record->flight.id;
    case RECORD_ATTEMPT:
        return record->attempt.name;
    case RECORD_REQUEST:
        return record->request.id;
    case RECORD_IDEMPOTENCY:
        memcpy(&number, record->idempotency.digest.bytes, sizeof number);
        return number;
    case RECORD_LETTER:
        return record->letter.number;
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}
