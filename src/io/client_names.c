#include "io/client_names.h"

/* Without configured clients everybody is this one. */
#define ANONYMOUS "anonymous"

const char *client_name(const struct gate *gate, client_id client)
{
    const struct config *config = gate->config;
    return config->client_count == 0 ? ANONYMOUS : config->clients[client].name;
}

static const char *name_of(void *context, client_id client)
{
    return client_name(context, client);
}

struct api_names client_names(const struct gate *gate)
{
    return (struct api_names){
        .client_name = name_of,
        .context = (void *)(uintptr_t)gate,
    };
}

struct stats_scope client_scope(const struct gate *gate, const struct api_names *names)
{
    const size_t count = gate->config->client_count;
    return (struct stats_scope){
        .names = names,
        .client_count = count == 0 ? 1 : (uint16_t)count,
        .has_price = gate->config->upstream.has_price,
    };
}

bool client_by_name(const struct gate *gate, struct slice name, client_id *client)
{
    const struct config *config = gate->config;
    *client = 0;
    if (config->client_count == 0)
        return slice_equals(name, SLICE_OF(ANONYMOUS));
    for (size_t i = 0; i < config->client_count; i++) {
        if (slice_equals(name, slice_from(config->clients[i].name))) {
            *client = (client_id)i;
            return true;
        }
    }
    return false;
}
