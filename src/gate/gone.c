#include "gate/gone.h"

#include "base/assert.h"
#include "gate/client_names.h"
#include "gate/gate_make.h"
#include "sys/log.h"

#include <solvegate/view.h>

#include <stdlib.h>

bool gone_meet(struct gate *gate, struct slice name, client_id *client)
{
    if (client_by_name(gate, name, client))
        return true;
    if (name.len == 0 || name.len >= CLIENT_NAME_MAX || gate->gone_count == GONE_CLIENTS)
        return false;
    const size_t place = gate->client_room + gate->gone_count;
    memcpy(gate->gone_names[gate->gone_count++], name.data, name.len);
    gate->scopes[place] = identity_scope_of(&gate->identity_options, name);
    gate_configure_engine(gate);
    *client = (client_id)place;
    return true;
}

static bool is_gone(const struct gate *gate, size_t client)
{
    return client >= gate->client_room ||
           (client < gate->config->client_count && gate->config->clients[client].options.is_gone);
}

static void warn(const struct gate *gate, client_id client, uint32_t tasks)
{
    LOG(LOG_LEVEL_WARN, "client_gone", log_string("client", client_name(gate, client)),
        log_number("paid_tasks", tasks),
        log_string("meaning",
                   "it is no longer configured; its paid tasks are finished and kept as letters of "
                   "kind orphan, which can be replayed into any client"));
}

static void warn_of_pools(const struct gate *gate, client_id client)
{
    for (size_t i = 0; i < gate->targets.count; i++)
        if (gate->targets.items[i].client == client)
            LOG(LOG_LEVEL_WARN, "pool_unpaid", log_string("pool", gate->targets.items[i].name),
                log_string("client", client_name(gate, client)),
                log_string("meaning", "the client that pays for it is no longer configured, so "
                                      "that it is not refilled"));
}

void gone_warn(struct gate *gate)
{
    const size_t room = gate->client_room + gate->gone_count;
    uint32_t *tasks = calloc(room, sizeof *tasks);
    ASSERT(tasks != NULL);
    engine_count_tasks(gate->engine, tasks, room);
    for (size_t i = 0; i < room; i++) {
        const bool is_news = is_gone(gate, i) && !gate->is_warned[i];
        if (is_news && tasks[i] > 0)
            warn(gate, (client_id)i, tasks[i]);
        if (is_news)
            warn_of_pools(gate, (client_id)i);
        gate->is_warned[i] = is_gone(gate, i);
    }
    free(tasks);
}
