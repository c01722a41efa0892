#include "store/store_secret.h"

#include "base/assert.h"

#include <sodium.h>
#include <stdio.h>

#define NAME_MAX_BYTES 64

static int err_of(enum store_result result)
{
    if (result == STORE_DONE)
        return 0;
    return result == STORE_FAILED ? ERR_IO : ERR_FULL;
}

bool secret_is_same(const struct store_secret *stored, const struct store_secret *before)
{
    const size_t count = before == NULL ? 0 : before->count;
    return stored->count == count &&
           (count == 0 || sodium_memcmp(stored->bytes, before->bytes, count) == 0);
}

static int find(struct store_backend *backend, const char *name, size_t count,
                struct store_secret *secret)
{
    const int err = err_of(backend->driver->find_secret(backend, name, secret));
    if (err != 0)
        return err;
    if (secret->count == 0)
        return ERR_NOT_FOUND;
    return secret->count == count ? 0 : ERR_INVALID;
}

static int replace(struct store_backend *backend, const char *name, const char *old_name,
                   size_t count, const struct store_secret *before)
{
    struct store_secret made = {.count = count, .made_wall_ms = clocks_read().wall_ms};
    randombytes_buf(made.bytes, count);
    const int err = err_of(backend->driver->replace_secret(backend, name, &made, old_name, before));
    sodium_memzero(&made, sizeof made);
    return err;
}

static void count_row(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)kind;
    (void)values;
    ++*(uint64_t *)context;
}

/* A gateway makes its identity before its first row, and a copy gets it after its last one. With another one nobody
 * would find what the rows were paid for. */
static int expect_no_rows(struct store_backend *backend)
{
    uint64_t rows = 0;
    const int err = err_of(backend->driver->load(backend, 0, count_row, &rows));
    if (err != 0 || rows == 0)
        return err;
    (void)snprintf(backend->why, sizeof backend->why,
                   "the store has rows, but not the identity of the gateway that wrote them: "
                   "`solvegate store copy` was interrupted, or its secrets were deleted; empty it "
                   "and copy again, or restore a backup");
    return ERR_INVALID;
}

/* Reads the secret again after replacing it, since another gateway may have been first. If there is no room for a new
 * secret, the old one stays in use. */
static int find_or_replace(struct store_backend *backend, const char *name, const char *old_name,
                           int64_t max_age_ms, size_t count, struct store_secret *secret)
{
    int err = find(backend, name, count, secret);
    const bool is_found = err == 0;
    if (is_found && secret->made_wall_ms > clocks_read().wall_ms - max_age_ms)
        return 0;
    if (err == ERR_NOT_FOUND && strcmp(name, STORE_SECRET_IDENTITY) == 0) {
        err = expect_no_rows(backend);
        if (err != 0)
            return err;
        err = ERR_NOT_FOUND;
    }
    if (is_found || err == ERR_NOT_FOUND)
        err = replace(backend, name, old_name, count, is_found ? secret : NULL);
    if (is_found && err == ERR_FULL)
        return 0;
    return err == 0 ? find(backend, name, count, secret) : err;
}

int secret_get(struct store_backend *backend, const char *name, int64_t max_age_ms, uint8_t *bytes,
               uint8_t *old_bytes, size_t count)
{
    char old_name[NAME_MAX_BYTES];
    struct store_secret secret;
    ASSERT(count > 0 && count <= sizeof secret.bytes);
    (void)snprintf(old_name, sizeof old_name, "%s.old", name);
    int err = find_or_replace(backend, name, old_name, max_age_ms, count, &secret);
    if (err == 0)
        memcpy(bytes, secret.bytes, count);
    if (err == 0 && old_bytes != NULL) {
        memcpy(old_bytes, secret.bytes, count);
        err = find(backend, old_name, count, &secret);
        if (err == 0)
            memcpy(old_bytes, secret.bytes, count);
    }
    sodium_memzero(&secret, sizeof secret);
    return err == ERR_NOT_FOUND ? 0 : err;
}
