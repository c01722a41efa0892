#include "cli/bench_print.h"

#include "cli/bench_live.h"
#include "cli/grid.h"
#include "cli/show.h"

#include <inttypes.h>
#include <solvegate/words.h>
#include <string.h>

#define WIDTH 80U
#define BAR_CELLS 36U
#define CURVE_CELLS 60U
/* Later than this, the benchmark itself was too slow for its schedule. */
#define LAG_TOLD_US 10000

/* ---- lines ------------------------------------------------------------------------------- */

static void add_label(struct buf *out, const char *label)
{
    buf_addf(out, "  %-16s", label);
}

static void add_number(struct buf *out, const char *label, uint64_t number)
{
    struct buf text;
    buf_init(&text, 64);
    show_add_count(&text, number);
    add_label(out, label);
    buf_addf(out, "%12.*s", (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}

static void add_time(struct buf *out, uint64_t us, int width)
{
    struct buf text;
    buf_init(&text, 64);
    bench_add_time(&text, us);
    buf_addf(out, "%*.*s", width, (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}

static void add_share(struct buf *out, uint64_t part, uint64_t whole)
{
    if (whole > 0)
        buf_addf(out, "  %5.1f %%", 100.0 * (double)part / (double)whole);
}

static void add_line(struct buf *out, const char *label, uint64_t number, uint64_t whole)
{
    add_number(out, label, number);
    add_share(out, number, whole);
    buf_add_char(out, '\n');
}

/* ---- drawing ----------------------------------------------------------------------------- */

static void add_bar(struct buf *out, double share, bool is_utf8)
{
    const unsigned cells = (unsigned)(share * BAR_CELLS + 0.5);
    for (unsigned i = 0; i < cells; i++)
        buf_add(out, is_utf8 ? SLICE_OF("█") : SLICE_OF("#"));
    if (cells == 0 && share > 0)
        buf_add(out, is_utf8 ? SLICE_OF("▏") : SLICE_OF("."));
}

static void add_cell(struct buf *out, double share, bool is_utf8)
{
    static const char *const blocks[] = {".", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ".", "-", "-", "=", "=", "#", "#"};
    unsigned level = (unsigned)(share * 8 + 0.5);
    level = level == 0 && share > 0 ? 1 : level;
    buf_add(out, slice_from(is_utf8 ? blocks[level] : signs[level]));
}

/* The solves of each interval, as many intervals in one cell as are needed to fit. */
static void add_curve(struct buf *out, const struct bench_report *report, bool is_utf8)
{
    const size_t merged = (report->interval_count + CURVE_CELLS - 1) / CURVE_CELLS;
    uint64_t cells[CURVE_CELLS] = {0};
    uint64_t top = 0;
    if (report->interval_count < 2)
        return;
    for (size_t i = 0; i < report->interval_count; i++)
        cells[i / merged] += report->intervals[i].solved;
    const size_t count = (report->interval_count + merged - 1) / merged;
    for (size_t i = 0; i < count; i++)
        top = cells[i] > top ? cells[i] : top;
    if (top == 0)
        return;
    add_label(out, "over time");
    for (size_t i = 0; i < count; i++)
        add_cell(out, (double)cells[i] / (double)top, is_utf8);
    buf_addf(out, "\n  %-16s0s ... ", "");
    buf_addf(out, "%zus, highest %.0f/s\n", report->interval_count * report->interval_s,
             (double)top / (double)(merged * report->interval_s));
}

/* ---- parts ------------------------------------------------------------------------------- */

static void add_head(struct buf *out, const struct bench_report *report)
{
    grid_add_clean_cut(out, report->method, 40);
    buf_add(out, SLICE_OF(" at "));
    grid_add_clean_cut(out, report->url, 70U - (unsigned)strlen(report->dialect) - 20U);
    buf_addf(out, ", dialect %s\n", report->dialect);
    grid_add_clean_cut(out, report->load, WIDTH - 1);
    buf_add(out, SLICE_OF("\n\n"));
}

static void add_ends(struct buf *out, const struct bench_report *report)
{
    add_label(out, "solves/s");
    buf_addf(out, "%12.1f  ", report->rate);
    show_add_count(out, report->solved);
    buf_add(out, SLICE_OF(" in "));
    show_add_seconds(out,
                     report->rate > 0 ? (double)report->solved / report->rate : report->seconds);
    buf_add_char(out, '\n');
    add_line(out, "requests", report->sent, 0);
    add_line(out, "solved", report->solved, report->sent);
    add_line(out, "failed", report->failed, report->sent);
    if (report->unfinished > 0)
        add_line(out, "unfinished", report->unfinished, report->sent);
}

static void add_percentile(struct buf *out, uint64_t solved, double share, uint64_t us, int width)
{
    if (bench_report_tells(solved, share))
        add_time(out, us, width);
    else
        buf_addf(out, "%*s", width, "-");
}

static void add_percentiles(struct buf *out, const struct bench_report *report)
{
    if (report->solved == 0)
        return;
    buf_add(out, SLICE_OF("\nLATENCY     min    mean"));
    for (size_t i = 0; i < BENCH_SHARES; i++)
        buf_addf(out, "%8s", bench_share_names[i]);
    buf_add(out, SLICE_OF("     max\n       "));
    add_time(out, report->min_us, 8);
    add_time(out, (uint64_t)(report->mean_us + 0.5), 8);
    for (size_t i = 0; i < BENCH_SHARES; i++)
        add_percentile(out, report->solved, bench_shares[i], report->percentile_us[i], 8);
    add_time(out, report->max_us, 8);
    buf_add_char(out, '\n');
}

static void add_classes(struct buf *out, const struct bench_report *report, bool is_utf8)
{
    uint64_t top = 0;
    for (size_t i = 0; i < report->class_count; i++)
        top = report->classes[i].count > top ? report->classes[i].count : top;
    if (report->class_count < 2)
        return;
    buf_add(out, SLICE_OF("\nUP TO         SOLVES\n"));
    for (size_t i = 0; i < report->class_count; i++) {
        const struct bench_class *const class = &report->classes[i];
        struct buf count;
        buf_init(&count, 64);
        show_add_count(&count, class->count);
        buf_add(out, SLICE_OF("  "));
        add_time(out, class->up_to_us, 6);
        buf_addf(out, "%12.*s  ", (int)count.len, buf_slice(&count).data);
        add_bar(out, (double)class->count / (double)top, is_utf8);
        buf_add_char(out, '\n');
        buf_close(&count);
    }
}

static void add_sources(struct buf *out, const struct bench_report *report)
{
    uint64_t all = 0;
    for (int i = 0; i < SOURCE_COUNT; i++)
        all += report->sources[i];
    if (all == 0)
        return;
    buf_add(out, SLICE_OF("\nANSWERS\n"));
    for (int i = 0; i < SOURCE_COUNT; i++)
        if (report->sources[i] > 0)
            add_line(out, bench_source_labels[i], report->sources[i], all);
}

static void add_errors(struct buf *out, const struct bench_report *report)
{
    if (report->code_count == 0)
        return;
    buf_add(out, SLICE_OF("\nERRORS\n"));
    for (size_t i = 0; i < report->code_count; i++) {
        struct buf code;
        buf_init(&code, 256);
        show_add_clean(&code, report->codes[i].code);
        buf_addf(out, "  %-40.*s%12" PRIu64 "\n", (int)code.len, buf_slice(&code).data,
                 report->codes[i].count);
        buf_close(&code);
    }
}

static void add_steps(struct buf *out, const struct bench_report *report)
{
    if (report->step_count == 0)
        return;
    buf_addf(out, "\n%12s%12s%12s%12s%12s%12s\n", "RATE", "SENT", "SOLVED", "FAILED", "P50", "P99");
    for (size_t i = 0; i < report->step_count; i++) {
        const struct bench_step_row *const step = &report->steps[i];
        buf_addf(out, "%10.4g/s%12" PRIu64 "%12" PRIu64, step->rate, step->sent, step->solved);
        buf_addf(out, "%12" PRIu64, step->failed);
        add_percentile(out, step->solved, 0.5, step->p50_us, 12);
        add_percentile(out, step->solved, 0.99, step->p99_us, 12);
        buf_add_char(out, '\n');
    }
}

/* Requests that were left alone may have been paid for, too. */
static void add_per_solve(struct buf *out, const struct bench_report *report, const char *label,
                          uint64_t number)
{
    add_number(out, label, number);
    if (report->unfinished > 0)
        buf_addf(out, "  %.3f per request", (double)number / (double)report->sent);
    else if (report->solved > 0)
        buf_addf(out, "  %.3f per solve", (double)number / (double)report->solved);
    buf_add_char(out, '\n');
}

static void add_cost(struct buf *out, const struct bench_report *report)
{
    const struct bench_books *const books = &report->books;
    if (!report->has_books) {
        buf_add(out, SLICE_OF("\nThe cost is not known: the gateway's statistics need a key with "
                              "scope admin.\n"));
        return;
    }
    buf_add(out, SLICE_OF("\nCOST, by the gateway's statistics\n"));
    add_per_solve(out, report, "submits paid", books->submits_paid);
    if (books->submits_refused > 0)
        add_line(out, "submits refused", books->submits_refused, 0);
    if (books->retries > 0)
        add_line(out, "retries", books->retries, 0);
    add_line(out, "polls", books->polls, 0);
    if (books->callbacks > 0)
        add_line(out, "callbacks", books->callbacks, 0);
    add_per_solve(out, report, "vendor calls", books->vendor_calls);
    if (books->has_money) {
        add_label(out, "money spent");
        buf_addf(out, "%12.4f\n", books->money);
    }
}

/* What makes the figures less sure than they look. */
static void add_remarks(struct buf *out, const struct bench_report *report)
{
    if (report->lag_p99_us > LAG_TOLD_US) {
        buf_add(out, SLICE_OF("\nThe benchmark itself was late: 1 % of the requests went out "));
        bench_add_time(out, report->lag_p99_us);
        buf_add(out, SLICE_OF(" after\nthey were due, or later. That is in the latencies.\n"));
    }
    if (report->was_full) {
        buf_add(out, SLICE_OF("\n"));
        show_add_count(out, BENCH_CONCURRENCY_MAX);
        buf_add(out,
                SLICE_OF(" requests were in flight, which is the most. Others that were due went "
                         "out\nlater, and that is in the latencies.\n"));
    }
    if (report->has_books && report->books.requests > report->sent) {
        buf_add(out, SLICE_OF("\nThere were "));
        show_add_count(out, report->books.requests - report->sent);
        buf_add(out, SLICE_OF(" requests of others meanwhile; the cost includes them.\n"));
    }
}

void bench_print_write(const struct bench_report *report, bool is_utf8, struct buf *out)
{
    add_head(out, report);
    add_ends(out, report);
    add_curve(out, report, is_utf8);
    add_percentiles(out, report);
    add_classes(out, report, is_utf8);
    add_steps(out, report);
    add_sources(out, report);
    add_errors(out, report);
    add_cost(out, report);
    add_remarks(out, report);
}
