#include "store/store_claims.h"

#include "base/assert.h"
#include "store/store_ahead.h"
#include "store/store_private.h"
#include "store/store_send.h"

#include <stdlib.h>

bool store_can_share(const char *url)
{
    const char *address;
    const struct store_driver *const driver = store_driver_find(url, &address);
    return driver != NULL && driver->sharing != NULL;
}

uint16_t store_node(const struct store *store)
{
    return store->backend->node;
}

int store_load_claims(struct store *store,
                      void (*on_claim)(void *context, const struct key *name, uint64_t flight),
                      void *context)
{
    struct store_backend *const backend = store->backend;
    ASSERT(!store->is_started);
    if (backend->node == 0)
        return 0;
    if (store->ahead != NULL) {
        ahead_give_claims(store, on_claim, context);
        return 0;
    }
    const enum store_result result =
        backend->driver->sharing->load_claims(backend, on_claim, context);
    return result == STORE_DONE ? 0 : ERR_IO;
}

/* ---- asking ------------------------------------------------------------------------------ */

void store_claim(struct store *store, const struct claim *claim, uint32_t idempotency_ttl_ms)
{
    ASSERT(store->backend->node != 0);
    struct store_asked *const asked = calloc(1, sizeof *asked);
    ASSERT(asked != NULL);
    asked->claim = *claim;
    asked->idempotency_ttl_ms = idempotency_ttl_ms;
    asked->claimed = (struct claimed){.flight = claim->flight,
                                      .ticket = claim->ticket,
                                      .proposal = claim->proposal,
                                      .is_held = claim->is_held,
                                      .has_name = claim->has_name,
                                      .has_idempotency = claim->has_idempotency,
                                      .name = claim->name,
                                      .result = CLAIM_UNAVAILABLE};
    const char *const client = store->names.name_of(store->names.context, claim->client);
    struct store_entry *const entry = store_entry_named(store->latest, client);
    entry->asked = asked;
    store_enqueue(store, entry);
}

void store_release(struct store *store, const struct release *release)
{
    ASSERT(store->backend->node != 0);
    struct store_entry *const entry = store_entry_named(store->latest, "");
    entry->release = malloc(sizeof *entry->release);
    ASSERT(entry->release != NULL);
    *entry->release = *release;
    store_enqueue(store, entry);
}

/* ---- answering --------------------------------------------------------------------------- */

/* A client that only other gateways know gets the solution in the name of the one who asks. */
static void set_client(const struct store *store, struct store_asked *asked)
{
    struct solution_row *const row = &asked->solution.solution;
    row->client = asked->claim.client;
    if (asked->client[0] != '\0')
        (void)store->names.find(store->names.context, slice_from(asked->client), &row->client);
}

void store_tell_claimed(struct store *store, struct store_entry *entry)
{
    struct store_asked *const asked = entry->asked;
    if (asked == NULL || store->handlers.on_claimed == NULL)
        return;
    if (asked->has_solution) {
        set_client(store, asked);
        asked->claimed.solution = &asked->solution.solution;
    }
    store->handlers.on_claimed(store->handlers.context, &asked->claimed);
}
