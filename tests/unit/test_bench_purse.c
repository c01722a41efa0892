#include "cli/bench_purse.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void pay(struct bench_purse *purse, uint64_t accepted, uint64_t solved, double balance)
{
    bench_purse_pay(purse, accepted, solved, &balance);
}

/* Whatever is paid in, and however late the balance is: what was spent never falls. */
static void a_purse_reserves_what_the_balance_does_not_show(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 0.10, 0);
    bench_purse_open(&purse, 5);
    pay(&purse, 1, 1, 4.99);
    pay(&purse, 2, 2, 14.97);
    assert_true(bench_purse_spent(&purse) > 0.0299 && bench_purse_spent(&purse) < 0.0301);
    pay(&purse, 0, 0, 14.97);
    assert_true(bench_purse_spent(&purse) > 0.0299 && bench_purse_spent(&purse) < 0.0301);
    pay(&purse, 5, 0, 14.97); /* given up, and not charged for yet */
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    pay(&purse, 2, 2, 14.90); /* now they are */
    assert_true(purse.price < 0.0101);
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
    assert_true(bench_purse_spent(&purse) > 0.0999 && !bench_purse_is_shown(&purse));
}

/* Captchas whose replies were lost are paid for and not solved; or failures were free, and the solved ones dearer. What
 * is spent is the same, and the next round reckons with the worse. */
static void a_fall_that_the_price_explains_does_not_raise_it(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 1, 0);
    bench_purse_open(&purse, 5);
    pay(&purse, 1, 1, 4.99);
    pay(&purse, 9, 4, 4.90);
    assert_true(bench_purse_spent(&purse) < 0.1001 && bench_purse_is_shown(&purse));
    purse.step = 50;
    assert_int_equal(bench_purse_allows(&purse, 50), 10);
}

static void a_balance_that_is_not_told_any_more_ends_it_unless_there_is_a_price(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 1, 0);
    bench_purse_open(&purse, 5);
    pay(&purse, 1, 1, 4.99);
    bench_purse_pay(&purse, 1, 1, NULL);
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
    assert_true(bench_purse_spent(&purse) < 0.0201);
    bench_purse_init(&purse, 1, 0.1);
    bench_purse_open(&purse, 5);
    bench_purse_pay(&purse, 4, 4, NULL);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    bench_purse_pay(&purse, 6, 6, NULL);
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
    /* Without any balance the given price is all that there is. */
    bench_purse_init(&purse, 1, 0.1);
    assert_int_equal(bench_purse_allows(&purse, 50), 10);
    bench_purse_pay(&purse, 4, 4, NULL);
    assert_int_equal(bench_purse_allows(&purse, 50), 6);
}

static void a_purse_goes_one_by_one_until_the_price_shows(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 0.10, 0);
    bench_purse_open(&purse, 5);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    pay(&purse, 0, 0, 5); /* it was refused, and cost nothing: that says nothing */
    pay(&purse, 0, 0, 5);
    pay(&purse, 0, 0, 5);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    pay(&purse, 1, 1, 4.97);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    assert_int_equal(bench_purse_allows(&purse, 0), 0);
    pay(&purse, 2, 2, 4.91);
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
    assert_true(bench_purse_is_shown(&purse));
    bench_purse_next_type(&purse);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    pay(&purse, 1, 1, 4.90);
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
}

static void a_plan_that_charges_nothing_is_free_after_three_solves(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 0.10, 0);
    bench_purse_open(&purse, 5);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(bench_purse_allows(&purse, 50), 1);
        pay(&purse, 1, 1, 5);
    }
    assert_true(bench_purse_is_blind(&purse));
    for (unsigned step = 2; step <= 32; step *= 2) {
        assert_int_equal(bench_purse_allows(&purse, 50), step);
        pay(&purse, step, step, 5);
    }
    assert_int_equal(bench_purse_allows(&purse, 50), 50);
    /* Until it charges after all: then those before may only be late. */
    pay(&purse, 50, 50, 4.995);
    assert_false(bench_purse_is_blind(&purse));
    assert_int_equal(bench_purse_allows(&purse, 100), 1);
}

static void a_given_price_is_the_least_and_a_higher_one_counts(void **state)
{
    struct bench_purse purse;
    (void)state;
    bench_purse_init(&purse, 1, 0.1);
    bench_purse_open(&purse, 5);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    pay(&purse, 2, 2, 4.9); /* cheaper, or the rest comes late */
    assert_true(bench_purse_spent(&purse) > 0.199 && bench_purse_spent(&purse) < 0.201);
    pay(&purse, 2, 2, 4.6); /* the rest has come */
    assert_true(bench_purse_spent(&purse) > 0.399 && bench_purse_spent(&purse) < 0.401);
    pay(&purse, 2, 2, 4.2); /* dearer */
    assert_true(purse.price > 0.199 && purse.price < 0.201);
    assert_true(bench_purse_spent(&purse) > 0.799 && bench_purse_spent(&purse) < 0.801);
    assert_int_equal(bench_purse_allows(&purse, 50), 1);
    bench_purse_init(&purse, 1, 0.3);
    bench_purse_open(&purse, 5);
    purse.budget = 0.2;
    assert_int_equal(bench_purse_allows(&purse, 50), 0);
}

/* How many are sent in all of a budget of 1, and what they cost: each the price, and from this one on so many times as
 * much. */
static double spend(double price, unsigned number, double rise, double floor, unsigned *sent)
{
    struct bench_purse purse;
    double balance = 5;
    uint64_t allowed;
    bench_purse_init(&purse, 1, floor);
    bench_purse_open(&purse, balance);
    *sent = 0;
    while ((allowed = bench_purse_allows(&purse, 20)) > 0) {
        for (uint64_t i = 0; i < allowed; i++)
            balance -= (*sent)++ < number ? price : price * rise;
        pay(&purse, allowed, allowed, balance);
    }
    return 5 - balance;
}

/* The rest of the budget is enough for all that are sent at once, and for the last one at the price before. */
static void a_price_may_rise_to_four_times_as_much_within_a_step(void **state)
{
    unsigned sent;
    (void)state;
    for (unsigned number = 1; number < 100; number++)
        for (double rise = 1; rise <= PURSE_RISE; rise += 0.25)
            assert_true(spend(0.01, number, rise, 0, &sent) <= 1 + 0.01 * (rise - 1) + 1e-6);
    assert_true(spend(0.01, 1000, 1, 0, &sent) > 0.999);
    /* What was sent before the rise was cheap, and leaves the rest to those after it. */
    assert_true(spend(0.01, 20, 2, 0, &sent) > 0.97);
    assert_true(spend(0.01, 1000, 1, 0, &sent) > 0.999);
    assert_int_equal(sent, 100);
    /* One that was given too low is replaced after one captcha. */
    for (double price = 0.01; price < 1; price *= 1.5)
        assert_true(spend(price, 1000, 1, 0.001, &sent) < 1 + 1e-6);
}

static void a_burst_doubles_while_the_price_stays(void **state)
{
    struct bench_purse purse;
    double balance = 5;
    (void)state;
    bench_purse_init(&purse, 1, 0);
    bench_purse_open(&purse, balance);
    for (unsigned step = 1; step <= 16; step *= 2) {
        assert_int_equal(bench_purse_allows(&purse, 20), step);
        balance -= step * 0.001;
        pay(&purse, step, step, balance);
    }
    assert_int_equal(bench_purse_allows(&purse, 20), 20);
    pay(&purse, 0, 0, balance); /* all were refused */
    pay(&purse, 20, 20, balance - 0.03);
    assert_int_equal(bench_purse_allows(&purse, 20), 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_purse_reserves_what_the_balance_does_not_show),
        cmocka_unit_test(a_fall_that_the_price_explains_does_not_raise_it),
        cmocka_unit_test(a_balance_that_is_not_told_any_more_ends_it_unless_there_is_a_price),
        cmocka_unit_test(a_purse_goes_one_by_one_until_the_price_shows),
        cmocka_unit_test(a_plan_that_charges_nothing_is_free_after_three_solves),
        cmocka_unit_test(a_given_price_is_the_least_and_a_higher_one_counts),
        cmocka_unit_test(a_price_may_rise_to_four_times_as_much_within_a_step),
        cmocka_unit_test(a_burst_doubles_while_the_price_stays),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
