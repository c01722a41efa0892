#include "store/store_offline.h"

#include "store/store_driver.h"

/* The driver for the place, or NULL with a sentence. */
static const struct store_driver *driver_of(const struct store_place *place, const char **address,
                                            struct buf *mistake)
{
    return store_is_known(place->url, mistake) ? store_driver_find(place->url, address) : NULL;
}

static const char *no_name(void *context, client_id client)
{
    (void)context;
    (void)client;
    return "";
}

enum store_opening store_init(const struct store_place *place, struct buf *about,
                              struct buf *mistake)
{
    const struct store_names names = {.name_of = no_name};
    struct store *store;
    enum store_opening opening = store_lock(place, &store, mistake);
    if (opening != STORE_OPENED)
        return opening;
    opening = store_open(store, &names, mistake);
    if (opening == STORE_OPENED) {
        const struct store_about facts = store_about(store);
        buf_addf(about, "server: %s\ndurability: %s\n", facts.server, facts.durability);
    }
    store_free(store);
    return opening;
}

enum store_opening store_print_schema(const struct store_place *place, struct buf *out,
                                      struct buf *mistake)
{
    const char *address;
    const struct store_driver *const driver = driver_of(place, &address, mistake);
    if (driver == NULL)
        return STORE_UNUSABLE;
    if (driver->print_schema != NULL) {
        driver->print_schema(place, out);
        return STORE_OPENED;
    }
    buf_addf(mistake, "%s needs no preparation: the gateway makes its file by itself",
             driver->name);
    return STORE_UNUSABLE;
}

enum store_opening store_inspect(const struct store_place *place, struct buf *report,
                                 struct buf *mistake)
{
    const char *address;
    const struct store_driver *const driver = driver_of(place, &address, mistake);
    if (driver == NULL)
        return STORE_UNUSABLE;
    return driver->inspect(place, address, report, mistake);
}
