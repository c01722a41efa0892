/* The roster: who shares the store, who lives, and what is each one's share. */
#include "config/config_parts.h"
#include "gate/roster.h"
#include "seed.h"
#include "store/store_pulse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define LEASE_MS 10000
#define SELF 1

static struct roster roster;
static struct store_members *members;

static int open_roster(void **state)
{
    (void)state;
    members = calloc(1, sizeof *members);
    assert_non_null(members);
    roster_init(&roster);
    return 0;
}

static int close_roster(void **state)
{
    (void)state;
    roster_close(&roster);
    free(members);
    return 0;
}

/* Nodes have the numbers of their names: a is 1. */
static struct store_member *add(char name, uint64_t run, uint64_t beat, uint32_t slots)
{
    struct store_member *const member = &members->all[members->count++];
    *member = (struct store_member){.node = (uint16_t)(name - 'a' + 1),
                                    .incarnation = run,
                                    .beat = beat,
                                    .demand = {.slots = slots},
                                    .name = {name}};
    return member;
}

static void beat_at(int64_t at_ms, bool is_steady)
{
    const struct store_beat beat = {.sent_ms = at_ms, .is_steady = is_steady, .members = members};
    roster_on_beat(&roster, &beat, SELF, LEASE_MS);
    members->count = 0;
}

static void expect_states(const char *expected)
{
    char seen[128] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < roster.count; i++)
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%s %s", i > 0 ? ", " : "",
                                roster.nodes[i].name, node_state_name(roster.nodes[i].state));
    assert_string_equal(seen, expected);
}

static void a_node_that_was_there_before_us_lives_once_its_beat_moves(void **state)
{
    (void)state;
    add('b', 1, 7, 0);
    add('a', 2, 1, 0);
    beat_at(1000, false);
    expect_states("b unheard, a alive");
    add('b', 1, 8, 0);
    add('a', 2, 2, 0);
    beat_at(3000, true);
    expect_states("b alive, a alive");
    assert_int_equal(roster_count(&roster, NODE_ALIVE), 2);
}

static void a_node_that_comes_later_lives_at_once(void **state)
{
    (void)state;
    add('a', 1, 1, 0);
    beat_at(1000, false);
    add('a', 1, 2, 0);
    add('b', 2, 1, 0);
    beat_at(3000, true);
    expect_states("a alive, b alive");
}

static void a_node_is_dead_after_a_lease_of_silence_and_may_come_back(void **state)
{
    (void)state;
    add('a', 1, 1, 0);
    beat_at(0, false);
    add('a', 1, 2, 0);
    add('b', 2, 1, 0);
    beat_at(1000, true);
    add('a', 1, 3, 0);
    add('b', 2, 1, 0);
    beat_at(1000 + LEASE_MS - 1, true);
    expect_states("a alive, b alive");
    add('a', 1, 4, 0);
    add('b', 2, 1, 0);
    beat_at(1000 + LEASE_MS, true);
    expect_states("a alive, b dead");
    add('a', 1, 5, 0);
    add('b', 2, 2, 0);
    beat_at(1000 + 2 * LEASE_MS, true);
    expect_states("a alive, b alive");
}

static void nobody_is_dead_only_because_the_store_was_away(void **state)
{
    (void)state;
    add('a', 1, 1, 0);
    beat_at(0, false);
    add('a', 1, 2, 0);
    add('b', 2, 1, 0);
    beat_at(1000, true);
    add('a', 1, 3, 0);
    add('b', 2, 1, 0);
    beat_at(1000 + 5 * LEASE_MS, false);
    expect_states("a alive, b alive");
    add('a', 1, 4, 0);
    add('b', 2, 1, 0);
    beat_at(1000 + 6 * LEASE_MS - 1, true);
    expect_states("a alive, b alive");
    add('a', 1, 5, 0);
    add('b', 2, 1, 0);
    beat_at(1000 + 6 * LEASE_MS, true);
    expect_states("a alive, b dead");
}

static void who_is_adopted_is_shown_as_such_with_the_time_of_that(void **state)
{
    (void)state;
    add('a', 3, 1, 0);
    add('b', 1, 9, 0)->is_gone = true;
    add('c', 2, 9, 5);
    beat_at(1000, false);
    expect_states("c unheard, a alive");
    for (int64_t i = 1; i <= 2; i++) {
        add('a', 3, 1 + (uint64_t)i, 0);
        add('c', 2, 9, 0)->is_gone = true;
        beat_at(1000 + i * LEASE_MS, true);
        expect_states("c adopted, a alive");
        assert_int_equal(roster.nodes[0].moved_ms, 1000 + LEASE_MS);
    }
    uint32_t shares[STORE_MEMBERS_MAX];
    roster_shares(&roster, 10, shares);
    assert_int_equal(shares[0], 0);
}

static void who_leaves_is_shown_but_not_who_had_left_before(void **state)
{
    (void)state;
    add('a', 3, 1, 0);
    add('b', 1, 9, 0)->has_left = true;
    add('c', 2, 9, 0);
    beat_at(1000, false);
    expect_states("c unheard, a alive");
    add('a', 3, 2, 0);
    add('b', 1, 9, 0)->has_left = true;
    add('c', 2, 10, 0)->has_left = true;
    beat_at(3000, true);
    expect_states("c left, a alive");
    /* It comes back under its name, with a number of its own. */
    add('a', 3, 3, 0);
    add('b', 1, 9, 0)->has_left = true;
    add('c', 4, 1, 0);
    beat_at(5000, true);
    expect_states("a alive, c alive");
}

static void the_plan_is_divided_between_those_who_have_not_left(void **state)
{
    (void)state;
    uint32_t shares[STORE_MEMBERS_MAX];
    add('a', 1, 1, 20);
    add('b', 2, 1, 3);
    add('c', 3, 1, 50);
    beat_at(0, false);
    add('a', 1, 2, 20);
    add('b', 2, 2, 3);
    add('c', 3, 2, 50)->has_left = true;
    beat_at(1000, true);
    roster_shares(&roster, 10, shares);
    assert_int_equal(shares[0], 7);
    assert_int_equal(shares[1], 3);
    assert_int_equal(shares[2], 0);
}

#define SAME "clients:0123456789abcdef dedup:0123456789abcdef"
#define OTHER "clients:fedcba9876543210 dedup:0123456789abcdef"

static struct store_member *say(struct store_member *member, const char *parts)
{
    (void)snprintf(member->parts, sizeof member->parts, "%s", parts);
    return member;
}

static void who_has_another_configuration_is_known_while_it_lives(void **state)
{
    (void)state;
    (void)snprintf(roster.parts, sizeof roster.parts, "%s", SAME);
    say(add('a', 1, 1, 0), OTHER); /* what the store still says of us means nothing */
    say(add('b', 2, 1, 0), OTHER);
    beat_at(0, false);
    assert_int_equal(roster_count_differing(&roster), 0);
    say(add('a', 1, 2, 0), SAME);
    say(add('b', 2, 2, 0), OTHER);
    add('c', 3, 1, 0);
    beat_at(1000, true);
    assert_int_equal(roster_count_differing(&roster), 1);
    assert_int_equal(roster.nodes[1].differs, 1u << PART_CLIENTS);
    /* A reload. */
    say(add('a', 1, 3, 0), SAME);
    say(add('b', 2, 3, 0), SAME);
    say(add('c', 3, 2, 0), OTHER);
    beat_at(2000, true);
    assert_int_equal(roster.nodes[1].differs, 0);
    assert_int_equal(roster.nodes[2].differs, 1u << PART_CLIENTS);
    say(add('a', 1, 4, 0), SAME);
    say(add('b', 2, 4, 0), SAME);
    say(add('c', 3, 2, 0), OTHER)->has_left = true;
    beat_at(3000, true);
    assert_int_equal(roster_count_differing(&roster), 0);
}

#define ROSTER_TEST(name) cmocka_unit_test_setup_teardown(name, open_roster, close_roster)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ROSTER_TEST(a_node_that_was_there_before_us_lives_once_its_beat_moves),
        ROSTER_TEST(a_node_that_comes_later_lives_at_once),
        ROSTER_TEST(a_node_is_dead_after_a_lease_of_silence_and_may_come_back),
        ROSTER_TEST(nobody_is_dead_only_because_the_store_was_away),
        ROSTER_TEST(who_is_adopted_is_shown_as_such_with_the_time_of_that),
        ROSTER_TEST(who_leaves_is_shown_but_not_who_had_left_before),
        ROSTER_TEST(who_has_another_configuration_is_known_while_it_lives),
        ROSTER_TEST(the_plan_is_divided_between_those_who_have_not_left),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
