/* The plan's slots: never exceeded, shared fairly, and adapted (docs/design.md 5.5). */
#include "world.h"

#define BUSY "ERROR_NO_SLOT_AVAILABLE"

static const struct client_options two_clients[] = {
    {.weight = 1, .budget_per_day = UINT64_MAX},
    {.weight = 2, .budget_per_day = UINT64_MAX},
};

static struct world *world_of_clients(const struct client_options *clients, uint16_t count,
                                      uint32_t slots)
{
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = count;
    options.slots = slots;
    return world_new(&options);
}

/* Ends an attempt as cheaply as can be, so that its slot goes to the next. */
static void end(struct world *w, const char *attempt)
{
    rejected(w, attempt, CLASS_PROXY, "ERROR_BAD_PROXY");
}

/* ---- slots ------------------------------------------------------------------------------- */

static void flights_beyond_the_slots_wait_their_turn(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 2);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    ask(w, "cat", .key = "M", .is_told = true);
    ask(w, "dan", .key = "N", .is_told = true);
    assert_int_equal(gauges_of(w).slots_used, 2);
    assert_int_equal(gauges_of(w).queued, 2);
    end(w, "a2");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] submit a2 L\n"
              "[     0] answer bob r2 solving\n"
              "[     0] answer cat r3 queued\n"
              "[     0] answer dan r4 queued\n"
              "[     0] submit a3 M\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] submit a4 N\n");
    assert_int_equal(stats_of(w)->slot_ms_used, 6000);
}

static void backing_off_gives_the_slot_to_the_next(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 1);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    ask(w, "cat", .key = "M");
    pass(w, 1000);
    end(w, "a2");
    /* Ann had her turn before cat came. */
    end(w, "a3");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[  1000] answer bob r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[  1000] submit a3 K\n"
              "[  1000] answer ann r2 failed ERROR_BAD_PROXY (proxy) attempts 2\n"
              "[  1000] submit a4 M\n");
}

/* ---- fairness ---------------------------------------------------------------------------- */

static void clients_take_turns_by_weight(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 2, 1);
    ask(w, "first", .key = "A1", .is_told = true);
    static const char *const own[] = {"A2", "A3", "A4"};
    static const char *const others[] = {"B1", "B2", "B3", "B4", "B5"};
    for (int i = 0; i < 3; i++)
        ask(w, "ann", .key = own[i], .is_told = true);
    for (int i = 0; i < 5; i++)
        ask(w, "bob", .key = others[i], .client = 1, .is_told = true);
    skip_lines(w);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
    for (int i = 0; i < 8; i++)
        end(w, attempts[i]);
    expect(w, "[     0] submit a2 A2\n"
              "[     0] submit a3 B1 of client 1\n"
              "[     0] submit a4 B2 of client 1\n"
              "[     0] submit a5 A3\n"
              "[     0] submit a6 B3 of client 1\n"
              "[     0] submit a7 B4 of client 1\n"
              "[     0] submit a8 A4\n"
              "[     0] submit a9 B5 of client 1\n");
}

static void a_client_with_a_long_queue_does_not_starve_a_newcomer(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 2, 1);
    w->is_quiet = true;
    for (int i = 0; i < 20; i++)
        ask(w, "bob", .key = "B", .client = 1, .reuse = REUSE_SINGLE, .is_told = true);
    ask(w, "ann", .key = "A", .is_told = true);
    w->is_quiet = false;
    /* Bob's weight lets him start one more, or two; then it is ann's turn. */
    end(w, "a1");
    end(w, "a2");
    end(w, "a3");
    expect(w, "[     0] submit a2 B of client 1\n"
              "[     0] submit a3 B of client 1\n"
              "[     0] submit a4 A\n");
}

static void within_a_client_the_higher_priority_goes_first(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 1);
    ask(w, "first", .key = "first", .is_told = true);
    ask(w, "ann", .key = "low", .is_told = true);
    ask(w, "ann", .key = "high", .is_told = true, .priority = 9);
    ask(w, "ann", .key = "middle", .is_told = true, .priority = 5);
    ask(w, "ann", .key = "high, later", .is_told = true, .priority = 9);
    ask(w, "ann", .key = "beyond", .is_told = true, .priority = 200);
    skip_lines(w);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5"};
    for (int i = 0; i < 5; i++)
        end(w, attempts[i]);
    expect(w, "[     0] submit a2 high\n"
              "[     0] submit a3 high, later\n"
              "[     0] submit a4 beyond\n"
              "[     0] submit a5 middle\n"
              "[     0] submit a6 low\n");
}

static void a_client_stays_within_its_own_slots(void **state)
{
    (void)state;
    const struct client_options clients[] = {
        {.weight = 1, .slots = 1, .budget_per_day = UINT64_MAX},
        {.weight = 1, .budget_per_day = UINT64_MAX},
    };
    struct world *w = world_of_clients(clients, 2, 3);
    ask(w, "ann", .key = "A1", .is_told = true);
    ask(w, "ann", .key = "A2", .is_told = true);
    ask(w, "bob", .key = "B1", .client = 1, .is_told = true);
    ask(w, "bob", .key = "B2", .client = 1, .is_told = true);
    ask(w, "bob", .key = "B3", .client = 1, .is_told = true);
    skip_lines(w);
    assert_int_equal(gauges_of(w).slots_used, 3);
    end(w, "a2");
    end(w, "a1");
    expect(w, "[     0] submit a4 B3 of client 1\n"
              "[     0] submit a5 A2\n");
}

/* ---- the adaptive limit ------------------------------------------------------------------ */

static struct world *world_with_ten_in_flight(void)
{
    struct world *w = world_of_clients(two_clients, 1, 10);
    static const char *const keys[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    for (int i = 0; i < 10; i++)
        ask(w, "ann", .key = keys[i], .is_told = true);
    for (int i = 0; i < 10; i++)
        ask(w, "bob", .key = "more", .reuse = REUSE_SINGLE, .is_told = true);
    assert_int_equal(gauges_of(w).slots_limit, 10);
    skip_lines(w);
    return w;
}

static void a_busy_answer_cuts_the_limit_once_in_a_while(void **state)
{
    (void)state;
    struct world *w = world_with_ten_in_flight();
    rejected(w, "a1", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 7);
    /* The same burst says the same thing. */
    rejected(w, "a2", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 7);
    assert_int_equal(gauges_of(w).slots_used, 8);
    end(w, "a3");
    assert_int_equal(w->tally.submits, 10);
    /* At the limit now: the next end lets one in. */
    end(w, "a4");
    assert_int_equal(w->tally.submits, 11);
    assert_int_equal(gauges_of(w).slots_used, 7);
    pass(w, 999);
    /* But a slot that a refused one leaves is not for the next to be refused in. */
    rejected(w, "a5", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 6);
    assert_int_equal(w->tally.submits, 11);
    pass(w, 1);
    rejected(w, "a6", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 4);
    skip_lines(w);
}

static void what_is_accepted_at_the_limit_raises_it_again(void **state)
{
    (void)state;
    struct world *w = world_with_ten_in_flight();
    rejected(w, "a1", CLASS_BUSY, BUSY);
    end(w, "a2");
    end(w, "a3");
    assert_int_equal(gauges_of(w).slots_limit, 7);
    assert_int_equal(gauges_of(w).slots_used, 7);
    static const char *const attempts[] = {"a4", "a5", "a6", "a7", "a8", "a9", "a10"};
    for (int i = 0; i < 7; i++)
        accepted(w, attempts[i], "T");
    /* Each adds a part of one: it takes one round at the limit to add one. */
    assert_int_equal(gauges_of(w).slots_limit, 7);
    pass(w, 6000);
    assert_int_equal(w->tally.submits, 10);
    failed(w, "a4", CLASS_PROXY, "ERROR_BAD_PROXY");
    accepted(w, "a11", "T");
    assert_int_equal(gauges_of(w).slots_limit, 8);
    assert_int_equal(gauges_of(w).slots_used, 8);
    assert_int_equal(w->tally.submits, 12);
    skip_lines(w);
}

static void a_long_queue_is_not_run_through_a_full_plan(void **state)
{
    (void)state;
    struct world *w = world_with_ten_in_flight();
    static const char *const refused[] = {"a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10"};
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    for (int i = 0; i < 8; i++)
        rejected(w, refused[i], CLASS_BUSY, BUSY);
    assert_int_equal(w->tally.submits, 10);
    assert_int_equal(gauges_of(w).slots_limit, 2);
    /* The burst may have been a mood: below seven of ten the limit grows with each that is accepted. */
    pass(w, 6000);
    failed(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    accepted(w, "a11", "T11");
    assert_int_equal(gauges_of(w).slots_limit, 3);
    accepted(w, "a12", "T12");
    assert_int_equal(gauges_of(w).slots_limit, 4);
    skip_lines(w);
}

static void a_vendor_busy_with_nothing_of_ours_is_asked_once_in_a_while(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 1);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    rejected_until(w, "a1", CLASS_BUSY, BUSY, 5000);
    pass(w, 1000);
    rejected_until(w, "a2", CLASS_BUSY, BUSY, 5000);
    gone(w, "bob");
    pass(w, 1000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 L\n"
              "[  2000] submit a3 M\n");
}

static void the_limit_never_falls_below_one_and_never_rises_above_the_plan(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 2);
    ask(w, "ann", .key = "K");
    for (int i = 0; i < 3; i++) {
        static const char *const attempts[] = {"a1", "a2", "a3"};
        rejected(w, attempts[i], CLASS_BUSY, BUSY);
        assert_int_equal(gauges_of(w).slots_limit, 1);
        pass(w, UINT64_C(1000) << i);
    }
    ask(w, "bob", .key = "L");
    accepted(w, "a4", "T4");
    assert_int_equal(gauges_of(w).slots_limit, 2);
    accepted(w, "a5", "T5");
    assert_int_equal(gauges_of(w).slots_limit, 2);
    skip_lines(w);
}

static void accepting_below_the_limit_says_nothing_about_it(void **state)
{
    (void)state;
    struct world *w = world_with_ten_in_flight();
    rejected(w, "a1", CLASS_BUSY, BUSY);
    for (int i = 0; i < 9; i++) {
        static const char *const attempts[] = {"a2", "a3", "a4", "a5", "a6",
                                               "a7", "a8", "a9", "a10"};
        end(w, attempts[i]);
    }
    for (int i = 0; i < 7; i++) {
        static const char *const attempts[] = {"a11", "a12", "a13", "a14", "a15", "a16", "a17"};
        end(w, attempts[i]);
    }
    accepted(w, "a18", "T");
    accepted(w, "a19", "T");
    assert_int_equal(gauges_of(w).slots_used, 3);
    assert_int_equal(gauges_of(w).slots_limit, 7);
    skip_lines(w);
}

/* ---- auto -------------------------------------------------------------------------------- */

static struct world *world_with_auto_slots(void)
{
    struct engine_options options = world_options();
    options.slots_are_auto = true;
    struct world *w = world_new(&options);
    pass(w, 0);
    return w;
}

static void auto_asks_about_the_plan_now_and_then(void **state)
{
    (void)state;
    struct world *w = world_with_auto_slots();
    assert_int_equal(gauges_of(w).slots_limit, 10);
    pass(w, 500);
    threads(w, 0, 15);
    assert_int_equal(gauges_of(w).slots_limit, 15);
    assert_int_equal(gauges_of(w).slots_plan, 15);
    pass(w, 300000);
    threads(w, 0, 5);
    assert_int_equal(gauges_of(w).slots_limit, 5);
    pass(w, 300000);
    probe_failed(w, PROBE_THREADS, CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    assert_int_equal(gauges_of(w).slots_limit, 5);
    expect(w, "[     0] probe threads\n"
              "[300000] probe threads\n"
              "[600000] probe threads\n");
}

static void the_same_plan_again_does_not_undo_what_was_learnt_from_busy_answers(void **state)
{
    (void)state;
    struct world *w = world_with_auto_slots();
    threads(w, 0, 4);
    for (int i = 0; i < 4; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    rejected(w, "a1", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 2);
    account(w, "client", PROBE_THREADS);
    pass(w, 10000);
    account(w, "client", PROBE_THREADS);
    threads(w, 3, 4);
    assert_int_equal(gauges_of(w).slots_limit, 2);
    threads(w, 3, 3);
    assert_int_equal(gauges_of(w).slots_limit, 3);
    skip_lines(w);
}

/* 10 000 is what is assumed while nobody has told. */
static void a_plan_that_is_the_one_assumed_is_used_at_once(void **state)
{
    (void)state;
    struct world *w = world_with_auto_slots();
    assert_int_equal(gauges_of(w).slots_plan, 10000);
    assert_int_equal(gauges_of(w).slots_limit, 10);
    assert_false(gauges_of(w).slots_are_cut);
    threads(w, 0, 10000);
    assert_int_equal(gauges_of(w).slots_limit, 10000);
    assert_false(gauges_of(w).slots_are_cut);
    skip_lines(w);
}

static void busy_answers_before_the_plan_is_known_count(void **state)
{
    (void)state;
    struct world *w = world_with_auto_slots();
    for (int i = 0; i < 4; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    rejected(w, "a1", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 2);
    assert_true(gauges_of(w).slots_are_cut);
    threads(w, 4, 10000);
    assert_int_equal(gauges_of(w).slots_limit, 2);
    assert_true(gauges_of(w).slots_are_cut);
    skip_lines(w);
}

static void a_limit_is_called_cut_until_it_is_the_plan_again(void **state)
{
    (void)state;
    struct world *w = world_of_clients(two_clients, 1, 2);
    assert_false(gauges_of(w).slots_are_cut);
    for (int i = 0; i < 3; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    rejected(w, "a1", CLASS_BUSY, BUSY);
    assert_int_equal(gauges_of(w).slots_limit, 1);
    assert_true(gauges_of(w).slots_are_cut);
    accepted(w, "a2", "T");
    assert_int_equal(gauges_of(w).slots_limit, 2);
    assert_false(gauges_of(w).slots_are_cut);
    skip_lines(w);
}

static void without_an_answer_auto_feels_its_way_up(void **state)
{
    (void)state;
    struct world *w = world_with_auto_slots();
    skip_lines(w);
    w->is_quiet = true;
    probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
    for (int i = 0; i < 20; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    assert_int_equal(w->tally.submits, 10);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5",
                                           "a6", "a7", "a8", "a9", "a10"};
    for (int i = 0; i < 10; i++)
        accepted(w, attempts[i], "T");
    pass(w, 6000);
    failed(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    accepted(w, "a11", "T");
    assert_int_equal(gauges_of(w).slots_limit, 11);
    assert_int_equal(w->tally.submits, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(flights_beyond_the_slots_wait_their_turn),
        STORY(backing_off_gives_the_slot_to_the_next),
        STORY(clients_take_turns_by_weight),
        STORY(a_client_with_a_long_queue_does_not_starve_a_newcomer),
        STORY(within_a_client_the_higher_priority_goes_first),
        STORY(a_client_stays_within_its_own_slots),
        STORY(a_busy_answer_cuts_the_limit_once_in_a_while),
        STORY(what_is_accepted_at_the_limit_raises_it_again),
        STORY(a_long_queue_is_not_run_through_a_full_plan),
        STORY(a_vendor_busy_with_nothing_of_ours_is_asked_once_in_a_while),
        STORY(the_limit_never_falls_below_one_and_never_rises_above_the_plan),
        STORY(accepting_below_the_limit_says_nothing_about_it),
        STORY(auto_asks_about_the_plan_now_and_then),
        STORY(the_same_plan_again_does_not_undo_what_was_learnt_from_busy_answers),
        STORY(a_plan_that_is_the_one_assumed_is_used_at_once),
        STORY(busy_answers_before_the_plan_is_known_count),
        STORY(a_limit_is_called_cut_until_it_is_the_plan_again),
        STORY(without_an_answer_auto_feels_its_way_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
