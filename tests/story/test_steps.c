/* However much there is to do, no step does more than its share, and nothing is forgotten over that. */
#include "world.h"

#include <stdio.h>

/* Twenty times what fits into a step. */
#define CROWD 5000
#define BATCH 256

/* What one step of each kind of work touches at most, with all the records and answers that come of it. */
#define FEW (BATCH * 16)

static struct world *crowded_world(uint32_t slots)
{
    struct engine_options options = world_options();
    options.max_requests = options.max_flights = options.max_callers = CROWD + 16;
    options.max_letters = options.max_finished = CROWD + 16;
    options.wake_batch = options.step_batch = BATCH;
    options.slots = slots;
    options.has_journal = true;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    return w;
}

static void crowd_asks(struct world *w)
{
    char name[WORLD_NAME_MAX];
    for (int i = 0; i < CROWD; i++) {
        (void)snprintf(name, sizeof(name), "K%d", i);
        ask(w, name, .key = name);
        durable(w, w->seq);
    }
}

/* Turns of the loop until there is nothing left to do at this moment; each does only its share. */
static unsigned work_off(struct world *w)
{
    unsigned turns = 0;
    for (; engine_next_deadline(w->engine) <= WORLD_START_MS + w->now_ms; turns++) {
        const struct world_tally before = w->tally;
        assert_true(turns < CROWD);
        tick(w);
        assert_in_range(engine_work(w->engine), 0, FEW);
        assert_in_range(w->tally.answers - before.answers, 0, BATCH);
        assert_in_range(w->tally.submits - before.submits, 0, BATCH);
    }
    engine_check(w->engine);
    return turns;
}

static void a_crowd_hears_over_many_steps_that_the_account_is_out_of_order(void **state)
{
    (void)state;
    struct world *w = crowded_world(1);
    crowd_asks(w);
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    assert_in_range(engine_work(w->engine), 1, FEW);
    assert_in_range(w->tally.answers, 1, BATCH);
    assert_in_range(work_off(w), CROWD / BATCH, CROWD);
    assert_int_equal(w->tally.failed, CROWD);
    assert_int_equal(gauges_of(w).queued, 0);
    assert_int_equal(gauges_of(w).letters, CROWD);
}

/* Every submit on the wire may bring the same news in one turn. */
static void the_same_news_twice_does_no_more_at_a_time(void **state)
{
    (void)state;
    struct world *w = crowded_world(20);
    crowd_asks(w);
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    const unsigned answers = w->tally.answers;
    rejected(w, "a2", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    assert_in_range(engine_work(w->engine), 1, 16);
    assert_int_equal(w->tally.answers, answers);
    assert_in_range(work_off(w), CROWD / BATCH, CROWD);
    assert_int_equal(w->tally.failed, CROWD - 18);
}

static void who_was_not_told_yet_is_solved_when_the_account_is_in_order_again(void **state)
{
    (void)state;
    struct world *w = crowded_world(1);
    crowd_asks(w);
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    stand_still(w, 20000);
    /* The probe goes out with the first of the ticks that tell the crowd, and is answered soon. */
    tick(w);
    const unsigned failed = w->tally.failed;
    balance(w, "10");
    threads(w, 0, 50);
    assert_in_range(failed, 1, CROWD - 1);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    assert_in_range(work_off(w), 0, CROWD);
    assert_in_range(w->tally.failed, failed, failed + BATCH);
    assert_int_equal(w->tally.submits, 2);
}

static void deadlines_of_a_crowd_that_come_together_are_told_over_many_steps(void **state)
{
    (void)state;
    struct world *w = crowded_world(1);
    crowd_asks(w);
    accepted(w, "a1", "T1");
    pass(w, 170000);
    stand_still(w, 20000);
    assert_in_range(work_off(w), CROWD / BATCH, CROWD);
    assert_in_range(w->tally.failed, CROWD - 1, CROWD);
}

static void a_crowd_that_may_start_at_once_starts_over_many_steps(void **state)
{
    (void)state;
    static const struct client_options everybody = {.weight = 1, .budget_per_day = UINT64_MAX};
    struct world *w = crowded_world(1);
    crowd_asks(w);
    struct engine_options options = w->options;
    options.slots = CROWD;
    options.clients = &everybody;
    engine_configure(w->engine, &options);
    tick(w);
    assert_in_range(w->tally.submits, 2, 1 + BATCH);
    assert_in_range(work_off(w), CROWD / BATCH - 1, CROWD);
    assert_int_equal(w->tally.submits, CROWD);
}

static void order_about_a_crowd(struct world *w, enum letter_verb verb)
{
    const unsigned orders = w->tally.orders;
    order_letters(w, verb, every_letter());
    assert_in_range(engine_work(w->engine), 1, FEW);
    assert_in_range(gauges_of(w).letters, CROWD - BATCH, CROWD);
    assert_int_equal(w->tally.orders, orders);
    work_off(w);
    assert_int_equal(w->tally.orders, orders + 1);
}

static struct world *world_with_letters(void)
{
    struct world *w = crowded_world(1);
    crowd_asks(w);
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    work_off(w);
    assert_int_equal(gauges_of(w).letters, CROWD);
    return w;
}

static void thousands_of_letters_are_dropped_over_many_steps_and_counted_in_one_answer(void **state)
{
    (void)state;
    struct world *w = world_with_letters();
    order_about_a_crowd(w, LETTER_DROP);
    assert_int_equal(w->last_letters.count, CROWD);
    assert_int_equal(gauges_of(w).letters, 0);
}

static void thousands_of_letters_are_queued_and_taken_off_again_over_many_steps(void **state)
{
    (void)state;
    struct world *w = world_with_letters();
    order_about_a_crowd(w, LETTER_REPLAY);
    assert_int_equal(w->last_letters.count, CROWD);
    order_about_a_crowd(w, LETTER_CANCEL);
    assert_in_range(w->last_letters.count, CROWD - 2, CROWD);
}

static void letters_that_wait_for_a_replay_are_let_go_over_many_steps_when_draining(void **state)
{
    (void)state;
    struct world *w = world_with_letters();
    order_about_a_crowd(w, LETTER_REPLAY);
    drain(w);
    assert_in_range(engine_work(w->engine), 0, FEW);
    work_off(w);
    assert_int_equal(gauges_of(w).replays, 0);
}

static void a_page_of_letters_costs_the_page_and_a_filter_many_steps(void **state)
{
    (void)state;
    struct world *w = world_with_letters();
    struct letter_filter filter = every_letter();
    list_letters(w, filter, 0, 100);
    assert_int_equal(w->tally.orders, 1);
    assert_in_range(engine_work(w->engine), 1, 256);
    assert_int_equal(w->last_letters.count, CROWD);
    assert_int_equal(w->last_letters.found_count, 100);
    const uint64_t next = w->last_letters.next;
    assert_int_equal(next, CROWD - 99);
    list_letters(w, filter, next, 100);
    assert_in_range(engine_work(w->engine), 1, 256);
    assert_int_equal(w->last_letters.next, CROWD - 199);

    filter.class = CLASS_ACCOUNT;
    list_letters(w, filter, 150, 100);
    assert_in_range(engine_work(w->engine), 1, FEW);
    work_off(w);
    assert_int_equal(w->tally.orders, 3);
    assert_int_equal(w->last_letters.count, CROWD);
    assert_int_equal(w->last_letters.found_count, 100);
    assert_int_equal(w->last_letters.next, 50);
}

static void an_order_goes_on_when_the_letter_it_would_look_at_next_leaves(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.step_batch = 1;
    options.slots = 1;
    options.retry_unknown = 0;
    struct world *w = world_new(&options);
    /* Eight are looked at in a step. */
    for (int i = 0; i < 9; i++) {
        char name[WORLD_NAME_MAX];
        (void)snprintf(name, sizeof(name), "K%d", i);
        ask(w, name, .key = name);
        (void)snprintf(name, sizeof(name), "a%d", i + 1);
        rejected(w, name, CLASS_UNKNOWN, "ERROR_OF_A_KIND");
        pass(w, 1000);
    }
    pass(w, options.letter_keep_ms - 9000 - 1);
    struct letter_filter filter = every_letter();
    filter.class = CLASS_UNKNOWN;
    list_letters(w, filter, 0, 10);
    assert_int_equal(w->tally.orders, 0);
    stand_still(w, 1);
    tick(w);
    assert_int_equal(gauges_of(w).letters, 8);
    assert_int_equal(w->tally.orders, 1);
    assert_int_equal(w->last_letters.count, 8);
    skip_lines(w);
}

static void too_many_orders_are_refused_and_the_others_answered(void **state)
{
    (void)state;
    struct world *w = world_with_letters();
    struct letter_filter filter = every_letter();
    filter.class = CLASS_BUSY;
    for (int i = 0; i < 65; i++)
        list_letters(w, filter, 0, 10);
    assert_int_equal(w->tally.orders, 1);
    assert_int_equal(w->last_letters.refusal, REFUSAL_FULL_REQUESTS);
    work_off(w);
    assert_int_equal(w->tally.orders, 65);
    assert_int_equal(w->last_letters.count, 0);
}

/* Nothing else is due until the window of the ambiguous one is over. */
static void what_is_queued_goes_on_without_being_asked(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = options.has_journal = true;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    w->options.slots = 2;
    crash(w, ALL_RECORDS);
    const unsigned before = w->tally.submits;
    pass(w, 1);
    assert_int_equal(w->tally.submits, before + 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_crowd_hears_over_many_steps_that_the_account_is_out_of_order),
        STORY(the_same_news_twice_does_no_more_at_a_time),
        STORY(who_was_not_told_yet_is_solved_when_the_account_is_in_order_again),
        STORY(deadlines_of_a_crowd_that_come_together_are_told_over_many_steps),
        STORY(a_crowd_that_may_start_at_once_starts_over_many_steps),
        STORY(thousands_of_letters_are_dropped_over_many_steps_and_counted_in_one_answer),
        STORY(thousands_of_letters_are_queued_and_taken_off_again_over_many_steps),
        STORY(letters_that_wait_for_a_replay_are_let_go_over_many_steps_when_draining),
        STORY(a_page_of_letters_costs_the_page_and_a_filter_many_steps),
        STORY(an_order_goes_on_when_the_letter_it_would_look_at_next_leaves),
        STORY(too_many_orders_are_refused_and_the_others_answered),
        STORY(what_is_queued_goes_on_without_being_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
