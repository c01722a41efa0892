#include "store/store_load.h"

/* No configured name is longer. */
#define NAME_ROOM 256

struct loader {
    const struct store_names *names; /* borrowed */
    void (*on_row)(void *context, const struct record *record);
    void *context;
    uint64_t skipped;
    /* The client of the latest row: neighbouring rows often have the same one. */
    char name[NAME_ROOM];
    size_t len;
    client_id client;
    bool is_known;
};

static bool find_client(struct loader *loader, struct slice name, client_id *client)
{
    const struct slice latest = {.data = loader->name, .len = loader->len};
    if (name.len >= sizeof loader->name)
        return false;
    if (loader->len == 0 || !slice_equals(name, latest)) {
        memcpy(loader->name, name.data, name.len);
        loader->len = name.len;
        loader->is_known = loader->names->find(loader->names->context, name, &loader->client);
    }
    *client = loader->client;
    return loader->is_known;
}

/* Books and budgets of a removed client are useless, so they are skipped and expire by age. */
static bool find_gone(const struct store_names *names, enum record_kind kind, struct slice name,
                      client_id *client)
{
    const bool is_worth_it = kind != RECORD_TALLY && kind != RECORD_SPENT;
    return is_worth_it && names->find_gone != NULL &&
           names->find_gone(names->context, name, client);
}

bool load_set_client(const struct store_names *names, struct record *record, struct slice name)
{
    client_id *const client = row_client(record);
    return client == NULL || names->find(names->context, name, client) ||
           find_gone(names, record->kind, name, client);
}

static bool set_client(struct loader *loader, struct record *record, struct slice name)
{
    client_id *const client = row_client(record);
    return client == NULL || find_client(loader, name, client) ||
           find_gone(loader->names, record->kind, name, client);
}

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    struct loader *const loader = context;
    struct record record = {.kind = kind};
    struct slice name;
    if (row_from_values(values, &record, &name) && set_client(loader, &record, name))
        loader->on_row(loader->context, &record);
    else
        loader->skipped++;
    record_close(&record);
}

int load_rows(struct store_backend *backend, const struct store_names *names, int64_t wall_ms,
              void (*on_row)(void *context, const struct record *record), void *context,
              uint64_t *skipped)
{
    struct loader loader = {.names = names, .on_row = on_row, .context = context};
    const enum store_result result = backend->driver->load(backend, wall_ms, on_values, &loader);
    *skipped += loader.skipped;
    return result == STORE_DONE ? 0 : ERR_IO;
}
