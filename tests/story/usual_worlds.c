#include "usual_worlds.h"

struct world *world_with_callbacks(void)
{
    struct engine_options options = world_options();
    options.has_callbacks = true;
    return world_new(&options);
}

struct world *world_with_banked_token(enum reuse reuse)
{
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = reuse);
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_int_equal(stats_of(w)->solutions_banked, 1);
    return w;
}
