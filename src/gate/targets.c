#include "gate/targets.h"

#include "base/assert.h"
#include "proto/pack.h"
#include "proto/rest.h"
#include "upstream/url.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST_MAX 256

static void name_target(struct target *target, const struct config_pool *pool,
                        const struct params *params)
{
    char host[HOST_MAX];
    const struct slice pageurl = params_value(params, SLICE_OF("pageurl"));
    const long len = slice_is_given(pageurl) ? url_host(pageurl, host, sizeof host) : 0;
    if (pool->name[0] != '\0')
        (void)snprintf(target->name, sizeof target->name, "%s", pool->name);
    else
        (void)snprintf(target->name, sizeof target->name, "%s%s%.*s", target->method,
                       len > 0 ? " " : "", (int)(len > 0 ? len : 0), host);
}

static client_id client_named(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->client_count; i++)
        if (strcmp(config->clients[i].name, name) == 0)
            return (client_id)i;
    return 0;
}

static bool make_one(struct targets *targets, size_t place, const struct config *config,
                     struct params *params, struct buf *scratch, struct buf *mistake)
{
    struct identity identity = {.mistake_detail = ""};
    const struct config_pool *pool = &config->pools[place];
    struct target *target = &targets->items[place];
    if (params_unpack(params, pool->params) != 0 ||
        identity_compute(&targets->options, params, NULL, scratch, &identity) != 0) {
        buf_addf(mistake, "pools[%zu]: %s", place, identity.mistake_detail);
        return false;
    }
    if (identity.type == TYPE_IMAGE || identity.is_one_time) {
        buf_addf(mistake, "pools[%zu]: an image or a one-time input cannot be solved ahead", place);
        return false;
    }
    target->key = identity.key;
    target->type = identity.type;
    target->wants_rest = rest_is_wanted(params);
    target->is_for_one = pool->client[0] != '\0';
    target->client = client_named(config, pool->client);
    (void)snprintf(target->method, sizeof target->method, "%.*s", (int)identity.method.len,
                   identity.method.data);
    name_target(target, pool, params);
    return true;
}

bool targets_make(struct targets *targets, const struct config *config,
                  const struct identity_options *options, struct buf *mistake)
{
    *targets = (struct targets){.count = config->pool_count, .options = *options};
    targets->options.is_global = true;
    if (targets->count == 0)
        return true;
    targets->items = calloc(targets->count, sizeof *targets->items);
    ASSERT(targets->items != NULL);
    struct params params;
    struct buf scratch;
    params_init(&params, (size_t)1 << 20);
    buf_init(&scratch, IDENTITY_SCRATCH_BYTES * 2);
    bool is_good = true;
    for (size_t i = 0; i < targets->count && is_good; i++) {
        params_reset(&params);
        is_good = make_one(targets, i, config, &params, &scratch, mistake);
    }
    buf_close(&scratch);
    params_close(&params);
    return is_good;
}

void targets_close(struct targets *targets)
{
    free(targets->items);
    sodium_memzero(targets, sizeof *targets);
}

struct pool_options *targets_pools(const struct targets *targets, const struct config *config)
{
    if (targets->count == 0)
        return NULL;
    struct pool_options *pools = calloc(targets->count, sizeof *pools);
    ASSERT(pools != NULL);
    for (size_t i = 0; i < targets->count; i++) {
        pools[i] = config->pools[i].options;
        pools[i].min_ttl_ms = config->min_ttl_ms;
        pools[i].client = targets->items[i].client;
        pools[i].type = targets->items[i].type;
        pools[i].wants_rest = targets->items[i].wants_rest;
        pools[i].key = targets->items[i].key;
        pools[i].params = config->pools[i].params;
    }
    return pools;
}

uint16_t targets_find(const struct targets *targets, const struct params *params, client_id client,
                      struct buf *scratch)
{
    struct identity identity;
    if (targets->count == 0 ||
        identity_compute(&targets->options, params, NULL, scratch, &identity) != 0)
        return 0;
    for (size_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->items[i];
        if (key_equals(&target->key, &identity.key) &&
            (!target->is_for_one || target->client == client))
            return (uint16_t)(i + 1);
    }
    return 0;
}
