/* The operator's doors: flights, pools, health, the API document. */
#include "doors/door_ops.h"

#include "doors/door_cluster_letters.h"
#include "doors/intake.h"
#include "doors/openapi.h"
#include "doors/reply.h"
#include "gate/client_names.h"
#include "proto/api.h"
#include "proto/api_pools.h"

#include <solvegate/view.h>
#include <solvegate/words.h>

#define FLIGHTS_PAGE 100

void door_flights(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    struct flight_view views[FLIGHTS_PAGE];
    struct gauges gauges;
    struct page page;
    struct mistake mistake;
    if (!intake_page(gate, FLIGHTS_PAGE, &page, &mistake)) {
        visit->dialect->complain(gate, request->caller, visit, &mistake);
        return;
    }
    const size_t count =
        engine_list_flights(gate->engine, gate_now_ms(gate), &page.cursor, views, page.limit);
    const struct api_names names = client_names(gate);
    engine_gauges(gate->engine, &gauges);
    api_write_flights(&gate->body, views, count, gauges.flights, page.cursor, &names,
                      node_name_of_self(gate));
    reply_json(gate, request->caller, visit, 200);
}

void door_pools(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    struct pool_view views[CONFIG_POOLS_MAX];
    struct pool_label labels[CONFIG_POOLS_MAX];
    const size_t count = engine_list_pools(gate->engine, views, CONFIG_POOLS_MAX);
    for (size_t i = 0; i < count; i++)
        labels[i] = (struct pool_label){
            .name = gate->targets.items[i].name,
            .method = gate->targets.items[i].method,
            .type = type_name(gate->targets.items[i].type),
        };
    api_write_pools(&gate->body, views, labels, count);
    reply_json(gate, request->caller, visit, 200);
}

void door_livez(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)visit;
    (void)number;
    buf_add(&gate->body, SLICE_OF("ok\n"));
    reply_text(gate, request->caller, 200, SLICE_OF("text/plain; charset=utf-8"));
}

/* Nothing can be claimed before, and the other gateways do not wait for us. */
static bool is_joining(const struct gate *gate)
{
    return gate->cluster.is_on && !cluster_has_joined(gate);
}

/* Requests are still answered from memory, and a restart would mend neither. */
static struct slice readiness(const struct gate *gate)
{
    if (gate->is_draining)
        return SLICE_OF("draining\n");
    if (is_joining(gate))
        return SLICE_OF("joining: the store has not confirmed yet that this gateway lives\n");
    switch (gate->persist.state) {
    case STORE_WRITABLE:
        break;
    case STORE_AWAY:
        return SLICE_OF("degraded: the store cannot be reached\n");
    case STORE_FULL:
        return SLICE_OF("degraded: the store has no room\n");
    case STORE_BROKEN:
        return SLICE_OF("degraded: the store is broken\n");
    case STORE_FENCED:
        return SLICE_OF("degraded: another gateway has taken over, this one joins again\n");
    }
    if (!cluster_may_submit(gate))
        return SLICE_OF("degraded: the lease is lost, since the store has not confirmed in time "
                        "that this gateway lives; nothing is submitted\n");
    const bool is_async = gate->persist.store != NULL && store_about(gate->persist.store).is_async;
    return is_async ? SLICE_OF("ready\nthe store may lose what it acknowledged\n")
                    : SLICE_OF("ready\n");
}

/* Stays ready while the vendor is down, since restarting us would not bring the vendor back. */
void door_readyz(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    (void)visit;
    (void)number;
    buf_add(&gate->body, readiness(gate));
    reply_text(gate, request->caller, gate->is_draining || is_joining(gate) ? 503 : 200,
               SLICE_OF("text/plain; charset=utf-8"));
}

void door_openapi(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    buf_add(&gate->body, openapi_document());
    reply_json(gate, request->caller, visit, 200);
}
