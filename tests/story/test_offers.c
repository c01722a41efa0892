/* Offers: beside other gateways a single-use solution that waits for whoever asks is handed out by the store, also
 * to those who ask the gateway that has it. */
#include "pool_world.h"
#include "shared_world.h"

#include <stdio.h>

/* As in engine/claim.h. */
#define CLAIMS_IN_VAIN 256

/* A solution for one request only, which nobody waited for. */
static struct world *world_with_banked(void)
{
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    return w;
}

static struct world *shared_pool_world(uint32_t size)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.store_is_shared = options.store_adopts = true;
    options.node = 1;
    struct world *w = pool_world(options, (struct pool_options){.size = size});
    w->hides_records = true;
    return w;
}

/* Two are ready. */
static struct world *world_with_pool(void)
{
    struct world *w = shared_pool_world(2);
    tick(w);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    assert_int_equal(pool_view_of(w).ready, 2);
    skip_lines(w);
    return w;
}

/* The last word on a solution's row. */
static const struct solution_row *row_of(const struct world *w)
{
    for (size_t i = w->disk.count; i > 0; i--)
        if (w->disk.log[i - 1].kind == RECORD_SOLUTION && !w->disk.log[i - 1].is_drop)
            return &w->disk.log[i - 1].solution;
    fail_msg("no solution was written");
    return NULL;
}

/* ---- the bank ------------------------------------------------------------------------------ */

static void what_nobody_waited_for_is_offered_to_all(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    assert_int_equal(row_of(w)->flight, 0);
    assert_int_equal(row_of(w)->handed, 0);
    assert_true(row_of(w)->is_kept);
}

static void what_somebody_waits_for_is_offered_to_nobody(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    for (size_t i = 0; i < w->disk.count; i++)
        assert_true(w->disk.log[i].kind != RECORD_SOLUTION || w->disk.log[i].is_drop ||
                    w->disk.log[i].solution.flight != 0);
    skip_lines(w);
}

/* The hand-out is the store's, so the answer waits for no other record. */
static void the_store_hands_it_out_also_to_its_owner(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    const size_t records = w->disk.count;
    took_own(w, "f2", "TOKEN");
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
    assert_int_equal(stats_of(w)->cache_hits, 1);
    for (size_t i = records; i < w->disk.count; i++)
        assert_true(w->disk.log[i].kind != RECORD_SOLUTION || w->disk.log[i].is_drop);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] claim f3 K or nothing\n");
}

static void of_two_who_ask_at_once_one_proposes_it(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    took_own(w, "f2", "TOKEN");
    won(w, "f3");
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  6000] claim f3 K or nothing\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n");
}

/* The store may have given it to the flight when it expires in memory. */
static void the_row_of_what_is_proposed_is_not_dropped(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.ttl_ms[TYPE_RECAPTCHA_V2] = 7000;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_not_equal(w->claims[1].last.solution, 0);
    const size_t records = w->disk.count;
    pass(w, 2000);
    for (size_t i = records; i < w->disk.count; i++)
        assert_false(w->disk.log[i].kind == RECORD_SOLUTION && w->disk.log[i].is_drop);
    skip_lines(w);
}

static void what_another_node_took_is_handed_out_to_nobody(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    won_and_lost(w, "f2");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  6000] submit a2 K\n"
              "[  6000] claim f3 K or nothing\n");
}

static void who_took_it_tells_the_owner(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    took(w, "f1", "TOKEN");
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] tell n3: K was taken\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_store_that_does_not_answer_is_proposed_it_again(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    unavailable(w, "f2");
    pass(w, 1000);
    took_own(w, "f2", "TOKEN");
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  7000] claim f2 K or nothing, proposing one\n"
              "[  7000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void what_nobody_waits_for_any_more_is_offered_again(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "bob");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    took_own(w, "f2", "TOKEN");
    assert_int_equal(row_of(w)->flight, 0);
    assert_int_equal(row_of(w)->handed, 0);
    ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    took_own(w, "f4", "TOKEN");
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  6000] claim f3 K or nothing\n"
              "[  6000] claim f4 K or nothing, proposing one\n"
              "[  6000] answer dan r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* Another gateway may have given it to somebody who repeated the key. */
static void what_came_too_late_for_a_key_stays_its_own(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    gone(w, "bob");
    const size_t records = w->disk.count;
    took_own(w, "f2", "TOKEN");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] claim f2 K idempotency I, proposing one\n"
              "[  6000] claim f3 K or nothing\n");
    for (size_t i = records; i < w->disk.count; i++)
        assert_int_not_equal(w->disk.log[i].kind, RECORD_SOLUTION);
}

static void a_caller_who_shares_is_given_it_alone(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    took_own(w, "f2", "TOKEN");
    won(w, "f3");
    expect(w, "[  6000] claim f2 K or one that is offered, proposing one\n"
              "[  6000] claim f3 K\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n");
    solve(w, "a2", "T2", "SHARED");
    ask(w, "dan", .key = "K");
    expect(w, "[11000..12000] poll a2 task T2\n"
              "[ 12000] release f3 K solved\n"
              "[ 12000] answer cat r2 solved \"SHARED\" source api attempts 1\n"
              "[ 12000] answer dan r3 solved \"SHARED\" source dedup_cache attempts 1\n");
}

static void after_a_crash_it_is_offered_as_before(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    crash(w, ALL_RECORDS);
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    took_own(w, "f2", "TOKEN");
    expect(w, "[  6000] claim f2 K or nothing, proposing one\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* Whichever of its rows a crash leaves, what was for one flight is handed out by the store only. */
static void what_a_crash_leaves_over_is_offered(void **state)
{
    (void)state;
    uint64_t records = 1;
    unsigned offered = 0;
    for (uint64_t kept = 0; kept < records; kept++) {
        struct world *w = shared_world(NULL);
        w->is_quiet = true;
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
        won(w, "f1");
        solve(w, "a1", "T1", "TOKEN");
        records = w->seq;
        crash(w, kept);
        ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
        assert_int_equal(stats_of(w)->answered_dedup_cache, 0);
        offered += w->claims[w->claim_count - 1].last.solution != 0;
    }
    assert_true(records > 1 && offered > 0);
}

static void a_store_that_lost_rows_may_have_given_it_away(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    struct event event = {.kind = EVENT_STORE_LOST};
    world_step(w, &event);
    while (engine_next_deadline(w->engine) <= WORLD_START_MS + w->now_ms)
        tick(w);
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] claim f2 K or nothing\n");
}

/* ---- idempotency keys ---------------------------------------------------------------------- */

static struct world *world_with_set_aside(void)
{
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    return w;
}

static void what_an_idempotency_key_stands_for_is_not_offered(void **state)
{
    (void)state;
    struct world *w = world_with_set_aside();
    assert_int_not_equal(row_of(w)->flight, 0);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    won(w, "f2");
    ask(w, "retry", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[  6000] claim f2 K or nothing\n"
              "[  6000] submit a2 K\n"
              "[  6000] answer retry r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* Its caller leaves between its end and its hand-out, for which there was no lease. */
static void nor_is_what_waited_for_the_lease_until_its_caller_left(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    won(w, "f1");
    accepted(w, "a1", "T1");
    pass(w, 9000);
    solved(w, "a1", "TOKEN");
    gone(w, "ann");
    beat(w, 0);
    skip_lines(w);
    assert_int_not_equal(row_of(w)->flight, 0);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  9000] claim f2 K or nothing\n");
}

static void when_the_idempotency_key_is_forgotten_it_is_offered(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.idempotency_ttl_ms = 20000;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    pass(w, 20000);
    skip_lines(w);
    assert_int_equal(row_of(w)->flight, 0);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[ 26000] claim f2 K or nothing, proposing one\n");
}

/* The retry has to find it again, so the answer waits for the key's record. */
static void an_idempotency_key_takes_what_is_offered_and_keeps_it(void **state)
{
    (void)state;
    struct world *w = world_with_banked();
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    took_own(w, "f2", "TOKEN");
    ask(w, "retry", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[  6000] claim f2 K idempotency I, proposing one\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    assert_int_equal(row_of(w)->handed, 1);
}

/* What was one request's alone stays alone, also as a copy that is found by its idempotency key. */
static void who_would_share_and_repeats_a_key_shares_nothing(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "retry", .key = "K", .idempotency = "I");
    found_alone(w, "f1", "TOKEN");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] answer retry r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n"
              "[     0] claim f2 K\n");
}

/* ---- pools --------------------------------------------------------------------------------- */

static void a_pool_hands_out_through_the_store(void **state)
{
    (void)state;
    struct world *w = world_with_pool();
    ask(w, "ann", .key = "K", .pool = 1);
    ask(w, "bob", .key = "K", .pool = 1);
    took_own(w, "f1", "ONE");
    took_own(w, "f2", "TWO");
    expect(w, "[  6000] claim f1 K or one that is offered, proposing one\n"
              "[  6000] claim f2 K or one that is offered, proposing one\n"
              "[  6000] answer ann r1 solved \"ONE\" source pool attempts 1\n"
              "[  6000] submit a3 P\n"
              "[  6000] answer bob r2 solved \"TWO\" source pool attempts 1\n"
              "[  6000] submit a4 P\n");
    assert_int_equal(pool_view_of(w).served, 2);
}

static void a_pool_that_runs_empty_takes_from_another_node(void **state)
{
    (void)state;
    struct world *w = shared_pool_world(1);
    ask(w, "ann", .key = "K", .pool = 1);
    took(w, "f1", "ONE");
    expect(w, "[     0] claim f1 K or one that is offered\n"
              "[     0] submit a1 P\n"
              "[     0] tell n3: P was taken\n"
              "[     0] answer ann r1 solved \"ONE\" source pool attempts 1\n");
    assert_int_equal(pool_view_of(w).served, 1);
}

static void those_who_find_nothing_go_on_as_one(void **state)
{
    (void)state;
    struct world *w = shared_pool_world(1);
    ask(w, "ann", .key = "K", .pool = 1);
    ask(w, "bob", .key = "K", .pool = 1);
    won(w, "f1");
    follow_own(w, "f2", "f1");
    ask(w, "cat", .key = "K", .pool = 1);
    solve(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] claim f1 K or one that is offered\n"
              "[     0] submit a1 P\n"
              "[     0] claim f2 K or one that is offered\n"
              "[     0] submit a2 K\n"
              "[5000..6000] poll a2 task T2\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void who_follows_takes_nothing_since_many_may_have_joined(void **state)
{
    (void)state;
    struct world *w = shared_pool_world(1);
    ask(w, "ann", .key = "K", .pool = 1);
    follow(w, "f1");
    ask(w, "bob", .key = "K", .pool = 1);
    skip_lines(w);
    woken(w, "K");
    assert_false(w->claims[0].last.may_take);
    found(w, "f1", "TOKEN", 0);
    expect(w, "[     0] claim f1 K again\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void what_was_taken_from_a_pool_is_replaced(void **state)
{
    (void)state;
    struct world *w = world_with_pool();
    ask(w, "ann", .key = "K", .pool = 1);
    unavailable(w, "f1");
    skip_lines(w);
    told_taken(w, 99, "f1", "P");
    told_taken(w, 99, "f1", "P");
    expect(w, "[  6000] forget 99\n"
              "[  6000] submit a3 P\n"
              "[  6000] forget 99\n");
    assert_int_equal(pool_view_of(w).ready, 1);
}

/* ---- when nothing may be paid for ---------------------------------------------------------- */

#define NO_ACCOUNT "refused: vendor account unavailable (breaker open), ERROR_KEY_DOES_NOT_EXIST"

static struct world *world_with_open_breaker(struct world *w)
{
    ask(w, "zoe", .key = "Z", .reuse = REUSE_NONE);
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    skip_lines(w);
    return w;
}

static void while_the_breaker_is_open_what_another_node_has_is_taken(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(shared_world(NULL));
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    took(w, "f1", "TOKEN");
    ask(w, "bob", .key = "L");
    found(w, "f2", "OTHER", 1000);
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] tell n3: K was taken\n"
              "[     0] answer ann r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] claim f2 L\n"
              "[     0] answer bob r3 solved \"OTHER\" source dedup_cache attempts 1\n");
}

static void who_finds_nothing_that_is_paid_for_is_refused(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(shared_world(NULL));
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "L", .is_told = true);
    won(w, "f1");
    won(w, "f2");
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] claim f2 L\n"
              "[     0] answer ann " NO_ACCOUNT ", retry after 15000\n"
              "[     0] release f2 L\n"
              "[     0] answer bob " NO_ACCOUNT ", retry after 15000\n");
    assert_int_equal(stats_of(w)->rejected, 2);
    /* Nobody has anything for those who want their own. */
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    expect(w, "[     0] answer cat " NO_ACCOUNT ", retry after 15000\n");
}

static void what_another_node_solves_already_is_waited_for(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(shared_world(NULL));
    ask(w, "ann", .key = "K");
    follow_solving(w, "f1");
    woken(w, "K");
    found(w, "f1", "TOKEN", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K again\n"
              "[     0] answer ann r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void so_many_claims_in_vain_are_enough_for_a_second(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(shared_world(NULL));
    char flight[8];
    for (unsigned i = 0; i < CLAIMS_IN_VAIN; i++) {
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
        (void)snprintf(flight, sizeof flight, "f%u", i + 1);
        won(w, flight);
    }
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] answer bob " NO_ACCOUNT ", retry after 15000\n");
    pass(w, 1000);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    (void)snprintf(flight, sizeof flight, "f%u", CLAIMS_IN_VAIN + 1);
    took(w, flight, "TOKEN");
    skip_lines(w);
    assert_int_equal(stats_of(w)->answered_dedup_cache, 1);
}

static void without_a_lease_nobody_waits_for_what_others_may_have(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    (void)world_with_open_breaker(w);
    pass(w, LEASE_MS);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[ 10000] answer ann " NO_ACCOUNT ", retry after 5000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_nobody_waited_for_is_offered_to_all),
        STORY(what_somebody_waits_for_is_offered_to_nobody),
        STORY(the_store_hands_it_out_also_to_its_owner),
        STORY(of_two_who_ask_at_once_one_proposes_it),
        STORY(the_row_of_what_is_proposed_is_not_dropped),
        STORY(what_another_node_took_is_handed_out_to_nobody),
        STORY(who_took_it_tells_the_owner),
        STORY(a_store_that_does_not_answer_is_proposed_it_again),
        STORY(what_nobody_waits_for_any_more_is_offered_again),
        STORY(what_came_too_late_for_a_key_stays_its_own),
        STORY(a_caller_who_shares_is_given_it_alone),
        STORY(after_a_crash_it_is_offered_as_before),
        STORY(what_a_crash_leaves_over_is_offered),
        STORY(a_store_that_lost_rows_may_have_given_it_away),
        STORY(what_an_idempotency_key_stands_for_is_not_offered),
        STORY(nor_is_what_waited_for_the_lease_until_its_caller_left),
        STORY(when_the_idempotency_key_is_forgotten_it_is_offered),
        STORY(an_idempotency_key_takes_what_is_offered_and_keeps_it),
        STORY(who_would_share_and_repeats_a_key_shares_nothing),
        STORY(a_pool_hands_out_through_the_store),
        STORY(a_pool_that_runs_empty_takes_from_another_node),
        STORY(those_who_find_nothing_go_on_as_one),
        STORY(who_follows_takes_nothing_since_many_may_have_joined),
        STORY(what_was_taken_from_a_pool_is_replaced),
        STORY(while_the_breaker_is_open_what_another_node_has_is_taken),
        STORY(who_finds_nothing_that_is_paid_for_is_refused),
        STORY(what_another_node_solves_already_is_waited_for),
        STORY(so_many_claims_in_vain_are_enough_for_a_second),
        STORY(without_a_lease_nobody_waits_for_what_others_may_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
