#include "cli/bench_vendor_print.h"

#include "cli/bench_live.h"
#include "cli/bench_report.h"
#include "cli/grid.h"
#include "cli/show.h"
#include "config/config_values.h"
#include "proto/json_out.h"
#include "proto/vendor_errors.h"

#include <inttypes.h>

uint64_t bench_vendor_busy(const struct bench_tally *tally)
{
    const struct vendor_options options = {.overrides = NULL};
    uint64_t busy = 0;
    for (size_t i = 0; i < tally->code_count; i++) {
        struct vendor_error error;
        if (vendor_find_error(&options, slice_from(tally->codes[i].code), &error) &&
            (error.class == CLASS_BUSY || error.is_short))
            busy += tally->codes[i].count;
    }
    return busy;
}

static void add_time(struct grid *grid, const struct percentiles *times, double share)
{
    struct buf text;
    buf_init(&text, 64);
    if (bench_report_tells(times->count, share))
        bench_add_time(&text, percentiles_at(times, share));
    else
        buf_add_char(&text, '-');
    grid_addf(grid, "%.*s", (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}

static void write_rows(const struct bench_vendor_report *report, struct buf *out)
{
    static const struct grid_column columns[] = {
        {.title = "METHOD", .cut = 24},      {.title = "AT ONCE", .is_right = true},
        {.title = "SENT", .is_right = true}, {.title = "SOLVED", .is_right = true},
        {.title = "BUSY", .is_right = true}, {.title = "FAILED", .is_right = true},
        {.title = "P50", .is_right = true},  {.title = "P95", .is_right = true},
    };
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct bench_tally *const tally = report->rows[i].tally;
        const uint64_t busy = bench_vendor_busy(tally);
        grid_add(&grid, report->rows[i].method);
        grid_add_number(&grid, report->rows[i].at_once);
        grid_add_number(&grid, tally->sent);
        grid_add_number(&grid, tally->solved);
        grid_add_number(&grid, busy);
        grid_add_number(&grid, tally->failed - busy);
        add_time(&grid, &tally->latency_us, 0.5);
        add_time(&grid, &tally->latency_us, 0.95);
    }
    grid_write(&grid, out, 80, report->row_count + 1);
    grid_close(&grid);
}

static void write_errors(const struct bench_vendor_report *report, struct buf *out)
{
    static const struct grid_column columns[] = {
        {.title = "METHOD", .cut = 24},
        {.title = "AT ONCE", .is_right = true},
        {.title = "ERROR", .is_shrinking = true},
        {.title = "TIMES", .is_right = true},
    };
    struct grid grid;
    size_t count = 0;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->row_count; i++) {
        struct bench_tally *const tally = report->rows[i].tally;
        bench_tally_sort(tally);
        for (size_t j = 0; j < tally->code_count; j++, count++) {
            grid_add(&grid, report->rows[i].method);
            grid_add_number(&grid, report->rows[i].at_once);
            grid_add(&grid, tally->codes[j].code);
            grid_add_number(&grid, tally->codes[j].count);
        }
    }
    if (count > 0) {
        buf_add_char(out, '\n');
        grid_write(&grid, out, 80, count + 1);
    }
    grid_close(&grid);
}

/* How much sooner callbacks came than the polls that found the same answers. */
static void write_told(const struct bench_vendor_report *report, struct buf *out)
{
    static const struct grid_column columns[] = {
        {.title = "METHOD", .cut = 24},
        {.title = "AT ONCE", .is_right = true},
        {.title = "CALLED BACK", .is_right = true},
        {.title = "SOONER BY P50", .is_right = true},
        {.title = "P95", .is_right = true},
    };
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct percentiles *const told = &report->rows[i].tally->told_us;
        grid_add(&grid, report->rows[i].method);
        grid_add_number(&grid, report->rows[i].at_once);
        grid_addf(&grid, "%" PRIu64 " of %" PRIu64, told->count, report->rows[i].tally->solved);
        add_time(&grid, told, 0.5);
        add_time(&grid, told, 0.95);
    }
    buf_add_char(out, '\n');
    grid_write(&grid, out, 80, report->row_count + 1);
    grid_close(&grid);
}

static uint64_t all_solved(const struct bench_vendor_report *report)
{
    uint64_t solved = 0;
    for (size_t i = 0; i < report->row_count; i++)
        solved += report->rows[i].tally->solved;
    return solved;
}

static void write_url(const struct bench_vendor_report *report, struct buf *out)
{
    struct buf url;
    buf_init(&url, 4096);
    show_add_url(&url, report->url);
    buf_add_char(&url, '\0');
    grid_add_cut(out, url.data, 79);
    buf_close(&url);
}

static void write_spent(const struct bench_vendor_report *report, struct buf *out)
{
    const uint64_t solved = all_solved(report);
    buf_addf(out, "spent %s%g of %g", report->is_spent_known ? "" : "at least ", report->spent,
             report->budget);
    if (report->is_balance_blind) {
        buf_add(out, SLICE_OF("\nThe vendor's balance did not fall, so it shows nothing of what "
                              "was spent: it is\nlate, or the captchas were free. Say with "
                              "--price what one costs."));
        return;
    }
    buf_addf(out, ", by the %s", report->is_spent_by_balance ? "vendor's balance" : "price");
    if (report->has_balance && !report->is_spent_by_balance)
        buf_addf(out, " (the balance shows %g)", report->spent_by_balance);
    if (solved > 0)
        buf_addf(out, "; %g per solve", report->spent / (double)solved);
    if (!report->is_spent_known)
        buf_add(out, SLICE_OF("\nThe vendor did not tell its balance after the last captchas."));
}

void bench_vendor_write(const struct bench_vendor_report *report, struct buf *out)
{
    write_url(report, out);
    buf_add(out, SLICE_OF("\n\n"));
    write_rows(report, out);
    write_errors(report, out);
    if (report->has_callbacks)
        write_told(report, out);
    buf_add(out, SLICE_OF("\nEach was polled every "));
    value_write_duration(out, report->poll_ms);
    buf_add(out, SLICE_OF(", so times are up to that long too late.\n"));
    write_spent(report, out);
    buf_add(out, report->is_budget_used ? SLICE_OF("\nThe budget did not pay for all of them.\n")
                                        : SLICE_OF("\n"));
}

static void add_percentile(struct buf *out, const char *name, const struct percentiles *times,
                           double share)
{
    json_member(out, name);
    if (bench_report_tells(times->count, share))
        buf_addf(out, "%.3f", (double)percentiles_at(times, share) / 1000);
    else
        buf_add(out, SLICE_OF("null"));
}

static void add_row_json(struct buf *out, const struct bench_vendor_row *row)
{
    const struct bench_tally *const tally = row->tally;
    json_open(out, '{');
    json_string(out, "method", row->method);
    json_number(out, "at_once", row->at_once);
    json_number(out, "sent", tally->sent);
    json_number(out, "solved", tally->solved);
    json_number(out, "busy", bench_vendor_busy(tally));
    json_number(out, "failed", tally->failed);
    json_number(out, "unfinished", row->unfinished);
    add_percentile(out, "p50_ms", &tally->latency_us, 0.5);
    add_percentile(out, "p95_ms", &tally->latency_us, 0.95);
    json_number(out, "called_back", tally->told_us.count);
    add_percentile(out, "callback_sooner_p50_ms", &tally->told_us, 0.5);
    add_percentile(out, "callback_sooner_p95_ms", &tally->told_us, 0.95);
    json_member(out, "errors");
    json_open(out, '{');
    for (size_t i = 0; i < tally->code_count; i++) {
        json_item(out);
        (void)json_add_string(out, slice_from(tally->codes[i].code));
        buf_add_char(out, ':');
        buf_add_u64(out, tally->codes[i].count);
    }
    json_close(out, '}');
    json_close(out, '}');
}

static void write_url_json(const struct bench_vendor_report *report, struct buf *out)
{
    struct buf url;
    buf_init(&url, 4096);
    show_add_url(&url, report->url);
    json_member(out, "url");
    (void)json_add_string(out, buf_slice(&url));
    buf_close(&url);
}

void bench_vendor_write_json(const struct bench_vendor_report *report, struct buf *out)
{
    json_open(out, '{');
    json_number(out, "bench_vendor", 1);
    write_url_json(report, out);
    json_number(out, "poll_ms", report->poll_ms);
    json_member(out, "rows");
    json_open(out, '[');
    for (size_t i = 0; i < report->row_count; i++)
        add_row_json(out, &report->rows[i]);
    json_close(out, ']');
    json_member(out, "spent");
    buf_addf(out, "%.6f", report->spent);
    json_member(out, "budget");
    buf_addf(out, "%.6f", report->budget);
    if (report->has_balance) {
        json_member(out, "spent_by_balance");
        buf_addf(out, "%.6f", report->spent_by_balance);
    }
    json_bool(out, "is_spent_by_balance", report->is_spent_by_balance);
    json_bool(out, "is_spent_known", report->is_spent_known);
    json_bool(out, "is_budget_used", report->is_budget_used);
    json_close(out, '}');
    buf_add_char(out, '\n');
}
