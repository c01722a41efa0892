#include "config/config_reload.h"

#include "base/assert.h"
#include "config/config_clients.h"
#include "config/config_fields.h"
#include "config/config_options.h"

#include <stdlib.h>

static void name(struct buf *kept, const char *path)
{
    if (kept->len > 0)
        buf_add(kept, SLICE_OF(", "));
    buf_add(kept, slice_from(path));
}

/* Options that need a restart are built into listeners, connections, the journal or memory that is
 * reserved at the start. */
static void keep_options(struct config *running, struct config *fresh, struct buf *kept)
{
    for (const struct option *option = option_table; option < option_table + option_count;
         option++) {
        if (option->home != HOME_CONFIG || option->is_live)
            continue;
        if (!option_is_same(option, running, fresh))
            name(kept, option->path);
        option_swap(option, running, fresh);
    }
}

static bool is_same_pool(const struct config_pool *a, const struct config_pool *b)
{
    for (const struct option *option = option_table; option < option_table + option_count; option++)
        if (option->home == HOME_POOL && !option_is_same(option, a, b))
            return false;
    return slice_equals(blob_slice(a->params), blob_slice(b->params));
}

static void keep_pools(struct config *running, struct config *fresh, struct buf *kept)
{
    bool is_other = running->pool_count != fresh->pool_count;
    for (size_t i = 0; i < running->pool_count && !is_other; i++)
        is_other = !is_same_pool(&running->pools[i], &fresh->pools[i]);
    if (is_other)
        name(kept, "pools");
    const struct config old = *running;
    running->pools = fresh->pools;
    running->pool_count = fresh->pool_count;
    fresh->pools = old.pools;
    fresh->pool_count = old.pool_count;
}

/* ---- clients ----------------------------------------------------------------------------- */

static struct config_client *find_by_name(struct config *config, const char *wanted)
{
    for (size_t i = 0; i < config->client_count; i++)
        if (strcmp(config->clients[i].name, wanted) == 0)
            return &config->clients[i];
    return NULL;
}

/* Running clients keep their indexes and get their new settings; new clients follow if there is room
 * for all of them. */
static void merge_clients(const struct config *running, struct config *fresh, bool has_room)
{
    struct config_client *const merged =
        calloc(running->client_count + fresh->client_count, sizeof *merged);
    ASSERT(merged != NULL);
    size_t count = 0;
    for (size_t i = 0; i < running->client_count; i++) {
        struct config_client *const now = find_by_name(fresh, running->clients[i].name);
        if (now != NULL) {
            merged[count++] = *now;
            /* Marks the client as merged: those that still have a name are new. */
            now->name[0] = '\0';
            continue;
        }
        struct config_client *const gone = &merged[count++];
        options_preset(HOME_CLIENT, gone);
        memcpy(gone->name, running->clients[i].name, sizeof gone->name);
        gone->scopes = 0;
        gone->options.is_gone = true;
    }
    for (size_t i = 0; i < fresh->client_count; i++) {
        if (fresh->clients[i].name[0] == '\0')
            continue;
        if (has_room)
            merged[count++] = fresh->clients[i];
        else
            options_close(HOME_CLIENT, &fresh->clients[i]);
    }
    free(fresh->clients);
    free(fresh->client_order);
    fresh->client_order = NULL;
    fresh->clients = merged;
    fresh->client_count = count;
    clients_index(fresh);
}

static void keep_clients(struct config *running, struct config *fresh, size_t client_room,
                         struct buf *kept)
{
    const bool had = running->client_count > 0;
    const bool has = fresh->client_count > 0;
    size_t count = running->client_count;
    for (size_t i = 0; i < fresh->client_count; i++)
        count += find_by_name(running, fresh->clients[i].name) == NULL;
    const bool has_room = count <= client_room;
    if (had != has || (had && !has_room))
        name(kept, "clients");
    /* Removed clients and changed keys do not wait for a restart, even if new clients have to. */
    if (had && has)
        merge_clients(running, fresh, has_room);
    if (had == has)
        return;
    const struct config old = *running;
    running->clients = fresh->clients;
    running->client_count = fresh->client_count;
    running->client_order = fresh->client_order;
    fresh->clients = old.clients;
    fresh->client_count = old.client_count;
    fresh->client_order = old.client_order;
}

void config_adopt(struct config *running, struct config *fresh, size_t client_room,
                  struct buf *kept)
{
    keep_options(running, fresh, kept);
    keep_pools(running, fresh, kept);
    keep_clients(running, fresh, client_room, kept);
    const struct config old = *running;
    *running = *fresh;
    *fresh = old;
}
