#include "gate/hosts.h"

#include "config/config_clients.h"
#include "proto/method.h"
#include "proto/pack.h"
#include "proto/pageurl.h"
#include "upstream/url.h"

/* RFC 1035: the longest name in text form, with a NUL. */
#define HOST_MAX 254

static enum hosts_verdict judge_page(const struct config_client *client, struct slice url)
{
    char host[HOST_MAX];
    const long len = url_host(url, host, sizeof host);
    if (len <= 0)
        return HOSTS_UNKNOWN;
    const struct slice name = {.data = host, .len = (size_t)len};
    return config_client_allows(client, name) ? HOSTS_ALLOWED : HOSTS_FOREIGN;
}

/* An image has no target host; any other request without one could be for any host. */
static bool is_about_image(const struct params *params)
{
    const struct method *method = method_find(method_of(params));
    return method != NULL && (method->needs & METHOD_HAS_IMAGES) != 0;
}

enum hosts_verdict hosts_judge(const struct config_client *client, const struct params *params)
{
    if (client->allow_host_count == 0)
        return HOSTS_ALLOWED;
    bool has_page = false;
    for (size_t i = 0; i < params->count; i++) {
        if (!pageurl_is_name(params->items[i].name))
            continue;
        const enum hosts_verdict verdict = judge_page(client, params->items[i].value);
        if (verdict != HOSTS_ALLOWED)
            return verdict;
        has_page = true;
    }
    return has_page || is_about_image(params) ? HOSTS_ALLOWED : HOSTS_UNKNOWN;
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
    const bool may = params_unpack(&params, packed) == 0 &&
                     hosts_judge(&config->clients[client], &params) == HOSTS_ALLOWED;
    params_close(&params);
    return may;
}
