/* What a node has in the store, for whoever starts or adopts with it. */
#include "cluster.h"

#include <stdlib.h>

void parcel_close(struct parcel *parcel)
{
    for (size_t i = 0; i < parcel->record_count; i++)
        record_close(&parcel->records[i]);
    free(parcel->records);
    free(parcel->claims);
    *parcel = (struct parcel){0};
}

static int compare(const void *a, const void *b)
{
    const struct row *left = *(const struct row *const *)a;
    const struct row *right = *(const struct row *const *)b;
    if (left->record.kind != right->record.kind)
        return left->record.kind < right->record.kind ? -1 : 1;
    const struct key x = store_name_of(&left->record, left->owner);
    const struct key y = store_name_of(&right->record, right->owner);
    uint64_t first = 0;
    uint64_t second = 0;
    memcpy(&first, x.bytes, sizeof first);
    memcpy(&second, y.bytes, sizeof second);
    return first < second ? -1 : first > second;
}

void store_pack(struct cluster *c, node_id from, struct parcel *parcel)
{
    struct store *store = &c->store;
    const struct row **rows = calloc(store->row_count + 1, sizeof *rows);
    parcel->records = calloc(store->row_count + 1, sizeof *parcel->records);
    parcel->claims = calloc(store->claim_count + 1, sizeof *parcel->claims);
    ASSERT(rows != NULL && parcel->records != NULL && parcel->claims != NULL);
    size_t count = 0;
    for (size_t i = 0; i < store->row_count; i++)
        if (store->rows[i].owner == from)
            rows[count++] = &store->rows[i];
    qsort(rows, count, sizeof *rows, compare);
    for (size_t i = 0; i < count; i++)
        parcel->records[parcel->record_count++] = store_copy_of(&rows[i]->record);
    free(rows);
    for (size_t i = 0; i < store->claim_count; i++)
        if (store->claims[i].node == from)
            parcel->claims[parcel->claim_count++] = (struct adopted_claim){
                .name = store->claims[i].name, .number = store->claims[i].number};
}

void store_load(struct cluster *c, uint32_t node)
{
    struct engine *engine = c->nodes[node].engine;
    struct parcel parcel = {0};
    store_pack(c, c->nodes[node].run, &parcel);
    for (size_t i = 0; i < parcel.record_count; i++)
        engine_restore(engine, &parcel.records[i]);
    for (size_t i = 0; i < parcel.claim_count; i++)
        engine_restore_claim(engine, &parcel.claims[i].name, parcel.claims[i].number);
    parcel_close(&parcel);
    engine_restored(engine);
}
