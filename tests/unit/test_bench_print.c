#include "cli/bench_print.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_MAX ((size_t)64 * 1024)

static void solve(struct bench_tally *tally, unsigned count, uint64_t latency_us)
{
    for (unsigned i = 0; i < count; i++) {
        bench_tally_sent(tally, 0, 0);
        bench_tally_solved(tally, 0, latency_us, i % 4 == 0 ? SOURCE_DEDUP_CACHE : SOURCE_API);
    }
}

/* Nine seconds of a closed loop: nothing in the first, then an eighth more in each, and a failure. */
static struct bench_tally *small_tally(void)
{
    static const uint64_t latencies_us[] = {400, 700, 3000, 40000, 41000, 300000, 400000, 7000000};
    static const unsigned counts[] = {80, 160, 240, 320, 400, 480, 560, 640};
    struct bench_tally *const tally = bench_tally_new();
    bench_tally_second(tally, 0);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        solve(tally, counts[i], latencies_us[i]);
        bench_tally_second(tally, 5);
    }
    bench_tally_sent(tally, 0, 0);
    bench_tally_failed(tally, 0, "unsolvable");
    return tally;
}

static void print(struct bench_tally *tally, bool is_utf8, struct buf *out)
{
    const struct bench_plan plan = {.method = "turnstile", .concurrency = 20, .duration_ms = 9000};
    const struct bench_end end = {
        .load_ns = 9000000000, .solved_ns = 9000000000, .elapsed_ns = 9000000000};
    const struct bench_books books = {.requests = 2881,
                                      .submits_paid = 2160,
                                      .submits_refused = 2,
                                      .retries = 2,
                                      .polls = 2160,
                                      .vendor_calls = 4322,
                                      .money = 4.32,
                                      .has_money = true};
    struct bench_report *const report =
        bench_report_new(&plan, "http://127.0.0.1:8430", tally, &end, &books);
    bench_print_write(report, is_utf8, out);
    buf_add_char(out, '\0');
    bench_report_free(report);
}

static void expect_print(bool is_utf8, const char *expected)
{
    struct bench_tally *const tally = small_tally();
    struct buf out;
    buf_init(&out, TEXT_MAX);
    print(tally, is_utf8, &out);
    assert_string_equal(out.data, expected);
    buf_close(&out);
    bench_tally_free(tally);
}

static void the_report_is_drawn_in_blocks(void **state)
{
    (void)state;
    expect_print(true,
                 "turnstile at http://127.0.0.1:8430, dialect v1\n"
                 "closed loop, 20 at once for 9s\n"
                 "\n"
                 "  solves/s               320.0  2,880 in 9.0s\n"
                 "  requests               2,881\n"
                 "  solved                 2,880  100.0 %\n"
                 "  failed                     1    0.0 %\n"
                 "  over time       .▁▂▃▄▅▆▇█\n"
                 "                  0s ... 9s, highest 640/s\n"
                 "\n"
                 "LATENCY     min    mean     p50     p90     p95     p99   p99.9  p99.99     max\n"
                 "         0.40ms   1.69s   301ms   7.00s   7.00s   7.00s   7.00s       -   7.00s\n"
                 "\n"
                 "UP TO         SOLVES\n"
                 "  0.50ms          80  ███\n"
                 "   1.0ms         160  ██████\n"
                 "   5.0ms         240  ████████\n"
                 "    50ms         720  █████████████████████████\n"
                 "   500ms       1,040  ████████████████████████████████████\n"
                 "   10.0s         640  ██████████████████████\n"
                 "\n"
                 "ANSWERS\n"
                 "  own solve              2,160   75.0 %\n"
                 "  from memory              720   25.0 %\n"
                 "\n"
                 "ERRORS\n"
                 "  unsolvable                                         1\n"
                 "\n"
                 "COST, by the gateway's statistics\n"
                 "  submits paid           2,160  0.750 per solve\n"
                 "  submits refused            2\n"
                 "  retries                    2\n"
                 "  polls                  2,160\n"
                 "  vendor calls           4,322  1.501 per solve\n"
                 "  money spent           4.3200\n");
}

static void the_report_is_drawn_in_ascii(void **state)
{
    (void)state;
    expect_print(false,
                 "turnstile at http://127.0.0.1:8430, dialect v1\n"
                 "closed loop, 20 at once for 9s\n"
                 "\n"
                 "  solves/s               320.0  2,880 in 9.0s\n"
                 "  requests               2,881\n"
                 "  solved                 2,880  100.0 %\n"
                 "  failed                     1    0.0 %\n"
                 "  over time        ..--==##\n"
                 "                  0s ... 9s, highest 640/s\n"
                 "\n"
                 "LATENCY     min    mean     p50     p90     p95     p99   p99.9  p99.99     max\n"
                 "         0.40ms   1.69s   301ms   7.00s   7.00s   7.00s   7.00s       -   7.00s\n"
                 "\n"
                 "UP TO         SOLVES\n"
                 "  0.50ms          80  ###\n"
                 "   1.0ms         160  ######\n"
                 "   5.0ms         240  ########\n"
                 "    50ms         720  #########################\n"
                 "   500ms       1,040  ####################################\n"
                 "   10.0s         640  ######################\n"
                 "\n"
                 "ANSWERS\n"
                 "  own solve              2,160   75.0 %\n"
                 "  from memory              720   25.0 %\n"
                 "\n"
                 "ERRORS\n"
                 "  unsolvable                                         1\n"
                 "\n"
                 "COST, by the gateway's statistics\n"
                 "  submits paid           2,160  0.750 per solve\n"
                 "  submits refused            2\n"
                 "  retries                    2\n"
                 "  polls                  2,160\n"
                 "  vendor calls           4,322  1.501 per solve\n"
                 "  money spent           4.3200\n");
}

/* More seconds than there is room for: each cell holds three of them, the last one two. */
static void a_long_run_is_drawn_in_cells_of_several_seconds(void **state)
{
    struct bench_tally *const tally = bench_tally_new();
    struct buf out;
    (void)state;
    for (unsigned second = 0; second < 146; second++) {
        solve(tally, second < 9 ? 0 : second % 30, 1000);
        bench_tally_second(tally, 0);
    }
    buf_init(&out, TEXT_MAX);
    print(tally, true, &out);
    const char *const begin = strstr(out.data, "  over time");
    assert_non_null(begin);
    char *const end = strstr(begin, "\n\n");
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(begin,
                        "  over time       ...▃▄▅▅▆▇█▁▁▂▃▄▅▅▆▇█▁▁▂▃▄▅▅▆▇█▁▁▂▃▄▅▅▆▇█▁▁▂▃▄▅▅▆▅\n"
                        "                  0s ... 146s, highest 28/s");
    buf_close(&out);
    bench_tally_free(tally);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_is_drawn_in_blocks),
        cmocka_unit_test(the_report_is_drawn_in_ascii),
        cmocka_unit_test(a_long_run_is_drawn_in_cells_of_several_seconds),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
