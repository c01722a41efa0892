/* Errors that no table knows are counted by name, and there are never many names (docs/design.md 5.5). */
#include "world.h"

#include <stdio.h>
#include <string.h>

/* How often it was heard; 0 for a name without a place. */
static uint64_t times(const struct world *w, const char *name)
{
    const struct unknown_errors *errors = engine_unknown_errors(w->engine);
    for (size_t i = 0; i < errors->count; i++)
        if (strcmp(errors->items[i].name, name) == 0)
            return errors->items[i].times;
    return 0;
}

static size_t names(const struct world *w)
{
    return engine_unknown_errors(w->engine)->count;
}

static uint64_t others(const struct world *w)
{
    return engine_unknown_errors(w->engine)->other_times;
}

static void each_time_the_vendor_says_it_counts(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    pass(w, 1000);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    ask(w, "bob", .key = "L");
    rejected(w, "a3", CLASS_UNKNOWN, "ERROR_OLD_MOON");
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[6000..7000] poll a2 task T2\n"
              "[  7000] answer ann r1 failed ERROR_NEW_MOON (unknown) attempts 2\n"
              "[  7000] submit a3 L\n");
    assert_int_equal(times(w, "ERROR_NEW_MOON"), 2);
    assert_int_equal(times(w, "ERROR_OLD_MOON"), 1);
    assert_int_equal(names(w), 2);
    assert_int_equal(others(w), 0);
}

static void what_we_know_is_not_counted_by_name(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 1000);
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  1000] answer ann r1 failed ERROR_PAGEURL (caller) attempts 2\n");
    assert_int_equal(names(w), 0);
    assert_int_equal(others(w), 0);
}

static void a_callback_brings_it_once_however_often_it_comes(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.retry_unknown = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback_failed(w, "a1", "T1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    callback_failed(w, "a1", "T1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 failed ERROR_NEW_MOON (unknown) attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(times(w, "ERROR_NEW_MOON"), 1);
}

static void a_refusal_that_comes_after_the_flight_counts(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 5000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    pass(w, 5000);
    rejected(w, "a1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    expect(w, "[     0] submit a1 K\n"
              "[  5000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
    assert_int_equal(times(w, "ERROR_NEW_MOON"), 1);
}

static void the_account_has_unknown_errors_too(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    account(w, "ann", PROBE_BALANCE);
    probe_failed(w, PROBE_BALANCE, CLASS_UNKNOWN, "ERROR_NEW_MOON");
    expect(w, "[     0] probe balance\n"
              "[     0] account ann ERROR_NEW_MOON\n");
    assert_int_equal(times(w, "ERROR_NEW_MOON"), 1);
}

/* Asks for something of its own and is refused at once, with this code. */
static void hear(struct world *w, unsigned number, const char *code)
{
    char who[WORLD_NAME_MAX];
    char key[WORLD_NAME_MAX];
    char attempt[WORLD_NAME_MAX];
    (void)snprintf(who, sizeof(who), "caller %u", number);
    (void)snprintf(key, sizeof(key), "K%u", number);
    (void)snprintf(attempt, sizeof(attempt), "a%u", number);
    world_ask(w, who, (struct asking){.key = key});
    rejected(w, attempt, CLASS_UNKNOWN, code);
}

static struct world *world_without_retries(void)
{
    struct engine_options options = world_options();
    options.retry_unknown = 0;
    return world_new(&options);
}

static void what_does_not_look_like_a_name_gets_none(void **state)
{
    (void)state;
    static const char *const codes[] = {"",         "ERROR: 1099", "error_moon", "ERROR\"MOON",
                                        "ERROR\nM", "ERROR\\MOON", "ERROR-MOON", "M\xc3\x96NCH"};
    struct world *w = world_without_retries();
    const unsigned count = sizeof(codes) / sizeof(codes[0]);
    for (unsigned i = 0; i < count; i++)
        hear(w, i + 1, codes[i]);
    skip_lines(w);
    assert_int_equal(names(w), 0);
    assert_int_equal(others(w), count);
}

static void the_longest_name_has_a_place(void **state)
{
    (void)state;
    char name[ERROR_CODE_MAX];
    memset(name, 'M', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct world *w = world_without_retries();
    hear(w, 1, name);
    skip_lines(w);
    assert_int_equal(times(w, name), 1);
}

static void beyond_the_first_few_all_names_count_together(void **state)
{
    (void)state;
    struct world *w = world_without_retries();
    char name[WORLD_NAME_MAX];
    for (unsigned i = 1; i <= UNKNOWN_ERRORS_MAX + 3; i++) {
        (void)snprintf(name, sizeof(name), "ERROR_MOON_%u", i);
        hear(w, i, name);
    }
    hear(w, UNKNOWN_ERRORS_MAX + 4, "ERROR_MOON_1");
    hear(w, UNKNOWN_ERRORS_MAX + 5, "ERROR_MOON_33");
    skip_lines(w);
    assert_int_equal(names(w), UNKNOWN_ERRORS_MAX);
    assert_int_equal(times(w, "ERROR_MOON_1"), 2);
    assert_int_equal(times(w, "ERROR_MOON_32"), 1);
    assert_int_equal(times(w, "ERROR_MOON_33"), 0);
    assert_int_equal(others(w), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(each_time_the_vendor_says_it_counts),
        STORY(what_we_know_is_not_counted_by_name),
        STORY(a_callback_brings_it_once_however_often_it_comes),
        STORY(a_refusal_that_comes_after_the_flight_counts),
        STORY(the_account_has_unknown_errors_too),
        STORY(what_does_not_look_like_a_name_gets_none),
        STORY(the_longest_name_has_a_place),
        STORY(beyond_the_first_few_all_names_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
