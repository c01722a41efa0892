#include "store/store_ahead.h"

#include "base/assert.h"
#include "store/store_load.h"
#include "store/store_private.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define SECRETS_MAX 4
#define NAME_MAX_BYTES 64
#define CLAIMS_FIRST 256

struct secret_ahead {
    char name[NAME_MAX_BYTES]; /* "": free, as are those that follow */
    size_t count;
    uint8_t bytes[STORE_SECRET_MAX];
    uint8_t old_bytes[STORE_SECRET_MAX];
};

struct store_ahead {
    struct secret_ahead secrets[SECRETS_MAX];
    struct store_queue rows;
    struct adopted_claim *claims; /* owned */
    size_t claim_count, claim_room;
    uint64_t skipped;
};

/* ---- secrets ----------------------------------------------------------------------------- */

bool ahead_find_secret(const struct store *store, const char *name, uint8_t *bytes,
                       uint8_t *old_bytes, size_t count)
{
    for (size_t i = 0; store->ahead != NULL && i < SECRETS_MAX; i++) {
        const struct secret_ahead *const kept = &store->ahead->secrets[i];
        if (strcmp(kept->name, name) != 0 || kept->count != count)
            continue;
        memcpy(bytes, kept->bytes, count);
        if (old_bytes != NULL)
            memcpy(old_bytes, kept->old_bytes, count);
        return true;
    }
    return false;
}

void ahead_keep_secret(struct store *store, const char *name, const uint8_t *bytes,
                       const uint8_t *old_bytes, size_t count)
{
    size_t place = 0;
    if (store->ahead == NULL)
        return;
    while (place < SECRETS_MAX && store->ahead->secrets[place].name[0] != '\0')
        place++;
    ASSERT(place < SECRETS_MAX && count <= STORE_SECRET_MAX);
    struct secret_ahead *const secret = &store->ahead->secrets[place];
    (void)snprintf(secret->name, sizeof secret->name, "%s", name);
    secret->count = count;
    memcpy(secret->bytes, bytes, count);
    memcpy(secret->old_bytes, old_bytes == NULL ? bytes : old_bytes, count);
}

/* ---- rows and claims --------------------------------------------------------------------- */

/* Clients are found by the loop, which knows their names. */
static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct store_ahead *const ahead = context;
    struct record record = {.kind = kind};
    char name[STORE_NAME_MAX] = "";
    struct slice client;
    if (!row_from_values(values, &record, &client) || client.len >= sizeof name) {
        record_close(&record);
        ahead->skipped++;
        return;
    }
    if (client.len > 0)
        memcpy(name, client.data, client.len);
    struct store_entry *const entry = store_entry_named(0, name);
    entry->record = record;
    store_queue_push(&ahead->rows, entry);
}

static void keep_claim(void *context, const struct key *name, uint64_t flight)
{
    struct store_ahead *const ahead = context;
    if (ahead->claim_count == ahead->claim_room) {
        ahead->claim_room = ahead->claim_room == 0 ? CLAIMS_FIRST : 2 * ahead->claim_room;
        struct adopted_claim *const larger =
            realloc(ahead->claims, ahead->claim_room * sizeof *larger);
        ASSERT(larger != NULL);
        ahead->claims = larger;
    }
    ahead->claims[ahead->claim_count++] = (struct adopted_claim){.name = *name, .number = flight};
}

int store_read_ahead(struct store *store, const struct clocks *now)
{
    struct store_backend *const backend = store->backend;
    ASSERT(!store->is_started && store->ahead == NULL && backend->node != 0);
    store->ahead = calloc(1, sizeof *store->ahead);
    ASSERT(store->ahead != NULL);
    enum store_result result =
        backend->driver->load(backend, now->wall_ms, on_values, store->ahead);
    if (result == STORE_DONE)
        result = backend->driver->sharing->load_claims(backend, keep_claim, store->ahead);
    return result == STORE_DONE ? 0 : ERR_IO;
}

void ahead_give_rows(struct store *store,
                     void (*on_row)(void *context, const struct record *record), void *context)
{
    struct store_queue *const rows = &store->ahead->rows;
    for (struct store_entry *entry = rows->first; entry != NULL; entry = entry->next) {
        const struct slice name = {.data = entry->client, .len = entry->client_len};
        if (load_set_client(&store->names, &entry->record, name))
            on_row(context, &entry->record);
        else
            store->counters.skipped++;
    }
    store->counters.skipped += store->ahead->skipped;
    store_queue_clear(rows);
}

void ahead_give_claims(const struct store *store,
                       void (*on_claim)(void *context, const struct key *name, uint64_t flight),
                       void *context)
{
    for (size_t i = 0; i < store->ahead->claim_count; i++)
        on_claim(context, &store->ahead->claims[i].name, store->ahead->claims[i].number);
}

void ahead_free(struct store *store)
{
    if (store->ahead == NULL)
        return;
    store_queue_clear(&store->ahead->rows);
    free(store->ahead->claims);
    sodium_memzero(store->ahead->secrets, sizeof store->ahead->secrets);
    free(store->ahead);
    store->ahead = NULL;
}
