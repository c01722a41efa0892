#include "disk.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* What names a row within its kind, in the order in which a store would sort it. */
static struct key name_of(const struct record *record)
{
    switch (record->kind) {
    case RECORD_DAY:
        return key_from_u64((uint64_t)record->day.day);
    case RECORD_TALLY:
        return key_from_u64((uint64_t)record->tally.day << 32 |
                            (uint64_t)record->tally.client << 8 | record->tally.type);
    case RECORD_SPENT:
        return key_from_u64(record->spent.client);
    case RECORD_SOLUTION:
        return key_from_u64(record->solution.id);
    case RECORD_FLIGHT:
        return key_from_u64(record->flight.id);
    case RECORD_ATTEMPT:
        return key_from_u64(record->attempt.name);
    case RECORD_REQUEST:
        return key_from_u64(record->request.id);
    case RECORD_IDEMPOTENCY:
        return record->idempotency.digest;
    case RECORD_LETTER:
        return key_from_u64(record->letter.number);
    case RECORD_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

static uint64_t number_of(const struct record *record)
{
    const struct key name = name_of(record);
    uint64_t number = 0;
    memcpy(&number, name.bytes, sizeof number);
    return number;
}

/* By kind, then by name. */
static int compare(const void *a, const void *b)
{
    const struct record *left = *(const struct record *const *)a;
    const struct record *right = *(const struct record *const *)b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->kind == RECORD_IDEMPOTENCY)
        return memcmp(&left->idempotency.digest, &right->idempotency.digest, KEY_BYTES);
    const uint64_t x = number_of(left);
    const uint64_t y = number_of(right);
    return x < y ? -1 : x > y;
}

static bool is_same_row(const struct record *a, const struct record *b)
{
    const struct key x = name_of(a);
    const struct key y = name_of(b);
    return a->kind == b->kind && key_equals(&x, &y);
}

/* Is nothing about this row among the later records? */
static bool is_last_word(const struct disk *disk, size_t at, size_t kept)
{
    for (size_t i = at + 1; i < kept; i++)
        if (is_same_row(&disk->log[i], &disk->log[at]))
            return false;
    return true;
}

/* Borrowed pointers to the surviving rows, sorted; the array is the caller's. */
static const struct record **rows_of(const struct disk *disk, size_t kept, size_t *count)
{
    const struct record **rows = calloc(kept + 1, sizeof(*rows));
    ASSERT(rows != NULL && kept <= disk->count);
    *count = 0;
    for (size_t i = 0; i < kept; i++)
        if (!disk->log[i].is_drop && is_last_word(disk, i, kept))
            rows[(*count)++] = &disk->log[i];
    qsort(rows, *count, sizeof(*rows), compare);
    return rows;
}

void disk_append(struct disk *disk, struct record *take_record)
{
    if (disk->count == disk->room) {
        disk->room = disk->room == 0 ? 64 : disk->room * 2;
        disk->log = realloc(disk->log, disk->room * sizeof(*disk->log));
        ASSERT(disk->log != NULL);
    }
    disk->log[disk->count++] = *take_record;
}

void disk_load(const struct disk *disk, size_t kept, struct engine *engine)
{
    size_t count;
    const struct record **rows = rows_of(disk, kept, &count);
    for (size_t i = 0; i < count; i++)
        engine_restore(engine, rows[i]);
    free(rows);
}

size_t disk_count(const struct disk *disk, enum record_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < disk->count; i++)
        if (disk->log[i].kind == kind && !disk->log[i].is_drop &&
            is_last_word(disk, i, disk->count))
            count++;
    return count;
}

void disk_crash(struct disk *disk, size_t kept)
{
    size_t count = 0;
    for (size_t i = 0; i < disk->count; i++) {
        if (i < kept && !disk->log[i].is_drop && is_last_word(disk, i, kept))
            disk->log[count++] = disk->log[i];
        else
            record_close(&disk->log[i]);
    }
    disk->count = count;
}

void disk_close(struct disk *disk)
{
    for (size_t i = 0; i < disk->count; i++)
        record_close(&disk->log[i]);
    free(disk->log);
    *disk = (struct disk){0};
}
