#include "store/store_budget.h"

#include "base/assert.h"
#include "store/store_private.h"
#include "store/store_send.h"

#include <stdlib.h>

void store_draw(struct store *store, const struct draw *draw)
{
    ASSERT(store->backend->node != 0);
    struct store_drawn *const drawn = malloc(sizeof *drawn);
    ASSERT(drawn != NULL);
    *drawn = (struct store_drawn){.draw = *draw,
                                  .drawn = {.client = draw->client, .number = draw->number}};
    const char *const client = store->names.name_of(store->names.context, draw->client);
    struct store_entry *const entry = store_entry_named(store->latest, client);
    entry->drawn = drawn;
    store_enqueue(store, entry);
}

void store_tell_drawn(struct store *store, const struct store_entry *entry)
{
    if (entry->drawn != NULL && store->handlers.on_drawn != NULL)
        store->handlers.on_drawn(store->handlers.context, &entry->drawn->drawn);
}
