#include "pool_world.h"

#include "lines.h"

struct world *pool_world(struct engine_options options, struct pool_options pool)
{
    /* The world keeps its options for a crash, and with them the pool's. */
    static struct pool_options kept;
    kept = pool;
    kept.params = blob_new(SLICE_OF("P"));
    kept.key = key_named("P");
    kept.type = TYPE_TURNSTILE;
    if (kept.idle_after_ms == 0)
        kept.idle_after_ms = 120000;
    kept.min_ttl_ms = 10000;
    options.pools = &kept;
    options.pool_count = 1;
    struct world *world = world_new(&options);
    world->pool_params = kept.params;
    return world;
}

struct pool_view pool_view_of(const struct world *world)
{
    struct pool_view view;
    assert_int_equal(engine_list_pools(world->engine, &view, 1), 1);
    return view;
}
