#include "gate/client_names.h"

#include "config/config_clients.h"

#include <solvegate/view.h>

/* The one client if none are configured. */
#define ANONYMOUS "anonymous"

const char *client_name(const struct gate *gate, client_id client)
{
    const struct config *config = gate->config;
    if (client >= gate->client_room)
        return gate->gone_names[client - gate->client_room];
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
        .has_price = gate->config->has_price,
        .has_shadow =
            engine_stats(gate->engine)->shadow_paid > 0 || config_has_shadow(gate->config),
    };
}

static bool find_gone(const struct gate *gate, struct slice name, client_id *client)
{
    for (size_t i = 0; i < gate->gone_count; i++) {
        if (slice_equals(name, slice_from(gate->gone_names[i]))) {
            *client = (client_id)(gate->client_room + i);
            return true;
        }
    }
    return false;
}

bool client_by_name(const struct gate *gate, struct slice name, client_id *client)
{
    const struct config *config = gate->config;
    *client = 0;
    if (config->client_count == 0 && slice_equals(name, SLICE_OF(ANONYMOUS)))
        return true;
    for (size_t i = 0; i < config->client_count; i++) {
        if (slice_equals(name, slice_from(config->clients[i].name))) {
            *client = (client_id)i;
            return true;
        }
    }
    return find_gone(gate, name, client);
}

bool client_is_live(const struct gate *gate, client_id client)
{
    const struct config *config = gate->config;
    return config->client_count == 0
               ? client == 0
               : client < config->client_count && !config->clients[client].options.is_gone;
}
