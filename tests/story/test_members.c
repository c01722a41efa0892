/* Members: gateways on one store divide the plan's slots and the pools' sizes among themselves. */
#include "pool_world.h"
#include "shared_world.h"

#include "engine/fair.h"

/* ---- what is fair -------------------------------------------------------------------------- */

static void who_demands_little_gets_it_and_the_others_divide_the_rest(void **state)
{
    (void)state;
    const struct fair_wish wishes[] = {{2, 0}, {50, 0}, {9, 0}, {50, 0}};
    const uint32_t parts[] = {2, 10, 9, 9};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fair_share(30, wishes, 4, i), parts[i]);
}

static void what_nobody_demands_is_divided_evenly(void **state)
{
    (void)state;
    const struct fair_wish wishes[] = {{0, 0}, {4, 0}, {0, 0}};
    const uint32_t parts[] = {3, 7, 2};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(fair_share(12, wishes, 3, i), parts[i]);
    assert_int_equal(fair_share(12, wishes, 1, 0), 12);
}

static void who_is_idle_leaves_all_to_the_others(void **state)
{
    (void)state;
    const struct fair_wish wishes[] = {{0, 0}, {9, 0}, {0, 0}};
    const uint32_t parts[] = {0, 4, 0};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(fair_share(4, wishes, 3, i), parts[i]);
}

static void who_waits_longest_comes_first_where_there_are_more_than_slots(void **state)
{
    (void)state;
    const struct fair_wish wishes[] = {{7, 0}, {7, 3}, {0, 0}, {1, 9}};
    const uint32_t of_one[] = {0, 0, 0, 1};
    const uint32_t of_two[] = {0, 1, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fair_share(1, wishes, 4, i), of_one[i]);
        assert_int_equal(fair_share(2, wishes, 4, i), of_two[i]);
    }
}

/* It adds up, whoever demands how much, also where there are fewer slots than nodes. */
static void no_slot_is_given_twice(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, 7);
    for (int round = 0; round < 2000; round++) {
        struct fair_wish wishes[20];
        const uint32_t count = 1 + (uint32_t)rand_below(&rand, 20);
        const uint32_t total = (uint32_t)rand_below(&rand, 100);
        for (uint32_t i = 0; i < count; i++)
            wishes[i] = (struct fair_wish){
                .demand = (uint32_t)rand_below(&rand, rand_below(&rand, 2) == 0 ? 3 : 60),
                .waiting = (uint32_t)rand_below(&rand, 3)};
        uint32_t sum = 0;
        uint32_t parts[20];
        for (uint32_t i = 0; i < count; i++)
            sum += parts[i] = fair_share(total, wishes, count, i);
        assert_int_equal(sum, total);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                assert_true(wishes[i].demand > parts[j] || parts[i] >= wishes[i].demand ||
                            parts[j] <= parts[i] + 1);
    }
}

/* ---- slots --------------------------------------------------------------------------------- */

static struct member self(uint32_t slots)
{
    return (struct member){.id = 1, .demand = {.slots = slots}, .is_self = true};
}

static struct member other(node_id id, uint32_t slots)
{
    return (struct member){.id = id, .demand = {.slots = slots}};
}

static void the_plans_slots_are_divided_by_demand(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, self(0), other(2, 3));
    for (int i = 0; i < 4; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[     0] submit a1 K\n");
    assert_int_equal(gauges_of(w).slots_limit, 1);
    struct demand demand;
    engine_demand(w->engine, &demand);
    assert_int_equal(demand.slots, 4);
    members(w, self(4), other(2, 9));
    expect(w, "[     0] submit a2 K\n");
    members(w, self(4));
    expect(w, "[     0] submit a3 K\n"
              "[     0] submit a4 K\n");
}

static struct member holding(node_id id, uint32_t slots, uint32_t held)
{
    return (struct member){.id = id, .demand = {.slots = slots, .held = held}, .is_self = id == 1};
}

static uint32_t limit_of(const struct world *w)
{
    return gauges_of(w).slots_limit;
}

static struct demand demand_of(const struct world *w)
{
    struct demand demand;
    engine_demand(w->engine, &demand);
    return demand;
}

/* What another still holds is its own until its beat says that it let go. */
static void a_slot_is_used_only_when_the_other_has_let_it_go(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, holding(1, 9, 2), holding(2, 0, 4));
    assert_int_equal(limit_of(w), 0);
    assert_int_equal(demand_of(w).held, 4);
    members(w, holding(1, 9, 4), holding(2, 0, 1));
    assert_int_equal(limit_of(w), 3);
    members(w, holding(1, 9, 4), holding(2, 0, 0));
    assert_int_equal(limit_of(w), 4);
    skip_lines(w);
}

/* Of two who take the same slot at once, at least one finds the other's number beside its own. */
static void a_slot_is_used_only_when_the_others_can_know(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, holding(1, 9, 1));
    assert_int_equal(limit_of(w), 1);
    assert_int_equal(demand_of(w).held, 4);
    members(w, holding(1, 9, 4));
    assert_int_equal(limit_of(w), 4);
    skip_lines(w);
}

static void what_is_taken_away_is_held_until_its_attempt_ends(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, self(0));
    for (int i = 0; i < 5; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    members(w, self(4), holding(2, 9, 0));
    assert_int_equal(limit_of(w), 2);
    assert_int_equal(demand_of(w).held, 4);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    assert_int_equal(demand_of(w).held, 3);
    assert_true(engine_must_hurry(w->engine));
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    rejected(w, "a3", CLASS_CALLER, "ERROR_PAGEURL");
    assert_int_equal(demand_of(w).held, 2);
    assert_int_equal(w->tally.submits, 5);
    skip_lines(w);
}

static void one_slot_goes_round(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = leased_world(&options);
    members(w, self(0), other(2, 5));
    skip_lines(w);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "");
    assert_true(engine_must_hurry(w->engine));
    const struct demand waiting = demand_of(w);
    assert_true(waiting.waiting > 0 && waiting.slots == 1);
    struct member me = {.id = 1, .is_self = true, .demand = waiting};
    members(w, me, holding(2, 5, 1));
    expect(w, "");
    me.demand.held = 1;
    members(w, me, holding(2, 5, 0));
    expect(w, "[     0] submit a1 K\n");
    assert_int_equal(demand_of(w).waiting, 0);
    members(w, self(1), holding(2, 5, 0));
    assert_int_equal(limit_of(w), 1);
}

/* Whoever adopts its tasks may not have told yet. */
static void what_a_dead_one_held_stays_taken_for_a_lease(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, self(9), holding(2, 3, 3));
    assert_int_equal(limit_of(w), 1);
    members(w, self(9));
    assert_int_equal(limit_of(w), 1);
    pass(w, LEASE_MS - 1);
    members(w, self(9));
    assert_int_equal(limit_of(w), 1);
    pass(w, 1);
    members(w, self(9));
    assert_int_equal(limit_of(w), 4);
    skip_lines(w);
}

static void who_is_silent_for_longer_than_its_tasks_can_last_holds_nothing(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 4;
    struct world *w = leased_world(&options);
    members(w, self(9), holding(2, 3, 3));
    pass(w, LEASE_MS);
    members(w, self(9), holding(2, 3, 3));
    assert_int_equal(limit_of(w), 1);
    pass(w, options.solve_timeout_ms);
    members(w, self(9), holding(2, 3, 3));
    assert_int_equal(limit_of(w), 4);
    skip_lines(w);
}

static void a_new_plan_is_divided_anew(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots_are_auto = true;
    struct world *w = leased_world(&options);
    tick(w);
    members(w, self(9), other(2, 9));
    assert_int_equal(gauges_of(w).slots_limit, 10);
    threads(w, 0, 6);
    assert_int_equal(gauges_of(w).slots_limit, 3);
    skip_lines(w);
}

/* What the vendor taught stays: a share that is used up says nothing about the limit. */
static void a_share_does_not_make_the_adaptive_limit_grow(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 10;
    struct world *w = leased_world(&options);
    members(w, self(9));
    for (int i = 0; i < 8; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    rejected(w, "a8", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    const uint32_t taught = gauges_of(w).slots_limit;
    assert_int_equal(taught, 5);
    for (int i = 0; i < 6; i++) {
        char name[4] = {'a', (char)('1' + i), '\0'};
        rejected(w, name, CLASS_CALLER, "ERROR_PAGEURL");
    }
    members(w, self(1), other(2, 99));
    assert_int_equal(gauges_of(w).slots_limit, 1);
    accepted(w, "a7", "T7");
    members(w, self(1));
    assert_int_equal(gauges_of(w).slots_limit, taught);
    skip_lines(w);
}

/* ---- pools --------------------------------------------------------------------------------- */

static struct member awake(node_id id, bool is_self)
{
    return (struct member){
        .id = id, .is_self = is_self, .demand = {.slots = 5, .pools = UINT64_MAX}};
}

static struct world *world_with_pool(uint32_t size)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.store_is_shared = options.store_adopts = true;
    options.node = 1;
    options.lease_ms = LEASE_MS;
    options.lease_margin_ms = LEASE_MARGIN_MS;
    struct world *w = pool_world(options, (struct pool_options){.size = size});
    w->hides_records = true;
    return w;
}

static void a_pools_size_is_divided_among_the_nodes_where_it_is_awake(void **state)
{
    (void)state;
    struct world *w = world_with_pool(5);
    members(w, awake(1, true), awake(2, false), other(3, 0));
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n"
              "[     0] submit a3 P\n");
    members(w, awake(1, true), other(2, 0), other(3, 0));
    expect(w, "[     0] submit a4 P\n"
              "[     0] submit a5 P\n");
}

static void the_later_of_two_nodes_keeps_the_smaller_part_ready(void **state)
{
    (void)state;
    struct world *w = world_with_pool(5);
    members(w, awake(1, false), awake(2, true));
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n");
    struct demand demand;
    engine_demand(w->engine, &demand);
    assert_true(demand.pools != 0);
    pass(w, 125000);
    engine_demand(w->engine, &demand);
    assert_true(demand.pools == 0);
    skip_lines(w);
}

/* A node that has said so much of each pool. */
static struct member with_level(node_id id, uint16_t level)
{
    struct member member = awake(id, id == 1);
    member.demand.held = member.is_self ? DEMAND_MOST : 0;
    for (unsigned place = 0; place < DEMAND_POOLS; place++)
        member.demand.levels[place] = level;
    return member;
}

/* The level that the next beat tells of the only pool. */
static unsigned level_told(const struct world *w)
{
    const struct demand demand = demand_of(w);
    unsigned level = 0;
    for (unsigned place = 0; place < DEMAND_POOLS; place++)
        level += demand.levels[place];
    return level;
}

static void a_pool_is_filled_only_when_the_others_can_know(void **state)
{
    (void)state;
    struct world *w = world_with_pool(3);
    members(w, with_level(1, 0));
    assert_int_equal(level_told(w), 3);
    members(w, with_level(1, 0));
    assert_int_equal(w->tally.submits, 0);
    members(w, with_level(1, 3));
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n"
              "[     0] submit a3 P\n");
}

static void of_two_that_start_at_once_each_fills_its_part(void **state)
{
    (void)state;
    struct world *w = world_with_pool(4);
    members(w, with_level(1, 0));
    /* Both have said before they heard of each other that they fill it. */
    members(w, with_level(1, 4), with_level(2, 4));
    assert_int_equal(w->tally.submits, 0);
    assert_int_equal(level_told(w), 0);
    members(w, with_level(1, 0), with_level(2, 0));
    assert_int_equal(w->tally.submits, 0);
    assert_int_equal(level_told(w), 2);
    assert_true(engine_must_hurry(w->engine));
    members(w, with_level(1, 2), with_level(2, 2));
    members(w, with_level(1, 2), with_level(2, 2));
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n");
}

/* It has told less since: that beat may be under way, and the others take what it leaves them. */
static void what_an_older_beat_said_is_not_filled_once_less_was_told(void **state)
{
    (void)state;
    struct world *w = world_with_pool(3);
    struct member asleep = with_level(2, 3);
    asleep.demand.pools = 0;
    members(w, with_level(1, 3), asleep);
    assert_int_equal(level_told(w), 0);
    asleep.demand = (struct demand){.slots = 0};
    members(w, with_level(1, 3), asleep);
    assert_int_equal(w->tally.submits, 0);
    assert_int_equal(level_told(w), 3);
    assert_true(engine_must_hurry(w->engine));
    members(w, with_level(1, 0));
    assert_int_equal(w->tally.submits, 0);
    members(w, with_level(1, 3));
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void what_another_one_has_ready_is_not_paid_for_again(void **state)
{
    (void)state;
    struct world *w = world_with_pool(4);
    members(w, with_level(1, 2), with_level(2, 4));
    assert_int_equal(w->tally.submits, 0);
    members(w, with_level(1, 2), with_level(2, 3));
    expect(w, "[     0] submit a1 P\n");
    struct member asleep = with_level(2, 3);
    asleep.demand.pools = 0;
    members(w, with_level(1, 4), asleep);
    assert_int_equal(w->tally.submits, 1);
    asleep.demand = (struct demand){.slots = 0};
    members(w, with_level(1, 2), asleep);
    expect(w, "[     0] submit a2 P\n");
}

/* The second has adopted the third, and tells of it only with its next beat. */
static void what_a_dead_one_had_ready_is_not_paid_for_while_it_is_adopted(void **state)
{
    (void)state;
    struct world *w = world_with_pool(9);
    members(w, with_level(1, 3), with_level(2, 3), with_level(3, 3));
    assert_int_equal(w->tally.submits, 3);
    members(w, with_level(1, 3), with_level(2, 3));
    assert_int_equal(level_told(w), 3);
    members(w, with_level(1, 9), with_level(2, 3));
    assert_int_equal(w->tally.submits, 3);
    members(w, with_level(1, 3), with_level(2, 6));
    pass(w, LEASE_MS);
    members(w, with_level(1, 3), with_level(2, 6));
    assert_int_equal(level_told(w), 3);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

/* Its solutions were used, or nobody has room for them. */
static void
what_a_dead_one_had_ready_is_filled_again_when_nobody_has_told_it_for_a_lease(void **state)
{
    (void)state;
    struct world *w = world_with_pool(9);
    members(w, with_level(1, 3), with_level(2, 3), with_level(3, 3));
    members(w, with_level(1, 3), with_level(2, 3));
    pass(w, LEASE_MS - 1);
    members(w, with_level(1, 9), with_level(2, 3));
    assert_int_equal(w->tally.submits, 3);
    pass(w, 1);
    members(w, with_level(1, 5), with_level(2, 4));
    assert_int_equal(w->tally.submits, 5);
    skip_lines(w);
}

/* The parts of three are two, one and one; but the second has two. */
static void who_has_more_than_its_part_leaves_less_to_the_others(void **state)
{
    (void)state;
    const uint32_t have[] = {1, 2, 0};
    assert_int_equal(fair_fill(4, have, 3, 0), 1);
    assert_int_equal(fair_fill(4, have, 3, 1), 2);
    assert_int_equal(fair_fill(4, have, 3, 2), 1);
    const uint32_t full[] = {9, 0};
    assert_int_equal(fair_fill(4, full, 2, 0), 9);
    assert_int_equal(fair_fill(4, full, 2, 1), 0);
    struct world *w = world_with_pool(4);
    members(w, with_level(1, 1), with_level(2, 2), with_level(3, 1));
    expect(w, "[     0] submit a1 P\n");
    assert_int_equal(level_told(w), 1);
}

static void what_it_has_beyond_its_part_is_told(void **state)
{
    (void)state;
    struct world *w = world_with_pool(4);
    members(w, with_level(1, 4));
    skip_lines(w);
    assert_int_equal(w->tally.submits, 4);
    members(w, with_level(1, 4), with_level(2, 2));
    assert_int_equal(level_told(w), 4);
}

/* Asleep it begins nothing, but what it has is there. */
static void a_pool_that_sleeps_tells_what_it_has(void **state)
{
    (void)state;
    struct world *w = world_with_pool(2);
    members(w, with_level(1, 1));
    expect(w, "[     0] submit a1 P\n");
    assert_int_equal(level_told(w), 2);
    w->now_ms = 120000;
    tick(w);
    assert_true(demand_of(w).pools == 0);
    assert_int_equal(level_told(w), pool_view_of(w).ready + pool_view_of(w).solving);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_demands_little_gets_it_and_the_others_divide_the_rest),
        cmocka_unit_test(what_nobody_demands_is_divided_evenly),
        cmocka_unit_test(who_is_idle_leaves_all_to_the_others),
        cmocka_unit_test(who_waits_longest_comes_first_where_there_are_more_than_slots),
        cmocka_unit_test(no_slot_is_given_twice),
        STORY(the_plans_slots_are_divided_by_demand),
        STORY(a_slot_is_used_only_when_the_other_has_let_it_go),
        STORY(a_slot_is_used_only_when_the_others_can_know),
        STORY(what_is_taken_away_is_held_until_its_attempt_ends),
        STORY(one_slot_goes_round),
        STORY(what_a_dead_one_held_stays_taken_for_a_lease),
        STORY(who_is_silent_for_longer_than_its_tasks_can_last_holds_nothing),
        STORY(a_new_plan_is_divided_anew),
        STORY(a_share_does_not_make_the_adaptive_limit_grow),
        STORY(a_pools_size_is_divided_among_the_nodes_where_it_is_awake),
        STORY(the_later_of_two_nodes_keeps_the_smaller_part_ready),
        STORY(a_pool_is_filled_only_when_the_others_can_know),
        STORY(of_two_that_start_at_once_each_fills_its_part),
        STORY(what_an_older_beat_said_is_not_filled_once_less_was_told),
        STORY(what_another_one_has_ready_is_not_paid_for_again),
        STORY(what_a_dead_one_had_ready_is_not_paid_for_while_it_is_adopted),
        STORY(what_a_dead_one_had_ready_is_filled_again_when_nobody_has_told_it_for_a_lease),
        STORY(who_has_more_than_its_part_leaves_less_to_the_others),
        STORY(what_it_has_beyond_its_part_is_told),
        STORY(a_pool_that_sleeps_tells_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
