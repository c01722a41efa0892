/* Random numbers: the published sequences, bounds, evenness and repeatability. */
#include "base/rand.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Known outputs of xoshiro256** for the state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256_starstar(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        11520,
        0,
        1509978240,
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
        UINT64_C(10595114339597558777),
        UINT64_C(2904607092377533576),
    };
    struct rand rand = {.state = {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_true(rand_u64(&rand) == expected[i]);
}

/* Known outputs of splitmix64 for the seed 1234567. */
static void the_seed_is_spread_by_splitmix64(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, 1234567);
    assert_true(rand.state[0] == UINT64_C(6457827717110365317));
    assert_true(rand.state[1] == UINT64_C(3203168211198807973));
    assert_true(rand.state[2] == UINT64_C(9817491932198370423));
    assert_true(rand.state[3] == UINT64_C(4593380528125082431));
}

static void the_same_history_yields_the_same_stream(void **state)
{
    (void)state;
    struct rand a, b, c;
    rand_init(&a, seed_value());
    rand_init(&b, seed_value());
    rand_init(&c, seed_value());
    rand_mix(&a, 5);
    rand_mix(&b, 5);
    rand_mix(&c, 6);
    bool c_differs = false;
    for (int i = 0; i < 1000; i++) {
        const uint64_t drawn = rand_u64(&a);
        assert_true(drawn == rand_u64(&b));
        c_differs |= drawn != rand_u64(&c);
        if (i % 100 == 0) {
            rand_mix(&a, (uint64_t)i);
            rand_mix(&b, (uint64_t)i);
        }
    }
    assert_true(c_differs);
}

static void mixing_changes_every_word_of_the_state(void **state)
{
    (void)state;
    struct rand plain, mixed;
    rand_init(&plain, seed_value());
    mixed = plain;
    rand_mix(&mixed, 0);
    for (int i = 0; i < 4; i++)
        assert_true(plain.state[i] != mixed.state[i]);
}

static void mixing_leaves_even_the_state_of_zeros(void **state)
{
    (void)state;
    struct rand rand = {.state = {0, 0, 0, 0}};
    rand_mix(&rand, 0);
    assert_true((rand_u64(&rand) | rand_u64(&rand) | rand_u64(&rand)) != 0);
}

static void drawn_numbers_stay_below_their_bound(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    assert_int_equal(rand_below(&rand, 0), 0);
    assert_int_equal(rand_below(&rand, 1), 0);
    for (int i = 0; i < 100000; i++) {
        const uint64_t bound = rand_u64(&rand) >> rand_below(&rand, 64);
        const uint64_t drawn = rand_below(&rand, bound);
        assert_true(bound == 0 ? drawn == 0 : drawn < bound);
    }
}

static void drawn_numbers_are_even(void **state)
{
    (void)state;
    enum { BOUND = 10, DRAWS = 200000 };
    struct rand rand;
    rand_init(&rand, seed_value());
    int counts[BOUND] = {0};
    for (int i = 0; i < DRAWS; i++)
        counts[rand_below(&rand, BOUND)]++;
    double chi = 0;
    for (int i = 0; i < BOUND; i++) {
        const double off = counts[i] - (double)DRAWS / (double)BOUND;
        chi += off * off / ((double)DRAWS / (double)BOUND);
    }
    /* Nine degrees of freedom pass 50 once in ten million runs. */
    assert_true(chi < 50);
}

static void every_bit_is_set_half_of_the_time(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    struct rand rand;
    rand_init(&rand, seed_value());
    int counts[64] = {0};
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t drawn = rand_u64(&rand);
        for (unsigned bit = 0; bit < 64; bit++)
            counts[bit] += (int)(drawn >> bit & 1);
    }
    /* Seven standard deviations of sqrt(DRAWS) / 2 = 100. */
    for (unsigned bit = 0; bit < 64; bit++)
        assert_true(counts[bit] > DRAWS / 2 - 700 && counts[bit] < DRAWS / 2 + 700);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(the_seed_is_spread_by_splitmix64),
        cmocka_unit_test(the_same_history_yields_the_same_stream),
        cmocka_unit_test(mixing_changes_every_word_of_the_state),
        cmocka_unit_test(mixing_leaves_even_the_state_of_zeros),
        cmocka_unit_test(drawn_numbers_stay_below_their_bound),
        cmocka_unit_test(drawn_numbers_are_even),
        cmocka_unit_test(every_bit_is_set_half_of_the_time),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
