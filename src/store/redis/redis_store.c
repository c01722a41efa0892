#include "store/redis/redis_store.h"

#include "base/assert.h"
#include "store/redis/redis_call.h"
#include "store/redis/redis_chest.h"
#include "store/redis/redis_lease.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer than a sync takes on a disk that still works, and not longer than a lease. */
#define PATIENCE_MS REDIS_LEASE_MS
#define PREFIX_USUAL "solvegate"
#define PREFIX_MAX 64
/* A letter's notes or a day's counters as JSON, with room to spare. */
#define SCRATCH_MAX (16 << 20)
/* The names of a batch, each with its prefix. */
#define NAMES_MAX ((size_t)64 << 20)
/* A transaction is split above half of a row's limit; see redis_write.c. */
#define OUT_MAX (2 * REDIS_ROW_MAX)

const char *redis_prefix(const struct store_place *place)
{
    return place->prefix == NULL || place->prefix[0] == '\0' ? PREFIX_USUAL : place->prefix;
}

/* A brace would move where a cluster looks for the keys' slot. */
static bool check_prefix(const char *prefix, struct buf *mistake)
{
    bool is_good = strlen(prefix) <= PREFIX_MAX;
    for (const char *c = prefix; *c != '\0'; c++)
        is_good = is_good && *c > ' ' && *c < 127 && strchr("{}*?[]\\", *c) == NULL;
    if (!is_good)
        buf_addf(mistake,
                 "store_prefix must have at most %d visible ASCII characters, and none of "
                 "{}*?[]\\",
                 PREFIX_MAX);
    return is_good;
}

static char *copy(const char *text)
{
    char *const copied = text == NULL ? NULL : strdup(text);
    ASSERT(text == NULL || copied != NULL);
    return copied;
}

struct redis_store *redis_store_new(const struct store_place *place, struct buf *mistake)
{
    struct redis_store *const store = calloc(1, sizeof *store);
    ASSERT(store != NULL && sodium_init() >= 0);
    ASSERT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    buf_init(&store->out, OUT_MAX);
    buf_init(&store->scratch, SCRATCH_MAX);
    buf_init(&store->body, REDIS_ROW_MAX);
    buf_init(&store->names, NAMES_MAX);
    store->prefix = copy(redis_prefix(place));
    store->address = copy(place->url);
    if (place->node != NULL)
        (void)snprintf(store->node, sizeof store->node, "%s", place->node);
    store->lease_ms = place->lease_ms;
    store->ca_file = copy(place->ca_file);
    store->allow_async = place->allow_async;
    store->patience_ms = place->patience_ms == 0 ? PATIENCE_MS : place->patience_ms;
    lease_choose_owner(store, place->run);
    if (redis_url_read(place->url, &store->url, mistake) && check_prefix(store->prefix, mistake)) {
        redis_url_place(&store->url, store->place, sizeof store->place);
        return store;
    }
    redis_store_free(store);
    return NULL;
}

static void free_one(struct redis_store *store)
{
    chest_forget(store);
    call_disconnect(store);
    call_begin(store); /* wipes it */
    redis_url_close(&store->url);
    sodium_memzero(store->address, strlen(store->address));
    free(store->address);
    buf_close(&store->out);
    buf_close(&store->scratch);
    buf_close(&store->body);
    buf_close(&store->names);
    free(store->prefix);
    free(store->ca_file);
    store_kept_close(&store->kept);
    free(store);
    curl_global_cleanup();
}

void redis_store_free(struct redis_store *store)
{
    struct redis_store *const ear = store->ear;
    free_one(store);
    if (ear != NULL)
        free_one(ear);
}
