/* The gateways that share the store, for /v1/nodes and /metrics. */
#include "doors/door_nodes.h"

#include "config/config_parts.h"
#include "doors/reply.h"
#include "proto/api_nodes.h"
#include "proto/metrics.h"

#include <solvegate/view.h>

#include <stdio.h>

static uint32_t plan_of(const struct gate *gate)
{
    struct gauges gauges;
    engine_gauges(gate->engine, &gauges);
    return gauges.slots_plan;
}

/* ---- /v1/nodes --------------------------------------------------------------------------- */

_Static_assert(CONFIG_PARTS <= NODE_VIEW_PARTS, "every part can be shown");

static void name_parts(struct node_view *view, unsigned parts)
{
    for (unsigned i = 0; i < CONFIG_PARTS; i++)
        if ((parts & 1u << i) != 0)
            view->differs[view->differ_count++] = config_part_name((enum config_part)i);
}

static struct node_view view_of(const struct gate *gate, const struct known_node *node,
                                uint32_t share, int64_t now_ms)
{
    const struct cluster *const cluster = &gate->cluster;
    const uint64_t silent_ms = now_ms > node->moved_ms ? (uint64_t)(now_ms - node->moved_ms) : 0;
    uint64_t left_ms = silent_ms < cluster->lease_ms ? cluster->lease_ms - silent_ms : 0;
    if (node->is_self)
        left_ms = cluster_lease_left(gate);
    const bool is_gone = node->state == NODE_LEFT || node->state == NODE_ADOPTED;
    if (is_gone)
        left_ms = 0;
    struct node_view view = {
        .name = node->name,
        .state = node_state_name(node->state),
        .number = node->id,
        .is_self = node->is_self,
        .demand = is_gone ? 0 : node->demand.slots,
        .share = share,
        .silent_ms = silent_ms,
        .lease_left_ms = left_ms,
    };
    name_parts(&view, node->differs);
    return view;
}

_Static_assert(ADOPTIONS_SEEN <= ADOPTION_VIEWS, "every adoption can be shown");

static struct adoption_view adoption_of(const struct adoption_seen *seen)
{
    return (struct adoption_view){.name = seen->name,
                                  .by = seen->by,
                                  .number = seen->id,
                                  .rows = seen->rows,
                                  .wall_ms = seen->wall_ms};
}

static void name_adopted(const struct adoptions *adoptions, struct cluster_view *about)
{
    const struct adoption_seen *const last = adoptions_last(adoptions);
    about->has_last = last != NULL;
    if (last != NULL)
        about->last = adoption_of(last);
    for (size_t i = 0; i < adoptions->count; i++)
        about->adopted[about->adopted_count++] = adoption_of(&adoptions->all[i]);
}

/* Without a cluster the list is empty, since nobody who looks has made a mistake. */
void door_nodes(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    const struct cluster *const cluster = &gate->cluster;
    const struct roster *const roster = &cluster->roster;
    struct node_view views[STORE_MEMBERS_MAX];
    uint32_t shares[STORE_MEMBERS_MAX];
    struct cluster_view about = {.is_on = cluster->is_on};
    const int64_t now_ms = clocks_read().even_ms;
    if (cluster->is_on)
        about = (struct cluster_view){
            .is_on = true,
            .is_joined = cluster_has_joined(gate),
            .lease_ms = cluster->lease_ms,
            .lease_left_ms = cluster_lease_left(gate),
            .leases_lost = cluster->leases_lost,
            .slots_plan = plan_of(gate),
            .adoptions = cluster->adoptions.own_count,
            .times_fenced = cluster->times_fenced,
        };
    name_adopted(&cluster->adoptions, &about);
    roster_shares(roster, about.slots_plan, shares);
    for (uint32_t i = 0; i < roster->count; i++)
        views[i] = view_of(gate, &roster->nodes[i], shares[i], now_ms);
    api_write_nodes(&gate->body, &about, views, roster->count);
    reply_json(gate, request->caller, visit, 200);
}

/* ---- /metrics ---------------------------------------------------------------------------- */

static void write_states(const struct roster *roster, struct buf *out)
{
    metrics_head(out, "solvegate_cluster_nodes", "gauge",
                 "Gateways that share the store, by state, as this one sees them");
    for (int state = 0; state < NODE_STATES; state++) {
        char label[32];
        (void)snprintf(label, sizeof label, "state=\"%s\"",
                       node_state_name((enum node_state)state));
        metrics_sample(out, "solvegate_cluster_nodes", label,
                       roster_count(roster, (enum node_state)state));
    }
}

static uint32_t own_share(const struct roster *roster, uint32_t plan)
{
    uint32_t shares[STORE_MEMBERS_MAX];
    roster_shares(roster, plan, shares);
    for (uint32_t i = 0; i < roster->count; i++)
        if (roster->nodes[i].is_self)
            return shares[i];
    return plan;
}

/* Written without a cluster, too, so that dashboards and alerts find the metrics. */
void door_nodes_metrics(struct gate *gate, struct buf *out)
{
    const struct cluster *const cluster = &gate->cluster;
    metrics_gauge(out, "cluster_enabled", "1 when the store is shared with other gateways",
                  cluster->is_on);
    write_states(&cluster->roster, out);
    metrics_gauge(out, "cluster_leased",
                  "0 while this gateway decides nothing because its lease is over",
                  cluster_may_submit(gate));
    metrics_head(out, "solvegate_cluster_lease_left_seconds", "gauge",
                 "How long the other gateways still believe that this one lives, at least");
    metrics_sample_ms(out, "solvegate_cluster_lease_left_seconds", "",
                      cluster->is_on ? cluster_lease_left(gate) : 0);
    metrics_counter(out, "cluster_leases_lost", "Times that the lease was over",
                    cluster->leases_lost);
    metrics_counter(out, "cluster_adoptions", "Gateways whose tasks this one took over",
                    cluster->adoptions.own_count);
    metrics_counter(out, "cluster_deaths",
                    "Gateways among them that did not end in order, but died or stood still",
                    cluster->adoptions.own_deaths);
    metrics_counter(out, "cluster_fenced", "Times that another gateway took over this one's tasks",
                    cluster->times_fenced);
    metrics_gauge(out, "cluster_config_differs",
                  "Gateways of the cluster that live with another configuration than this one",
                  roster_count_differing(&cluster->roster));
    metrics_gauge(out, "cluster_slots_share", "Slots of the plan that are this gateway's",
                  own_share(&cluster->roster, plan_of(gate)));
}
