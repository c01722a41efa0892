#include "proto/metrics.h"

#include <solvegate/words.h>

#include <stdio.h>
#include <string.h>

#define PREFIX "solvegate_"
#define NAME_MAX_LEN 96

/* ---- samples ----------------------------------------------------------------------------- */

void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_addf(out, "# HELP %s %s.\n# TYPE %s %s\n", name, help, name, type);
}

static void add_name(struct buf *out, const char *name, const char *labels)
{
    buf_add(out, slice_from(name));
    if (labels[0] != '\0')
        buf_addf(out, "{%s}", labels);
    buf_add_char(out, ' ');
}

static void add_ms(struct buf *out, uint64_t ms)
{
    buf_addf(out, "%llu.%03u", (unsigned long long)(ms / 1000), (unsigned)(ms % 1000));
}

void metrics_sample(struct buf *out, const char *name, const char *labels, uint64_t value)
{
    add_name(out, name, labels);
    buf_add_u64(out, value);
    buf_add_char(out, '\n');
}

void metrics_sample_ms(struct buf *out, const char *name, const char *labels, uint64_t ms)
{
    add_name(out, name, labels);
    add_ms(out, ms);
    buf_add_char(out, '\n');
}

/* A number of parts as a decimal fraction; per_one is a power of ten. */
static void add_parts(struct buf *out, uint64_t parts, unsigned per_one)
{
    buf_add_u64(out, parts / per_one);
    if (per_one == 1)
        return;
    buf_add_char(out, '.');
    for (unsigned digit = per_one / 10; digit > 0; digit /= 10)
        buf_add_char(out, (char)('0' + parts / digit % 10));
}

static void add_bucket(struct buf *out, const char *name, const char *labels, uint32_t bound,
                       unsigned per_one, uint64_t count)
{
    buf_addf(out, "%s_bucket{%s%sle=\"", name, labels, labels[0] == '\0' ? "" : ",");
    if (bound == 0)
        buf_add(out, SLICE_OF("+Inf"));
    else if (bound % per_one == 0)
        buf_add_u64(out, bound / per_one);
    else
        add_parts(out, bound, per_one);
    buf_addf(out, "\"} %llu\n", (unsigned long long)count);
}

void metrics_histogram_in(struct buf *out, const char *name, const char *labels,
                          const struct histogram *histogram, unsigned per_one)
{
    char part[NAME_MAX_LEN];
    uint64_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
        count += histogram->counts[i];
        add_bucket(out, name, labels, histogram_bounds_ms[i], per_one, count);
    }
    count += histogram->counts[HISTOGRAM_BOUNDS];
    add_bucket(out, name, labels, 0, per_one, count);
    (void)snprintf(part, sizeof part, "%s_sum", name);
    add_name(out, part, labels);
    add_parts(out, histogram_sum_ms(histogram), per_one);
    buf_add_char(out, '\n');
    (void)snprintf(part, sizeof part, "%s_count", name);
    metrics_sample(out, part, labels, count);
}

void metrics_histogram(struct buf *out, const char *name, const char *labels,
                       const struct histogram *histogram)
{
    metrics_histogram_in(out, name, labels, histogram, 1000);
}

void metrics_counter(struct buf *out, const char *name, const char *help, uint64_t value)
{
    char full[NAME_MAX_LEN];
    (void)snprintf(full, sizeof full, PREFIX "%s_total", name);
    metrics_head(out, full, "counter", help);
    metrics_sample(out, full, "", value);
}

void metrics_gauge(struct buf *out, const char *name, const char *help, uint64_t value)
{
    char full[NAME_MAX_LEN];
    (void)snprintf(full, sizeof full, PREFIX "%s", name);
    metrics_head(out, full, "gauge", help);
    metrics_sample(out, full, "", value);
}

/* ---- the engine's counters --------------------------------------------------------------- */

enum unit { UNIT_ONE, UNIT_MS, UNIT_MICRO };

static void add_value(struct buf *out, enum unit unit, uint64_t value)
{
    switch (unit) {
    case UNIT_ONE:
        buf_add_u64(out, value);
        break;
    case UNIT_MS:
        add_ms(out, value);
        break;
    case UNIT_MICRO:
        buf_addf(out, "%llu.%06u", (unsigned long long)(value / 1000000),
                 (unsigned)(value % 1000000));
        break;
    }
    buf_add_char(out, '\n');
}

/* One counter of the engine, as listed in STATS_LIST. */
struct field {
    size_t offset; /* in struct stats */
    enum unit unit;
    const char *metric;
    const char *labels;
    const char *help;
};

static const struct field fields[] = {
#define STATS_AS_ROW(field, unit, metric, labels, text) \
    {offsetof(struct stats, field), UNIT_##unit, PREFIX metric, labels, text},
    STATS_LIST(STATS_AS_ROW)
#undef STATS_AS_ROW
};

/* A metric with labels has its own help, not that of its first counter. */
static const char *help_of(const struct field *field)
{
    static const struct {
        const char *metric, *help;
    } families[] = {
#define FAMILY_AS_ROW(metric, text) {PREFIX metric, text},
        STATS_FAMILY_LIST(FAMILY_AS_ROW)
#undef FAMILY_AS_ROW
    };
    for (size_t i = 0; field->labels[0] != '\0' && i < sizeof families / sizeof families[0]; i++)
        if (strcmp(families[i].metric, field->metric) == 0)
            return families[i].help;
    return field->help;
}

static void write_counters(struct buf *out, const struct stats *stats)
{
    const char *last = "";
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct field *field = &fields[i];
        uint64_t value;
        memcpy(&value, (const char *)stats + field->offset, sizeof value);
        if (strcmp(field->metric, last) != 0)
            metrics_head(out, field->metric, "counter", help_of(field));
        last = field->metric;
        add_name(out, field->metric, field->labels);
        add_value(out, field->unit, value);
    }
}

static void write_gauges(struct buf *out, const struct gauges *gauges)
{
    metrics_gauge(out, "requests_waiting", "Requests not answered yet", gauges->waiting);
    metrics_gauge(out, "requests_kept", "Requests in memory, answered ones included",
                  gauges->requests);
    metrics_gauge(out, "flights_open", "Flights under way", gauges->flights);
    metrics_gauge(out, "flights_queued", "Flights waiting for a slot", gauges->queued);
    metrics_gauge(out, "callers_held", "Callers held at a door", gauges->callers);
    metrics_gauge(out, "solutions_cached", "Solutions in memory", gauges->solutions);
    metrics_gauge(out, "solutions_cached_bytes", "Bytes of solutions in memory",
                  gauges->solution_bytes);
    metrics_gauge(out, "solutions_kept_bytes",
                  "Bytes of solutions that only answered requests and idempotency keys still hold",
                  gauges->finished_bytes);
    metrics_gauge(out, "idempotency_records", "Idempotency records in memory", gauges->idempotency);
    metrics_gauge(out, "letters_kept", "Dead letters in memory", gauges->letters);
    metrics_gauge(out, "letters_to_replay", "Dead letters waiting to be replayed", gauges->replays);
    metrics_gauge(out, "slots_used", "Slots of the plan in use", gauges->slots_used);
    metrics_gauge(out, "slots_limit", "Adaptive limit of slots", gauges->slots_limit);
    metrics_gauge(out, "slots_plan", "Slots of the plan", gauges->slots_plan);
    metrics_gauge(out, "breaker_open", "1 while nothing is submitted",
                  gauges->breaker == BREAKER_CLOSED ? 0 : 1);
    metrics_gauge(out, "callbacks_healthy",
                  "1 unless most of the vendor's callbacks fail to arrive",
                  gauges->callbacks_are_healthy ? 1 : 0);
}

void metrics_write_engine(struct buf *out, const struct stats *stats, const struct gauges *gauges)
{
    write_counters(out, stats);
    write_gauges(out, gauges);
}

/* ---- the vendor's own words -------------------------------------------------------------- */

/* Writes a label's value, escaped as the exposition format requires. */
static void add_escaped(struct buf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            buf_add(out, SLICE_OF("\\n"));
            continue;
        }
        if (*value == '\\' || *value == '"')
            buf_add_char(out, '\\');
        buf_add_char(out, *value);
    }
}

static void write_unknown_error(struct buf *out, const char *code, uint64_t times)
{
    buf_add(out, SLICE_OF(PREFIX "unknown_errors_total{code=\""));
    add_escaped(out, code);
    buf_add(out, SLICE_OF("\"} "));
    buf_add_u64(out, times);
    buf_add_char(out, '\n');
}

void metrics_write_unknown_errors(struct buf *out, const struct unknown_errors *errors)
{
    metrics_head(out, PREFIX "unknown_errors_total", "counter",
                 "Errors of the vendor that we do not know, by code");
    for (size_t i = 0; i < errors->count; i++)
        write_unknown_error(out, errors->items[i].name, errors->items[i].times);
    write_unknown_error(out, "other", errors->other_times);
}

/* ---- by client and by type --------------------------------------------------------------- */

/* One counter of the tallies, as listed in TALLY_LIST; those in money are written only if there are
 * prices, and those of shadow mode only if somebody is or was in it. */
struct column {
    size_t offset; /* in struct tally */
    enum unit unit;
    const char *metric;
    const char *help;
};

static const struct column columns[] = {
#define TALLY_AS_COLUMN(field, unit, metric, text) \
    {offsetof(struct tally, field), UNIT_##unit, metric, text},
    TALLY_LIST(TALLY_AS_COLUMN)
#undef TALLY_AS_COLUMN
};

static bool is_of_shadow(const struct column *column)
{
    return strncmp(column->metric, "shadow_", 7) == 0;
}

static uint64_t value_of(const struct tally *tally, const struct column *column)
{
    uint64_t value;
    memcpy(&value, (const char *)tally + column->offset, sizeof value);
    return value;
}

static void write_cell(struct buf *out, const struct column *column, const char *by,
                       const char *name, uint64_t value)
{
    /* Names of clients and types need no escaping: the configuration allows no such characters.
     * There are thousands of lines, so printf is avoided. */
    buf_add(out, SLICE_OF(PREFIX));
    buf_add(out, slice_from(by));
    buf_add_char(out, '_');
    buf_add(out, slice_from(column->metric));
    buf_add_char(out, '{');
    buf_add(out, slice_from(by));
    buf_add(out, SLICE_OF("=\""));
    buf_add(out, slice_from(name));
    buf_add(out, SLICE_OF("\"} "));
    add_value(out, column->unit, value);
}

static void write_column_head(struct buf *out, const struct column *column, const char *by)
{
    char name[NAME_MAX_LEN];
    char help[NAME_MAX_LEN];
    (void)snprintf(name, sizeof name, PREFIX "%s_%s", by, column->metric);
    (void)snprintf(help, sizeof help, "%s, by %s", column->help, by);
    metrics_head(out, name, "counter", help);
}

static void write_types(struct buf *out, const struct column *column, const struct books *books)
{
    write_column_head(out, column, "type");
    for (size_t type = 0; type < TYPE_COUNT; type++)
        write_cell(out, column, "type", type_name((enum type)type),
                   value_of(&books->by_type[type], column));
}

/* A column has a row for each client, and one more for all types together. */
bool metrics_write_books(struct buf *out, const struct books *books, size_t *at, size_t most,
                         const struct stats_scope *scope)
{
    const size_t rows = (size_t)books->client_count + 1;
    const size_t end = sizeof columns / sizeof columns[0] * rows;
    for (; *at < end && most > 0; ++*at, most--) {
        const struct column *column = &columns[*at / rows];
        const size_t row = *at % rows;
        if ((column->unit == UNIT_MICRO && !scope->has_price) ||
            (is_of_shadow(column) && !scope->has_shadow))
            continue;
        if (row == 0)
            write_column_head(out, column, "client");
        if (row == books->client_count)
            write_types(out, column, books);
        else
            write_cell(out, column, "client",
                       scope->names->client_name(scope->names->context, (client_id)row),
                       value_of(&books->by_client[row], column));
    }
    return *at < end;
}

/* ---- budgets ----------------------------------------------------------------------------- */

static const struct {
    size_t offset; /* in struct budget_view */
    const char *name, *help;
} budget_columns[] = {
    {offsetof(struct budget_view, limit), PREFIX "client_budget_limit",
     "Submits that may be paid for today (UTC), by client"},
    {offsetof(struct budget_view, used), PREFIX "client_budget_used",
     "Submits that count for today's budget, by client"},
    {offsetof(struct budget_view, reserved), PREFIX "client_budget_reserved",
     "Submits of today's budget that are reserved for requests that wait, by client"},
    {offsetof(struct budget_view, left), PREFIX "client_budget_left",
     "Submits that are left of today's budget, by client"},
};

static void write_budget(struct buf *out, size_t column, const char *client,
                         const struct budget_view *budget)
{
    uint64_t value;
    memcpy(&value, (const char *)budget + budget_columns[column].offset, sizeof value);
    buf_add(out, slice_from(budget_columns[column].name));
    buf_add(out, SLICE_OF("{client=\""));
    buf_add(out, slice_from(client));
    buf_add(out, SLICE_OF("\"} "));
    buf_add_u64(out, value);
    buf_add_char(out, '\n');
}

bool metrics_write_budgets(struct buf *out, const struct metrics_budgets *budgets, size_t *at,
                           size_t most, const struct stats_scope *scope)
{
    const size_t rows = scope->client_count;
    const size_t end = sizeof budget_columns / sizeof budget_columns[0] * rows;
    struct budget_view budget;
    for (; *at < end && most > 0; ++*at, most--) {
        const size_t column = *at / rows;
        const client_id client = (client_id)(*at % rows);
        if (client == 0)
            metrics_head(out, budget_columns[column].name, "gauge", budget_columns[column].help);
        if (budgets->budget_of(budgets->context, client, &budget))
            write_budget(out, column, scope->names->client_name(scope->names->context, client),
                         &budget);
    }
    return *at < end;
}
