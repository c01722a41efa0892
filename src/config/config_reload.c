#include "config/config_reload.h"

#include "base/assert.h"
#include "config/config_clients.h"
#include "config/config_options.h"

#include <stddef.h>
#include <stdlib.h>

/* What is read anew for every request or told to the engine. Everything else was built into
 * listeners, connections, the journal or memory that is reserved at start. */
static const char *const changeable[] = {
    "poll.",
    "solve_timeout",
    "ambiguity_window",
    "on_ambiguous",
    "retry.",
    "breaker.",
    "cache.ttl",
    "cache.min_ttl",
    "cache.caller_error_ttl",
    "dedup.",
    "reuse",
    "idempotency.ttl",
    "letters.keep",
    "letters.alert_above",
    "letters.replay_interval",
    "letters.retry_every",
    "letters.retry_classes",
    "letters.retry_max",
    "callbacks.allow",
    "callbacks.allow_private",
    "callbacks.retries",
    "callbacks.retry_base",
    "callbacks.retry_cap",
    "upstream.slots",
    "upstream.price",
    "log.",
    "drain_timeout",
};

/* Lists keep their length in a field of their own. */
static const struct {
    const char *path;
    size_t offset;
} lengths[] = {
    {"listen", offsetof(struct config, listen_count)},
    {"trusted_proxies", offsetof(struct config, trusted_proxy_count)},
    {"errors", offsetof(struct config, error_count)},
};

static bool is_changeable(const char *path)
{
    for (size_t i = 0; i < sizeof(changeable) / sizeof(changeable[0]); i++) {
        const size_t len = strlen(changeable[i]);
        const bool is_group = changeable[i][len - 1] == '.';
        if (strncmp(path, changeable[i], len) == 0 && (is_group || path[len] == '\0'))
            return true;
    }
    return false;
}

static void name(struct buf *kept, const char *path)
{
    if (kept->len > 0)
        buf_add(kept, SLICE_OF(", "));
    buf_add(kept, slice_from(path));
}

/* Copies a field of the running one over; true when it was different. */
static bool keep_field(const struct config *running, struct config *fresh, size_t offset,
                       size_t bytes)
{
    char *const to = (char *)fresh + offset;
    const char *const from = (const char *)running + offset;
    const bool is_other = memcmp(to, from, bytes) != 0;
    memcpy(to, from, bytes);
    return is_other;
}

static bool is_same_list(const struct config *a, const struct config *b)
{
    for (size_t i = 0; i < a->listen_count && i < b->listen_count; i++)
        if (strcmp(a->listen[i], b->listen[i]) != 0)
            return false;
    return a->listen_count == b->listen_count;
}

/* Behind the end of a text may be anything, so texts are compared as such. */
static bool is_same(const struct config *a, const struct config *b, const struct option *option)
{
    const char *const left = (const char *)a + option->offset;
    const char *const right = (const char *)b + option->offset;
    if (option->kind == OPTION_LISTEN)
        return is_same_list(a, b);
    if (option->kind == OPTION_TEXT || option->kind == OPTION_SECRET || option->kind == OPTION_URL)
        return strcmp(left, right) == 0;
    return memcmp(left, right, option->bytes) == 0;
}

static void keep_option(const struct config *running, struct config *fresh,
                        const struct option *option, struct buf *kept)
{
    bool is_other = !is_same(running, fresh, option);
    (void)keep_field(running, fresh, option->offset, option->bytes);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        if (strcmp(option->path, lengths[i].path) == 0)
            is_other |= keep_field(running, fresh, lengths[i].offset, sizeof(size_t));
    if (is_other)
        name(kept, option->path);
}

static bool is_same_pool(const struct config_pool *a, const struct config_pool *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->client, b->client) == 0 &&
           a->size == b->size && a->idle_after_ms == b->idle_after_ms &&
           a->max_waste == b->max_waste &&
           slice_equals(blob_slice(a->params), blob_slice(b->params));
}

static void keep_pools(struct config *running, struct config *fresh, struct buf *kept)
{
    bool is_other = running->pool_count != fresh->pool_count;
    for (size_t i = 0; i < running->pool_count && !is_other; i++)
        is_other = !is_same_pool(&running->pools[i], &fresh->pools[i]);
    if (is_other)
        name(kept, "pools");
    struct config_pool *const pools = fresh->pools;
    const size_t count = fresh->pool_count;
    fresh->pools = running->pools;
    fresh->pool_count = running->pool_count;
    running->pools = pools;
    running->pool_count = count;
}

/* ---- clients ----------------------------------------------------------------------------- */

static struct config_client *find_by_name(struct config *config, const char *wanted)
{
    for (size_t i = 0; i < config->client_count; i++)
        if (strcmp(config->clients[i].name, wanted) == 0)
            return &config->clients[i];
    return NULL;
}

/* The running ones in their places with what they are now, then those that are new. */
static void merge_clients(const struct config *running, struct config *fresh)
{
    struct config_client *const merged =
        calloc(running->client_count + fresh->client_count, sizeof(*merged));
    ASSERT(merged != NULL);
    size_t count = 0;
    for (size_t i = 0; i < running->client_count; i++) {
        struct config_client *const now = find_by_name(fresh, running->clients[i].name);
        if (now != NULL) {
            merged[count++] = *now;
            /* Taken: what is left over is new. */
            now->name[0] = '\0';
            continue;
        }
        struct config_client *const gone = &merged[count++];
        memcpy(gone->name, running->clients[i].name, sizeof(gone->name));
        gone->is_gone = true;
        gone->weight = 1;
        gone->budget_per_day = UINT64_MAX;
        config_retry_init(&gone->retry);
    }
    for (size_t i = 0; i < fresh->client_count; i++)
        if (fresh->clients[i].name[0] != '\0')
            merged[count++] = fresh->clients[i];
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
    if (had && has && has_room) {
        merge_clients(running, fresh);
        return;
    }
    if (!had && !has)
        return;
    name(kept, "clients");
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
    for (size_t i = 0; i < option_count; i++)
        if (!option_is_item(&options[i]) && !is_changeable(options[i].path))
            keep_option(running, fresh, &options[i], kept);
    keep_pools(running, fresh, kept);
    keep_clients(running, fresh, client_room, kept);
    const struct config old = *running;
    *running = *fresh;
    *fresh = old;
}
