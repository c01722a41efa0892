/* Who adopted whom: told by beats, remembered by all, whatever a row says. */
#include "gate/adoptions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct adoptions teller, hearer;
static struct store_members *members;

static int make(void **state)
{
    (void)state;
    memset(&teller, 0, sizeof teller);
    memset(&hearer, 0, sizeof hearer);
    members = calloc(1, sizeof *members);
    assert_non_null(members);
    members->count = 2;
    members->all[0] = (struct store_member){.node = 3, .name = "left"};
    members->all[1] = (struct store_member){.node = 511, .name = "right"};
    return 0;
}

static int drop(void **state)
{
    (void)state;
    free(members);
    return 0;
}

static void adopt(node_id id, int64_t wall_ms)
{
    const struct adoption_seen seen = {
        .id = id, .node = 511, .rows = 10 * id, .wall_ms = wall_ms, .name = "right", .by = "left"};
    adoptions_add(&teller, &seen);
}

static void beat(void)
{
    (void)snprintf(members->all[0].parts, STORE_PARTS_MAX, "clients:0123456789abcdef");
    adoptions_write(&teller, members->all[0].parts);
    adoptions_on_beat(&hearer, members);
}

static void assert_same(const struct adoption_seen *a, const struct adoption_seen *b)
{
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->node, b->node);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->wall_ms, b->wall_ms);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->by, b->by);
}

static void what_one_tells_is_what_the_other_hears(void **state)
{
    (void)state;
    beat();
    assert_int_equal(hearer.count, 0);
    adopt(7, 1000);
    adopt(9, 2000);
    beat();
    beat();
    assert_int_equal(hearer.count, 2);
    assert_int_equal(teller.count, 2);
    for (size_t i = 0; i < hearer.count; i++)
        assert_same(&hearer.all[i], &teller.all[i]);
    assert_int_equal(hearer.all[0].id, 9);
    assert_int_equal(hearer.all[1].rows, 70);
    assert_string_equal(hearer.all[1].name, "right");
    assert_string_equal(hearer.all[1].by, "left");
    assert_null(adoptions_last(&hearer));
    assert_int_equal(adoptions_last(&teller)->id, 9);
}

static void the_newest_are_remembered(void **state)
{
    (void)state;
    for (node_id id = 1; id <= 3 * ADOPTIONS_SEEN; id++) {
        adopt(id, (int64_t)id);
        beat();
    }
    assert_int_equal(hearer.count, ADOPTIONS_SEEN);
    for (size_t i = 0; i < hearer.count; i++)
        assert_same(&hearer.all[i], &teller.all[i]);
    assert_int_equal(hearer.all[0].id, 3 * ADOPTIONS_SEEN);
    assert_int_equal(hearer.all[ADOPTIONS_SEEN - 1].id, 2 * ADOPTIONS_SEEN + 1);
    /* What is older than all of them comes too late. */
    adopt(1000, 1);
    beat();
    assert_int_equal(hearer.all[ADOPTIONS_SEEN - 1].id, 2 * ADOPTIONS_SEEN + 1);
}

static void the_largest_numbers_have_room(void **state)
{
    (void)state;
    char text[STORE_PARTS_MAX];
    for (unsigned i = 0; i < ADOPTIONS_SEEN; i++) {
        const struct adoption_seen seen = {.id = UINT64_MAX - i,
                                           .node = UINT16_MAX,
                                           .rows = UINT64_MAX,
                                           .wall_ms = INT64_C(253402300799999)};
        adoptions_add(&teller, &seen);
    }
    memset(text, 'x', 191);
    text[191] = '\0';
    adoptions_write(&teller, text);
    assert_true(strlen(text) + sizeof STORE_PARTS_REWRITING + 200 < STORE_PARTS_MAX);
    memset(text, 'x', STORE_PARTS_MAX - 20);
    text[STORE_PARTS_MAX - 20] = '\0';
    adoptions_write(&teller, text);
    assert_int_equal(strlen(text), STORE_PARTS_MAX - 1);
}

static void what_makes_no_sense_is_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {" adopted:",          " adopted:1",
                                        " adopted:1.2.3",     " adopted:1.2.3.",
                                        " adopted:x.2.3.4",   " adopted:1.2.3.ffffffffffffffff",
                                        " adopted:1.2.3.4;5", " adopted:..."};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)snprintf(members->all[0].parts, STORE_PARTS_MAX, "%s", texts[i]);
        adoptions_on_beat(&hearer, members);
        assert_int_equal(hearer.count, 0);
    }
    (void)snprintf(members->all[0].parts, STORE_PARTS_MAX, " adopted:63.2.3.4,?,1.1.1.1 x:1");
    adoptions_on_beat(&hearer, members);
    assert_int_equal(hearer.count, 1);
    assert_string_equal(hearer.all[0].name, "");
}

#define ADOPTIONS_TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADOPTIONS_TEST(what_one_tells_is_what_the_other_hears),
        ADOPTIONS_TEST(the_newest_are_remembered),
        ADOPTIONS_TEST(the_largest_numbers_have_room),
        ADOPTIONS_TEST(what_makes_no_sense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
