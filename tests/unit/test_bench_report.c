#include "cli/bench_compare.h"
#include "cli/bench_html.h"
#include "cli/bench_json.h"
#include "cli/bench_live.h"
#include "cli/bench_print.h"
#include "cli/show.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_MAX ((size_t)1024 * 1024)

/* A run of ten seconds with `rate` solves a second that take latency_us each, and one failure a second. */
static struct bench_report *make_report(unsigned rate, uint64_t latency_us)
{
    const struct bench_plan plan = {.method = "turnstile",
                                    .steps = {rate},
                                    .step_count = 1,
                                    .duration_ms = 10000,
                                    .repeat = 0.25};
    const struct bench_end end = {
        .load_ns = 10000000000, .solved_ns = 10000000000, .elapsed_ns = 10000000000};
    const struct bench_books books = {
        .requests = 10 * rate, .submits_paid = 7 * rate, .vendor_calls = 25 * rate};
    struct bench_tally *const tally = bench_tally_new();
    for (unsigned second = 0; second < 10; second++) {
        for (unsigned i = 0; i < rate; i++) {
            bench_tally_sent(tally, 0, 0);
            bench_tally_solved(tally, 0, latency_us + (i + second) % 3, SOURCE_API);
        }
        bench_tally_sent(tally, 0, 0);
        bench_tally_failed(tally, 0, "ERROR_<b>\"\x1b[31m");
        bench_tally_second(tally, 1);
    }
    struct bench_report *const report =
        bench_report_new(&plan, "http://127.0.0.1:8430", tally, &end, &books);
    bench_tally_free(tally);
    return report;
}

static void json_is_read_as_it_was_written(void **state)
{
    struct bench_report *const report = make_report(50, 123456);
    struct buf json;
    (void)state;
    buf_init(&json, TEXT_MAX);
    bench_json_write(report, &json);
    struct bench_report *const again = bench_json_read(buf_slice(&json));
    assert_non_null(again);
    assert_string_equal(again->load, report->load);
    assert_int_equal(again->solved, 500);
    assert_int_equal(again->failed, 10);
    /* 500 solves tell p99; p99.9 needs a thousand. */
    assert_memory_equal(again->percentile_us, report->percentile_us,
                        4 * sizeof report->percentile_us[0]);
    assert_int_equal(again->percentile_us[4], 0);
    assert_memory_equal(again->intervals, report->intervals, 10 * sizeof report->intervals[0]);
    assert_int_equal(again->interval_count, 10);
    assert_int_equal(again->books.submits_paid, 350);
    assert_true(again->has_sources);
    assert_memory_equal(again->sources, report->sources, sizeof report->sources);
    assert_null(bench_json_read(SLICE_OF("{\"bench\":1}")));
    assert_null(bench_json_read(SLICE_OF("no JSON")));
    bench_report_free(again);
    bench_report_free(report);
    buf_close(&json);
}

static void expect_rate(const struct bench_end *end, double rate, const char *shown)
{
    const struct bench_plan plans[] = {
        {.method = "turnstile", .steps = {10}, .step_count = 1},
        {.method = "turnstile", .concurrency = 5},
    };
    struct bench_tally *const tally = bench_tally_new();
    struct buf out;
    buf_init(&out, TEXT_MAX);
    for (unsigned i = 0; i < 100; i++)
        bench_tally_solved(tally, 0, 5000000, -1);
    for (size_t i = 0; i < 2; i++) {
        struct bench_report *const report =
            bench_report_new(&plans[i], "http://x", tally, end, NULL);
        assert_true(report->rate > rate - 0.001 && report->rate < rate + 0.001);
        buf_reset(&out);
        bench_print_write(report, false, &out);
        buf_add_char(&out, '\0');
        assert_non_null(strstr(out.data, shown));
        bench_report_free(report);
    }
    buf_close(&out);
    bench_tally_free(tally);
}

/* Whenever the first answer came. One that never came is waited for long after the last solution. */
static void the_rate_counts_from_the_start_to_the_last_solution_or_the_end_of_the_load(void **state)
{
    (void)state;
    expect_rate(&(struct bench_end){.load_ns = 10000000000, .solved_ns = 9900000000}, 10,
                "10.0  100 in 10s\n");
    expect_rate(&(struct bench_end){.load_ns = 10000000000,
                                    .solved_ns = 16000000000,
                                    .elapsed_ns = 120000000000},
                6.25, "6.2  100 in 16s\n");
}

/* ---- comparing --------------------------------------------------------------------------- */

static void only_changes_beyond_the_noise_count(void **state)
{
    const struct bench_figure base = {.value = 100, .error = 1};
    (void)state;
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){102.5, 1}, true),
                     BENCH_SAME);
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){103, 1}, true),
                     BENCH_BETTER);
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){97, 1}, true), BENCH_WORSE);
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){97, 1}, false),
                     BENCH_BETTER);
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){97, 5}, false), BENCH_SAME);
    assert_int_equal(bench_compare_figures(base, (struct bench_figure){50, -1}, true),
                     BENCH_UNSURE);
    /* Without any noise, one percent is still nothing. */
    assert_int_equal(
        bench_compare_figures((struct bench_figure){100, 0}, (struct bench_figure){100.9, 0}, true),
        BENCH_SAME);
}

static void a_faster_run_is_told_from_an_equal_one(void **state)
{
    struct bench_report *const old = make_report(50, 200000);
    struct bench_report *const equal = make_report(50, 200000);
    struct bench_report *const fast = make_report(60, 100000);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    bench_compare_write(old, equal, &out);
    buf_add_char(&out, '\0');
    assert_null(strstr(out.data, "BETTER"));
    assert_null(strstr(out.data, "WORSE"));
    assert_null(strstr(out.data, "not alike"));
    buf_reset(&out);
    bench_compare_write(old, fast, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "solves/s"));
    assert_non_null(strstr(out.data, "BETTER"));
    assert_null(strstr(out.data, "WORSE"));
    assert_non_null(strstr(out.data, "not alike"));
    bench_report_free(old);
    bench_report_free(equal);
    bench_report_free(fast);
    buf_close(&out);
}

/* What is said of a row, or NULL if there is none. */
static const char *verdict_on(const char *label, const struct bench_report *old,
                              const struct bench_report *new)
{
    static const char *const verdicts[] = {"BETTER", "WORSE", "changed", "within the noise",
                                           "too short to tell"};
    static char line[128];
    struct buf out;
    const char *verdict = NULL;
    buf_init(&out, TEXT_MAX);
    bench_compare_write(old, new, &out);
    struct slice rest = buf_slice(&out);
    while (rest.len > 0) {
        const struct slice found = slice_take(&rest, '\n');
        (void)snprintf(line, sizeof line, "%.*s", (int)found.len, found.data);
        for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++)
            if (strncmp(line, label, strlen(label)) == 0 && strstr(line, verdicts[i]) != NULL)
                verdict = verdicts[i];
    }
    buf_close(&out);
    return verdict;
}

static void expect_verdict(const char *label, const struct bench_report *old,
                           const struct bench_report *new, const char *verdict)
{
    const char *const found = verdict_on(label, old, new);
    assert_non_null(found);
    assert_string_equal(found, verdict);
}

/* 1000 submits waver by 32. With two submits per solve a share's error would be none. */
static void several_submits_per_solve_have_noise_as_well(void **state)
{
    struct bench_report *const old = make_report(50, 123456);
    struct bench_report *const new = make_report(50, 123456);
    (void)state;
    old->books.submits_paid = 1000;
    new->books.submits_paid = 1060;
    expect_verdict("submits paid per solve", old, new, "within the noise");
    new->books.submits_paid = 1200;
    expect_verdict("submits paid per solve", old, new, "WORSE");
    old->books.submits_paid = 500;
    new->books.submits_paid = 510;
    expect_verdict("submits paid per solve", old, new, "within the noise");
    new->books.submits_paid = 350;
    expect_verdict("submits paid per solve", old, new, "BETTER");
    bench_report_free(old);
    bench_report_free(new);
}

static void a_few_answers_are_too_few_to_tell(void **state)
{
    struct bench_report *const old = make_report(50, 123456);
    struct bench_report *const new = make_report(50, 123456);
    (void)state;
    old->sent = 49;
    old->failed = 1;
    new->failed = 400;
    expect_verdict("failed", old, new, "too short to tell");
    old->sent = 50;
    expect_verdict("failed", old, new, "WORSE");
    /* None of a hundred and five of a hundred: by chance in one of seventeen. */
    old->sent = new->sent = 100;
    old->failed = 0;
    new->failed = 5;
    expect_verdict("failed", old, new, "within the noise");
    new->failed = 12;
    expect_verdict("failed", old, new, "WORSE");
    new->solved = 49;
    new->books.submits_paid = 4900;
    expect_verdict("submits paid per solve", old, new, "too short to tell");
    bench_report_free(old);
    bench_report_free(new);
}

static void what_both_reports_have_is_compared(void **state)
{
    struct bench_report *const old = make_report(200, 123456);
    struct bench_report *const new = make_report(200, 123456);
    (void)state;
    assert_null(verdict_on("money per solve", old, new));
    old->books.has_money = new->books.has_money = true;
    old->books.money = 1.4;
    new->books.money = 2;
    new->books.submits_paid = 2000;
    expect_verdict("money per solve", old, new, "WORSE");
    expect_verdict("p99.9", old, new, "within the noise");
    new->sources[SOURCE_DEDUP_CACHE] = 1000;
    expect_verdict("own solve", old, new, "changed");
    expect_verdict("from memory", old, new, "changed");
    assert_null(verdict_on("from a pool", old, new));
    old->has_sources = false;
    assert_null(verdict_on("own solve", old, new));
    old->solved = 900;
    assert_null(verdict_on("p99.9", old, new));
    bench_report_free(old);
    bench_report_free(new);
}

/* ---- texts of others --------------------------------------------------------------------- */

static void expect_shown(void (*add)(struct buf *out, const char *text), const char *text,
                         const char *shown)
{
    struct buf out;
    buf_init(&out, 256);
    add(&out, text);
    buf_add_char(&out, '\0');
    assert_string_equal(out.data, shown);
    buf_close(&out);
}

static void no_text_controls_the_terminal_or_its_direction(void **state)
{
    (void)state;
    expect_shown(show_add_clean, "a\x1b[2J\x7f\xc2\x9b\n", "a?[2J???");
    expect_shown(show_add_clean, "\u202a\u202e1\u2066\u20692\u200e\u200f", "??1??2??");
    expect_shown(show_add_clean, "\u200d\u2029\u202f\u2065\u206a\u00e9\xe2\x80",
                 "\u200d\u2029\u202f\u2065\u206a\u00e9\xe2\x80");
    expect_shown(show_add_url, "http://me:secret@gate:1/a@b", "http://gate:1/a@b");
    expect_shown(show_add_url, "http://me:sec@ret@gate?x=secret", "http://gate");
    expect_shown(show_add_url, "http://gate/a/?key=secret#b", "http://gate/a/");
    expect_shown(show_add_url, "gate:1/a?key=secret", "gate:1/a");
    expect_shown(show_add_url, "unix:/run/a?b", "unix:/run/a?b");
    expect_shown(show_add_url, "http://gate/a@b", "http://gate/a@b");
    expect_shown(show_add_url, "unix:/run/a@b", "unix:/run/a@b");
}

/* ---- for people -------------------------------------------------------------------------- */

static void times_need_at_most_six_columns(void **state)
{
    static const struct {
        uint64_t us;
        const char *text;
    } times[] = {{0, "0.00ms"},       {310, "0.31ms"},     {999, "1.00ms"},     {4200, "4.2ms"},
                 {312000, "312ms"},   {999400, "999ms"},   {999600, "1.00s"},   {4210000, "4.21s"},
                 {12300000, "12.3s"}, {59990000, "60.0s"}, {125000000, "2m05s"}};
    struct buf out;
    (void)state;
    buf_init(&out, 64);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        buf_reset(&out);
        bench_add_time(&out, times[i].us);
        buf_add_char(&out, '\0');
        assert_string_equal(out.data, times[i].text);
    }
    buf_close(&out);
}

static void the_live_line_tells_the_time_left_and_fits(void **state)
{
    const struct bench_plan plan = {.method = "turnstile", .concurrency = 20000, .requests = 100};
    struct bench_tally *const tally = bench_tally_new();
    struct bench_state live = {
        .plan = &plan, .tally = tally, .in_flight = 20000, .is_sending = true};
    struct buf out;
    (void)state;
    buf_init(&out, 512);
    /* Nothing is known yet. */
    bench_live_write(&out, &live, 0, 79);
    buf_add_char(&out, '\0');
    assert_string_equal(out.data, "[..........]  0/s  20000 in flight  0 errors");
    for (unsigned i = 0; i < 25; i++)
        bench_tally_solved(tally, 0, 1234567, -1);
    live.elapsed_ns = 10000000000;
    buf_reset(&out);
    bench_live_write(&out, &live, 2000, 79);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "] 30s left  2000/s"));
    assert_non_null(strstr(out.data, "p50 1.23s  p99 1.23s"));
    buf_reset(&out);
    bench_live_write(&out, &live, 100000, 40);
    assert_int_equal(out.len, 40);
    bench_tally_free(tally);
    buf_close(&out);
}

static void the_print_fits_and_obeys_no_stranger(void **state)
{
    struct bench_report *const report = make_report(50, 123456);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    memset(report->url, 'u', sizeof report->url - 1);
    bench_print_write(report, false, &out);
    struct slice rest = buf_slice(&out);
    while (rest.len > 0)
        assert_true(slice_take(&rest, '\n').len <= 80);
    assert_null(memchr(out.data, '\x1b', out.len));
    bench_report_free(report);
    buf_close(&out);
}

static void a_run_with_as_many_in_flight_as_may_be_says_so(void **state)
{
    struct bench_report *const report = make_report(50, 123456);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    bench_print_write(report, false, &out);
    bench_json_write(report, &out);
    buf_add_char(&out, '\0');
    assert_null(strstr(out.data, "requests were in flight"));
    assert_non_null(strstr(out.data, "\"was_full\":false"));
    report->was_full = true;
    buf_reset(&out);
    bench_print_write(report, false, &out);
    bench_json_write(report, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "\n20,000 requests were in flight, which is the most."));
    assert_non_null(strstr(out.data, "\"was_full\":true"));
    bench_report_free(report);
    buf_close(&out);
}

static void a_page_escapes_what_others_said(void **state)
{
    struct bench_report *const report = make_report(50, 123456);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    bench_html_write(report, NULL, &out);
    buf_add_char(&out, '\0');
    assert_null(strstr(out.data, "<b>"));
    assert_null(strstr(out.data, "Compared"));
    assert_non_null(strstr(out.data, "ERROR_&#60;b&#62;"));
    assert_non_null(strstr(out.data, "default-src 'none'"));
    assert_non_null(strstr(out.data, "<polyline class=\"p99\""));
    bench_report_free(report);
    buf_close(&out);
}

static void a_page_compares_with_an_older_report(void **state)
{
    struct bench_report *const old = make_report(50, 200000);
    struct bench_report *const report = make_report(50, 100000);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    bench_html_write(report, old, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "<h2>Compared with turnstile at http://127.0.0.1:8430</h2>"));
    assert_non_null(strstr(out.data, "<tr><td>p50</td><td>200ms</td><td>100ms</td>"
                                     "<td>-50.0 %</td><td>BETTER</td></tr>"));
    assert_null(strstr(out.data, "not alike"));
    (void)snprintf(old->load, sizeof old->load, "<b>loop");
    (void)snprintf(old->method, sizeof old->method, "<b>method");
    buf_reset(&out);
    bench_html_write(report, old, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "The two are not alike; before: &#60;b&#62;loop, dialect v1"));
    assert_null(strstr(out.data, "<b>"));
    bench_report_free(old);
    bench_report_free(report);
    buf_close(&out);
}

/* 1250 of them for 500 solves. */
static void the_calls_of_the_vendor_are_in_every_form_of_the_report(void **state)
{
    struct bench_report *const report = make_report(50, 123456);
    struct buf out;
    (void)state;
    buf_init(&out, TEXT_MAX);
    bench_print_write(report, false, &out);
    bench_json_write(report, &out);
    bench_csv_write(report, &out);
    bench_html_write(report, NULL, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "\n  vendor calls           1,250  2.500 per solve\n"));
    assert_non_null(strstr(out.data, "\"vendor_calls\":1250,\"vendor_calls_per_solve\":2.500"));
    assert_non_null(strstr(out.data, ",vendor_calls,vendor_calls_per_solve\n"));
    assert_non_null(strstr(out.data, ",1250,2.500\n"));
    assert_non_null(strstr(out.data, "<tr><td>vendor calls</td><td>1,250</td></tr>\n"
                                     "<tr><td>vendor calls per solve</td><td>2.500</td></tr>"));
    report->solved = 0;
    buf_reset(&out);
    bench_json_write(report, &out);
    bench_csv_write(report, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.data, "\"vendor_calls_per_solve\":null"));
    assert_non_null(strstr(out.data, ",1250,\n"));
    bench_report_free(report);
    buf_close(&out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_as_it_was_written),
        cmocka_unit_test(
            the_rate_counts_from_the_start_to_the_last_solution_or_the_end_of_the_load),
        cmocka_unit_test(only_changes_beyond_the_noise_count),
        cmocka_unit_test(a_faster_run_is_told_from_an_equal_one),
        cmocka_unit_test(several_submits_per_solve_have_noise_as_well),
        cmocka_unit_test(a_few_answers_are_too_few_to_tell),
        cmocka_unit_test(what_both_reports_have_is_compared),
        cmocka_unit_test(no_text_controls_the_terminal_or_its_direction),
        cmocka_unit_test(times_need_at_most_six_columns),
        cmocka_unit_test(the_live_line_tells_the_time_left_and_fits),
        cmocka_unit_test(the_print_fits_and_obeys_no_stranger),
        cmocka_unit_test(a_run_with_as_many_in_flight_as_may_be_says_so),
        cmocka_unit_test(a_page_escapes_what_others_said),
        cmocka_unit_test(a_page_compares_with_an_older_report),
        cmocka_unit_test(the_calls_of_the_vendor_are_in_every_form_of_the_report),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
