/* Adoption and idempotency keys: who repeated a key of a gateway that died waits for what the key stands for, and
 * nothing is paid twice, whatever dies next. */
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

#define MISUSED "answer bob refused: the idempotency key was used for something else\n"
#define KEYED .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE

/* Ann's task under the idempotency key I is at the vendor, and her gateway is dead. */
static struct world *world_with_key(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", KEYED, .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, "I", "f1");
    return w;
}

/* ---- who waits ----------------------------------------------------------------------------- */

static void who_repeated_it_before_a_crash_of_ours_waits_for_the_adopted_flight(void **state)
{
    (void)state;
    struct world *w = world_with_key();
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    crash(w, ALL_RECORDS);
    beat(w, 0);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    pass(w, 2000);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r2", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[  2001] release f1 I solved\n"
              "[  2001] answer worker r2 solved \"TOKEN\" source idempotent attempts 1"
              " replayed\n");
    assert_int_equal(w->attempt_count, 1);
}

static void who_repeated_it_asks_for_nothing_while_rows_come(void **state)
{
    (void)state;
    struct world *w = world_with_key();
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    adopted_all_but_claims(w);
    pass(w, 1000);
    woken(w, "I");
    expect(w, "");
    adopted_at_last(w);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r2", 0);
    expect(w, "[  1000] poll a1 task T1\n"
              "[  1001] release f1 I solved\n"
              "[  1001] answer worker r2 solved \"TOKEN\" source idempotent attempts 1"
              " replayed\n");
}

static void who_repeated_one_of_two_keys_of_a_flight_waits_for_it(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    won(w, "f1");
    ask(w, "bob", .key = "K", .idempotency = "J", .is_told = true);
    follow_own(w, "f2", "f1");
    accepted(w, "a1", "T1");
    dies(w, "K", "f1");
    ask(w, "ann again", .key = "K", .idempotency = "I", .is_told = true);
    follow_replayed(w, "f3");
    ask(w, "bob again", .key = "K", .idempotency = "J", .is_told = true);
    follow_replayed(w, "f4");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    assert_int_equal(gauges_of(w).flights, 1);
    pass(w, 3000);
    solved(w, "a1", "TOKEN");
    look(w, "ann again", "r3", 0);
    look(w, "bob again", "r4", 0);
    expect(w,
           "[     0] poll a1 task T1\n"
           "[  3001] release f1 K solved\n"
           "[  3001] answer ann again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n"
           "[  3001] answer bob again r4 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* The store granted it what the dead one had given up before its rows were read: nobody has use for that. */
static void a_claim_that_comes_too_late_for_who_waits_is_given_up(void **state)
{
    (void)state;
    struct world *w = world_with_key();
    ask(w, "retry", KEYED, .is_told = true);
    members(w, me(), it_left());
    skip_lines(w);
    adopted_all_but_claims(w);
    won(w, "f2");
    expect(w, "[     0] release f2 I\n");
    adopted_at_last(w);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r2", 0);
    skip_lines(w);
    assert_int_equal(w->attempt_count, 1);
}

/* Nobody of the dead one's waits for its flight any more, which was not submitted, but somebody here does. */
static struct world *world_with_deserted_key(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", KEYED, .is_told = true);
    pass(w, 8000);
    won(w, "f1");
    dies(w, "I", "f1");
    for (size_t i = 0; i < w->will.count; i++)
        if (w->will.log[i].kind == RECORD_REQUEST)
            w->will.log[i] = w->will.log[--w->will.count];
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    return w;
}

static void a_flight_that_only_we_wait_for_goes_on_under_its_key(void **state)
{
    (void)state;
    struct world *w = world_with_deserted_key();
    (void)adopted(w, 99);
    expect(w, "[  8000] submit a1 K\n");
    ask(w, "again", KEYED, .is_told = true);
    expect(w, "[  8001] answer again r3 solving replayed\n");
}

static void a_flight_that_only_we_wait_for_goes_on_after_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_deserted_key();
    adopted_unseen(w);
    beat(w, 0);
    pass(w, 1);
    expect(w, "[  8000] submit a1 K\n");
    ask(w, "again", KEYED, .is_told = true);
    expect(w, "[  8001] answer again r3 solving replayed\n");
}

static void rows_of_both_in_one_journal_are_one_flight_again(void **state)
{
    (void)state;
    struct world *w = world_with_key();
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    skip_lines(w);
    adopted_unseen(w);
    beat(w, 0);
    pass(w, 2000);
    solved(w, "a1", "TOKEN");
    look(w, "first", "r1", 0);
    look(w, "second", "r2", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[  2000] release f1 I solved\n"
              "[  2000] answer first r1 solved \"TOKEN\" source api attempts 1\n"
              "[  2000] answer second r2 solved \"TOKEN\" source idempotent attempts 1\n");
    assert_int_equal(w->attempt_count, 1);
}

/* ---- what it stands for -------------------------------------------------------------------- */

/* Ann got her solution, and her gateway is dead. */
static struct world *world_with_solved_key(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", KEYED);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    dies(w, NULL, NULL);
    skip_lines(w);
    return w;
}

static void who_was_given_a_copy_has_it_after_adoption_and_crash(void **state)
{
    (void)state;
    struct world *w = world_with_solved_key();
    ask(w, "retry", KEYED);
    found_replayed(w, "f2", "TOKEN", 1000);
    members(w, me(), it_left());
    (void)adopted(w, 99);
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    ask(w, "again", KEYED);
    expect(w, "[  6001] answer again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void who_waits_for_what_was_solved_gets_it_with_the_rows(void **state)
{
    (void)state;
    struct world *w = world_with_solved_key();
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    look(w, "worker", "r2", 0);
    expect(w, "[  6001] answer worker r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    crash(w, ALL_RECORDS);
    beat(w, 0);
    look(w, "worker", "r2", 0);
    ask(w, "again", KEYED);
    expect(w, "[  6001] answer worker r2 solved \"TOKEN\" source idempotent attempts 1\n"
              "[  6001] answer again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* What it repeats by mistake has nothing to do with what it asks for. */
static void who_uses_a_solved_key_for_something_else_is_refused(void **state)
{
    (void)state;
    struct world *w = world_with_solved_key();
    ask(w, "bob", .key = "L", .idempotency = "I", .reuse = REUSE_SINGLE);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    expect(w, "[  6000] " MISUSED);
    mismatch(w, "f2");
    ask(w, "again", KEYED);
    expect(w, "[  6001] answer again r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void who_uses_a_key_that_is_being_solved_for_something_else_is_refused(void **state)
{
    (void)state;
    struct world *w = world_with_key();
    ask(w, "bob", .key = "L", .idempotency = "I", .reuse = REUSE_SINGLE);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    expect(w, "[     0] " MISUSED "[     0] poll a1 task T1\n");
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    beat(w, 0);
    ask(w, "again", KEYED);
    expect(w, "[     1] answer again r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* Its flight was not written, since nobody was told and nothing was submitted: only the row of its key is there. */
static void a_key_whose_flight_died_is_of_who_solves_it_now(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", KEYED);
    pass(w, 8000);
    won(w, "f1");
    dies(w, "I", "f1");
    ask(w, "retry", KEYED);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    woken(w, "I");
    expect(w, "[  8000] release f1 I\n"
              "[  8001] claim f2 K idempotency I again\n");
    won(w, "f2");
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    ask(w, "again", KEYED, .is_told = true);
    expect(w, "[  8001] answer again r1 solving replayed\n");
}

/* Here somebody repeated it, and somebody else asked for the same: what is solved now is what both keys stand for. */
static struct world *world_with_key_of_nothing(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .idempotency = "I");
    pass(w, 8000);
    won(w, "f1");
    dies(w, "K", "f1");
    ask(w, "bob", .key = "K", .idempotency = "J");
    follow(w, "f2");
    return w;
}

/* It stands for the solution also for somebody who wants a fresher one, and after a crash. */
static void expect_repeated(struct world *w)
{
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    ask(w, "again", .key = "K", .idempotency = "I", .max_age_ms = 1);
    expect(w, "[ 15001] answer again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void a_key_whose_flight_died_stands_for_the_flight_that_it_joins(void **state)
{
    (void)state;
    struct world *w = world_with_key_of_nothing();
    ask(w, "retry", .key = "K", .idempotency = "I");
    follow_replayed(w, "f3");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    pass(w, 1000);
    won(w, "f2");
    follow_own_replayed(w, "f3", "f2");
    solve(w, "a1", "T1", "TOKEN");
    expect_repeated(w);
}

static void a_key_whose_flight_died_stands_for_what_its_follower_got(void **state)
{
    (void)state;
    struct world *w = world_with_key_of_nothing();
    ask(w, "retry", .key = "K", .idempotency = "I");
    follow_replayed(w, "f3");
    pass(w, 1000);
    won(w, "f2");
    follow_own_replayed(w, "f3", "f2");
    solve(w, "a1", "T1", "TOKEN");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    expect_repeated(w);
}

/* Both know the key: here it was solved long ago, and there somebody waits for it to be solved anew. */
static void what_is_solved_anew_keeps_its_key_where_the_old_solution_is_known(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "ann", KEYED, .is_told = true);
    won(w, "f2");
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 100000);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    expect(w, "[106000] claim f1 K idempotency I\n");
    won(w, "f1");
    ask(w, "again", KEYED, .is_told = true);
    expect(w, "[106001] submit a2 K\n"
              "[106001] answer again r3 solving replayed\n");
}

/* The same, but it was solved anew, and what is known here is bad. */
static void what_was_solved_anew_keeps_its_key_where_a_bad_solution_is_known(void **state)
{
    (void)state;
    struct world *w = world_with_solved_key();
    ask(w, "bob", KEYED);
    won(w, "f2");
    solve(w, "a2", "T2", "BAD");
    report_bad(w, "bob", "r2");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    skip_lines(w);
    ask(w, "again", KEYED);
    expect(w, "[ 12001] answer again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* The dead one's last rows do not say that its solution was handed out; here somebody got a copy. */
static struct world *world_with_unhanded_key(void)
{
    struct world *w = world_with_solved_key();
    for (size_t i = 0; i < w->will.count; i++) {
        if (w->will.log[i].kind != RECORD_SOLUTION)
            continue;
        w->will.log[i].solution.handed = 0;
        w->will.log[i].solution.is_kept = true;
    }
    return w;
}

static void expect_nothing_for_bob(struct world *w)
{
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6001] claim f3 K or nothing\n");
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6001] claim f4 K or nothing\n");
}

static void what_somebody_has_a_copy_of_is_nobody_elses_after_the_adoption(void **state)
{
    (void)state;
    struct world *w = world_with_unhanded_key();
    ask(w, "retry", KEYED);
    found_replayed(w, "f2", "TOKEN", 1000);
    members(w, me(), it_left());
    (void)adopted(w, 99);
    expect_nothing_for_bob(w);
}

static void what_who_waits_gets_with_the_rows_is_nobody_elses(void **state)
{
    (void)state;
    struct world *w = world_with_unhanded_key();
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    expect_nothing_for_bob(w);
}

static void whoever_had_our_solution_by_its_id_has_it_after_others_got_it_by_the_key(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "retry", KEYED, .is_told = true);
    follow_replayed(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "ann", KEYED, .is_told = true);
    won(w, "f2");
    solve(w, "a1", "T1", "TOKEN");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    look(w, "first", "r2", 0);
    look(w, "second", "r1", 0);
    ask(w, "again", KEYED);
    expect(w, "[  6001] answer first r2 solved \"TOKEN\" source api attempts 1\n"
              "[  6001] answer second r1 solved \"TOKEN\" source idempotent attempts 1\n"
              "[  6001] answer again r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(who_repeated_it_before_a_crash_of_ours_waits_for_the_adopted_flight),
        STORY(who_repeated_it_asks_for_nothing_while_rows_come),
        STORY(who_repeated_one_of_two_keys_of_a_flight_waits_for_it),
        STORY(a_claim_that_comes_too_late_for_who_waits_is_given_up),
        STORY(a_flight_that_only_we_wait_for_goes_on_under_its_key),
        STORY(a_flight_that_only_we_wait_for_goes_on_after_a_crash),
        STORY(rows_of_both_in_one_journal_are_one_flight_again),
        STORY(who_was_given_a_copy_has_it_after_adoption_and_crash),
        STORY(who_waits_for_what_was_solved_gets_it_with_the_rows),
        STORY(who_uses_a_solved_key_for_something_else_is_refused),
        STORY(who_uses_a_key_that_is_being_solved_for_something_else_is_refused),
        STORY(what_somebody_has_a_copy_of_is_nobody_elses_after_the_adoption),
        STORY(what_who_waits_gets_with_the_rows_is_nobody_elses),
        STORY(a_key_whose_flight_died_is_of_who_solves_it_now),
        STORY(a_key_whose_flight_died_stands_for_the_flight_that_it_joins),
        STORY(a_key_whose_flight_died_stands_for_what_its_follower_got),
        STORY(what_is_solved_anew_keeps_its_key_where_the_old_solution_is_known),
        STORY(what_was_solved_anew_keeps_its_key_where_a_bad_solution_is_known),
        STORY(whoever_had_our_solution_by_its_id_has_it_after_others_got_it_by_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
