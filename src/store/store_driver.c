#include "store/store_driver.h"

#ifdef SOLVEGATE_HAVE_POSTGRES
#include "store/postgres/postgres_driver.h"
#endif
#ifdef SOLVEGATE_HAVE_REDIS
#include "store/redis/redis_driver.h"
#endif
#include "store/sqlite/sqlite_driver.h"

#include <uv.h>

static const struct store_driver *const drivers[] = {
    &sqlite_driver,
#ifdef SOLVEGATE_HAVE_POSTGRES
    &postgres_driver,
#endif
#ifdef SOLVEGATE_HAVE_REDIS
    &redis_driver,
#endif
};

/* Schemes whose drivers are optional at build time, with the options that add them. */
static const struct {
    const char *scheme;
    const char *option;
} optional[] = {
    {"postgresql", "postgres"}, {"postgres", "postgres"}, {"redis", "redis"},
    {"rediss", "redis"},        {"valkey", "redis"},      {"valkeys", "redis"},
    {"redis+unix", "redis"},    {"valkey+unix", "redis"}, {"unix", "redis"},
};

static bool knows(const struct store_driver *driver, struct slice scheme)
{
    for (const char *const *known = driver->schemes; *known != NULL; known++)
        if (slice_equals_nocase(scheme, slice_from(*known)))
            return true;
    return false;
}

const struct store_driver *store_driver_find(const char *url, const char **address)
{
    const char *const colon = strchr(url, ':');
    if (colon == NULL)
        return NULL;
    const struct slice scheme = {.data = url, .len = (size_t)(colon - url)};
    *address = colon + 1;
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++)
        if (knows(drivers[i], scheme))
            return drivers[i];
    return NULL;
}

const char *store_driver_option(const char *url)
{
    const struct slice scheme = {.data = url, .len = strcspn(url, ":")};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (slice_equals_nocase(scheme, slice_from(optional[i].scheme)))
            return optional[i].option;
    return NULL;
}

void store_hang_up(struct store_backend *backend)
{
    if (backend->driver->hang_up != NULL)
        backend->driver->hang_up(backend);
}

void store_begin_grace(struct store_backend *backend, uint32_t lease_ms)
{
    backend->grace_until_ns = uv_hrtime() + lease_ms * UINT64_C(1000000);
}

void store_look_at_grace(struct store_backend *backend)
{
    backend->is_in_grace = backend->is_held_up ||
                           (backend->grace_until_ns != 0 && uv_hrtime() < backend->grace_until_ns);
}

bool store_claim_waits(const struct store_backend *backend, const struct store_asked *asked)
{
    return backend->is_in_grace && !asked->claim.is_held;
}
