/* Memory is bounded in bytes as well as in number: of flights and of letters. */
#include "world.h"

static void flights_have_only_so_many_bytes(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flight_bytes = 5;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "KKK");
    ask(w, "bob", .key = "LL");
    ask(w, "cat", .key = "M");
    ask(w, "dan", .key = "LL");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    ask(w, "cat", .key = "MMM");
    expect(w, "[     0] submit a1 KKK\n"
              "[     0] submit a2 LL\n"
              "[     0] answer cat refused: too many flights are under way, retry after 5000\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a3 MMM\n");
}

/* Dies of its deadline after it was paid for. */
static void write_letter(struct world *w, const char *key, const char *attempt)
{
    ask(w, "ann", .key = key);
    accepted(w, attempt, "T");
    pass(w, 180000);
}

static struct world *world_with_letters(bool has_journal)
{
    struct engine_options options = world_options();
    options.has_journal = has_journal;
    options.max_letter_bytes = 5;
    struct world *w = world_new(&options);
    write_letter(w, "KKK", "a1");
    write_letter(w, "LL", "a2");
    assert_int_equal(gauges_of(w).letters, 2);
    return w;
}

static void letters_have_only_so_many_bytes_and_the_oldest_goes_first(void **state)
{
    (void)state;
    struct world *w = world_with_letters(false);
    write_letter(w, "M", "a3");
    assert_int_equal(gauges_of(w).letters, 2);
    write_letter(w, "NNNNN", "a4");
    assert_int_equal(gauges_of(w).letters, 1);
    /* Larger than all the room there is: kept all the same, alone. */
    write_letter(w, "OOOOOOO", "a5");
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

static void less_room_after_a_restart_is_enough_for_the_newest(void **state)
{
    (void)state;
    struct world *w = world_with_letters(true);
    w->options.max_letter_bytes = 4;
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 1);
    assert_int_equal(disk_count(&w->disk, RECORD_LETTER), 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(flights_have_only_so_many_bytes),
        STORY(letters_have_only_so_many_bytes_and_the_oldest_goes_first),
        STORY(less_room_after_a_restart_is_enough_for_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
