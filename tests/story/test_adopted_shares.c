/* Adoption and what the whole cluster counts: slots of the plan, pools, and books of requests are those of one
 * gateway at a time. */
#include "lines.h"
#include "pool_world.h"
#include "shared_world.h"

static struct member me(void)
{
    return (struct member){.id = DEAD_NODE + 1, .beat = 1, .is_self = true};
}

static struct member it_left(void)
{
    return (struct member){.id = DEAD_NODE, .beat = 1, .is_leaving = true};
}

/* ---- slots --------------------------------------------------------------------------------- */

static struct member holding(struct member member, uint32_t held)
{
    member.demand = (struct demand){.slots = 9, .held = held};
    return member;
}

/* Ann's task is at the vendor; of four slots the dead one held two. */
static struct world *world_with_slots(void)
{
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, "K", "f1");
    members(w, holding(me(), 2), holding(it_left(), 2));
    skip_lines(w);
    return w;
}

/* Its task has a slot of ours from then on; a gateway that is back at once is no third one. */
static void what_the_dead_one_held_is_free_when_its_tasks_are_ours(void **state)
{
    (void)state;
    struct world *w = world_with_slots();
    (void)adopted(w, 1);
    members(w, holding(me(), 4));
    assert_int_equal(gauges_of(w).slots_used, 1);
    assert_int_equal(gauges_of(w).slots_limit, 4);
    const struct member back = {.id = DEAD_NODE + 2, .beat = 1};
    members(w, holding(me(), 4), holding(back, 2));
    assert_int_equal(gauges_of(w).slots_limit, 2);
    skip_lines(w);
}

/* While its rows are on their way nobody knows what its tasks use. */
static void what_the_dead_one_held_stays_taken_until_all_its_rows_are_here(void **state)
{
    (void)state;
    struct world *w = world_with_slots();
    adopted_all_but_claims(w);
    members(w, holding(me(), 4));
    assert_int_equal(gauges_of(w).slots_limit, 2);
    adopted_at_last(w);
    members(w, holding(me(), 4));
    assert_int_equal(gauges_of(w).slots_limit, 4);
    skip_lines(w);
}

/* ---- pools --------------------------------------------------------------------------------- */

static struct member with_level(struct member member, uint16_t level)
{
    member.demand = (struct demand){.pools = UINT64_MAX};
    member.demand.held = member.is_self ? DEMAND_MOST : 0;
    for (unsigned place = 0; place < DEMAND_POOLS; place++)
        member.demand.levels[place] = level;
    return member;
}

/* The dead one had two solutions ready, which is the pool's size. */
static struct world *world_with_pool(void)
{
    struct engine_options options = world_options();
    options.has_journal = options.store_is_shared = options.store_adopts = true;
    options.node = DEAD_NODE;
    options.lease_ms = LEASE_MS;
    options.lease_margin_ms = LEASE_MARGIN_MS;
    struct world *w = pool_world(options, (struct pool_options){.size = 2});
    w->hides_records = true;
    members(w, with_level((struct member){.id = DEAD_NODE, .is_self = true}, 2));
    solve(w, "a1", "T1", "TOKEN1");
    solve(w, "a2", "T2", "TOKEN2");
    dies_without_a_beat(w, NULL, NULL);
    skip_lines(w);
    assert_int_equal(w->tally.submits, 2);
    return w;
}

/* The next beat is the first without the dead one, before and after its rows are here. */
static void what_the_dead_one_had_ready_is_not_paid_for_again(void **state)
{
    (void)state;
    struct world *w = world_with_pool();
    members(w, with_level(me(), 2), with_level(it_left(), 2));
    members(w, with_level(me(), 2));
    assert_int_equal(pool_view_of(w).ready, 0);
    assert_int_equal(w->tally.submits, 2);
    adopted_all_but_claims(w);
    adopted_at_last(w);
    members(w, with_level(me(), 2));
    assert_int_equal(pool_view_of(w).ready, 2);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

/* The latest beat told so much of the pool, and of slots what there is to tell. */
static struct member that_told(const struct world *w, uint16_t level)
{
    struct demand demand;
    engine_demand(w->engine, &demand);
    struct member member = with_level(me(), level);
    member.demand.held = demand.held;
    return member;
}

/* The others leave it to the dead one for a lease only; one that has just started never heard of that one. */
static void what_it_has_adopted_for_a_pool_is_told_soon(void **state)
{
    (void)state;
    struct world *w = world_with_pool();
    members(w, with_level(me(), 0), with_level(it_left(), 2));
    members(w, that_told(w, 0), with_level(it_left(), 2));
    assert_false(engine_must_hurry(w->engine));
    (void)adopted(w, 99);
    assert_true(engine_must_hurry(w->engine));
    members(w, that_told(w, 2));
    members(w, that_told(w, 2));
    assert_false(engine_must_hurry(w->engine));
    skip_lines(w);
}

/* ---- books --------------------------------------------------------------------------------- */

static void what_it_had_answered_is_in_its_books_only(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    won(w, "f1");
    won(w, "f2");
    rejected(w, "a2", CLASS_CALLER, "ERROR_WRONG_CAPTCHA_ID");
    solve(w, "a1", "T1", "TOKEN");
    dies(w, NULL, NULL);
    members(w, me(), it_left());
    (void)adopted(w, 99);
    skip_lines(w);
    look(w, "worker", "r1", 0);
    look(w, "worker", "r2", 0);
    expect(w, "[  6001] answer worker r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6001] answer worker r2 failed ERROR_WRONG_CAPTCHA_ID (caller) attempts 1\n");
    assert_int_equal(stats_of(w)->requests_adopted, 0);
    assert_int_equal(stats_of(w)->requests, 0);
    assert_int_equal(stats_of(w)->answered_api + stats_of(w)->failed, 0);
    assert_int_equal(engine_tally(w->engine, 0, 0, TYPE_RECAPTCHA_V2)->answered, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_the_dead_one_held_is_free_when_its_tasks_are_ours),
        STORY(what_the_dead_one_held_stays_taken_until_all_its_rows_are_here),
        STORY(what_the_dead_one_had_ready_is_not_paid_for_again),
        STORY(what_it_has_adopted_for_a_pool_is_told_soon),
        STORY(what_it_had_answered_is_in_its_books_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
