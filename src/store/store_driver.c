#include "store/store_driver.h"

#include "store/sqlite/sqlite_driver.h"

static const struct store_driver *const drivers[] = {&sqlite_driver};

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
