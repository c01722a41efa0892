/* Callbacks that stay away: solves are polled for as if there were none, until they come again. */
#include "usual_worlds.h"

#define SOLVES 10

static const char *const keys[SOLVES] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"};
static const char *const attempts[SOLVES] = {"a1", "a2", "a3", "a4", "a5",
                                             "a6", "a7", "a8", "a9", "a10"};

/* So many solves that polls had to find. */
static struct world *world_without_callbacks_coming(void)
{
    struct world *w = world_with_callbacks();
    for (int i = 0; i < SOLVES; i++) {
        ask(w, "ann", .key = keys[i]);
        accepted(w, attempts[i], "T");
    }
    pass(w, 121000);
    for (int i = 0; i < SOLVES; i++)
        solved(w, attempts[i], "TOKEN");
    return w;
}

/* Is the next solve polled for early? */
static bool is_impatient(struct world *w, const char *attempt)
{
    const unsigned before = w->tally.polls;
    ask(w, "bob", .key = attempt);
    accepted(w, attempt, "T");
    pass(w, 6000);
    return w->tally.polls > before;
}

static void when_they_stay_away_nobody_waits_for_them(void **state)
{
    (void)state;
    struct world *w = world_without_callbacks_coming();
    assert_true(is_impatient(w, "a11"));
    skip_lines(w);
}

static void those_that_come_after_the_poll_did_not_stay_away(void **state)
{
    (void)state;
    struct world *w = world_without_callbacks_coming();
    for (int i = 0; i < 6; i++)
        callback(w, attempts[i], "T", "TOKEN");
    assert_false(is_impatient(w, "a11"));
    skip_lines(w);
}

static void what_was_five_minutes_ago_says_nothing(void **state)
{
    (void)state;
    struct world *w = world_without_callbacks_coming();
    pass(w, 300000);
    assert_false(is_impatient(w, "a11"));
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(when_they_stay_away_nobody_waits_for_them),
        STORY(those_that_come_after_the_poll_did_not_stay_away),
        STORY(what_was_five_minutes_ago_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
