#include "cli/bench_compare.h"

#include "cli/bench_live.h"
#include "cli/grid.h"

#include <math.h>
#include <string.h>

/* Twice the standard error: a difference by chance in about one of twenty. */
#define ERRORS 2.0
#define LEAST_CHANGE 0.01
/* With fewer intervals their spread says nothing. */
#define INTERVALS_MIN 5
/* In percent; a larger one is not worth its digits. */
#define CHANGE_MAX 1e6

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

static struct bench_figure rate(const struct bench_report *report)
{
    return (struct bench_figure){.value = report->rate, .error = bench_compare_rate(report).error};
}

/* The whole run's percentile is the figure; how much it wavers is seen in the intervals. */
static struct bench_figure percentile(const struct bench_report *report, size_t share,
                                      interval_value *value)
{
    if (!bench_report_tells(report->solved, bench_shares[share]))
        return (struct bench_figure){.value = NAN, .error = -1};
    return (struct bench_figure){.value = (double)report->percentile_us[share],
                                 .error = of_intervals(report, value).error};
}

static struct bench_figure p50(const struct bench_report *report)
{
    return percentile(report, 0, p50_in);
}

static struct bench_figure mean(const struct bench_report *report)
{
    return (struct bench_figure){.value = report->mean_us,
                                 .error = of_intervals(report, p50_in).error};
}

static struct bench_figure p99(const struct bench_report *report)
{
    return percentile(report, 3, p99_in);
}

/* The standard error of a share by chance. */
static struct bench_figure share(double part, double whole)
{
    if (whole <= 0)
        return (struct bench_figure){.value = 0, .error = -1};
    const double value = part / whole;
    return (struct bench_figure){.value = value,
                                 .error = sqrt(fmax(value * (1 - value), 0) / whole)};
}

static struct bench_figure failures(const struct bench_report *report)
{
    return share((double)report->failed, (double)report->sent);
}

static struct bench_figure paid(const struct bench_report *report)
{
    if (!report->has_books)
        return (struct bench_figure){.value = 0, .error = -1};
    return share((double)report->books.submits_paid, (double)report->solved);
}

/* ---- the table --------------------------------------------------------------------------- */

enum unit { UNIT_RATE, UNIT_TIME, UNIT_SHARE, UNIT_COUNT };

static const struct {
    const char *label;
    struct bench_figure (*figure)(const struct bench_report *report);
    enum unit unit;
    bool is_more_better;
} rows[] = {
    {"solves/s", rate, UNIT_RATE, true},     {"mean", mean, UNIT_TIME, false},
    {"p50", p50, UNIT_TIME, false},          {"p99", p99, UNIT_TIME, false},
    {"failed", failures, UNIT_SHARE, false}, {"submits paid per solve", paid, UNIT_COUNT, false},
};

static void add_figure(struct grid *grid, enum unit unit, double value)
{
    if (isnan(value)) {
        grid_add(grid, "-");
        return;
    }
    switch (unit) {
    case UNIT_RATE:
        grid_addf(grid, "%.1f", value);
        return;
    case UNIT_SHARE:
        grid_addf(grid, "%.1f %%", value * 100);
        return;
    case UNIT_COUNT:
        grid_addf(grid, "%.3f", value);
        return;
    case UNIT_TIME:
        break;
    }
    struct buf text;
    buf_init(&text, 64);
    bench_add_time(&text, (uint64_t)(value + 0.5));
    grid_addf(grid, "%.*s", (int)text.len, buf_slice(&text).data);
    buf_close(&text);
}

static const char *verdict_words(enum bench_verdict verdict)
{
    static const char *const words[] = {
        [BENCH_SAME] = "within the noise",
        [BENCH_BETTER] = "BETTER",
        [BENCH_WORSE] = "WORSE",
        [BENCH_UNSURE] = "too short to tell",
    };
    return words[verdict];
}

static void add_row(struct grid *grid, size_t row, const struct bench_report *old,
                    const struct bench_report *new)
{
    const struct bench_figure before = rows[row].figure(old);
    const struct bench_figure after = rows[row].figure(new);
    grid_add(grid, rows[row].label);
    add_figure(grid, rows[row].unit, before.value);
    add_figure(grid, rows[row].unit, after.value);
    const double change = before.value > 0 ? 100 * (after.value / before.value - 1) : NAN;
    if (isfinite(change) && change < CHANGE_MAX)
        grid_addf(grid, "%+.1f %%", change);
    else
        grid_add(grid, isnan(change) ? "-" : "huge");
    grid_add(grid, verdict_words(bench_compare_figures(before, after, rows[row].is_more_better)));
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
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(&grid, i, old, new);
    buf_add_char(out, '\n');
    grid_write(&grid, out, 80, sizeof rows / sizeof rows[0] + 1);
    grid_close(&grid);
    if (strcmp(old->load, new->load) != 0 || strcmp(old->method, new->method) != 0 ||
        strcmp(old->dialect, new->dialect) != 0) {
        buf_add(out, SLICE_OF("\nThe two are not alike; before: "));
        grid_add_clean_cut(out, old->method, 20);
        buf_add(out, SLICE_OF(", dialect "));
        grid_add_clean_cut(out, old->dialect, 12);
        buf_add(out, SLICE_OF(",\n"));
        grid_add_clean_cut(out, old->load, 79);
        buf_add_char(out, '\n');
    }
}
