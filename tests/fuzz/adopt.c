#include "adopt.h"

#include "config/config_options.h"
#include "fuzz.h"

#include <stdlib.h>

/* What a name in the list of kept options may be. */
static bool is_known(struct slice name)
{
    if (slice_equals(name, SLICE_OF("pools")) || slice_equals(name, SLICE_OF("clients")))
        return true;
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].home == HOME_CONFIG &&
            slice_equals(name, slice_from(option_table[i].path)))
            return true;
    return false;
}

static void check_kept(struct slice kept)
{
    while (kept.len > 0) {
        size_t len = 0;
        while (len < kept.len && kept.data[len] != ',')
            len++;
        HOLDS(is_known((struct slice){.data = kept.data, .len = len}));
        const size_t step = len == kept.len ? len : len + 2;
        HOLDS(step <= kept.len);
        kept = (struct slice){.data = kept.data + step, .len = kept.len - step};
    }
}

static bool has(struct slice kept, const char *name)
{
    const size_t len = strlen(name);
    for (size_t i = 0; i + len <= kept.len; i++)
        if (memcmp(kept.data + i, name, len) == 0 && (i == 0 || kept.data[i - 1] == ' ') &&
            (i + len == kept.len || kept.data[i + len] == ','))
            return true;
    return false;
}

/* Memory was reserved for these, and sockets opened: they are what they were, whatever is said. */
static void check_built(const struct config *before, const struct config *after)
{
    HOLDS(before->engine.max_requests == after->engine.max_requests);
    HOLDS(before->engine.max_finished == after->engine.max_finished);
    HOLDS(before->engine.max_records == after->engine.max_records);
    HOLDS(before->http.partial_bytes == after->http.partial_bytes);
    HOLDS(before->http.unsent_bytes == after->http.unsent_bytes);
    HOLDS(before->engine.max_solution_bytes == after->engine.max_solution_bytes);
    HOLDS(before->engine.max_letters == after->engine.max_letters);
    HOLDS(before->listen_count == after->listen_count);
    HOLDS(before->http.trusted_proxy_count == after->http.trusted_proxy_count);
    HOLDS(before->upstream.vendor.override_count == after->upstream.vendor.override_count);
    HOLDS(before->pools == after->pools && before->pool_count == after->pool_count);
    HOLDS(before->upstream.key == after->upstream.key);
    HOLDS(before->upstream.url == after->upstream.url);
    HOLDS(before->data_dir == after->data_dir);
    HOLDS(before->store.url == after->store.url);
    HOLDS(before->public_url == after->public_url);
}

/* These are read anew all the time. */
static void check_changed(const struct config *fresh, const struct config *after)
{
    HOLDS(fresh->engine.solve_timeout_ms == after->engine.solve_timeout_ms);
    HOLDS(fresh->engine.ambiguity_window_ms == after->engine.ambiguity_window_ms);
    HOLDS(fresh->min_ttl_ms == after->min_ttl_ms);
    HOLDS(memcmp(fresh->engine.ttl_ms, after->engine.ttl_ms, sizeof(after->engine.ttl_ms)) == 0);
    HOLDS(memcmp(fresh->reuse, after->reuse, sizeof(after->reuse)) == 0);
    HOLDS(fresh->engine.retry_base_ms == after->engine.retry_base_ms);
    HOLDS(fresh->engine.retry_busy == after->engine.retry_busy);
    HOLDS(fresh->engine.letter_keep_ms == after->engine.letter_keep_ms);
    HOLDS(fresh->notices.allow_count == after->notices.allow_count);
    HOLDS(fresh->log_level == after->log_level);
    HOLDS(fresh->has_price == after->has_price);
    HOLDS(fresh->engine.slots == after->engine.slots);
}

struct name {
    char text[CLIENT_NAME_MAX];
    uint8_t key_hash[CLIENT_KEY_HASH_BYTES];
};

static struct name *names_of(const struct config *config)
{
    struct name *names = calloc(config->client_count + 1, sizeof(*names));
    HOLDS(names != NULL);
    for (size_t i = 0; i < config->client_count; i++) {
        memcpy(names[i].text, config->clients[i].name, CLIENT_NAME_MAX);
        memcpy(names[i].key_hash, config->clients[i].key_hash, CLIENT_KEY_HASH_BYTES);
    }
    return names;
}

static const struct config_client *find(const struct config *config, const char *name)
{
    const struct config_client *found = NULL;
    for (size_t i = 0; i < config->client_count; i++) {
        if (strcmp(config->clients[i].name, name) != 0)
            continue;
        HOLDS(found == NULL); /* Nobody is there twice. */
        found = &config->clients[i];
    }
    return found;
}

/* Whoever was there keeps its place, since flights and records name it by that. */
static void check_places(const struct config *after, const struct name *before, size_t count)
{
    HOLDS(after->client_count >= count);
    for (size_t i = 0; i < count; i++)
        HOLDS(strcmp(after->clients[i].name, before[i].text) == 0);
    for (size_t i = 0; i < after->client_count; i++) {
        HOLDS(after->clients[i].options.weight >= 1);
        HOLDS(find(after, after->clients[i].name) == &after->clients[i]);
    }
}

/* Whoever is in the new file has its key; whoever is not has none, and may do nothing. */
static void check_keys(const struct config *after, const struct name *wanted, size_t count)
{
    static const uint8_t none[CLIENT_KEY_HASH_BYTES] = {0};
    size_t live = 0;
    for (size_t i = 0; i < after->client_count; i++) {
        const struct config_client *client = &after->clients[i];
        const bool is_gone = client->scopes == 0;
        live += !is_gone;
        HOLDS(!is_gone || memcmp(client->key_hash, none, sizeof(none)) == 0);
    }
    HOLDS(live == count);
    for (size_t i = 0; i < count; i++) {
        const struct config_client *client = find(after, wanted[i].text);
        HOLDS(client != NULL && client->scopes != 0);
        HOLDS(memcmp(client->key_hash, wanted[i].key_hash, CLIENT_KEY_HASH_BYTES) == 0);
    }
}

/* New clients wait for a restart, but whoever is not in the new file has no key any more, and whoever
 * is has its new one. Where clients begin or end, all stay as they were. */
static void check_kept_keys(const struct config *after, const struct name *wanted, size_t count)
{
    static const uint8_t none[CLIENT_KEY_HASH_BYTES] = {0};
    for (size_t i = 0; i < after->client_count && count > 0; i++) {
        const struct config_client *client = &after->clients[i];
        const uint8_t *hash = none;
        for (size_t j = 0; j < count; j++)
            if (strcmp(wanted[j].text, client->name) == 0)
                hash = wanted[j].key_hash;
        HOLDS((client->scopes == 0) == (hash == none));
        HOLDS(memcmp(client->key_hash, hash, sizeof(none)) == 0);
    }
}

void adopt_and_check(struct config *running, struct config *fresh, size_t client_room)
{
    struct config *before = malloc(sizeof(*before));
    struct config *wanted = malloc(sizeof(*wanted));
    HOLDS(before != NULL && wanted != NULL);
    /* What they own may be freed afterwards, so of that only the addresses are compared. */
    *before = *running;
    *wanted = *fresh;
    struct name *old_names = names_of(running);
    struct name *new_names = names_of(fresh);
    struct buf kept;
    buf_init(&kept, 1 << 16);
    config_adopt(running, fresh, client_room, &kept);
    HOLDS(!kept.is_full);
    check_kept(buf_slice(&kept));
    check_built(before, running);
    check_changed(wanted, running);
    check_places(running, old_names, before->client_count);
    if (has(buf_slice(&kept), "clients")) {
        HOLDS(running->client_count == before->client_count);
        check_kept_keys(running, new_names, wanted->client_count);
    } else
        check_keys(running, new_names, wanted->client_count);
    HOLDS(running->client_count <= client_room || running->client_count == before->client_count);
    buf_close(&kept);
    free(old_names);
    free(new_names);
    free(before);
    free(wanted);
}

void adopt_the_same(struct config *running, struct config *again)
{
    struct buf kept;
    buf_init(&kept, 1 << 16);
    const size_t count = running->client_count;
    config_adopt(running, again, count, &kept);
    HOLDS(kept.len == 0 && running->client_count == count);
    buf_close(&kept);
}
