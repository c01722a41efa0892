/* A model disk: every record ever appended, and the rows that any prefix of them leaves behind. */
#ifndef SOLVEGATE_TESTS_STORY_DISK_H
#define SOLVEGATE_TESTS_STORY_DISK_H

#include <solvegate/engine.h>

struct disk {
    struct record *log; /* owned, in the order of their numbers */
    size_t count, room;
};

/* Takes the record's references. */
void disk_append(struct disk *disk, struct record *take_record);

/* Restores an engine from the rows of the first `kept` records, as a store would. */
void disk_load(const struct disk *disk, size_t kept, struct engine *engine);

/* How many rows of this kind there are. */
size_t disk_count(const struct disk *disk, enum record_kind kind);

/* The rows of the first `kept` records become the whole log: how a crash leaves the disk. */
void disk_crash(struct disk *disk, size_t kept);

void disk_close(struct disk *disk);

#endif
