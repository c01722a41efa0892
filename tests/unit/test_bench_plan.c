#include "cli/bench_guard.h"
#include "cli/bench_pace.h"
#include "cli/bench_plan.h"
#include "cli/bench_schedule.h"
#include "cli/bench_targets.h"
#include "cli/bench_trace.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cmocka.h>

#define MS ((uint64_t)1000000)
#define S ((uint64_t)1000000000)

/* ---- texts ------------------------------------------------------------------------------- */

static void rates_are_per_second_or_per_minute(void **state)
{
    double rate = 0;
    (void)state;
    assert_true(bench_parse_rate("200/s", &rate) && rate > 199.9 && rate < 200.1);
    assert_true(bench_parse_rate("200", &rate) && rate > 199.9);
    assert_true(bench_parse_rate("90/m", &rate) && rate > 1.49 && rate < 1.51);
    assert_true(bench_parse_rate("0.5/s", &rate) && rate > 0.49 && rate < 0.51);
}

static void wrong_numbers_are_refused(void **state)
{
    static const char *const wrong[] = {"",   "/s",  "-1",   "1e3",   "inf", "nan",
                                        "0",  "0/s", "10/h", "1.2.3", ".",   "200001/s",
                                        " 1", "1 ",  "0x10", "1,"};
    double number = 7;
    double steps[BENCH_STEPS_MAX];
    uint64_t count = 7;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(bench_parse_rate(wrong[i], &number));
        assert_int_equal(bench_parse_steps(wrong[i], steps), 0);
    }
    assert_false(bench_parse_real("1.1", 0, 1, &number));
    assert_false(bench_parse_count("0", 1, 9, &count) || bench_parse_count("10", 1, 9, &count));
    assert_true(number > 6.9 && number < 7.1 && count == 7);
}

static void steps_are_rates_with_commas(void **state)
{
    double steps[BENCH_STEPS_MAX];
    (void)state;
    assert_int_equal(bench_parse_steps("50/s,100/s,120/m", steps), 3);
    assert_true(steps[0] < 50.1 && steps[1] > 99.9 && steps[2] < 2.1);
    assert_int_equal(bench_parse_steps("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", steps), 16);
    assert_int_equal(bench_parse_steps("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", steps), 0);
}

/* ---- the schedule ------------------------------------------------------------------------ */

/* Counts the requests that are due before each of the times; all must be in order. */
static uint64_t count_until(struct bench_schedule *schedule, uint64_t from, uint64_t until_ns)
{
    uint64_t number = from;
    uint64_t before = 0;
    for (;; number++) {
        struct bench_schedule copy = *schedule;
        const uint64_t due = bench_schedule_due(&copy, number);
        if (due >= until_ns)
            return number;
        assert_true(due >= before);
        before = due;
        *schedule = copy;
    }
}

static void a_fixed_rate_is_even_and_ends_with_the_duration(void **state)
{
    const struct bench_plan plan = {.steps = {200}, .step_count = 1, .duration_ms = 30000};
    struct bench_schedule schedule;
    (void)state;
    bench_schedule_init(&schedule, &plan);
    assert_int_equal(bench_schedule_due(&schedule, 0), 0);
    assert_int_equal(bench_schedule_due(&schedule, 1), 5 * MS);
    assert_int_equal(bench_schedule_due(&schedule, 5999), 29995 * MS);
    assert_int_equal(bench_schedule_due(&schedule, 6000), BENCH_NEVER);
    assert_int_equal(bench_expected_requests(&plan), 6000);
}

static void a_rate_without_duration_never_ends(void **state)
{
    const struct bench_plan plan = {.steps = {1000}, .step_count = 1, .requests = 5};
    struct bench_schedule schedule;
    (void)state;
    bench_schedule_init(&schedule, &plan);
    assert_int_equal(bench_schedule_due(&schedule, 10000000), 10000 * S);
    assert_int_equal(bench_expected_requests(&plan), 5);
}

static void steps_share_the_duration(void **state)
{
    const struct bench_plan plan = {.steps = {10, 100, 50}, .step_count = 3, .duration_ms = 30000};
    struct bench_schedule schedule;
    (void)state;
    bench_schedule_init(&schedule, &plan);
    uint64_t sent = count_until(&schedule, 0, 10 * S);
    assert_int_equal(sent, 100);
    sent = count_until(&schedule, sent, 20 * S);
    assert_int_equal(sent, 1100);
    sent = count_until(&schedule, sent, BENCH_NEVER);
    assert_int_equal(sent, 1600);
    assert_int_equal(bench_expected_requests(&plan), 1600);
}

/* Half as many requests while the rate grows from nothing: 5 s at 100/s on average 50/s. */
static void a_ramp_grows_evenly(void **state)
{
    const struct bench_plan plan = {
        .steps = {100}, .step_count = 1, .duration_ms = 10000, .ramp_ms = 5000};
    struct bench_schedule schedule;
    (void)state;
    bench_schedule_init(&schedule, &plan);
    uint64_t sent = count_until(&schedule, 0, 2500 * MS);
    assert_in_range(sent, 62, 64);
    sent = count_until(&schedule, sent, 5 * S);
    assert_in_range(sent, 249, 251);
    sent = count_until(&schedule, sent, BENCH_NEVER);
    assert_in_range(sent, 749, 751);
    assert_int_equal(bench_expected_requests(&plan), 750);
}

/* The ramp grows to the first rate, so the next one must not begin before it is over. */
static void a_ramp_fits_into_the_first_step(void **state)
{
    struct bench_plan plan = {.steps = {300, 1, 1}, .step_count = 3, .duration_ms = 9000};
    struct bench_schedule schedule;
    (void)state;
    plan.ramp_ms = 3000;
    assert_true(bench_ramp_fits(&plan));
    bench_schedule_init(&schedule, &plan);
    const uint64_t sent = count_until(&schedule, 0, BENCH_NEVER);
    assert_in_range(bench_expected_requests(&plan), sent - 1, sent + 1);
    plan.ramp_ms = 3001;
    assert_false(bench_ramp_fits(&plan));
    plan.ramp_ms = 9000;
    assert_false(bench_ramp_fits(&plan));
    plan.step_count = 1;
    assert_true(bench_ramp_fits(&plan));
    plan.duration_ms = 0;
    assert_true(bench_ramp_fits(&plan));
    const struct bench_plan closed = {.concurrency = 5, .duration_ms = 9000, .ramp_ms = 9001};
    assert_false(bench_ramp_fits(&closed));
}

/* ---- targets ----------------------------------------------------------------------------- */

#define DRAWS 20000

/* Returns how many were new, and counts how often the first and the hundredth were asked for. */
static uint64_t draw(double repeat, double zipf, unsigned *first, unsigned *hundredth)
{
    struct bench_targets targets;
    bench_targets_init(&targets, repeat, zipf, seed_value());
    *first = 0;
    *hundredth = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        const uint64_t known = targets.known;
        const uint64_t target = bench_targets_next(&targets);
        assert_true(target <= known);
        *first += target == 0 ? 1 : 0;
        *hundredth += target == 99 ? 1 : 0;
    }
    return targets.known;
}

static void without_repeats_every_target_is_new(void **state)
{
    unsigned first;
    unsigned hundredth;
    (void)state;
    assert_int_equal(draw(0, 0, &first, &hundredth), DRAWS);
    assert_int_equal(first, 1);
    assert_int_equal(hundredth, 1);
}

static void the_share_of_repeats_is_as_asked_for(void **state)
{
    unsigned first;
    unsigned hundredth;
    (void)state;
    /* Five standard deviations: 5 * sqrt(20000 * 0.3 * 0.7) is 324. */
    assert_in_range(draw(0.3, 0, &first, &hundredth), 14000 - 324, 14000 + 324);
    assert_int_equal(draw(1, 0, &first, &hundredth), 1);
}

/* By Zipf's law with exponent 1 the first of 10,000 targets gets about 1/9.8 of all repeats, the hundredth 1/980. */
static void repeats_follow_zipfs_law(void **state)
{
    unsigned first;
    unsigned hundredth;
    (void)state;
    (void)draw(0.5, 1, &first, &hundredth);
    assert_in_range(first, 900, 1500);
    assert_in_range(hundredth, 2, 40);
    (void)draw(0.5, 1.1, &first, &hundredth);
    assert_in_range(first, 1200, 2100);
    (void)draw(0.5, 0, &first, &hundredth);
    assert_in_range(first, 1, 60);
}

static void the_same_seed_draws_the_same_targets(void **state)
{
    struct bench_targets a;
    struct bench_targets b;
    (void)state;
    bench_targets_init(&a, 0.5, 1.1, 42);
    bench_targets_init(&b, 0.5, 1.1, 42);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(bench_targets_next(&a), bench_targets_next(&b));
}

/* ---- whom it may ask --------------------------------------------------------------------- */

static void hosts_are_told_apart_by_their_addresses(void **state)
{
    (void)state;
    assert_int_equal(bench_guard_host("http://127.0.0.1:8430"), BENCH_HOST_LOOPBACK);
    assert_int_equal(bench_guard_host("http://[::1]:8430/"), BENCH_HOST_LOOPBACK);
    assert_int_equal(bench_guard_host("unix:/run/solvegate.sock"), BENCH_HOST_LOOPBACK);
    assert_int_equal(bench_guard_host("http://192.168.1.7:8430"), BENCH_HOST_PRIVATE);
    assert_int_equal(bench_guard_host("http://1.1.1.1"), BENCH_HOST_PUBLIC);
    assert_int_equal(bench_guard_host("https://[2606:4700::1111]"), BENCH_HOST_PUBLIC);
    assert_int_equal(bench_guard_host("http://[::ffff:1.1.1.1]"), BENCH_HOST_PUBLIC);
    assert_int_equal(bench_guard_host("http://[::ffff:10.1.1.1]"), BENCH_HOST_PRIVATE);
    assert_int_equal(bench_guard_host("http://[64:ff9b::10.0.0.1]"), BENCH_HOST_PUBLIC);
    assert_int_equal(bench_guard_host("http://0.0.0.0:8430"), BENCH_HOST_PUBLIC);
    assert_int_equal(bench_guard_host("http://localhost:8430"), BENCH_HOST_LOOPBACK);
    assert_int_equal(bench_guard_host("http://"), BENCH_HOST_UNKNOWN);
    assert_int_equal(bench_guard_host("nonsense of mine"), BENCH_HOST_UNKNOWN);
    assert_true(bench_guard_same("http://gate:80/", "http://GATE"));
    assert_false(bench_guard_same("http://gate:81", "http://gate"));
    assert_false(bench_guard_same("http://gate", "unix:/run/x"));
}

static void strangers_and_high_rates_are_refused(void **state)
{
    (void)state;
    assert_null(bench_guard_refusal(BENCH_HOST_LOOPBACK, false, false, 100000));
    assert_null(bench_guard_refusal(BENCH_HOST_PRIVATE, false, false, 100));
    assert_non_null(bench_guard_refusal(BENCH_HOST_PRIVATE, true, false, 101));
    assert_null(bench_guard_refusal(BENCH_HOST_PRIVATE, false, true, 101));
    assert_non_null(bench_guard_refusal(BENCH_HOST_PUBLIC, false, false, 1));
    assert_null(bench_guard_refusal(BENCH_HOST_PUBLIC, true, false, 1));
    assert_non_null(bench_guard_refusal(BENCH_HOST_PUBLIC, true, false, 101));
    assert_null(bench_guard_refusal(BENCH_HOST_PUBLIC, false, true, 101));
    assert_non_null(bench_guard_refusal(BENCH_HOST_UNKNOWN, true, true, 1));
    assert_true(bench_guard_pace(BENCH_HOST_PRIVATE, false) > 99);
    assert_true(bench_guard_pace(BENCH_HOST_PRIVATE, true) < 1);
    assert_true(bench_guard_pace(BENCH_HOST_LOOPBACK, false) < 1);
}

static bool is_allowed(bench_guard_rule *rule, const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return rule((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return rule((const struct sockaddr *)&six);
}

static const char *const loopback[] = {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"};
static const char *const near[] = {
    "10.0.0.0",   "10.255.255.255",  "172.16.0.1",      "172.31.255.255",    "192.168.0.1",
    "100.64.0.0", "100.127.255.255", "169.254.1.1",     "fc00::1",           "fdff::1",
    "fe80::1",    "febf::1",         "::ffff:10.0.0.1", "::ffff:192.168.1.1"};
/* Public, or something that no private network has. */
static const char *const far[] = {"1.1.1.1",
                                  "9.255.255.255",
                                  "11.0.0.0",
                                  "172.15.255.255",
                                  "172.32.0.0",
                                  "192.167.255.255",
                                  "100.63.255.255",
                                  "100.128.0.0",
                                  "0.0.0.0",
                                  "192.0.2.1",
                                  "198.18.0.1",
                                  "198.51.100.1",
                                  "203.0.113.1",
                                  "224.0.0.1",
                                  "240.0.0.1",
                                  "255.255.255.255",
                                  "::",
                                  "::ffff:1.1.1.1",
                                  "::ffff:0.0.0.0",
                                  "::ffff:0:10.0.0.1",
                                  "::10.0.0.1",
                                  "64:ff9b::10.0.0.1",
                                  "64:ff9b:1::1",
                                  "2002:a00:1::1",
                                  "2001:0:a00:1::1",
                                  "2001:db8::1",
                                  "2606:4700::1111",
                                  "fbff::1",
                                  "fe00::1",
                                  "fec0::1",
                                  "ff02::1"};

static void addresses_are_checked_where_they_are_connected_to(void **state)
{
    bench_guard_rule *const here = bench_guard_rule_for(BENCH_HOST_LOOPBACK, false);
    bench_guard_rule *const around = bench_guard_rule_for(BENCH_HOST_PRIVATE, false);
    const struct sockaddr path = {.sa_family = AF_UNIX};
    (void)state;
    for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
        assert_true(is_allowed(here, loopback[i]) && is_allowed(around, loopback[i]));
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        assert_true(!is_allowed(here, near[i]) && is_allowed(around, near[i]));
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_false(is_allowed(here, far[i]) || is_allowed(around, far[i]));
    assert_true(here(&path) && around(&path));
    assert_true(bench_guard_rule_for(BENCH_HOST_LOOPBACK, true) == around);
    assert_null(bench_guard_rule_for(BENCH_HOST_PUBLIC, false));
}

/* A loop that is late makes up for a little, and no pause becomes a burst. */
static void a_pace_counts_every_call(void **state)
{
    struct bench_pace pace;
    unsigned sent = 0;
    (void)state;
    bench_pace_init(&pace, 100);
    for (uint64_t now = 0; now < S; now += 3 * MS)
        for (; bench_pace_allows(&pace, now); sent++)
            bench_pace_note(&pace, now, 1);
    assert_in_range(sent, 98, 101);
    sent = 0;
    for (; bench_pace_allows(&pace, 60 * S); sent++)
        bench_pace_note(&pace, 60 * S, 1);
    assert_in_range(sent, 1, 3);
    bench_pace_note(&pace, 60 * S, 50);
    assert_false(bench_pace_allows(&pace, 60 * S + 490 * MS));
    bench_pace_init(&pace, 0);
    bench_pace_note(&pace, 0, 1000000);
    assert_true(bench_pace_allows(&pace, 0));
}

/* ---- traces ------------------------------------------------------------------------------ */

static void a_trace_is_read_as_it_was_written(void **state)
{
    struct bench_trace trace;
    const char *why = NULL;
    struct buf text;
    (void)state;
    buf_init(&text, 4096);
    bench_trace_write_line(&text, 2500000, "aa", "turnstile");
    bench_trace_write_line(&text, 1000000, "bb", "base64");
    bench_trace_write_line(&text, 1400000, "aa", "turnstile");
    buf_add(&text, SLICE_OF("\n"));
    assert_int_equal(bench_trace_read(&trace, buf_slice(&text), &why), 0);
    assert_int_equal(trace.count, 3);
    assert_int_equal(trace.lines[0].at_us, 0);
    assert_int_equal(trace.lines[1].at_us, 400000);
    assert_int_equal(trace.lines[2].at_us, 1500000);
    assert_string_equal(bench_trace_method(&trace, 0), "base64");
    assert_int_equal(trace.lines[1].target, trace.lines[2].target);
    assert_int_equal(bench_trace_targets(&trace), 2);
    assert_true(bench_trace_top_rate(&trace, 1) < 2.1 && bench_trace_top_rate(&trace, 1) > 1.9);
    assert_true(bench_trace_top_rate(&trace, 2) > 2.9);
    bench_trace_close(&trace);
    buf_close(&text);
}

static void a_line_that_is_no_request_is_named(void **state)
{
    static const char good[] = "{\"at\":1,\"target\":\"a\",\"method\":\"turnstile\"}\n";
    static const char *const wrong[] = {"x",
                                        "{}",
                                        "[]",
                                        "{\"at\":-1,\"target\":\"a\",\"method\":\"m\"}",
                                        "{\"at\":1e99,\"target\":\"a\",\"method\":\"m\"}",
                                        "{\"at\":1,\"target\":7,\"method\":\"m\"}",
                                        "{\"at\":1,\"target\":\"a\",\"method\":\"\"}"};
    struct bench_trace trace;
    const char *why = NULL;
    struct buf text;
    (void)state;
    buf_init(&text, 4096);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        buf_reset(&text);
        buf_addf(&text, "%s\n%s\n", good, wrong[i]);
        assert_int_equal(bench_trace_read(&trace, buf_slice(&text), &why), 3);
        bench_trace_close(&trace);
    }
    assert_int_equal(bench_trace_read(&trace, SLICE_OF("\n\n"), &why), 1);
    bench_trace_close(&trace);
    buf_close(&text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_per_second_or_per_minute),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(steps_are_rates_with_commas),
        cmocka_unit_test(a_fixed_rate_is_even_and_ends_with_the_duration),
        cmocka_unit_test(a_rate_without_duration_never_ends),
        cmocka_unit_test(steps_share_the_duration),
        cmocka_unit_test(a_ramp_grows_evenly),
        cmocka_unit_test(a_ramp_fits_into_the_first_step),
        cmocka_unit_test(without_repeats_every_target_is_new),
        cmocka_unit_test(the_share_of_repeats_is_as_asked_for),
        cmocka_unit_test(repeats_follow_zipfs_law),
        cmocka_unit_test(the_same_seed_draws_the_same_targets),
        cmocka_unit_test(hosts_are_told_apart_by_their_addresses),
        cmocka_unit_test(strangers_and_high_rates_are_refused),
        cmocka_unit_test(addresses_are_checked_where_they_are_connected_to),
        cmocka_unit_test(a_pace_counts_every_call),
        cmocka_unit_test(a_trace_is_read_as_it_was_written),
        cmocka_unit_test(a_line_that_is_no_request_is_named),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
