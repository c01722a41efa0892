/* Joining: identical requests share one flight, and everybody is answered once (DESIGN.md 5.4). */
#include "world.h"

static void identical_requests_join_one_flight(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->submits, 1);
    assert_int_equal(stats_of(w)->answered_dedup_wait, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(identical_requests_join_one_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
