#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_beat_counts_up_and_finds_all(void **state)
{
    static struct store_members members;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct store_sharing *const sharing = a.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(a.backend);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 3, .pools = 4}, &members),
                     STORE_DONE);
    const struct demand demand = {
        .slots = 5, .held = 7, .waiting = DEMAND_SECONDS, .pools = UINT64_C(1) << 63 | 6};
    assert_int_equal(sharing->pulse_beat(pulse, &demand, &members), STORE_DONE);
    assert_int_equal(members.count, 2);
    const struct store_member *const own = &members.all[0];
    assert_string_equal(own->name, "a");
    assert_int_equal(own->node, a.backend->node);
    assert_int_equal(own->incarnation, a.backend->incarnation);
    assert_false(own->has_left);
    assert_string_equal(members.all[1].name, "b");
    assert_int_equal(members.all[1].beat, 0);
    const uint64_t before = own->beat;
    node_leave(&b);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 0, .pools = 0}, &members),
                     STORE_DONE);
    assert_int_equal(members.all[0].beat, before + 1);
    assert_true(members.all[1].has_left);
    struct store_backend *const other = sharing->make_pulse(a.backend);
    assert_int_equal(sharing->pulse_beat(pulse, &demand, &members), STORE_DONE);
    assert_int_equal(sharing->pulse_beat(other, &demand, &members), STORE_DONE);
    assert_int_equal(members.all[0].demand.slots, 5);
    assert_int_equal(members.all[0].demand.held, 7);
    assert_int_equal(members.all[0].demand.waiting, DEMAND_SECONDS);
    assert_true(members.all[0].demand.pools == demand.pools);
    a.backend->driver->close(other);
    a.world->kit->take_over(a.world, "a");
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 0, .pools = 0}, &members),
                     node_refusal(&a));
    assert_non_null(strstr(pulse->why, "another gateway"));
    a.backend->driver->close(pulse);
    node_close(&a);
}

static uint32_t held_after(struct store_backend *pulse, uint32_t held, size_t place)
{
    static struct store_members members;
    const struct demand demand = {.held = held};
    assert_int_equal(pulse->driver->sharing->pulse_beat(pulse, &demand, &members), STORE_DONE);
    assert_true(place < members.count);
    return members.all[place].demand.held;
}

static void what_a_beat_gives_up_is_not_held_any_more(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    struct store_backend *const pulse = a.backend->driver->sharing->make_pulse(a.backend);
    (void)held_after(pulse, 6, 0);
    assert_int_equal(held_after(pulse, 3, 0), 3);
    /* What it asks for is its own once the others can know: at once, or with the next beat. */
    assert_in_range(held_after(pulse, 6, 0), 3, 6);
    assert_int_equal(held_after(pulse, 6, 0), 6);
    a.backend->driver->close(pulse);
    node_close(&a);
}

static void who_comes_back_under_its_name_holds_what_it_held(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct store_backend *pulse = a.backend->driver->sharing->make_pulse(a.backend);
    struct store_backend *const other = b.backend->driver->sharing->make_pulse(b.backend);
    (void)held_after(pulse, 6, 0);
    a.backend->driver->close(pulse);
    node_close(&a);
    node_open(&a, *state, "a");
    assert_int_equal(held_after(other, 1, 0), 6);
    pulse = a.backend->driver->sharing->make_pulse(a.backend);
    assert_true(held_after(pulse, 2, 0) <= 2);
    assert_int_equal(held_after(other, 1, 0), 2);
    a.backend->driver->close(pulse);
    b.backend->driver->close(other);
    node_close(&a);
    node_close(&b);
}

static void beat_with(struct store_backend *pulse, const char *parts, struct store_members *members)
{
    const struct demand none = {.slots = 0};
    (void)snprintf(pulse->parts, sizeof pulse->parts, "%s", parts);
    assert_int_equal(pulse->driver->sharing->pulse_beat(pulse, &none, members), STORE_DONE);
}

static void all_hear_what_the_configuration_of_each_is_like(void **state)
{
    static struct store_members members;
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct store_backend *const one = a.backend->driver->sharing->make_pulse(a.backend);
    struct store_backend *const other = b.backend->driver->sharing->make_pulse(b.backend);
    beat_with(one, "clients:1 dedup:2", &members);
    beat_with(other, "", &members);
    assert_string_equal(members.all[0].parts, "clients:1 dedup:2");
    assert_string_equal(members.all[1].parts, "");
    beat_with(one, "clients:3", &members);
    beat_with(one, "clients:3", &members);
    beat_with(other, "pools:4", &members);
    assert_string_equal(members.all[0].parts, "clients:3");
    /* Another run of the name has said nothing yet. */
    a.backend->driver->close(one);
    node_close(&a);
    node_open(&a, *state, "a");
    beat_with(other, "pools:4", &members);
    assert_string_equal(members.all[0].name, "a");
    assert_string_equal(members.all[0].parts, "");
    assert_string_equal(members.all[1].parts, "pools:4");
    b.backend->driver->close(other);
    node_close(&a);
    node_close(&b);
}

const struct store_case store_beat_cases[] = {
    STORE_CASE(a_beat_counts_up_and_finds_all),
    STORE_CASE(what_a_beat_gives_up_is_not_held_any_more),
    STORE_CASE(who_comes_back_under_its_name_holds_what_it_held),
    STORE_CASE(all_hear_what_the_configuration_of_each_is_like),
    {NULL, NULL},
};
