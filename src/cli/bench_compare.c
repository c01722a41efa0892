#include "cli/bench_compare.h"

#include "cli/bench_live.h"
#include "cli/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Twice the standard error: a difference by chance in about one of twenty. */
#define ERRORS 2.0
#define LEAST_CHANGE 0.01
/* With fewer intervals their spread says nothing. */
#define INTERVALS_MIN 5
/* Of fewer answers a share says nothing. */
#define ANSWERS_MIN 50
/* In percent; a larger one is not worth its digits. */
#define CHANGE_MAX 1e6
/* A larger figure is no run's, and would not fit its column. */
#define FIGURE_MAX 1e9

enum bench_verdict bench_compare_figures(struct bench_figure old, struct bench_figure new,
                                         bool is_more_better)
{
    const double change = new.value - old.value;
    if (old.error < 0 || new.error < 0)
        return BENCH_UNSURE;
    const double noise = ERRORS * sqrt(old.error * old.error + new.error *new.error);
    if (fabs(change) <= noise || fabs(change) <= LEAST_CHANGE * fabs(old.value))
        return BENCH_SAME;
    return (change > 0) == is_more_better ? BENCH_BETTER : BENCH_WORSE;
}

/* ---- figures and their errors ------------------------------------------------------------ */

typedef double interval_value(const struct bench_report *report, size_t interval);

static double solved_in(const struct bench_report *report, size_t interval)
{
    return (double)report->intervals[interval].solved / report->interval_s;
}

static double p50_in(const struct bench_report *report, size_t interval)
{
    return (double)report->intervals[interval].p50_us;
}

static double p99_in(const struct bench_report *report, size_t interval)
{
    return (double)report->intervals[interval].p99_us;
}

/* The mean of the intervals and its standard error. The first and the last interval with answers are not whole. */
static struct bench_figure of_intervals(const struct bench_report *report, interval_value *value)
{
    size_t first = 0;
    size_t end = report->interval_count;
    double sum = 0;
    double squares = 0;
    while (first < end && report->intervals[first].solved == 0)
        first++;
    while (end > first && report->intervals[end - 1].solved == 0)
        end--;
    if (report->interval_s == 0 || end - first < INTERVALS_MIN + 2)
        return (struct bench_figure){.value = 0, .error = -1};
    const double count = (double)(end - first - 2);
    for (size_t i = first + 1; i < end - 1; i++)
        sum += value(report, i);
    for (size_t i = first + 1; i < end - 1; i++)
        squares += pow(value(report, i) - sum / count, 2);
    return (struct bench_figure){.value = sum / count,
                                 .error = sqrt(squares / (count - 1) / count)};
}

struct bench_figure bench_compare_rate(const struct bench_report *report)
{
    return of_intervals(report, solved_in);
}

static const struct bench_figure unsure = {.value = NAN, .error = -1};

static struct bench_figure rate(const struct bench_report *report, int which)
{
    (void)which;
    return (struct bench_figure){.value = report->rate, .error = bench_compare_rate(report).error};
}

/* The whole run's percentile is the figure; how much it wavers is seen in the intervals. */
static struct bench_figure percentile(const struct bench_report *report, int share)
{
    interval_value *const value = bench_shares[share] < 0.9 ? p50_in : p99_in;
    if (!bench_report_tells(report->solved, bench_shares[share]))
        return unsure;
    return (struct bench_figure){.value = (double)report->percentile_us[share],
                                 .error = of_intervals(report, value).error};
}

static struct bench_figure mean(const struct bench_report *report, int which)
{
    (void)which;
    return (struct bench_figure){.value = report->mean_us,
                                 .error = of_intervals(report, p50_in).error};
}

/* The standard error by chance: that of a share, or of a number of events (Poisson) where there may be several for one
 * answer. One more is counted than there was, since none of a few does not mean never. */
static struct bench_figure share(double part, double whole)
{
    if (whole <= 0)
        return unsure;
    const double value = part / whole;
    const double likely = (part + 1) / (whole + 2);
    if (whole < ANSWERS_MIN)
        return (struct bench_figure){.value = value, .error = -1};
    const double error =
        value < 1 ? sqrt(likely * (1 - likely) / (whole + 2)) : sqrt(part + 1) / whole;
    return (struct bench_figure){.value = value, .error = error};
}

static struct bench_figure failures(const struct bench_report *report, int which)
{
    (void)which;
    return share((double)report->failed, (double)report->sent);
}

static struct bench_figure paid(const struct bench_report *report, int which)
{
    (void)which;
    return report->has_books ? share((double)report->books.submits_paid, (double)report->solved)
                             : unsure;
}

/* Each submit has its price, so money is as unsure as their number. */
static struct bench_figure money(const struct bench_report *report, int which)
{
    const struct bench_figure submits = paid(report, which);
    if (report->solved == 0)
        return unsure;
    const double value = report->books.money / (double)report->solved;
    const double each = report->books.money / fmax((double)report->books.submits_paid, 1);
    return (struct bench_figure){.value = value,
                                 .error = submits.error < 0 ? -1 : submits.error * each};
}

static struct bench_figure answers(const struct bench_report *report, int source)
{
    double all = 0;
    for (int i = 0; i < SOURCE_COUNT; i++)
        all += (double)report->sources[i];
    return share((double)report->sources[source], all);
}

/* ---- the rows ---------------------------------------------------------------------------- */

enum unit { UNIT_RATE, UNIT_TIME, UNIT_SHARE, UNIT_COUNT, UNIT_MONEY };
enum sense { MORE_IS_BETTER, LESS_IS_BETTER, NEITHER_IS_BETTER };
enum need { NEED_NOTHING, NEED_P999, NEED_MONEY, NEED_SOURCE };

static const struct row {
    const char *label; /* NULL: that of the source */
    struct bench_figure (*figure)(const struct bench_report *report, int which);
    int which;
    enum unit unit;
    enum sense sense;
    enum need need; /* what both reports must have */
} rows[] = {
    {"solves/s", rate, 0, UNIT_RATE, MORE_IS_BETTER, NEED_NOTHING},
    {"mean", mean, 0, UNIT_TIME, LESS_IS_BETTER, NEED_NOTHING},
    {"p50", percentile, 0, UNIT_TIME, LESS_IS_BETTER, NEED_NOTHING},
    {"p99", percentile, 3, UNIT_TIME, LESS_IS_BETTER, NEED_NOTHING},
    {"p99.9", percentile, 4, UNIT_TIME, LESS_IS_BETTER, NEED_P999},
    {"failed", failures, 0, UNIT_SHARE, LESS_IS_BETTER, NEED_NOTHING},
    {"submits paid per solve", paid, 0, UNIT_COUNT, LESS_IS_BETTER, NEED_NOTHING},
    {"money per solve", money, 0, UNIT_MONEY, LESS_IS_BETTER, NEED_MONEY},
    {NULL, answers, SOURCE_API, UNIT_SHARE, NEITHER_IS_BETTER, NEED_SOURCE},
    {NULL, answers, SOURCE_DEDUP_WAIT, UNIT_SHARE, NEITHER_IS_BETTER, NEED_SOURCE},
    {NULL, answers, SOURCE_DEDUP_CACHE, UNIT_SHARE, NEITHER_IS_BETTER, NEED_SOURCE},
    {NULL, answers, SOURCE_IDEMPOTENT, UNIT_SHARE, NEITHER_IS_BETTER, NEED_SOURCE},
    {NULL, answers, SOURCE_POOL, UNIT_SHARE, NEITHER_IS_BETTER, NEED_SOURCE},
};
_Static_assert(sizeof rows / sizeof rows[0] == BENCH_COMPARE_ROWS, "there is room for all rows");

static bool has(const struct row *row, const struct bench_report *report)
{
    switch (row->need) {
    case NEED_NOTHING:
        return true;
    case NEED_P999:
        return bench_report_tells(report->solved, bench_shares[row->which]);
    case NEED_MONEY:
        return report->has_books && report->books.has_money;
    case NEED_SOURCE:
        return report->has_sources;
    }
    return false;
}

/* A source that neither run had answers from is not worth a line. */
static bool is_empty(const struct row *row, const struct bench_report *old,
                     const struct bench_report *new)
{
    return row->need == NEED_SOURCE && old->sources[row->which] == 0 &&
           new->sources[row->which] == 0;
}

static void print_time(char text[BENCH_CELL_MAX], double us)
{
    struct buf time;
    buf_init(&time, 64);
    bench_add_time(&time, (uint64_t)(us + 0.5));
    (void)snprintf(text, BENCH_CELL_MAX, "%.*s", (int)time.len, buf_slice(&time).data);
    buf_close(&time);
}

static void print_figure(char text[BENCH_CELL_MAX], enum unit unit, double value)
{
    if (isnan(value) || value > (unit == UNIT_TIME ? FIGURE_MAX * 1e6 : FIGURE_MAX)) {
        (void)snprintf(text, BENCH_CELL_MAX, "%s", isnan(value) ? "-" : "huge");
        return;
    }
    switch (unit) {
    case UNIT_RATE:
        (void)snprintf(text, BENCH_CELL_MAX, "%.1f", value);
        return;
    case UNIT_SHARE:
        (void)snprintf(text, BENCH_CELL_MAX, "%.1f %%", value * 100);
        return;
    case UNIT_COUNT:
        (void)snprintf(text, BENCH_CELL_MAX, "%.3f", value);
        return;
    case UNIT_MONEY:
        (void)snprintf(text, BENCH_CELL_MAX, "%.6f", value);
        return;
    case UNIT_TIME:
        print_time(text, value);
        return;
    }
}

static void print_change(char text[BENCH_CELL_MAX], double before, double after)
{
    const double change = before > 0 ? 100 * (after / before - 1) : NAN;
    if (isfinite(change) && change < CHANGE_MAX)
        (void)snprintf(text, BENCH_CELL_MAX, "%+.1f %%", change);
    else
        (void)snprintf(text, BENCH_CELL_MAX, "%s", isnan(change) ? "-" : "huge");
}

static const char *verdict_words(enum bench_verdict verdict, enum sense sense)
{
    static const char *const words[] = {
        [BENCH_SAME] = "within the noise",
        [BENCH_BETTER] = "BETTER",
        [BENCH_WORSE] = "WORSE",
        [BENCH_UNSURE] = "too short to tell",
    };
    const bool is_change = verdict == BENCH_BETTER || verdict == BENCH_WORSE;
    return is_change && sense == NEITHER_IS_BETTER ? "changed" : words[verdict];
}

size_t bench_compare_rows(const struct bench_report *old, const struct bench_report *new,
                          struct bench_compare_row out[BENCH_COMPARE_ROWS])
{
    size_t count = 0;
    for (size_t i = 0; i < BENCH_COMPARE_ROWS; i++) {
        const struct row *const row = &rows[i];
        if (!has(row, old) || !has(row, new) || is_empty(row, old, new))
            continue;
        const struct bench_figure before = row->figure(old, row->which);
        const struct bench_figure after = row->figure(new, row->which);
        const enum bench_verdict verdict =
            bench_compare_figures(before, after, row->sense == MORE_IS_BETTER);
        out[count] = (struct bench_compare_row){
            .label = row->label == NULL ? bench_source_labels[row->which] : row->label,
            .verdict = verdict_words(verdict, row->sense)};
        print_figure(out[count].before, row->unit, before.value);
        print_figure(out[count].now, row->unit, after.value);
        print_change(out[count].change, before.value, after.value);
        count++;
    }
    return count;
}

bool bench_compare_is_alike(const struct bench_report *old, const struct bench_report *new)
{
    return strcmp(old->load, new->load) == 0 && strcmp(old->method, new->method) == 0 &&
           strcmp(old->dialect, new->dialect) == 0;
}

/* ---- the table --------------------------------------------------------------------------- */

static void add_unlike(struct buf *out, const struct bench_report *old)
{
    buf_add(out, SLICE_OF("\nThe two are not alike; before: "));
    grid_add_clean_cut(out, old->method, 20);
    buf_add(out, SLICE_OF(", dialect "));
    grid_add_clean_cut(out, old->dialect, 12);
    buf_add(out, SLICE_OF(",\n"));
    grid_add_clean_cut(out, old->load, 79);
    buf_add_char(out, '\n');
}

void bench_compare_write(const struct bench_report *old, const struct bench_report *new,
                         struct buf *out)
{
    static const struct grid_column columns[] = {
        {.title = "COMPARED"},
        {.title = "BEFORE", .is_right = true},
        {.title = "NOW", .is_right = true},
        {.title = "CHANGE", .is_right = true},
        {.title = ""},
    };
    struct bench_compare_row cells[BENCH_COMPARE_ROWS];
    const size_t count = bench_compare_rows(old, new, cells);
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        grid_add(&grid, cells[i].label);
        grid_add(&grid, cells[i].before);
        grid_add(&grid, cells[i].now);
        grid_add(&grid, cells[i].change);
        grid_add(&grid, cells[i].verdict);
    }
    buf_add_char(out, '\n');
    grid_write(&grid, out, 80, count + 1);
    grid_close(&grid);
    if (!bench_compare_is_alike(old, new))
        add_unlike(out, old);
}
