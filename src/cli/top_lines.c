#include "cli/top_lines.h"

#include "cli/show.h"
#include "cli/spark.h"
#include "cli/term.h"

#include <yyjson.h>

/* Columns of a line's name, and of its figures behind the bars. */
#define NAME_COLUMNS 11
#define FIGURE_COLUMNS 19
#define USUAL_COLUMNS 80
#define POINTS_MAX 60
#define POINTS_MIN 10

void top_lines_close(struct top_lines *lines)
{
    yyjson_doc_free(lines->latest);
    yyjson_doc_free(lines->before);
    *lines = (struct top_lines){.latest = NULL};
}

/* ---- looking ----------------------------------------------------------------------------- */

static yyjson_doc *fetch(struct remote *remote, struct remote_reply *reply, const char *path)
{
    const struct remote_request request = {.method = "GET", .path = path, .timeout_s = 10};
    if (remote_send(remote, &request, reply) != REMOTE_ANSWERED || reply->status != 200)
        return NULL;
    return yyjson_read(buf_slice(&reply->body).data, reply->body.len, 0);
}

/* Is it the page before the newest, of the same run? Then it is complete and never changes. */
static bool is_before(const struct top_lines *lines)
{
    yyjson_val *const latest = yyjson_doc_get_root(lines->latest);
    yyjson_val *const before = yyjson_doc_get_root(lines->before);
    return before != NULL && show_number(before, "page") + 1 == show_number(latest, "page") &&
           strcmp(show_text(before, "run"), show_text(latest, "run")) == 0;
}

void top_lines_update(struct top_lines *lines, struct remote *remote, struct remote_reply *reply)
{
    yyjson_doc_free(lines->latest);
    lines->latest = fetch(remote, reply, "/v1/series");
    if (lines->latest == NULL || is_before(lines))
        return;
    yyjson_val *const root = yyjson_doc_get_root(lines->latest);
    const uint64_t page = show_number(root, "page");
    yyjson_doc_free(lines->before);
    lines->before = NULL;
    if (page == 0 || page <= show_number(root, "first_page"))
        return;
    char path[64];
    (void)snprintf(path, sizeof path, "/v1/series?page=%llu", (unsigned long long)page - 1);
    lines->before = fetch(remote, reply, path);
}

/* ---- values ------------------------------------------------------------------------------ */

struct window {
    const struct top_lines *lines;
    size_t count; /* the last so many points, the newest last */
};

static size_t points_of(const yyjson_doc *doc)
{
    yyjson_val *const root = doc == NULL ? NULL : yyjson_doc_get_root((yyjson_doc *)doc);
    const uint64_t points = show_number(root, "points");
    return points < POINTS_MAX ? (size_t)points : POINTS_MAX;
}

/* Without a terminal as on one of the usual width. */
static struct window window_of(const struct top_lines *lines, unsigned width)
{
    const unsigned columns = width == 0 ? USUAL_COLUMNS : width;
    const unsigned beside = NAME_COLUMNS + FIGURE_COLUMNS;
    const size_t room = columns < beside + POINTS_MIN ? POINTS_MIN : columns - beside;
    const size_t most = room < POINTS_MAX ? room : POINTS_MAX;
    const size_t known = points_of(lines->latest) + points_of(lines->before);
    return (struct window){.lines = lines, .count = known < most ? known : most};
}

/* The page and the index in it of a point of the window. */
static yyjson_val *page_at(const struct window *window, size_t at, size_t *index)
{
    const size_t newest = points_of(window->lines->latest);
    const size_t ago = window->count - 1 - at;
    const bool is_newest = ago < newest;
    const yyjson_doc *const doc = is_newest ? window->lines->latest : window->lines->before;
    *index = is_newest ? newest - 1 - ago : points_of(window->lines->before) - 1 - (ago - newest);
    return yyjson_doc_get_root((yyjson_doc *)doc);
}

static double value_at(const struct window *window, size_t at, const char *name)
{
    size_t index;
    yyjson_val *const page = page_at(window, at, &index);
    yyjson_val *const value = yyjson_arr_get(yyjson_obj_get(page, name), index);
    return yyjson_is_num(value) ? yyjson_get_num(value) : SPARK_UNKNOWN;
}

/* The share of answers that cost nothing, in percent; unknown while there are no answers. */
static double saved_at(const struct window *window, size_t at)
{
    static const char *const free_answers[] = {"answered_dedup_wait", "answered_dedup_cache",
                                               "answered_idempotent", "answered_pool"};
    const double paid = value_at(window, at, "answered_api");
    double saved = 0;
    if (paid < 0)
        return SPARK_UNKNOWN;
    for (size_t i = 0; i < sizeof free_answers / sizeof free_answers[0]; i++) {
        const double one = value_at(window, at, free_answers[i]);
        saved += one < 0 ? 0 : one;
    }
    return saved + paid > 0 ? 100 * saved / (saved + paid) : SPARK_UNKNOWN;
}

/* ---- lines ------------------------------------------------------------------------------- */

enum unit { UNIT_COUNT, UNIT_MS, UNIT_PERCENT };

struct line {
    const char *title;
    const char *name; /* of its array; NULL: the savings */
    enum unit unit;
};

/* The most telling first, since a small terminal shows only some. */
static const struct line all_lines[TOP_LINES] = {
    {"requests/s", "requests", UNIT_COUNT}, {"in flight", "flights", UNIT_COUNT},
    {"solve p95", "solve_p95_ms", UNIT_MS}, {"saved", NULL, UNIT_PERCENT},
    {"queued", "queued", UNIT_COUNT},       {"slots used", "slots_used", UNIT_COUNT},
    {"solve p50", "solve_p50_ms", UNIT_MS},
};

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
    double values[POINTS_MAX];
    for (size_t i = 0; i < window->count; i++)
        values[i] = line->name == NULL ? saved_at(window, i) : value_at(window, i, line->name);
    const double most = spark_most(values, window->count);
    buf_addf(out, "%-*s", NAME_COLUMNS, line->title);
    spark_add(out, values, window->count, line->unit == UNIT_PERCENT ? 100 : most, term_is_utf8());
    buf_add_char(out, ' ');
    add_figure(out, line->unit, last_known(values, window->count));
    if (most > 0 && line->unit != UNIT_PERCENT) {
        buf_add(out, SLICE_OF(", most "));
        add_figure(out, line->unit, most);
    }
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

/* Fills a letter for each point that has a mark; returns the kinds that occur as bits. */
static unsigned read_marks(const struct window *window, char letters[POINTS_MAX])
{
    unsigned seen = 0;
    memset(letters, ' ', POINTS_MAX);
    for (size_t at = 0; at < window->count; at++) {
        size_t index;
        yyjson_arr_iter iter;
        (void)yyjson_arr_iter_init(yyjson_obj_get(page_at(window, at, &index), "marks"), &iter);
        for (yyjson_val *mark; (mark = yyjson_arr_iter_next(&iter)) != NULL;)
            for (size_t kind = 0; kind < KINDS && show_number(mark, "point") == index; kind++)
                if (strcmp(show_text(mark, "what"), kinds[kind].what) == 0) {
                    letters[at] = kinds[kind].letter;
                    seen |= 1u << kind;
                }
    }
    return seen;
}

static void write_marks(const struct window *window, struct buf *out)
{
    char letters[POINTS_MAX];
    const unsigned seen = read_marks(window, letters);
    const char *comma = " ";
    buf_addf(out, "%-*s%.*s", NAME_COLUMNS, "marks", (int)window->count, letters);
    for (size_t kind = 0; kind < KINDS; kind++)
        if ((seen >> kind & 1) != 0) {
            buf_addf(out, "%s%s", comma, kinds[kind].words);
            comma = ", ";
        }
    buf_add_char(out, '\n');
}

static bool has_marks(const struct window *window)
{
    char letters[POINTS_MAX];
    return read_marks(window, letters) != 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

size_t top_lines_count(const struct top_lines *lines, unsigned width)
{
    const struct window window = window_of(lines, width);
    return window.count == 0 ? 0 : has_marks(&window) ? TOP_LINES + 1 : TOP_LINES;
}

void top_lines_write(const struct top_lines *lines, struct buf *out, unsigned width, size_t most)
{
    const struct window window = window_of(lines, width);
    if (window.count == 0 || most == 0)
        return;
    const bool is_marked = has_marks(&window) && most > 1;
    const size_t room = is_marked ? most - 1 : most;
    for (size_t i = 0; i < TOP_LINES && i < room; i++)
        write_line(&window, out, &all_lines[i]);
    if (is_marked)
        write_marks(&window, out);
}
