#include "store/store_kept.h"

#include "base/assert.h"

#include <sodium.h>
#include <stdio.h>

/* Leaves room for the batches of a run, and for the sign. */
#define RUN_MASK UINT64_C(0x3fffffff00000000)

void store_kept_begin(struct store_kept *kept)
{
    uint64_t random;
    randombytes_buf(&random, sizeof random);
    kept->first = (int64_t)(random & RUN_MASK);
    kept->written = kept->first;
    kept->sent = kept->first;
}

int64_t store_kept_send(struct store_kept *kept, const struct store_batch *batch)
{
    kept->sent = kept->first + (int64_t)batch->number;
    return kept->sent;
}

void store_kept_written(struct store_kept *kept)
{
    kept->written = kept->sent;
}

bool store_kept_is_known(const struct store_kept *kept, int64_t number)
{
    return number == kept->written || number == kept->sent;
}

/* The port uses fewer names than there are places. */
void store_kept_secret(struct store_kept *kept, const char *name, const struct store_secret *secret)
{
    size_t place = 0;
    if (secret->count == 0 || secret->count > sizeof secret->bytes)
        return;
    while (place < STORE_KEPT_SECRETS && kept->secrets[place].name[0] != '\0' &&
           strcmp(kept->secrets[place].name, name) != 0)
        place++;
    ASSERT(place < STORE_KEPT_SECRETS && strlen(name) < STORE_KEPT_NAME_MAX);
    (void)snprintf(kept->secrets[place].name, STORE_KEPT_NAME_MAX, "%s", name);
    kept->secrets[place].secret = *secret;
}

void store_kept_mark(struct store_kept *kept, const struct clocks *now)
{
    kept->mark =
        (struct store_mark){.is_set = true, .wall_ms = now->wall_ms, .even_ms = now->even_ms};
    (void)snprintf(kept->mark.boot, sizeof kept->mark.boot, "%s", now->boot);
}

void store_kept_lost(struct store_backend *backend, const char *where)
{
    backend->losses++;
    (void)snprintf(backend->loss, sizeof backend->loss,
                   "%s came back without rows that it had acknowledged: it was emptied, restored "
                   "from a backup, or succeeded by a replica that lacked them",
                   where);
}

void store_kept_close(struct store_kept *kept)
{
    sodium_memzero(kept, sizeof *kept);
}
