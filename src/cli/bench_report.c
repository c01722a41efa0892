#include "cli/bench_report.h"

#include "base/assert.h"
#include "cli/show.h"
#include "config/config_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const double bench_shares[BENCH_SHARES] = {0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
const char *const bench_share_names[BENCH_SHARES] = {"p50", "p90", "p95", "p99", "p99.9", "p99.99"};

const char *const bench_source_labels[SOURCE_COUNT] = {
    [SOURCE_API] = "own solve",           [SOURCE_DEDUP_WAIT] = "joined a solve",
    [SOURCE_DEDUP_CACHE] = "from memory", [SOURCE_IDEMPOTENT] = "idempotency key",
    [SOURCE_POOL] = "from a pool",
};

/* ---- words ------------------------------------------------------------------------------- */

static void add_rate(struct buf *out, double rate)
{
    buf_addf(out, rate >= 10 || rate == (double)(uint64_t)rate ? "%.0f/s" : "%.3g/s", rate);
}

static void add_steps(struct buf *out, const struct bench_plan *plan)
{
    for (size_t i = 0; i < plan->step_count; i++) {
        buf_add(out, i == 0 ? SLICE_OF("") : SLICE_OF(", "));
        add_rate(out, plan->steps[i]);
    }
}

void bench_describe_load(const struct bench_plan *plan, struct buf *out)
{
    if (plan->trace != NULL) {
        buf_addf(out, "replay, %.4g times as fast", plan->speed);
    } else if (bench_is_open_loop(plan)) {
        buf_add(out, SLICE_OF("open loop, "));
        add_steps(out, plan);
    } else {
        buf_addf(out, "closed loop, %" PRIu32 " at once", plan->concurrency);
    }
    if (plan->duration_ms > 0) {
        buf_add(out, SLICE_OF(" for "));
        value_write_duration(out, plan->duration_ms);
    }
    if (plan->ramp_ms > 0) {
        buf_add(out, SLICE_OF(", ramp of "));
        value_write_duration(out, plan->ramp_ms);
    }
    if (plan->requests > 0) {
        buf_add(out, SLICE_OF(", "));
        show_add_count(out, plan->requests);
        buf_add(out, SLICE_OF(" requests"));
    }
    if (plan->callbacks != NULL)
        buf_add(out, SLICE_OF(", told by notices"));
    if (plan->repeat > 0)
        buf_addf(out, ", %.4g %% repeats", plan->repeat * 100);
    if (plan->zipf > 0)
        buf_addf(out, " (Zipf %.2g)", plan->zipf);
}

/* ---- from a run -------------------------------------------------------------------------- */

static void take_latency(struct bench_report *report, const struct percentiles *latency_us)
{
    uint64_t before = 0;
    report->min_us = latency_us->min;
    report->max_us = latency_us->max;
    report->mean_us = percentiles_mean(latency_us);
    for (size_t i = 0; i < BENCH_SHARES; i++)
        report->percentile_us[i] = percentiles_at(latency_us, bench_shares[i]);
    static const unsigned factors[] = {1, 2, 5};
    uint64_t unit = 100;
    for (size_t i = 0; i < BENCH_CLASSES; i++) {
        const uint64_t up_to_us = unit * factors[i % 3];
        const uint64_t seen = percentiles_up_to(latency_us, up_to_us);
        unit *= i % 3 == 2 ? 10 : 1;
        if (seen == before)
            continue;
        report->classes[report->class_count++] =
            (struct bench_class){.up_to_us = up_to_us, .count = seen - before};
        before = seen;
    }
}

static void take_steps(struct bench_report *report, const struct bench_plan *plan,
                       const struct bench_tally *tally)
{
    report->step_count = plan->step_count > 1 ? plan->step_count : 0;
    for (size_t i = 0; i < report->step_count; i++) {
        const struct bench_step *const step = &tally->steps[i];
        report->steps[i] = (struct bench_step_row){
            .rate = plan->steps[i],
            .sent = step->sent,
            .solved = step->latency_us.count,
            .failed = step->failed,
            .p50_us = percentiles_at(&step->latency_us, 0.5),
            .p99_us = percentiles_at(&step->latency_us, 0.99),
        };
    }
}

/* /v1 names the source of each answer; for the other dialects the gateway's books know. */
static void take_sources(struct bench_report *report, const struct bench_tally *tally,
                         const struct bench_books *books)
{
    uint64_t told = 0;
    for (int i = 0; i < SOURCE_COUNT; i++)
        told += tally->sources[i];
    report->has_sources = told > 0 || books != NULL;
    for (int i = 0; i < SOURCE_COUNT; i++)
        report->sources[i] = told == 0 && books != NULL ? books->answered[i] : tally->sources[i];
}

static void take_texts(struct bench_report *report, const struct bench_plan *plan, const char *url)
{
    struct buf load;
    buf_init(&load, sizeof report->load - 1);
    bench_describe_load(plan, &load);
    (void)snprintf(report->load, sizeof report->load, "%.*s", (int)load.len, buf_slice(&load).data);
    buf_close(&load);
    struct buf shown;
    buf_init(&shown, sizeof report->url - 1);
    show_add_url(&shown, url);
    (void)snprintf(report->url, sizeof report->url, "%.*s", (int)shown.len, buf_slice(&shown).data);
    buf_close(&shown);
    (void)snprintf(report->method, sizeof report->method, "%s", plan->method);
    (void)snprintf(report->dialect, sizeof report->dialect, "%s",
                   bench_dialect_name(plan->dialect));
}

/* From the start, when the first request was due: a gateway that held its answers back for a while was slow meanwhile.
 * And not before the load is over, so that the rate is never higher than that of the requests. */
static double solve_rate(uint64_t solved, const struct bench_end *end)
{
    const uint64_t ns = end->solved_ns > end->load_ns ? end->solved_ns : end->load_ns;
    return ns > 0 ? (double)solved * 1e9 / (double)ns : 0;
}

struct bench_report *bench_report_new(const struct bench_plan *plan, const char *url,
                                      struct bench_tally *tally, const struct bench_end *end,
                                      const struct bench_books *books)
{
    struct bench_report *const report = calloc(1, sizeof *report);
    ASSERT(report != NULL);
    bench_tally_sort(tally);
    take_texts(report, plan, url);
    report->seconds = (double)end->elapsed_ns / 1e9;
    report->rate = solve_rate(tally->solved, end);
    report->started_wall_ms = ((int64_t)time(NULL) - (int64_t)report->seconds) * 1000;
    report->sent = tally->sent;
    report->solved = tally->solved;
    report->failed = tally->failed;
    report->unfinished = end->unfinished;
    report->was_full = end->was_full;
    report->lag_p99_us = percentiles_at(&tally->lag_us, 0.99);
    take_latency(report, &tally->latency_us);
    take_sources(report, tally, books);
    take_steps(report, plan, tally);
    report->code_count = tally->code_count;
    memcpy(report->codes, tally->codes, sizeof report->codes);
    report->interval_s = tally->interval_s;
    report->interval_count = tally->interval_count;
    memcpy(report->intervals, tally->intervals, sizeof report->intervals);
    report->has_books = books != NULL;
    if (books != NULL)
        report->books = *books;
    return report;
}

bool bench_report_tells(uint64_t solved, double share)
{
    return (double)solved * (1 - share) >= 0.999;
}

void bench_report_free(struct bench_report *report)
{
    free(report);
}
