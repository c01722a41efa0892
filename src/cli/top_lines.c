#include "cli/top_lines.h"

#include "cli/show.h"
#include "cli/spark.h"
#include "cli/term.h"

#include <yyjson.h>

/* Columns of a line's name, and of its figures behind the bars. */
#define NAME_COLUMNS 13
#define FIGURE_COLUMNS 19
#define USUAL_COLUMNS 80
#define COLUMNS_MIN 10
/* Of seconds always 60 are known, after the first minute. */
#define SECONDS_MAX 60
/* A day, 10 minutes a column. */
#define COLUMNS_MAX 144
#define DAY_MINUTES 1440

/* ---- values ------------------------------------------------------------------------------ */

/* The last so many columns of so many points each. Their borders stay where they are when a point is added. */
struct window {
    const struct top_series *series;
    uint64_t first, last; /* points */
    unsigned each;        /* points a column */
    size_t columns;
};

/* How many minutes share a column, so that all of them have room. */
static unsigned minutes_each(size_t count, size_t room)
{
    static const unsigned steps[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 180};
    size_t at = 0;
    while (at + 1 < sizeof steps / sizeof steps[0] && (count + steps[at] - 1) / steps[at] > room)
        at++;
    return steps[at];
}

/* Without a terminal as on one of the usual width. */
static struct window window_of(const struct top_series *series, unsigned width)
{
    const unsigned shown = width == 0 ? USUAL_COLUMNS : width;
    const unsigned beside = NAME_COLUMNS + FIGURE_COLUMNS;
    const size_t most = series->is_by_minute ? COLUMNS_MAX : SECONDS_MAX;
    size_t room = shown < beside + COLUMNS_MIN ? COLUMNS_MIN : shown - beside;
    room = room < most ? room : most;
    struct window window = {.series = series, .each = 1};
    size_t count = top_series_count(series);
    if (count == 0)
        return window;
    if (series->is_by_minute) {
        count = count < DAY_MINUTES ? count : DAY_MINUTES;
        window.each = minutes_each(count, room);
    }
    window.last = top_series_last(series);
    const uint64_t all = window.last / window.each - (window.last + 1 - count) / window.each + 1;
    window.columns = all < room ? (size_t)all : room;
    const uint64_t border = (window.last / window.each + 1 - window.columns) * window.each;
    window.first = border > window.last + 1 - count ? border : window.last + 1 - count;
    return window;
}

/* The first point of a column, and that of the next one. */
static void bounds_of(const struct window *window, size_t column, uint64_t *from, uint64_t *to)
{
    const uint64_t place = window->last / window->each + 1 - window->columns + column;
    *from = place * window->each > window->first ? place * window->each : window->first;
    *to =
        (place + 1) * window->each <= window->last ? (place + 1) * window->each : window->last + 1;
}

/* The highest of the column's points; unknown if all are. */
static double value_at(const struct window *window, size_t column, const char *name)
{
    double most = SPARK_UNKNOWN;
    uint64_t from;
    uint64_t to;
    bounds_of(window, column, &from, &to);
    for (uint64_t point = from; point < to; point++) {
        const double value = top_series_value(window->series, point, name);
        most = value > most ? value : most;
    }
    return most;
}

/* The column's points together. */
static double sum_at(const struct window *window, size_t column, const char *name)
{
    double sum = 0;
    uint64_t from;
    uint64_t to;
    bounds_of(window, column, &from, &to);
    for (uint64_t point = from; point < to; point++) {
        const double value = top_series_value(window->series, point, name);
        sum += value > 0 ? value : 0;
    }
    return sum;
}

/* The share of answers that cost nothing, in percent; unknown while there are no answers. */
static double saved_at(const struct window *window, size_t column)
{
    static const char *const free_answers[] = {"answered_dedup_wait", "answered_dedup_cache",
                                               "answered_idempotent", "answered_pool"};
    const double paid = sum_at(window, column, "answered_api");
    double saved = 0;
    for (size_t i = 0; i < sizeof free_answers / sizeof free_answers[0]; i++)
        saved += sum_at(window, column, free_answers[i]);
    return saved + paid > 0 ? 100 * saved / (saved + paid) : SPARK_UNKNOWN;
}

/* ---- lines ------------------------------------------------------------------------------- */

enum unit { UNIT_COUNT, UNIT_MS, UNIT_PERCENT };

struct line {
    const char *title;
    const char *name; /* of its array; NULL: the savings */
    enum unit unit;
    bool is_rare; /* has no line where it is nothing but zeros */
};

/* The most telling first, since a small terminal shows only some: requests, and by whose work they were answered. */
static const struct line all_lines[] = {
    {"requests", "requests", UNIT_COUNT, false},
    {"own solve", "answered_api", UNIT_COUNT, true},
    {"joined", "answered_dedup_wait", UNIT_COUNT, true},
    {"from memory", "answered_dedup_cache", UNIT_COUNT, true},
    {"idempotent", "answered_idempotent", UNIT_COUNT, true},
    {"from a pool", "answered_pool", UNIT_COUNT, true},
    {"failed", "failed", UNIT_COUNT, true},
    {"refused", "rejected", UNIT_COUNT, true},
    {"in flight", "flights", UNIT_COUNT, false},
    {"solve p95", "solve_p95_ms", UNIT_MS, false},
    {"saved", NULL, UNIT_PERCENT, false},
    {"queued", "queued", UNIT_COUNT, false},
    {"slots used", "slots_used", UNIT_COUNT, false},
    {"solve p50", "solve_p50_ms", UNIT_MS, false},
};
#define LINES (sizeof all_lines / sizeof all_lines[0])
_Static_assert(LINES + 2 <= TOP_LINES_MAX, "with the title and the marks");

static void read_values(const struct window *window, const struct line *line,
                        double values[COLUMNS_MAX])
{
    for (size_t i = 0; i < window->columns; i++)
        values[i] = line->name == NULL ? saved_at(window, i) : value_at(window, i, line->name);
}

static bool is_shown(const struct window *window, const struct line *line)
{
    double values[COLUMNS_MAX];
    if (!line->is_rare)
        return true;
    read_values(window, line, values);
    return spark_most(values, window->columns) > 0;
}

static void add_figure(struct buf *out, enum unit unit, double value)
{
    if (value < 0)
        buf_add_char(out, '-');
    else if (unit == UNIT_MS)
        show_add_seconds(out, value / 1000);
    else if (unit == UNIT_PERCENT)
        buf_addf(out, "%.0f%%", value);
    else
        show_add_count(out, (uint64_t)value);
}

/* The newest value that is known: there is not a solve in every second. */
static double last_known(const double *values, size_t count)
{
    while (count > 0 && values[count - 1] < 0)
        count--;
    return count == 0 ? SPARK_UNKNOWN : values[count - 1];
}

static void write_line(const struct window *window, struct buf *out, const struct line *line)
{
    double values[COLUMNS_MAX];
    read_values(window, line, values);
    const double most = spark_most(values, window->columns);
    buf_addf(out, "%-*s", NAME_COLUMNS, line->title);
    spark_add(out, values, window->columns, line->unit == UNIT_PERCENT ? 100 : most,
              term_is_utf8());
    buf_add_char(out, ' ');
    add_figure(out, line->unit, last_known(values, window->columns));
    if (most > 0 && line->unit != UNIT_PERCENT) {
        buf_add(out, SLICE_OF(", most "));
        add_figure(out, line->unit, most);
    }
    buf_add_char(out, '\n');
}

/* ---- the title --------------------------------------------------------------------------- */

/* What a column is, and how far back they go; on a terminal also the key for the other ones. */
static void write_title(const struct window *window, struct buf *out, unsigned width)
{
    const bool is_by_minute = window->series->is_by_minute;
    const unsigned points = window->columns == 0 ? 0 : (unsigned)(window->last + 1 - window->first);
    if (!is_by_minute)
        buf_addf(out, "by the second, the last %u s", points);
    else if (points == 0)
        buf_add(out, SLICE_OF("by the minute, none is over yet"));
    else if (window->each == 1)
        buf_addf(out, "by the minute, the last %u min", points);
    else
        buf_addf(out, "the highest minute of each %u, the last %u h", window->each,
                 (points + 30) / 60);
    if (width > 0)
        buf_addf(out, "  (m: the last %s)", is_by_minute ? "seconds" : "24 hours");
    buf_add_char(out, '\n');
}

/* ---- marks ------------------------------------------------------------------------------- */

/* A letter for each kind; a kind that is not known here is a question mark. */
static const struct {
    const char *what;
    char letter;
    const char *words;
} kinds[] = {
    {"breaker_opened", 'O', "O breaker opened"},
    {"breaker_closed", 'C', "C breaker closed"},
    {"reloaded", 'R', "R reloaded"},
    {"started", 'S', "S started"},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* Fills a letter for each column that has a mark; returns the kinds that occur as bits. */
static unsigned read_marks(const struct window *window, char letters[COLUMNS_MAX])
{
    unsigned seen = 0;
    memset(letters, ' ', COLUMNS_MAX);
    for (uint64_t point = window->first; point <= window->last; point++) {
        size_t index;
        yyjson_arr_iter iter;
        yyjson_val *const page = top_series_page(window->series, point, &index);
        const uint64_t column =
            point / window->each + window->columns - 1 - window->last / window->each;
        (void)yyjson_arr_iter_init(yyjson_obj_get(page, "marks"), &iter);
        for (yyjson_val *mark; (mark = yyjson_arr_iter_next(&iter)) != NULL;)
            for (size_t kind = 0; kind < KINDS && show_number(mark, "point") == index; kind++)
                if (strcmp(show_text(mark, "what"), kinds[kind].what) == 0) {
                    letters[column] = kinds[kind].letter;
                    seen |= 1u << kind;
                }
    }
    return seen;
}

static void write_marks(const struct window *window, struct buf *out)
{
    char letters[COLUMNS_MAX];
    const unsigned seen = read_marks(window, letters);
    const char *comma = " ";
    buf_addf(out, "%-*s%.*s", NAME_COLUMNS, "marks", (int)window->columns, letters);
    for (size_t kind = 0; kind < KINDS; kind++)
        if ((seen >> kind & 1) != 0) {
            buf_addf(out, "%s%s", comma, kinds[kind].words);
            comma = ", ";
        }
    buf_add_char(out, '\n');
}

static bool has_marks(const struct window *window)
{
    char letters[COLUMNS_MAX];
    return window->columns > 0 && read_marks(window, letters) != 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

size_t top_lines_count(const struct top_series *series, unsigned width)
{
    const struct window window = window_of(series, width);
    size_t count = 1 + (has_marks(&window) ? 1 : 0);
    if (window.columns == 0)
        return series->is_by_minute ? 1 : 0;
    for (size_t i = 0; i < LINES; i++)
        count += is_shown(&window, &all_lines[i]) ? 1 : 0;
    return count;
}

void top_lines_write(const struct top_series *series, struct buf *out, unsigned width, size_t most)
{
    const struct window window = window_of(series, width);
    const bool is_marked = has_marks(&window) && most > 2;
    size_t room = most < 2 || window.columns == 0 ? 0 : most - 1 - (is_marked ? 1 : 0);
    if (room == 0 && !(series->is_by_minute && most > 0)) /* a title alone says nothing else */
        return;
    write_title(&window, out, width);
    for (size_t i = 0; i < LINES && room > 0; i++) {
        if (!is_shown(&window, &all_lines[i]))
            continue;
        write_line(&window, out, &all_lines[i]);
        room--;
    }
    if (is_marked)
        write_marks(&window, out);
}
