#include "proto/api_cluster_stats.h"

#include "proto/json_out.h"

void api_cluster_stats_open(struct buf *out)
{
    json_open(out, '{');
    json_string(out, "scope", "cluster");
    json_member(out, "nodes");
    json_open(out, '[');
}

void api_cluster_stats_node(struct buf *out, const struct cluster_stats_node *node)
{
    const struct stats *const stats = node->stats;
    json_open(out, '{');
    json_string(out, "name", node->name);
    json_bool(out, "adopted", node->is_adopted);
    json_number(out, "requests", stats->requests);
    json_number(out, "requests_adopted", stats->requests_adopted);
    json_number(out, "answered_api", stats->answered_api);
    json_number(out, "deduplicated",
                stats->answered_dedup_wait + stats->answered_dedup_cache +
                    stats->answered_idempotent + stats->answered_pool);
    json_number(out, "failed", stats->failed);
    json_number(out, "submits_accepted", stats->submits_accepted);
    json_close(out, '}');
}

void api_cluster_stats_now(struct buf *out, uint64_t waiting)
{
    json_close(out, ']');
    json_member(out, "now");
    json_open(out, '{');
    json_number(out, "waiting", waiting);
    json_close(out, '}');
}

void api_cluster_stats_close(struct buf *out)
{
    json_close(out, '}');
    json_close(out, '}');
}
