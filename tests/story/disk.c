#include "disk.h"

#include "../record_number.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* By kind, then by name. */
static int compare(const void *a, const void *b)
{
    const struct record *left = *(const struct record *const *)a;
    const struct record *right = *(const struct record *const *)b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->kind == RECORD_IDEMPOTENCY)
        return memcmp(&left->idempotency.digest, &right->idempotency.digest, KEY_BYTES);
    const uint64_t x = record_number(left);
    const uint64_t y = record_number(right);
    return x < y ? -1 : x > y;
}

static bool is_same_row(const struct record *a, const struct record *b)
{
    return compare(&a, &b) == 0;
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
