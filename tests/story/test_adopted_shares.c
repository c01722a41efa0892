/* Adoption and what the whole cluster counts: slots of the plan and books of requests are those of one gateway at a
 * time. */
#include "lines.h"
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
        STORY(what_it_had_answered_is_in_its_books_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
