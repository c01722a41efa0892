#include "shadow_world.h"

const struct client_options watched_and_served[2] = {
    {.weight = 1, .budget_per_day = UINT64_MAX, .is_shadow = true},
    {.weight = 1, .budget_per_day = UINT64_MAX},
};

struct engine_options shadow_options(void)
{
    struct engine_options options = world_options();
    options.client_count = 2;
    options.clients = watched_and_served;
    for (size_t type = 0; type < TYPE_COUNT; type++)
        options.price_micro[type] = PRICE;
    return options;
}

struct world *shadow_world(void)
{
    const struct engine_options options = shadow_options();
    return world_new(&options);
}

const struct tally *tally_of(const struct world *w, enum type type)
{
    return engine_tally(w->engine, 0, WATCHED, type);
}

uint64_t duplicates(const struct world *w)
{
    const struct stats *stats = stats_of(w);
    return stats->shadow_dedup_wait + stats->shadow_dedup_cache + stats->shadow_idempotent -
           stats->shadow_retried;
}

void expect_day(const struct world *w, uint64_t paid, uint64_t doubled)
{
    const struct shadow_hour day =
        engine_shadow_day(w->engine, WORLD_START_WALL_MS + (int64_t)w->now_ms);
    assert_int_equal(day.paid, paid);
    assert_int_equal(day.duplicates, doubled);
    assert_int_equal(day.saved_micro, doubled * PRICE);
}
