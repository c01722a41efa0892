#include "engine/flight_name.h"

#include "base/ascii.h"

slab_id flight_id(const struct engine *engine, const struct flight *flight)
{
    return slab_id_of(&engine->flights, flight);
}

void flight_set_host(struct flight *flight, struct slice host)
{
    if (host.len == 0)
        return;
    flight->host_at = (uint32_t)(host.data - flight->params->data);
    flight->host_len = (uint32_t)host.len;
    ASSERT(flight->host_at + host.len <= flight->params->len);
}

struct blob *flight_host(const struct flight *flight)
{
    const struct slice host = {.data = flight->params->data + flight->host_at,
                               .len = flight->host_len};
    struct blob *const name = host.len == 0 ? NULL : blob_new(host);
    for (size_t i = 0; i < host.len; i++)
        name->data[i] = ascii_lower(name->data[i]);
    return name;
}
