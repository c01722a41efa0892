#include "upstream/trust_store.h"

#include "base/assert.h"

#include <stddef.h>

/* In builds without OpenSSL libcurl reads bundles itself. */

bool trust_store_is_usable(void)
{
    return false;
}

void *trust_store_read(const char *path)
{
    (void)path;
    return NULL;
}

void trust_store_free(void *store)
{
    ASSERT(store == NULL);
}

void trust_store_use(void *store, void *ssl_context)
{
    (void)store;
    (void)ssl_context;
    UNREACHABLE();
}
