/* Dead letters that are replayed by themselves: when, which and how often (docs/design.md 5.9). */
#include "world.h"

#define UNSOLVABLE "ERROR_CAPTCHA_UNSOLVABLE"

static struct world *world_that_retries(bool has_journal)
{
    struct engine_options options = world_options();
    options.has_journal = has_journal;
    options.retry_transient = 0;
    options.retry_unsolvable = 0;
    options.letter_retry_every_ms = 60000;
    options.letter_retry_max = 2;
    return world_new(&options);
}

static struct letter_view first_letter(struct world *w)
{
    struct letter_view view = {0};
    struct letter_filter filter = every_letter();
    filter.number = 1;
    uint64_t cursor = 0;
    uint32_t total;
    assert_int_equal(engine_list_letters(w->engine, &filter, &cursor, &view, 1, &total), 1);
    assert_int_equal(total, 1);
    return view;
}

static void letters_are_replayed_by_themselves_so_often_and_no_more(void **state)
{
    (void)state;
    struct world *w = world_that_retries(true);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 59000);
    assert_int_equal(w->tally.submits, 1);
    pass(w, 17000);
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(first_letter(w).retries, 1);
    /* How often it was tried is not forgotten by a crash, not even by one in the midst of it. */
    crash(w, ALL_RECORDS);
    assert_int_equal(first_letter(w).retries, 1);
    pass(w, 300000);
    assert_int_equal(first_letter(w).retries, 2);
    const unsigned submits = w->tally.submits;
    rejected(w, "a3", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 600000);
    assert_int_equal(w->tally.submits, submits);
    assert_int_equal(first_letter(w).replays, 2);
    skip_lines(w);
}

static void a_retry_that_succeeds_settles_its_letter(void **state)
{
    (void)state;
    struct world *w = world_that_retries(false);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 76000);
    solve(w, "a2", "T2", "TOKEN");
    skip_lines(w);
    assert_int_equal(gauges_of(w).letters, 0);
    ask(w, "bob", .key = "K");
    assert_int_equal(w->tally.solved, 1);
    skip_lines(w);
}

static void only_some_classes_are_replayed_by_themselves(void **state)
{
    (void)state;
    struct world *w = world_that_retries(false);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNSOLVABLE, UNSOLVABLE);
    skip_lines(w);
    pass(w, 600000);
    expect(w, "");
    assert_int_equal(gauges_of(w).letters, 1);
}

static void retries_wait_for_the_breaker_in_their_place(void **state)
{
    (void)state;
    struct world *w = world_that_retries(false);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 58000);
    ask(w, "bob", .key = "N");
    rejected(w, "a2", CLASS_ACCOUNT, "IP_BANNED");
    pass(w, 10000);
    assert_int_equal(gauges_of(w).replays, 0);
    pass(w, 5000);
    balance(w, "1");
    skip_lines(w);
    pass(w, 16000);
    expect(w, "[73000..89000] submit a3 K\n");
}

static bool is_switch_on(const void *context, client_id client, const struct blob *params)
{
    (void)client;
    (void)params;
    return *(const bool *)context;
}

/* Its client may not ask for the host any more; when it may again, the letter is replayed. */
static void what_its_client_may_not_ask_for_is_not_replayed(void **state)
{
    (void)state;
    bool is_allowed = false;
    struct world *w = world_that_retries(false);
    w->options.letter_is_allowed = is_switch_on;
    w->options.letter_context = &is_allowed;
    engine_configure(w->engine, &w->options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 200000);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    assert_int_equal(w->tally.submits, 1);
    assert_false(first_letter(w).is_replaying);
    assert_int_equal(first_letter(w).retries, 0);
    is_allowed = true;
    pass(w, 76000);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(letters_are_replayed_by_themselves_so_often_and_no_more),
        STORY(a_retry_that_succeeds_settles_its_letter),
        STORY(only_some_classes_are_replayed_by_themselves),
        STORY(retries_wait_for_the_breaker_in_their_place),
        STORY(what_its_client_may_not_ask_for_is_not_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
