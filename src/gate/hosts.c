#include "gate/hosts.h"

#include "config/config_clients.h"
#include "proto/method.h"
#include "proto/pack.h"
#include "proto/pageurl.h"
#include "upstream/url.h"

/* RFC 1035: the longest name in text form, with a NUL. */
#define HOST_MAX 254

static bool allows_page(const struct config_client *client, struct slice url)
{
    char host[HOST_MAX];
    const long len = url_host(url, host, sizeof host);
    return len > 0 &&
           config_client_allows(client, (struct slice){.data = host, .len = (size_t)len});
}

/* As for a request: everything but an image needs a page, and every page an allowed host. */
static bool may_ask(const struct config_client *client, const struct params *params)
{
    const struct method *method = method_find(method_of(params));
    bool is_known = method != NULL && (method->needs & METHOD_HAS_IMAGES) != 0;
    for (size_t i = 0; i < params->count; i++) {
        if (!pageurl_is_name(params->items[i].name))
            continue;
        if (!allows_page(client, params->items[i].value))
            return false;
        is_known = true;
    }
    return is_known;
}

bool hosts_allow(const void *context, client_id client, const struct blob *packed)
{
    const struct gate *gate = context;
    const struct config *config = gate->config;
    /* A letter without parameters names no host and cannot be submitted. */
    if (client >= config->client_count || config->clients[client].allow_host_count == 0 ||
        packed->len == 0)
        return true;
    struct params params;
    params_init(&params, (size_t)packed->len + 1);
    const bool may =
        params_unpack(&params, packed) == 0 && may_ask(&config->clients[client], &params);
    params_close(&params);
    return may;
}
