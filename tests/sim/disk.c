/* A disk that forgets what was not synced: an append log behind a watermark, and the rows it adds up to. */
#include "../record_number.h"
#include "sim.h"

#include <stdlib.h>

/* Names of different kinds must not meet in one map. The world numbers its idempotency keys, and a digest begins with
 * that number. */
static uint64_t name_of(enum record_kind kind, uint64_t number)
{
    uint64_t mixed = (number + ((uint64_t)kind + 1) * UINT64_C(0x9e3779b97f4a7c15)) *
                     UINT64_C(0xd1342543de82ef95);
    mixed ^= mixed >> 32;
    return mixed == 0 ? 1 : mixed;
}

void disk_open(struct disk *disk)
{
    *disk = (struct disk){.free_row = MAP_NONE};
    map_init(&disk->by_name);
}

void disk_reset(struct disk *disk)
{
    for (size_t i = 0; i < disk->log_count; i++)
        record_close(&disk->log[(disk->log_first + i) % disk->log_room]);
    for (size_t i = 0; i < disk->row_count; i++)
        if (disk->rows[i].is_used)
            record_close(&disk->rows[i].record);
    disk->log_first = disk->log_count = disk->row_count = 0;
    disk->synced = disk->appended = disk->syncing = 0;
    disk->free_row = MAP_NONE;
    disk->is_full = false;
    map_clear(&disk->by_name);
}

void disk_close(struct disk *disk)
{
    disk_reset(disk);
    map_close(&disk->by_name);
    free(disk->log);
    free(disk->rows);
}

void disk_append(struct disk *disk, journal_seq seq, const struct record *take_record)
{
    if (disk->log_count == disk->log_room) {
        const size_t room = disk->log_room == 0 ? 256 : disk->log_room * 2;
        struct record *larger = calloc(room, sizeof *larger);
        ASSERT(larger != NULL);
        for (size_t i = 0; i < disk->log_count; i++)
            larger[i] = disk->log[(disk->log_first + i) % disk->log_room];
        free(disk->log);
        disk->log = larger;
        disk->log_first = 0;
        disk->log_room = room;
    }
    disk->log[(disk->log_first + disk->log_count++) % disk->log_room] = *take_record;
    disk->appended = seq;
}

static uint32_t new_row(struct disk *disk)
{
    if (disk->free_row != MAP_NONE) {
        const uint32_t place = disk->free_row;
        disk->free_row = disk->rows[place].next_free;
        return place;
    }
    disk->rows = array_grow(disk->rows, disk->row_count, &disk->row_room, sizeof *disk->rows);
    return (uint32_t)disk->row_count++;
}

static void drop_row(struct disk *disk, uint64_t name)
{
    const uint32_t place = map_get(&disk->by_name, name);
    if (place == MAP_NONE)
        return;
    map_remove(&disk->by_name, name);
    record_close(&disk->rows[place].record);
    disk->rows[place].is_used = false;
    disk->rows[place].next_free = disk->free_row;
    disk->free_row = place;
}

static void put_row(struct disk *disk, uint64_t name, const struct record *take_record)
{
    uint32_t place = map_get(&disk->by_name, name);
    if (place == MAP_NONE) {
        place = new_row(disk);
        map_set(&disk->by_name, name, place);
    } else {
        record_close(&disk->rows[place].record);
    }
    disk->rows[place].record = *take_record;
    disk->rows[place].number = record_number(take_record);
    disk->rows[place].is_used = true;
}

/* The oldest record of the log becomes part of the rows. */
static void apply_first(struct sim *sim)
{
    struct disk *disk = &sim->disk;
    struct record record = disk->log[disk->log_first];
    disk->log_first = (disk->log_first + 1) % disk->log_room;
    disk->log_count--;
    disk->synced++;
    const uint64_t name = name_of(record.kind, record_number(&record));
    ledger_row(sim, &record);
    if (record.is_drop)
        drop_row(disk, name);
    else
        put_row(disk, name, &record);
}

void disk_sync(struct sim *sim, journal_seq upto)
{
    while (sim->disk.synced < upto)
        apply_first(sim);
}

void disk_crash(struct sim *sim, size_t kept)
{
    struct disk *disk = &sim->disk;
    for (size_t i = 0; i < kept; i++)
        apply_first(sim);
    for (size_t i = 0; i < disk->log_count; i++)
        record_close(&disk->log[(disk->log_first + i) % disk->log_room]);
    disk->log_count = 0;
    disk->synced = disk->appended = disk->syncing = 0;
    disk->is_full = false;
}

const struct record *disk_find(const struct disk *disk, enum record_kind kind, uint64_t number)
{
    const uint32_t place = map_get(&disk->by_name, name_of(kind, number));
    return place == MAP_NONE ? NULL : &disk->rows[place].record;
}

static int compare(const void *a, const void *b)
{
    const struct disk_row *left = *(const struct disk_row *const *)a;
    const struct disk_row *right = *(const struct disk_row *const *)b;
    if (left->record.kind != right->record.kind)
        return left->record.kind < right->record.kind ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

void disk_load(const struct sim *sim)
{
    const struct disk *disk = &sim->disk;
    const struct disk_row **rows = calloc(disk->row_count + 1, sizeof *rows);
    ASSERT(rows != NULL);
    size_t count = 0;
    for (size_t i = 0; i < disk->row_count; i++)
        if (disk->rows[i].is_used)
            rows[count++] = &disk->rows[i];
    qsort(rows, count, sizeof *rows, compare);
    for (size_t i = 0; i < count; i++) {
        const struct record placed = places_row(sim, &rows[i]->record);
        engine_restore(sim->engine, &placed);
    }
    free(rows);
    engine_restored(sim->engine);
}
