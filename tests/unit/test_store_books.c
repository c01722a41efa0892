/* The books of several gateways as one: nothing counts twice, nothing vanishes, and they balance. */
#include "seed.h"
#include "store/store_books.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TODAY 20000
#define ALIVE false
#define GONE true

static struct store_members *members;
static struct store_books books;

static int make(void **state)
{
    (void)state;
    members = calloc(1, sizeof *members);
    assert_non_null(members);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    store_books_close(&books);
    free(members);
    return 0;
}

static void add_node(char name, bool is_gone)
{
    members->all[members->count++] = (struct store_member){
        .node = (uint16_t)(name - 'a' + 1), .is_gone = is_gone, .name = {name}};
}

static void begin(void)
{
    store_books_init(&books, TODAY, members);
}

static void add_page(uint32_t node, int64_t day, struct stats stats)
{
    struct record record = {.kind = RECORD_DAY,
                            .day = {.day = day, .stats = record_pack_stats(&stats)}};
    store_books_add(&books, node, &record, SLICE_NONE);
    record_close(&record);
}

static void add_tally(uint32_t node, int64_t day, const char *client, struct tally tally)
{
    const struct record record = {.kind = RECORD_TALLY,
                                  .tally = {.day = day, .type = TYPE_IMAGE, .tally = tally}};
    store_books_add(&books, node, &record, slice_from(client));
}

static const struct tally *of_client(const char *name)
{
    for (uint32_t i = 0; i < books.client_count; i++)
        if (strcmp(books.clients[i], name) == 0)
            return &books.all.books.by_client[i];
    fail_msg("no client %s", name);
    return NULL;
}

static void expect_balance(void)
{
    assert_int_equal(books_open(&books.all.stats), books.waiting);
}

static void all_gateways_are_added(void **state)
{
    (void)state;
    add_node('a', ALIVE);
    add_node('b', ALIVE);
    begin();
    add_page(0, TODAY, (struct stats){.requests = 5, .answered_api = 2, .failed = 1, .polls = 7});
    add_page(1, TODAY, (struct stats){.requests = 3, .answered_dedup_wait = 3, .polls = 1});
    add_page(1, TODAY - 7, (struct stats){.requests = 4, .rejected = 4});
    /* Not shown any more. */
    add_page(1, TODAY - 8, (struct stats){.requests = 100});
    store_books_settle(&books);
    assert_int_equal(books.all.stats.requests, 12);
    assert_int_equal(books.days[0].stats.requests, 8);
    assert_int_equal(books.days[0].stats.polls, 8);
    assert_int_equal(books.days[7].stats.requests, 4);
    assert_int_equal(books.nodes[1].stats.requests, 7);
    assert_int_equal(books.waiting, 2);
    expect_balance();
}

static void who_is_a_second_ahead_has_begun_the_next_day(void **state)
{
    (void)state;
    add_node('a', ALIVE);
    begin();
    add_page(0, TODAY + 1, (struct stats){.requests = 1, .failed = 1});
    add_page(0, TODAY + 2, (struct stats){.requests = 50, .failed = 50});
    store_books_settle(&books);
    assert_int_equal(books.days[0].stats.requests, 1);
    assert_int_equal(books.all.stats.requests, 1);
}

/* Five were asked, two of them answered; of the other three one had told its id and was adopted. */
static void what_a_dead_one_left_open_was_adopted_or_its_caller_left(void **state)
{
    (void)state;
    add_node('a', GONE);
    add_node('b', ALIVE);
    begin();
    add_page(0, TODAY, (struct stats){.requests = 5, .answered_api = 2});
    add_page(1, TODAY, (struct stats){.requests = 3, .requests_adopted = 1, .answered_api = 2});
    store_books_settle(&books);
    assert_int_equal(books.all.stats.requests, 7);
    assert_int_equal(books.all.stats.answered_api, 4);
    assert_int_equal(books.all.stats.detached, 2);
    assert_int_equal(books.all.stats.requests_adopted, 1);
    assert_int_equal(books.waiting, 1);
    expect_balance();
}

/* Under its name again, it has found the three in its page and taken them for callers that left. */
static void the_sum_is_the_same_when_the_dead_one_is_back(void **state)
{
    (void)state;
    add_node('a', ALIVE);
    add_node('b', ALIVE);
    begin();
    add_page(0, TODAY, (struct stats){.requests = 5, .answered_api = 2, .detached = 3});
    add_page(1, TODAY, (struct stats){.requests = 3, .requests_adopted = 1, .answered_api = 2});
    store_books_settle(&books);
    assert_int_equal(books.all.stats.requests, 7);
    assert_int_equal(books.all.stats.detached, 2);
    assert_int_equal(books.waiting, 1);
    expect_balance();
}

/* The page is a second old at worst: the adopted one may not be in it. */
static void who_lost_the_last_second_makes_nothing_negative(void **state)
{
    (void)state;
    add_node('a', GONE);
    add_node('b', ALIVE);
    begin();
    add_page(0, TODAY, (struct stats){.requests = 2, .answered_api = 2});
    add_page(1, TODAY, (struct stats){.requests = 3, .requests_adopted = 3, .answered_api = 3});
    store_books_settle(&books);
    assert_int_equal(books.all.stats.requests, 5);
    assert_int_equal(books.all.stats.detached, 0);
    expect_balance();
}

static void a_request_that_waits_at_midnight_is_not_detached(void **state)
{
    (void)state;
    add_node('a', ALIVE);
    add_node('b', GONE);
    begin();
    for (uint32_t node = 0; node < 2; node++) {
        add_page(node, TODAY - 1, (struct stats){.requests = 4, .answered_api = 3});
        add_page(node, TODAY, (struct stats){.requests = 1, .answered_api = 2});
    }
    store_books_settle(&books);
    assert_int_equal(books.all.stats.requests, 10);
    assert_int_equal(books.all.stats.detached, 0);
    assert_int_equal(books.waiting, 0);
    expect_balance();
}

static void clients_are_added_by_name_and_balance_as_well(void **state)
{
    (void)state;
    add_node('a', GONE);
    add_node('b', ALIVE);
    begin();
    add_tally(0, TODAY, "right", (struct tally){.requests = 5, .answered = 2, .paid = 3});
    add_tally(0, TODAY, "left", (struct tally){.requests = 1, .failed = 1});
    add_tally(1, TODAY, "right",
              (struct tally){.requests = 2, .requests_adopted = 1, .answered = 2, .paid = 1});
    store_books_settle(&books);
    assert_int_equal(of_client("right")->requests, 6);
    assert_int_equal(of_client("right")->detached, 2);
    assert_int_equal(of_client("right")->paid, 4);
    assert_int_equal(of_client("left")->requests, 1);
    assert_int_equal(books.all.books.by_type[TYPE_IMAGE].requests, 7);
    assert_int_equal(books.days[0].books.by_type[TYPE_IMAGE].detached, 2);
    assert_int_equal(books.all.books.client_count, 2);
}

static void add_spent(uint32_t node, int64_t day, const char *client, uint64_t spent)
{
    const struct record record = {.kind = RECORD_SPENT, .spent = {.day = day, .spent = spent}};
    store_books_add(&books, node, &record, slice_from(client));
}

static void of_todays_budgets_all_have_used_a_part_also_the_dead(void **state)
{
    (void)state;
    add_node('a', GONE);
    add_node('b', ALIVE);
    begin();
    books.budgets = calloc(2, sizeof *books.budgets);
    assert_non_null(books.budgets);
    books.budget_count = 2;
    books.budgets[0] = (struct store_budget){.client = "left", .limit = 10};
    books.budgets[1] = (struct store_budget){.client = "right", .limit = 10};
    add_spent(0, TODAY, "left", 3);
    add_spent(1, TODAY, "left", 4);
    add_spent(1, TODAY - 1, "right", 9);
    add_spent(1, TODAY, "removed", 5);
    store_books_settle(&books);
    assert_int_equal(books.budgets[0].used, 7);
    assert_int_equal(books.budgets[1].used, 0);
    assert_int_equal(books.client_count, 0);
}

static void there_is_room_for_so_many_clients_and_the_rest_is_one(void **state)
{
    (void)state;
    add_node('a', ALIVE);
    begin();
    for (unsigned i = 0; i < STORE_BOOKS_CLIENTS + 10; i++) {
        char name[32];
        /* In no order. */
        (void)snprintf(name, sizeof name, "c%u", i * 7919 % 100000);
        for (unsigned again = 0; again < 2; again++)
            add_tally(0, TODAY - again, name, (struct tally){.requests = 1});
    }
    store_books_settle(&books);
    assert_int_equal(books.client_count, STORE_BOOKS_CLIENTS);
    assert_int_equal(of_client("c7919")->requests, 2);
    assert_int_equal(of_client(STORE_BOOKS_OTHERS)->requests, 22);
}

#define BOOKS_TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOOKS_TEST(all_gateways_are_added),
        BOOKS_TEST(who_is_a_second_ahead_has_begun_the_next_day),
        BOOKS_TEST(what_a_dead_one_left_open_was_adopted_or_its_caller_left),
        BOOKS_TEST(the_sum_is_the_same_when_the_dead_one_is_back),
        BOOKS_TEST(who_lost_the_last_second_makes_nothing_negative),
        BOOKS_TEST(a_request_that_waits_at_midnight_is_not_detached),
        BOOKS_TEST(clients_are_added_by_name_and_balance_as_well),
        BOOKS_TEST(of_todays_budgets_all_have_used_a_part_also_the_dead),
        BOOKS_TEST(there_is_room_for_so_many_clients_and_the_rest_is_one),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
