/* The timer wheel against a dumb oracle that searches all timers for the earliest. */
#include "base/assert.h"
#include "base/rand.h"
#include "base/wheel.h"
#include "dies.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TIMERS 80
#define ROUNDS 60
#define STEPS 1500
#define HORIZON_MS (UINT64_C(1) << (WHEEL_LEVELS * WHEEL_SLOT_BITS))

/* What the oracle knows of a timer. */
struct fact {
    uint64_t due_ms; /* a deadline in the past counts as the moment it was armed */
    uint64_t turn;   /* breaks ties: who was armed first */
    bool is_armed;
    bool is_collected;
};

struct world {
    struct rand rand;
    struct wheel wheel;
    struct wheel_timer timers[TIMERS];
    struct fact facts[TIMERS];
    uint64_t now_ms;
    uint64_t turn;
};

/* Any number of bits is as likely as any other, so that every level gets its share. */
static uint64_t random_span(struct rand *rand, unsigned most_bits)
{
    const unsigned bits = (unsigned)rand_below(rand, most_bits + 1);
    return bits == 0 ? 0 : rand_u64(rand) >> (64 - bits);
}

static void arm_one(struct world *world)
{
    const size_t i = (size_t)rand_below(&world->rand, TIMERS);
    uint64_t due_ms = world->now_ms + random_span(&world->rand, 39);
    if (rand_below(&world->rand, 8) == 0) {
        const uint64_t back_ms = random_span(&world->rand, 20);
        due_ms = back_ms > world->now_ms ? 0 : world->now_ms - back_ms;
    }
    /* Another timer's deadline, to have ties. */
    if (rand_below(&world->rand, 4) == 0)
        due_ms = world->timers[rand_below(&world->rand, TIMERS)].due_ms;
    wheel_arm(&world->wheel, &world->timers[i], due_ms);
    assert_int_equal(world->timers[i].due_ms, due_ms);
    world->facts[i] = (struct fact){
        .due_ms = due_ms < world->now_ms ? world->now_ms : due_ms,
        .turn = world->turn++,
        .is_armed = true,
    };
}

static void cancel_one(struct world *world)
{
    const size_t i = (size_t)rand_below(&world->rand, TIMERS);
    wheel_cancel(&world->wheel, &world->timers[i]);
    world->facts[i].is_armed = false;
    assert_false(world->timers[i].is_armed);
}

static bool is_before(const struct fact *a, const struct fact *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->turn < b->turn;
}

/* The earliest armed timer, or of the collected ones only; TIMERS when there is none. */
static size_t find_earliest(const struct world *world, bool collected_only)
{
    size_t best = TIMERS;
    for (size_t i = 0; i < TIMERS; i++) {
        const struct fact *fact = &world->facts[i];
        if (!fact->is_armed || (collected_only && !fact->is_collected))
            continue;
        if (best == TIMERS || is_before(fact, &world->facts[best]))
            best = i;
    }
    return best;
}

static void advance(struct world *world, uint64_t now_ms)
{
    /* Whether it takes one advance or many must not matter. */
    do {
        wheel_advance(&world->wheel, now_ms, 1 + (uint32_t)rand_below(&world->rand, 4));
    } while (!wheel_is_advanced(&world->wheel));
    if (now_ms > world->now_ms)
        world->now_ms = now_ms;
    for (size_t i = 0; i < TIMERS; i++)
        if (world->facts[i].is_armed && world->facts[i].due_ms <= world->now_ms)
            world->facts[i].is_collected = true;
}

static void pop_one(struct world *world)
{
    const struct wheel_timer *popped = wheel_pop(&world->wheel);
    const size_t expected = find_earliest(world, true);
    if (expected == TIMERS) {
        assert_null(popped);
        return;
    }
    assert_ptr_equal(popped, &world->timers[expected]);
    assert_int_equal(popped->kind, expected);
    assert_false(popped->is_armed);
    world->facts[expected].is_armed = false;
}

static void compare(const struct world *world)
{
    wheel_check(&world->wheel);
    assert_int_equal(world->wheel.now_ms, world->now_ms);
    uint64_t armed = 0;
    for (size_t i = 0; i < TIMERS; i++) {
        assert_int_equal(world->timers[i].is_armed, world->facts[i].is_armed);
        armed += world->facts[i].is_armed ? 1 : 0;
    }
    assert_int_equal(world->wheel.count, armed);
    const uint64_t next_ms = wheel_next_ms(&world->wheel);
    const size_t earliest = find_earliest(world, false);
    if (earliest == TIMERS) {
        assert_true(next_ms == WHEEL_NEVER);
        return;
    }
    const uint64_t due_ms = world->facts[earliest].due_ms;
    assert_true(next_ms <= (due_ms > world->now_ms ? due_ms : world->now_ms));
    /* In the future while nothing is due, else a loop that trusts it would spin. */
    assert_true(due_ms <= world->now_ms || next_ms > world->now_ms);
}

static void move_time(struct world *world)
{
    const uint64_t dice = rand_below(&world->rand, 10);
    if (dice == 0)
        advance(world, world->now_ms - random_span(&world->rand, 10) % (world->now_ms + 1));
    else if (dice < 5 && wheel_next_ms(&world->wheel) != WHEEL_NEVER)
        advance(world, wheel_next_ms(&world->wheel));
    else
        advance(world, world->now_ms + random_span(&world->rand, dice == 9 ? 38 : 18));
}

static void step(struct world *world)
{
    const uint64_t dice = rand_below(&world->rand, 100);
    if (dice < 45)
        arm_one(world);
    else if (dice < 60)
        cancel_one(world);
    else if (dice < 80)
        move_time(world);
    else
        pop_one(world);
    compare(world);
}

static void start(struct world *world, uint64_t now_ms)
{
    world->now_ms = now_ms;
    wheel_init(&world->wheel, now_ms);
    for (size_t i = 0; i < TIMERS; i++) {
        wheel_timer_init(&world->timers[i], (uint8_t)i);
        world->facts[i] = (struct fact){.is_armed = false};
    }
}

static void random_operations_agree_with_a_search(void **state)
{
    (void)state;
    static struct world world;
    rand_init(&world.rand, seed_value());
    for (int round = 0; round < ROUNDS; round++) {
        /* Half of the rounds start just before the last level wraps. */
        const uint64_t wrap_ms = HORIZON_MS * (1 + rand_below(&world.rand, 1000));
        start(&world, round % 2 == 0 ? random_span(&world.rand, 47)
                                     : wrap_ms - random_span(&world.rand, 32));
        for (int i = 0; i < STEPS; i++)
            step(&world);
    }
}

static void following_next_ms_fires_every_timer_exactly_in_time(void **state)
{
    (void)state;
    static struct world world;
    rand_init(&world.rand, seed_value());
    start(&world, random_span(&world.rand, 47));
    for (int i = 0; i < 4 * TIMERS; i++)
        arm_one(&world);
    uint64_t wakes = 0;
    for (; world.wheel.count > 0; wakes++) {
        const size_t earliest = find_earliest(&world, false);
        advance(&world, wheel_next_ms(&world.wheel));
        assert_true(world.now_ms <= world.facts[earliest].due_ms);
        while (find_earliest(&world, true) != TIMERS)
            pop_one(&world);
        assert_null(wheel_pop(&world.wheel));
        compare(&world);
    }
    /* At most once for each level, and once more for each round of the last: 2^39 has 8 rounds. */
    assert_true(wakes <= TIMERS * (WHEEL_LEVELS + 9));
}

static void equal_deadlines_fire_in_the_order_they_were_armed(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timers[4];
    wheel_init(&wheel, 0);
    /* Armed ever closer to the deadline, so that they start at different levels. */
    static const uint64_t moments_ms[] = {0, 290000, 299000, 299990};
    for (uint8_t i = 0; i < 4; i++) {
        wheel_advance(&wheel, moments_ms[i], UINT32_MAX);
        wheel_timer_init(&timers[i], i);
        wheel_arm(&wheel, &timers[i], 300000);
    }
    wheel_advance(&wheel, 400000, UINT32_MAX);
    for (uint8_t i = 0; i < 4; i++)
        assert_ptr_equal(wheel_pop(&wheel), &timers[i]);
    assert_null(wheel_pop(&wheel));
}

static void a_timer_armed_while_popping_waits_for_the_next_advance(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, 1000);
    wheel_timer_init(&timer, 3);
    wheel_arm(&wheel, &timer, 1001);
    wheel_advance(&wheel, 1001, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
    wheel_arm(&wheel, &timer, 1001);
    assert_null(wheel_pop(&wheel));
    assert_int_equal(wheel_next_ms(&wheel), 1001);
    wheel_advance(&wheel, 1001, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
}

static void a_collected_timer_can_be_cancelled_or_rearmed(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer first, second;
    wheel_init(&wheel, 0);
    wheel_timer_init(&first, 1);
    wheel_timer_init(&second, 2);
    wheel_arm(&wheel, &first, 10);
    wheel_arm(&wheel, &second, 10);
    wheel_advance(&wheel, 20, UINT32_MAX);
    assert_true(first.is_armed);
    wheel_cancel(&wheel, &first);
    wheel_arm(&wheel, &second, 30);
    assert_null(wheel_pop(&wheel));
    wheel_check(&wheel);
    wheel_advance(&wheel, 30, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &second);
    assert_true(wheel_next_ms(&wheel) == WHEEL_NEVER);
}

static void a_zeroed_timer_can_be_cancelled_and_armed(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer = {.kind = 0};
    wheel_init(&wheel, 0);
    wheel_cancel(&wheel, &timer);
    wheel_arm(&wheel, &timer, 5);
    wheel_advance(&wheel, 5, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
}

static void arming_for_never_disarms(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, 0);
    wheel_timer_init(&timer, 0);
    wheel_arm(&wheel, &timer, 5);
    wheel_arm(&wheel, &timer, WHEEL_NEVER);
    assert_false(timer.is_armed);
    assert_int_equal(wheel.count, 0);
    assert_true(wheel_next_ms(&wheel) == WHEEL_NEVER);
}

static void time_that_goes_back_is_ignored(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, 5000);
    wheel_timer_init(&timer, 0);
    wheel_arm(&wheel, &timer, 6000);
    wheel_advance(&wheel, 10, UINT32_MAX);
    assert_int_equal(wheel.now_ms, 5000);
    assert_null(wheel_pop(&wheel));
    wheel_advance(&wheel, 6000, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
}

static void deadlines_far_beyond_the_horizon_go_round_until_due(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, 123456789);
    wheel_timer_init(&timer, 0);
    const uint64_t due_ms = 123456789 + 20 * HORIZON_MS + 5;
    wheel_arm(&wheel, &timer, due_ms);
    wheel_advance(&wheel, due_ms - 1, UINT32_MAX);
    wheel_check(&wheel);
    assert_null(wheel_pop(&wheel));
    assert_int_equal(wheel_next_ms(&wheel), due_ms);
    wheel_advance(&wheel, due_ms, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
}

static void the_end_of_time_can_be_reached(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, WHEEL_LAST_MS - 1000);
    wheel_timer_init(&timer, 0);
    wheel_arm(&wheel, &timer, UINT64_MAX - 1);
    wheel_check(&wheel);
    wheel_advance(&wheel, WHEEL_LAST_MS - 1, UINT32_MAX);
    assert_null(wheel_pop(&wheel));
    wheel_advance(&wheel, UINT64_MAX, UINT32_MAX);
    assert_ptr_equal(wheel_pop(&wheel), &timer);
    assert_int_equal(wheel.now_ms, UINT64_MAX);
    wheel_check(&wheel);
}

/* At one step a tick this would take days and run into the test's time limit. */
static void jumps_of_months_cost_no_work_per_tick(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer near, far;
    const uint64_t month_ms = UINT64_C(30) * 24 * 3600 * 1000;
    wheel_init(&wheel, 0);
    wheel_timer_init(&near, 0);
    wheel_timer_init(&far, 0);
    for (uint64_t i = 0; i < 10000; i++) {
        wheel_arm(&wheel, &near, wheel.now_ms + 1);
        wheel_arm(&wheel, &far, wheel.now_ms + month_ms + 1);
        wheel_advance(&wheel, wheel.now_ms + month_ms, UINT32_MAX);
        assert_ptr_equal(wheel_pop(&wheel), &near);
        assert_null(wheel_pop(&wheel));
    }
}

static void check(void *context)
{
    wheel_check(context);
}

static void check_finds_lying_bitmaps_and_wrong_slots(void **state)
{
    (void)state;
    static struct wheel wheel;
    struct wheel_timer timer;
    wheel_init(&wheel, 0);
    wheel_timer_init(&timer, 0);
    wheel_arm(&wheel, &timer, 100);
    assert_false(dies(check, &wheel));
    wheel.occupied[3] = 1;
    assert_true(dies(check, &wheel));
    wheel.occupied[3] = 0;
    timer.due_ms = 5000;
    assert_true(dies(check, &wheel));
    timer.due_ms = 100;
    wheel.now_ms = 100;
    assert_true(dies(check, &wheel));
    wheel.now_ms = 0;
    wheel.count = 2;
    assert_true(dies(check, &wheel));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_a_search),
        cmocka_unit_test(following_next_ms_fires_every_timer_exactly_in_time),
        cmocka_unit_test(equal_deadlines_fire_in_the_order_they_were_armed),
        cmocka_unit_test(a_timer_armed_while_popping_waits_for_the_next_advance),
        cmocka_unit_test(a_collected_timer_can_be_cancelled_or_rearmed),
        cmocka_unit_test(a_zeroed_timer_can_be_cancelled_and_armed),
        cmocka_unit_test(arming_for_never_disarms),
        cmocka_unit_test(time_that_goes_back_is_ignored),
        cmocka_unit_test(deadlines_far_beyond_the_horizon_go_round_until_due),
        cmocka_unit_test(the_end_of_time_can_be_reached),
        cmocka_unit_test(jumps_of_months_cost_no_work_per_tick),
        cmocka_unit_test(check_finds_lying_bitmaps_and_wrong_slots),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
