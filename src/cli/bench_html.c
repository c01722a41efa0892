#include "cli/bench_html.h"

#include "cli/bench_compare.h"
#include "cli/bench_live.h"
#include "cli/show.h"

#include <inttypes.h>
#include <solvegate/words.h>
#include <stdio.h>
#include <time.h>

/* Of a chart, in its own units; the page scales it. */
#define WIDTH 720.0
#define HEIGHT 180.0
#define LEFT 64.0
#define BOTTOM 22.0
#define TOP 10.0
#define PLOT_WIDTH (WIDTH - LEFT - 10)
#define PLOT_HEIGHT (HEIGHT - TOP - BOTTOM)

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n<title>solvegate bench</title>\n<style>\n"
    ":root{color-scheme:light dark;--ink:#1c2330;--soft:#667085;--line:#d8dde6;--a:#2563eb;"
    "--b:#c2410c;--paper:#fff}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#98a2b3;--line:#344054;"
    "--a:#7aa7ff;--b:#ff9d6c;--paper:#12161d}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:52rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}p{color:var(--soft)}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:right;padding:.25rem .5rem;border-bottom:1px solid var(--line)}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "svg{width:100%;height:auto;display:block}text{font-size:11px;fill:var(--soft)}\n"
    "@media(max-width:40rem){text{font-size:20px}}\n"
    ".bar{fill:var(--a)}.axis{stroke:var(--line)}\n"
    ".p50{fill:none;stroke:var(--a);stroke-width:2}.p99{fill:none;stroke:var(--b);stroke-width:2}\n"
    ".k50{color:var(--a)}.k99{color:var(--b)}.wide{overflow-x:auto}\n"
    "</style>\n";

static void add_text(struct buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '<' || *at == '>' || *at == '&' || *at == '"' || (unsigned char)*at < ' ')
            buf_addf(out, "&#%d;", (unsigned char)*at < ' ' ? ' ' : *at);
        else
            buf_add_char(out, *at);
    }
}

static void add_date(struct buf *out, int64_t wall_ms)
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm date;
    char text[32];
    (void)gmtime_r(&seconds, &date);
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date);
    buf_add(out, slice_from(text));
}

/* ---- charts ------------------------------------------------------------------------------ */

static void open_chart(struct buf *out, const char *label)
{
    buf_addf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT,
             label);
    buf_addf(out,
             "<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>"
             "<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n",
             LEFT, TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT, LEFT, TOP,
             LEFT + PLOT_WIDTH, TOP);
}

static void add_scale(struct buf *out, const char *top)
{
    buf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>", LEFT - 6, TOP + 8,
             top);
    buf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">0</text>\n", LEFT - 6,
             TOP + PLOT_HEIGHT);
}

static void add_time_axis(struct buf *out, const struct bench_report *report)
{
    buf_addf(out, "<text x=\"%.0f\" y=\"%.0f\">0s</text>", LEFT, HEIGHT - 6);
    buf_addf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%zus</text>\n</svg>\n",
             LEFT + PLOT_WIDTH, HEIGHT - 6, report->interval_count * report->interval_s);
}

static void add_bar(struct buf *out, size_t at, size_t count, double part)
{
    const double slot = PLOT_WIDTH / (double)count;
    const double tall = part * PLOT_HEIGHT;
    buf_addf(out, "<rect class=\"bar\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
             LEFT + slot * (double)at, TOP + PLOT_HEIGHT - tall, slot * 0.9, tall);
}

static void add_solves(struct buf *out, const struct bench_report *report)
{
    uint64_t top = 1;
    char scale[32];
    for (size_t i = 0; i < report->interval_count; i++)
        top = report->intervals[i].solved > top ? report->intervals[i].solved : top;
    buf_add(out, SLICE_OF("<h2>Solves a second</h2>\n"));
    open_chart(out, "solves a second over time");
    (void)snprintf(scale, sizeof scale, "%.0f/s", (double)top / report->interval_s);
    add_scale(out, scale);
    for (size_t i = 0; i < report->interval_count; i++) {
        const struct bench_interval *const interval = &report->intervals[i];
        add_bar(out, i, report->interval_count, (double)interval->solved / (double)top);
        buf_addf(out, "<title>%zus: %" PRIu64 " solved, %" PRIu64, i * report->interval_s,
                 interval->solved, interval->failed);
        buf_addf(out, " failed, %" PRIu64 " in flight</title></rect>\n", interval->in_flight);
    }
    add_time_axis(out, report);
}

/* Intervals without answers have no percentiles; the line goes on with the next. */
static void add_line(struct buf *out, const struct bench_report *report, bool is_p99, uint64_t top)
{
    const double slot = PLOT_WIDTH / (double)report->interval_count;
    buf_addf(out, "<polyline class=\"%s\" points=\"", is_p99 ? "p99" : "p50");
    for (size_t i = 0; i < report->interval_count; i++) {
        const struct bench_interval *const interval = &report->intervals[i];
        const uint64_t us = is_p99 ? interval->p99_us : interval->p50_us;
        if (interval->solved > 0)
            buf_addf(out, "%.2f,%.2f ", LEFT + slot * ((double)i + 0.45),
                     TOP + PLOT_HEIGHT * (1 - (double)us / (double)top));
    }
    buf_add(out, SLICE_OF("\"/>\n"));
}

static void add_latency_course(struct buf *out, const struct bench_report *report)
{
    uint64_t top = 1;
    for (size_t i = 0; i < report->interval_count; i++)
        top = report->intervals[i].p99_us > top ? report->intervals[i].p99_us : top;
    struct buf scale;
    buf_init(&scale, 32);
    bench_add_time(&scale, top);
    buf_add_char(&scale, '\0');
    buf_add(out, SLICE_OF("<h2>Latency over time: <span class=\"k50\">p50</span> and "
                          "<span class=\"k99\">p99</span></h2>\n"));
    open_chart(out, "latency over time, p50 and p99");
    add_scale(out, scale.data);
    add_line(out, report, false, top);
    add_line(out, report, true, top);
    add_time_axis(out, report);
    buf_close(&scale);
}

static void add_distribution(struct buf *out, const struct bench_report *report)
{
    uint64_t top = 1;
    char scale[32];
    for (size_t i = 0; i < report->class_count; i++)
        top = report->classes[i].count > top ? report->classes[i].count : top;
    buf_add(out, SLICE_OF("<h2>Solves by latency</h2>\n"));
    open_chart(out, "solves by latency");
    (void)snprintf(scale, sizeof scale, "%" PRIu64, top);
    add_scale(out, scale);
    for (size_t i = 0; i < report->class_count; i++) {
        add_bar(out, i, report->class_count, (double)report->classes[i].count / (double)top);
        buf_add(out, SLICE_OF("<title>up to "));
        bench_add_time(out, report->classes[i].up_to_us);
        buf_addf(out, ": %" PRIu64 "</title></rect>", report->classes[i].count);
        buf_addf(out, "<text x=\"%.2f\" y=\"%.0f\" text-anchor=\"middle\">",
                 LEFT + PLOT_WIDTH / (double)report->class_count * ((double)i + 0.45), HEIGHT - 6);
        bench_add_time(out, report->classes[i].up_to_us);
        buf_add(out, SLICE_OF("</text>\n"));
    }
    buf_add(out, SLICE_OF("</svg>\n"));
}

/* ---- tables ------------------------------------------------------------------------------ */

static void add_row(struct buf *out, const char *label, uint64_t number)
{
    buf_add(out, SLICE_OF("<tr><td>"));
    add_text(out, label);
    buf_add(out, SLICE_OF("</td><td>"));
    show_add_count(out, number);
    buf_add(out, SLICE_OF("</td></tr>\n"));
}

static void add_percentile(struct buf *out, uint64_t solved, double share, uint64_t us)
{
    if (bench_report_tells(solved, share))
        bench_add_time(out, us);
    else
        buf_add_char(out, '-');
}

static void add_latencies(struct buf *out, const struct bench_report *report)
{
    buf_add(out, SLICE_OF("<h2>Latency</h2>\n<div class=\"wide\"><table><tr><th>min</th>"
                          "<th>mean</th>"));
    for (size_t i = 0; i < BENCH_SHARES; i++)
        buf_addf(out, "<th>%s</th>", bench_share_names[i]);
    buf_add(out, SLICE_OF("<th>max</th></tr>\n<tr><td>"));
    bench_add_time(out, report->min_us);
    buf_add(out, SLICE_OF("</td><td>"));
    bench_add_time(out, (uint64_t)(report->mean_us + 0.5));
    for (size_t i = 0; i < BENCH_SHARES; i++) {
        buf_add(out, SLICE_OF("</td><td>"));
        add_percentile(out, report->solved, bench_shares[i], report->percentile_us[i]);
    }
    buf_add(out, SLICE_OF("</td><td>"));
    bench_add_time(out, report->max_us);
    buf_add(out, SLICE_OF("</td></tr></table></div>\n"));
}

static void add_figures(struct buf *out, const struct bench_report *report)
{
    buf_addf(out, "<h2>Figures</h2>\n<table><tr><td>solves a second</td><td>%.1f</td></tr>\n",
             report->rate);
    add_row(out, "requests", report->sent);
    add_row(out, "solved", report->solved);
    add_row(out, "failed", report->failed);
    if (report->unfinished > 0)
        add_row(out, "unfinished", report->unfinished);
    for (int i = 0; i < SOURCE_COUNT; i++) {
        char label[48];
        (void)snprintf(label, sizeof label, "answers: %s", source_name((enum source)i));
        if (report->sources[i] > 0)
            add_row(out, label, report->sources[i]);
    }
    for (size_t i = 0; i < report->code_count; i++)
        add_row(out, report->codes[i].code, report->codes[i].count);
    if (report->has_books) {
        add_row(out, "submits paid", report->books.submits_paid);
        add_row(out, "vendor calls", report->books.vendor_calls);
    }
    if (report->has_books && report->solved > 0)
        buf_addf(out, "<tr><td>vendor calls per solve</td><td>%.3f</td></tr>\n",
                 (double)report->books.vendor_calls / (double)report->solved);
    if (report->has_books && report->books.has_money)
        buf_addf(out, "<tr><td>money spent</td><td>%.4f</td></tr>\n", report->books.money);
    buf_add(out, SLICE_OF("</table>\n"));
}

static void add_comparison(struct buf *out, const struct bench_report *old,
                           const struct bench_report *report)
{
    struct bench_compare_row rows[BENCH_COMPARE_ROWS];
    const size_t count = bench_compare_rows(old, report, rows);
    buf_add(out, SLICE_OF("<h2>Compared with "));
    add_text(out, old->method);
    buf_add(out, SLICE_OF(" at "));
    add_text(out, old->url);
    buf_add(out, SLICE_OF("</h2>\n"));
    if (!bench_compare_is_alike(old, report)) {
        buf_add(out, SLICE_OF("<p>The two are not alike; before: "));
        add_text(out, old->load);
        buf_add(out, SLICE_OF(", dialect "));
        add_text(out, old->dialect);
        buf_add(out, SLICE_OF("</p>\n"));
    }
    buf_add(out, SLICE_OF("<div class=\"wide\"><table><tr><th></th><th>before</th><th>now</th>"
                          "<th>change</th><th></th></tr>\n"));
    for (size_t i = 0; i < count; i++) {
        buf_addf(out, "<tr><td>%s</td><td>%s</td>", rows[i].label, rows[i].before);
        buf_addf(out, "<td>%s</td><td>%s</td>", rows[i].now, rows[i].change);
        buf_addf(out, "<td>%s</td></tr>\n", rows[i].verdict);
    }
    buf_add(out, SLICE_OF("</table></div>\n"));
}

static void add_steps(struct buf *out, const struct bench_report *report)
{
    if (report->step_count == 0)
        return;
    buf_add(out,
            SLICE_OF("<h2>Steps</h2>\n<div class=\"wide\"><table><tr><th>rate</th>"
                     "<th>sent</th><th>solved</th><th>failed</th><th>p50</th><th>p99</th></tr>\n"));
    for (size_t i = 0; i < report->step_count; i++) {
        const struct bench_step_row *const step = &report->steps[i];
        buf_addf(out, "<tr><td>%.4g/s</td><td>%" PRIu64 "</td>", step->rate, step->sent);
        buf_addf(out, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>", step->solved, step->failed);
        add_percentile(out, step->solved, 0.5, step->p50_us);
        buf_add(out, SLICE_OF("</td><td>"));
        add_percentile(out, step->solved, 0.99, step->p99_us);
        buf_add(out, SLICE_OF("</td></tr>\n"));
    }
    buf_add(out, SLICE_OF("</table></div>\n"));
}

void bench_html_write(const struct bench_report *report, const struct bench_report *old,
                      struct buf *out)
{
    buf_add(out, SLICE_OF(head));
    buf_add(out, SLICE_OF("<h1>"));
    add_text(out, report->method);
    buf_add(out, SLICE_OF(" at "));
    add_text(out, report->url);
    buf_add(out, SLICE_OF("</h1>\n<p>"));
    add_text(out, report->load);
    buf_addf(out, "; dialect %s; ", report->dialect);
    add_date(out, report->started_wall_ms);
    buf_add(out, SLICE_OF("</p>\n"));
    if (report->solved == 0)
        buf_add(out, SLICE_OF("<p>Nothing was solved, so there is nothing to draw.</p>\n"));
    if (report->interval_count > 0 && report->solved > 0) {
        add_solves(out, report);
        add_latency_course(out, report);
    }
    if (report->class_count > 0)
        add_distribution(out, report);
    add_latencies(out, report);
    if (old != NULL)
        add_comparison(out, old, report);
    add_steps(out, report);
    add_figures(out, report);
    buf_add(out, SLICE_OF("</html>\n"));
}
