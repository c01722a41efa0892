#include "cli/bench_json.h"

#include "base/assert.h"
#include "cli/show.h"
#include "proto/json_out.h"

#include <inttypes.h>
#include <solvegate/words.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

/* Raised when a member changes its meaning, so that reports are not compared across that. */
#define FORMAT 2

static void add_real(struct buf *out, const char *name, double number)
{
    json_member(out, name);
    buf_addf(out, "%.3f", number);
}

static void add_ms(struct buf *out, const char *name, uint64_t us)
{
    add_real(out, name, (double)us / 1000);
}

/* null where there were too few solves for it. */
static void add_percentile(struct buf *out, const char *name, uint64_t solved, double share,
                           uint64_t us)
{
    if (bench_report_tells(solved, share))
        add_ms(out, name, us);
    else
        json_raw(out, name, SLICE_OF("null"));
}

/* ---- writing ----------------------------------------------------------------------------- */

static void add_latency(struct buf *out, const struct bench_report *report)
{
    json_member(out, "latency_ms");
    json_open(out, '{');
    add_ms(out, "min", report->min_us);
    add_real(out, "mean", report->mean_us / 1000);
    for (size_t i = 0; i < BENCH_SHARES; i++)
        add_percentile(out, bench_share_names[i], report->solved, bench_shares[i],
                       report->percentile_us[i]);
    add_ms(out, "max", report->max_us);
    json_close(out, '}');
}

static void add_counts(struct buf *out, const struct bench_report *report)
{
    json_member(out, "sources");
    json_open(out, '{');
    for (int i = 0; report->has_sources && i < SOURCE_COUNT; i++)
        json_number(out, source_name((enum source)i), report->sources[i]);
    json_close(out, '}');
    json_member(out, "errors");
    json_open(out, '{');
    for (size_t i = 0; i < report->code_count; i++) {
        json_item(out);
        (void)json_add_string(out, slice_from(report->codes[i].code));
        buf_add_char(out, ':');
        buf_add_u64(out, report->codes[i].count);
    }
    json_close(out, '}');
}

static void add_books(struct buf *out, const struct bench_report *report)
{
    const struct bench_books *const books = &report->books;
    if (!report->has_books)
        return;
    json_member(out, "gateway");
    json_open(out, '{');
    json_number(out, "requests", books->requests);
    json_number(out, "submits_paid", books->submits_paid);
    json_number(out, "submits_refused", books->submits_refused);
    json_number(out, "retries", books->retries);
    json_number(out, "polls", books->polls);
    json_number(out, "callbacks", books->callbacks);
    json_number(out, "vendor_calls", books->vendor_calls);
    if (report->solved > 0)
        add_real(out, "vendor_calls_per_solve",
                 (double)books->vendor_calls / (double)report->solved);
    else
        json_raw(out, "vendor_calls_per_solve", SLICE_OF("null"));
    if (books->has_money) {
        json_member(out, "money_spent");
        buf_addf(out, "%.6f", books->money);
    }
    json_close(out, '}');
}

static void add_steps(struct buf *out, const struct bench_report *report)
{
    json_member(out, "steps");
    json_open(out, '[');
    for (size_t i = 0; i < report->step_count; i++) {
        const struct bench_step_row *const step = &report->steps[i];
        json_open(out, '{');
        add_real(out, "rate", step->rate);
        json_number(out, "sent", step->sent);
        json_number(out, "solved", step->solved);
        json_number(out, "failed", step->failed);
        add_percentile(out, "p50_ms", step->solved, 0.5, step->p50_us);
        add_percentile(out, "p99_ms", step->solved, 0.99, step->p99_us);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void add_classes(struct buf *out, const struct bench_report *report)
{
    json_member(out, "latency_classes");
    json_open(out, '[');
    for (size_t i = 0; i < report->class_count; i++) {
        json_open(out, '{');
        add_ms(out, "up_to_ms", report->classes[i].up_to_us);
        json_number(out, "solved", report->classes[i].count);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void add_intervals(struct buf *out, const struct bench_report *report)
{
    json_number(out, "interval_seconds", report->interval_s);
    json_member(out, "intervals");
    json_open(out, '[');
    for (size_t i = 0; i < report->interval_count; i++) {
        const struct bench_interval *const interval = &report->intervals[i];
        json_open(out, '{');
        json_number(out, "sent", interval->sent);
        json_number(out, "solved", interval->solved);
        json_number(out, "failed", interval->failed);
        json_number(out, "in_flight", interval->in_flight);
        add_ms(out, "p50_ms", interval->p50_us);
        add_ms(out, "p99_ms", interval->p99_us);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void bench_json_write(const struct bench_report *report, struct buf *out)
{
    json_open(out, '{');
    json_number(out, "bench", FORMAT);
    json_string(out, "url", report->url);
    json_string(out, "method", report->method);
    json_string(out, "dialect", report->dialect);
    json_string(out, "load", report->load);
    json_time(out, "started", report->started_wall_ms);
    add_real(out, "seconds", report->seconds);
    json_number(out, "sent", report->sent);
    json_number(out, "solved", report->solved);
    json_number(out, "failed", report->failed);
    json_number(out, "unfinished", report->unfinished);
    add_real(out, "solves_per_second", report->rate);
    add_latency(out, report);
    add_ms(out, "lag_p99_ms", report->lag_p99_us);
    json_bool(out, "was_full", report->was_full);
    add_counts(out, report);
    add_books(out, report);
    add_steps(out, report);
    add_classes(out, report);
    add_intervals(out, report);
    json_close(out, '}');
}

/* ---- reading: what two reports are compared by --------------------------------------------- */

/* More than any run counts; a file may hold anything, and its figures must fit their columns. */
#define FIGURE_MAX 1e12

static double read_real(yyjson_val *object, const char *name)
{
    const double number = show_real(object, name);
    return number > 0 && number < FIGURE_MAX ? number : 0;
}

static uint64_t read_count(yyjson_val *object, const char *name)
{
    const uint64_t number = show_number(object, name);
    return number < (uint64_t)FIGURE_MAX ? number : 0;
}

static uint64_t read_us(yyjson_val *object, const char *name)
{
    return (uint64_t)(read_real(object, name) * 1000 + 0.5);
}

static void read_text(char room[BENCH_TEXT_MAX], yyjson_val *root, const char *name)
{
    (void)snprintf(room, BENCH_TEXT_MAX, "%s", show_text(root, name));
}

static void read_intervals(struct bench_report *report, yyjson_val *root)
{
    yyjson_val *const list = yyjson_obj_get(root, "intervals");
    yyjson_arr_iter iter;
    yyjson_val *item;
    (void)yyjson_arr_iter_init(list, &iter);
    while ((item = yyjson_arr_iter_next(&iter)) != NULL &&
           report->interval_count < BENCH_INTERVALS_MAX)
        report->intervals[report->interval_count++] = (struct bench_interval){
            .sent = read_count(item, "sent"),
            .solved = read_count(item, "solved"),
            .failed = read_count(item, "failed"),
            .in_flight = read_count(item, "in_flight"),
            .p50_us = read_us(item, "p50_ms"),
            .p99_us = read_us(item, "p99_ms"),
        };
}

static void read_sources(struct bench_report *report, yyjson_val *sources)
{
    report->has_sources = yyjson_obj_size(sources) > 0;
    for (int i = 0; i < SOURCE_COUNT; i++)
        report->sources[i] = read_count(sources, source_name((enum source)i));
}

static void read_report(struct bench_report *report, yyjson_val *root)
{
    yyjson_val *const latency = yyjson_obj_get(root, "latency_ms");
    yyjson_val *const books = yyjson_obj_get(root, "gateway");
    read_text(report->url, root, "url");
    read_text(report->method, root, "method");
    read_text(report->load, root, "load");
    (void)snprintf(report->dialect, sizeof report->dialect, "%.15s", show_text(root, "dialect"));
    report->seconds = read_real(root, "seconds");
    report->rate = read_real(root, "solves_per_second");
    report->sent = read_count(root, "sent");
    report->solved = read_count(root, "solved");
    report->failed = read_count(root, "failed");
    report->unfinished = read_count(root, "unfinished");
    report->min_us = read_us(latency, "min");
    report->max_us = read_us(latency, "max");
    report->mean_us = read_real(latency, "mean") * 1000;
    for (size_t i = 0; i < BENCH_SHARES; i++)
        report->percentile_us[i] = read_us(latency, bench_share_names[i]);
    read_sources(report, yyjson_obj_get(root, "sources"));
    report->has_books = books != NULL;
    report->books.submits_paid = read_count(books, "submits_paid");
    report->books.money = read_real(books, "money_spent");
    report->books.has_money = show_has(books, "money_spent");
    report->interval_s = (unsigned)read_count(root, "interval_seconds");
    read_intervals(report, root);
}

struct bench_report *bench_json_read(struct slice json)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const root = yyjson_doc_get_root(doc);
    struct bench_report *report = NULL;
    if (show_number(root, "bench") == FORMAT) {
        report = calloc(1, sizeof *report);
        ASSERT(report != NULL);
        read_report(report, root);
    }
    yyjson_doc_free(doc);
    return report;
}

/* ---- CSV --------------------------------------------------------------------------------- */

/* Always quoted: a method is any text. */
static void add_csv_text(struct buf *out, const char *text)
{
    struct buf clean;
    buf_init(&clean, (size_t)4 * BENCH_TEXT_MAX);
    show_add_clean(&clean, text);
    buf_add_char(out, '"');
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, clean.data[i]);
    }
    buf_add_char(out, '"');
    buf_close(&clean);
}

static void add_csv_percentile(const struct bench_report *report, size_t share, struct buf *out)
{
    buf_add_char(out, ',');
    if (bench_report_tells(report->solved, bench_shares[share]))
        buf_addf(out, "%.3f", (double)report->percentile_us[share] / 1000);
}

void bench_csv_write(const struct bench_report *report, struct buf *out)
{
    buf_add(out, SLICE_OF("method,dialect,seconds,sent,solved,failed,unfinished,"
                          "solves_per_second,min_ms,mean_ms"));
    for (size_t i = 0; i < BENCH_SHARES; i++)
        buf_addf(out, ",%s_ms", bench_share_names[i]);
    buf_add(out, SLICE_OF(",max_ms,submits_paid,money_spent,vendor_calls,"
                          "vendor_calls_per_solve\n"));
    add_csv_text(out, report->method);
    buf_addf(out, ",%s,%.3f", report->dialect, report->seconds);
    buf_addf(out, ",%" PRIu64 ",%" PRIu64, report->sent, report->solved);
    buf_addf(out, ",%" PRIu64 ",%" PRIu64, report->failed, report->unfinished);
    buf_addf(out, ",%.3f,%.3f,%.3f", report->rate, (double)report->min_us / 1000,
             report->mean_us / 1000);
    for (size_t i = 0; i < BENCH_SHARES; i++)
        add_csv_percentile(report, i, out);
    buf_addf(out, ",%.3f,", (double)report->max_us / 1000);
    if (report->has_books)
        buf_add_u64(out, report->books.submits_paid);
    buf_add_char(out, ',');
    if (report->has_books && report->books.has_money)
        buf_addf(out, "%.6f", report->books.money);
    buf_add_char(out, ',');
    if (report->has_books)
        buf_add_u64(out, report->books.vendor_calls);
    buf_add_char(out, ',');
    if (report->has_books && report->solved > 0)
        buf_addf(out, "%.3f", (double)report->books.vendor_calls / (double)report->solved);
    buf_add_char(out, '\n');
}
