/* Pools as JSON: how full they are, and whether they are worth their cost. */
#include "proto/api_pools.h"

#include "proto/api.h"
#include "proto/json_out.h"

static const char *state_of(const struct pool_view *view)
{
    if (view->is_asleep)
        return "sleeping";
    return view->ready >= view->size ? "full" : "filling";
}

void api_write_pools(struct buf *out, const struct pool_view *views,
                     const struct pool_label *labels, size_t count)
{
    json_open(out, '{');
    json_member(out, "pools");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, '{');
        json_string(out, "name", labels[i].name);
        json_string(out, "method", labels[i].method);
        json_string(out, "type", labels[i].type);
        json_string(out, "state", state_of(&views[i]));
        json_number(out, "size", views[i].size);
        json_number(out, "ready", views[i].ready);
        json_number(out, "solving", views[i].solving);
        json_number(out, "served", views[i].served);
        json_number(out, "refilled", views[i].refilled);
        json_number(out, "expired", views[i].expired);
        json_close(out, '}');
    }
    api_close_page(out, count, 0);
}
