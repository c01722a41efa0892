/* The lease: a gateway that others may take for dead decides nothing, and goes on when its beats are
 * confirmed again. */
#include "lines.h"
#include "shared_world.h"

/* ---- submits ------------------------------------------------------------------------------- */

static void nothing_is_claimed_or_submitted_before_the_first_beat(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    pass(w, 3000);
    beat(w, 0);
    won(w, "f1");
    expect(w, "[  3000] claim f1 K\n"
              "[  3000] submit a1 L\n"
              "[  3000] submit a2 K\n");
}

static void the_lease_counts_from_when_the_beat_was_sent_less_a_margin(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    pass(w, 5000);
    beat(w, 3000);
    pass(w, 4999);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[  9999] submit a1 K\n");
    pass(w, 1);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    ask(w, "cat", .key = "M");
    expect(w, "");
}

static void an_older_beat_that_is_confirmed_later_shortens_nothing(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    pass(w, 6000);
    beat(w, 0);
    beat(w, 2000);
    pass(w, 7999);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[ 13999] submit a1 K\n");
}

static void a_beat_whose_answer_took_too_long_is_worth_nothing(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    ask(w, "ann", .key = "K");
    pass(w, 8000);
    beat(w, 8000);
    expect(w, "");
    beat(w, 7999);
    expect(w, "[  8000] claim f1 K\n");
}

static void what_was_claimed_waits_in_the_queue(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    pass(w, 8000);
    won(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[  8000] answer ann r1 queued\n");
    assert_int_equal(gauges_of(w).queued, 1);
    beat(w, 0);
    expect(w, "[  8000] submit a1 K\n");
}

/* It waited for its record, or in a queue of connections. */
static bool is_sent(const struct world *w, size_t attempt)
{
    struct action action = {.kind = ACTION_SUBMIT};
    action.call.attempt = w->attempts[attempt - 1].id;
    return engine_wants(w->engine, &action);
}

static void a_submit_that_waited_too_long_is_not_sent_but_queued_again(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    pass(w, 7999);
    assert_true(is_sent(w, 1));
    pass(w, 1);
    tick(w);
    assert_false(is_sent(w, 1));
    withdrawn(w, "a1");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n");
    beat(w, 0);
    expect(w, "[  8000] submit a2 K\n");
}

static void what_is_paid_for_is_polled_without_a_lease(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    pass(w, 7000);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[12000..13000] poll a1 task T1\n"
              "[ 13000] release f1 K solved\n"
              "[ 13000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

/* ---- claims -------------------------------------------------------------------------------- */

/* After a standstill the fact may be in the inbox, which is read with the next beat. */
static void no_window_ends_without_a_lease(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.resend_ambiguous = false;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ambiguous(w, "a1");
    skip_lines(w);
    pass(w, options.ambiguity_window_ms);
    beat(w, 0);
    expect(w, "");
    told_fact(w, 9, "a1", "T1", "TOKEN");
    expect(w, "[ 45000] release f1 K solved\n"
              "[ 45000] forget 9\n"
              "[ 45000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_window_ends_when_the_lease_is_back(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.resend_ambiguous = false;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ambiguous(w, "a1");
    skip_lines(w);
    pass(w, options.ambiguity_window_ms);
    beat(w, 0);
    pass(w, 1000);
    expect(w, "[ 46000] release f1 K ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n"
              "[ 46000] answer ann r1 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n");
}

static void claims_that_waited_are_sent_a_batch_at_a_time(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.step_batch = 2;
    struct world *w = leased_world(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    beat(w, 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 L\n");
    pass(w, 1);
    expect(w, "[     0] claim f3 M\n");
}

static void a_follower_asks_again_when_the_lease_is_back(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 7500);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    pass(w, 3000);
    woken(w, "K");
    expect(w, "[     0] claim f1 K\n");
    beat(w, 0);
    found(w, "f1", "TOKEN", 0);
    expect(w, "[  3000] claim f1 K again\n"
              "[  3000] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void who_waits_for_the_lease_is_refused_at_the_deadline(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 2500;
    struct world *w = leased_world(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L");
    gone(w, "bob");
    pass(w, 2500);
    beat(w, 0);
    expect(w, "[  2500] answer ann refused: the store cannot be reached, retry after 1000\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

/* ---- a store that is away ------------------------------------------------------------------ */

static void what_is_new_waits_for_a_store_that_is_away(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    store_goes_away(w);
    ask(w, "ann", .key = "K");
    pass(w, 8000);
    ask(w, "bob", .key = "L", .is_told = true);
    ask(w, "cat", .key = "M", .reuse = REUSE_SINGLE);
    ask(w, "dan", .key = "L");
    expect(w, "[     0] claim f1 K\n");
    assert_int_equal(gauges_of(w).waiting, 4);
    store_is(w, true);
    beat(w, 0);
    won(w, "f1");
    won(w, "f2");
    expect(w, "[  8000] claim f2 L\n"
              "[  8000] claim f3 M or nothing\n"
              "[  8000] submit a1 K\n"
              "[  8000] submit a2 L\n"
              "[  8000] answer bob r1 solving\n");
}

static void who_asks_for_an_id_is_not_kept_waiting_for_long(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    store_goes_away(w);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    ask(w, "cat", .key = "L");
    pass(w, 10000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 L\n"
              "[ 10000] answer ann refused: the store cannot be reached, retry after 1000\n"
              "[ 10000] answer bob refused: the store cannot be reached, retry after 1000\n");
    assert_int_equal(gauges_of(w).waiting, 1);
    assert_int_equal(gauges_of(w).flights, 1);
    skip_lines(w);
}

/* Its id was not told yet: nobody can come for it, and whoever asks again pays for that. */
static void nothing_is_paid_for_who_hangs_up_before_it_has_an_id(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    store_goes_away(w);
    ask(w, "ann", .key = "K", .is_told = true, .reuse = REUSE_SINGLE);
    pass(w, 2000);
    gone(w, "ann");
    assert_int_equal(gauges_of(w).waiting, 0);
    store_is(w, true);
    beat(w, 0);
    won(w, "f1");
    expect(w, "[     0] claim f1 K or nothing\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void what_needs_no_claim_is_refused_while_it_is_away(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    store_goes_away(w);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[     0] answer ann refused: the store cannot be reached, retry after 5000\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void without_room_in_the_store_what_is_new_is_refused(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    store_is(w, false);
    ask(w, "ann", .key = "K");
    expect(w, "[     0] answer ann refused: the journal cannot be written, retry after 5000\n");
}

/* ---- hand-outs ----------------------------------------------------------------------------- */

/* A solution for one request only, which nobody waited for. */
static struct world *world_with_banked(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    pass(w, 2000);
    skip_lines(w);
    return w;
}

static void a_single_use_solution_in_memory_waits_for_the_lease(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    pass(w, 1000);
    expect(w, "");
    beat(w, 0);
    took_own(w, "f2", "TOKEN");
    expect(w, "[  9000] claim f2 K or nothing, proposing one\n"
              "[  9000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  9000] claim f3 K or nothing\n");
}

static void of_two_who_wait_for_it_one_gets_it(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    beat(w, 0);
    took_own(w, "f2", "TOKEN");
    expect(w, "[  8000] claim f2 K or nothing, proposing one\n"
              "[  8000] claim f3 K or nothing\n"
              "[  8000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_solution_for_one_that_arrives_without_a_lease_waits(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f1");
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 9000);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[5000..6000] poll a1 task T1\n"
              "[5000..6000] poll a2 task T2\n");
    gone(w, "bob");
    beat(w, 0);
    expect(w, "[  9000] answer ann r1 solved \"ONE\" source api attempts 1\n");
}

static void what_all_may_have_is_handed_out_without_a_lease(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 0);
    skip_lines(w);
    pass(w, 9000);
    ask(w, "bob", .key = "K");
    expect(w, "[  9000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void one_for_one_alone_never_goes_out_before_its_record(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    found(w, "f1", "SHARED", 0);
    assert_false(w->last_answer_is_single);
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE);
    took(w, "f2", "ALONE");
    assert_true(w->last_answer_is_single);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(nothing_is_claimed_or_submitted_before_the_first_beat),
        STORY(the_lease_counts_from_when_the_beat_was_sent_less_a_margin),
        STORY(an_older_beat_that_is_confirmed_later_shortens_nothing),
        STORY(a_beat_whose_answer_took_too_long_is_worth_nothing),
        STORY(what_was_claimed_waits_in_the_queue),
        STORY(a_submit_that_waited_too_long_is_not_sent_but_queued_again),
        STORY(what_is_paid_for_is_polled_without_a_lease),
        STORY(no_window_ends_without_a_lease),
        STORY(a_window_ends_when_the_lease_is_back),
        STORY(claims_that_waited_are_sent_a_batch_at_a_time),
        STORY(a_follower_asks_again_when_the_lease_is_back),
        STORY(who_waits_for_the_lease_is_refused_at_the_deadline),
        STORY(what_is_new_waits_for_a_store_that_is_away),
        STORY(who_asks_for_an_id_is_not_kept_waiting_for_long),
        STORY(nothing_is_paid_for_who_hangs_up_before_it_has_an_id),
        STORY(what_needs_no_claim_is_refused_while_it_is_away),
        STORY(without_room_in_the_store_what_is_new_is_refused),
        STORY(a_single_use_solution_in_memory_waits_for_the_lease),
        STORY(of_two_who_wait_for_it_one_gets_it),
        STORY(a_solution_for_one_that_arrives_without_a_lease_waits),
        STORY(what_all_may_have_is_handed_out_without_a_lease),
        STORY(one_for_one_alone_never_goes_out_before_its_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
