/* A reload: what is under way goes on, new clients come, slots and lifetimes change from now on. */
#include "world.h"

static const struct client_options one[] = {{.weight = 1, .budget_per_day = 1}};
static const struct client_options two[] = {{.weight = 1, .budget_per_day = 5},
                                            {.weight = 1, .budget_per_day = UINT64_MAX}};

static struct engine_options with_clients(const struct client_options *clients, uint16_t count)
{
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = count;
    options.max_clients = 2;
    return options;
}

static void a_new_client_comes_and_a_budget_grows(void **state)
{
    (void)state;
    const struct engine_options before = with_clients(one, 1);
    struct world *w = world_new(&before);
    ask(w, "ann", .key = "K");
    ask(w, "ann again", .key = "L");
    const struct engine_options after = with_clients(two, 2);
    engine_configure(w->engine, &after);
    ask(w, "ann again", .key = "L");
    ask(w, "bob", .key = "M", .client = 1);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann again refused: this client's budget for today is used up, retry"
              " after 43200000\n"
              "[     0] submit a2 L\n"
              "[     0] submit a3 M of client 1\n");
}

static void more_slots_let_the_queue_go_on_and_fewer_hold_it_back(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n");
    options.slots = 2;
    engine_configure(w->engine, &options);
    tick(w);
    expect(w, "[     0] submit a2 L\n");
    options.slots = 1;
    engine_configure(w->engine, &options);
    ask(w, "cat", .key = "M");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    assert_int_equal(gauges_of(w).queued, 1);
    skip_lines(w);
}

static void limits_and_the_journal_stay_as_they_were_built(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    struct engine_options other = world_options();
    other.max_flights = 1;
    other.ttl_ms[TYPE_OTHER] = 1000;
    engine_configure(w->engine, &other);
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    ask(w, "bob", .key = "L", .type = TYPE_OTHER);
    assert_int_equal(w->tally.submits, 2);
    assert_true(w->tally.records > 0);
    skip_lines(w);
}

static void slots_that_become_a_matter_of_the_plan_are_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    struct world *w = world_new(&options);
    options.slots_are_auto = true;
    engine_configure(w->engine, &options);
    tick(w);
    threads(w, 0, 7);
    assert_int_equal(gauges_of(w).slots_plan, 7);
    options.slots++;
    engine_configure(w->engine, &options);
    assert_int_equal(gauges_of(w).slots_plan, 7);
    skip_lines(w);
}

static void what_is_spent_stays_spent_through_reloads_and_a_restart(void **state)
{
    (void)state;
    static const struct client_options rich = {.weight = 1, .budget_per_day = 2};
    static const struct client_options poor = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = with_clients(&rich, 1);
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    w->options.clients = &poor;
    engine_configure(w->engine, &w->options);
    crash(w, ALL_RECORDS);
    w->options.clients = &rich;
    engine_configure(w->engine, &w->options);
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_budget_that_comes_with_a_restart_knows_what_was_spent_without_one(void **state)
{
    (void)state;
    static const struct client_options free = {.weight = 1, .budget_per_day = UINT64_MAX};
    static const struct client_options bound = {.weight = 1, .budget_per_day = 3};
    struct engine_options options = with_clients(&free, 1);
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 1000);
    /* Nobody heard of it, so it counts as well. */
    ask(w, "cat", .key = "M", .is_told = true);
    w->options.clients = &bound;
    crash(w, ALL_RECORDS);
    ask(w, "dan", .key = "N");
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void a_budget_that_comes_back_knows_what_was_spent_without_it(void **state)
{
    (void)state;
    static const struct client_options bound = {.weight = 1, .budget_per_day = 2};
    static const struct client_options free = {.weight = 1, .budget_per_day = UINT64_MAX};
    struct engine_options options = with_clients(&bound, 1);
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    w->options.clients = &free;
    engine_configure(w->engine, &w->options);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a2", "T2");
    pass(w, 1000);
    w->options.clients = &bound;
    crash(w, ALL_RECORDS);
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void what_nobody_heard_of_counts_beyond_a_budget_that_was_lowered(void **state)
{
    (void)state;
    static const struct client_options rich = {.weight = 1, .budget_per_day = 2};
    static const struct client_options poor = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = with_clients(&rich, 1);
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    w->options.clients = &poor;
    crash(w, ALL_RECORDS);
    w->options.clients = &rich;
    engine_configure(w->engine, &w->options);
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void slots_that_are_no_longer_a_matter_of_the_plan_are_not_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots_are_auto = true;
    struct world *w = world_new(&options);
    tick(w);
    threads(w, 0, 7);
    options.slots_are_auto = false;
    engine_configure(w->engine, &options);
    pass(w, HOURS_MS(1));
    assert_int_equal(w->tally.probes, 1);
    skip_lines(w);
}

static void a_plan_of_none_or_of_far_too_many_is_not_believed(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots_are_auto = true;
    struct world *w = world_new(&options);
    tick(w);
    threads(w, 0, 7);
    threads(w, 0, 0);
    assert_int_equal(gauges_of(w).slots_plan, 7);
    threads(w, 0, UINT32_MAX);
    assert_int_equal(gauges_of(w).slots_plan, 10000);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_new_client_comes_and_a_budget_grows),
        STORY(more_slots_let_the_queue_go_on_and_fewer_hold_it_back),
        STORY(limits_and_the_journal_stay_as_they_were_built),
        STORY(slots_that_become_a_matter_of_the_plan_are_asked_for),
        STORY(what_is_spent_stays_spent_through_reloads_and_a_restart),
        STORY(a_budget_that_comes_with_a_restart_knows_what_was_spent_without_one),
        STORY(a_budget_that_comes_back_knows_what_was_spent_without_it),
        STORY(what_nobody_heard_of_counts_beyond_a_budget_that_was_lowered),
        STORY(slots_that_are_no_longer_a_matter_of_the_plan_are_not_asked_for),
        STORY(a_plan_of_none_or_of_far_too_many_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
