#include "store/store_latest.h"

#include "base/assert.h"

#include <stdlib.h>

static int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_bytes(struct slice a, struct slice b)
{
    const int first = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return first != 0 ? first : compare_integers((int64_t)a.len, (int64_t)b.len);
}

static struct slice client_of(const struct store_entry *entry)
{
    return (struct slice){.data = entry->client, .len = entry->client_len};
}

/* Only the types that keys are made of. */
static int compare_column(const struct column *column, const struct store_entry *a,
                          const struct store_entry *b)
{
    const void *const field_a = (const char *)&a->record + column->offset;
    const void *const field_b = (const char *)&b->record + column->offset;
    if (column->type == COLUMN_CLIENT)
        return compare_bytes(client_of(a), client_of(b));
    if (column->type == COLUMN_KEY)
        return memcmp(field_a, field_b, KEY_BYTES);
    if (column->type == COLUMN_WORD)
        return compare_integers(*(const unsigned *)field_a, *(const unsigned *)field_b);
    ASSERT(column->type == COLUMN_U64 || column->type == COLUMN_DAY);
    return compare_integers(*(const int64_t *)field_a, *(const int64_t *)field_b);
}

static int compare_names(const struct store_entry *a, const struct store_entry *b)
{
    if (a->record.kind != b->record.kind)
        return a->record.kind < b->record.kind ? -1 : 1;
    const struct row_table *const table = &row_tables[a->record.kind];
    int order = 0;
    for (size_t i = 0; i < table->key_count && order == 0; i++)
        order = compare_column(&table->columns[i], a, b);
    return order;
}

/* By kind and name; of a name's entries the latest comes first. */
static int compare_rows(const void *a, const void *b)
{
    const struct store_row *const row_a = a;
    const struct store_row *const row_b = b;
    const int order = compare_names(row_a->entry, row_b->entry);
    return order != 0 ? order : compare_integers(row_b->place, row_a->place);
}

size_t store_latest(const struct store_batch *batch, struct store_row *rows)
{
    const struct store_entry *entry = batch->first;
    size_t records = 0;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (store_entry_is_record(entry))
            rows[records++] = (struct store_row){.entry = entry, .place = i};
    if (records > 1)
        qsort(rows, records, sizeof *rows, compare_rows);
    size_t count = 0;
    for (size_t i = 0; i < records; i++)
        if (count == 0 || compare_names(rows[count - 1].entry, rows[i].entry) != 0)
            rows[count++] = rows[i];
    return count;
}
