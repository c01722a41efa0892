/* The gateways of a cluster as JSON. */
#include "proto/api_nodes.h"

#include "proto/api.h"
#include "proto/json_out.h"

static void write_node(struct buf *out, const struct node_view *view)
{
    json_open(out, '{');
    json_string(out, "name", view->name);
    json_number(out, "number", view->number);
    json_string(out, "state", view->state);
    json_bool(out, "self", view->is_self);
    json_seconds(out, "silent_for", view->silent_ms);
    json_seconds(out, "lease_left", view->lease_left_ms);
    json_number(out, "demand", view->demand);
    json_number(out, "share", view->share);
    json_member(out, "config_differs");
    json_open(out, '[');
    for (size_t i = 0; i < view->differ_count; i++) {
        json_item(out);
        (void)json_add_string(out, slice_from(view->differs[i]));
    }
    json_close(out, ']');
    json_close(out, '}');
}

static void write_adoption(struct buf *out, const struct adoption_view *adoption)
{
    json_open(out, '{');
    json_string(out, "name", adoption->name);
    json_string(out, "by", adoption->by);
    json_number(out, "number", adoption->number);
    json_number(out, "rows", adoption->rows);
    json_time(out, "at", adoption->wall_ms);
    json_close(out, '}');
}

static void write_adoptions(struct buf *out, const struct cluster_view *cluster)
{
    json_number(out, "adoptions", cluster->adoptions);
    json_number(out, "fenced", cluster->times_fenced);
    if (!cluster->has_last) {
        json_null(out, "last_adoption");
    } else {
        json_member(out, "last_adoption");
        write_adoption(out, &cluster->last);
    }
    json_member(out, "adopted");
    json_open(out, '[');
    for (size_t i = 0; i < cluster->adopted_count; i++)
        write_adoption(out, &cluster->adopted[i]);
    json_close(out, ']');
}

void api_write_nodes(struct buf *out, const struct cluster_view *cluster,
                     const struct node_view *views, size_t count)
{
    json_open(out, '{');
    json_bool(out, "enabled", cluster->is_on);
    json_bool(out, "joined", cluster->is_joined);
    json_bool(out, "leased", cluster->lease_left_ms > 0);
    json_seconds(out, "lease", cluster->lease_ms);
    json_seconds(out, "lease_left", cluster->lease_left_ms);
    json_number(out, "leases_lost", cluster->leases_lost);
    json_number(out, "slots_plan", cluster->slots_plan);
    write_adoptions(out, cluster);
    json_member(out, "nodes");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        write_node(out, &views[i]);
    api_close_page(out, count, 0);
}
