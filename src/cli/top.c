#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/remote_key.h"
#include "cli/show.h"
#include "cli/top_feed.h"
#include "cli/top_lines.h"
#include "cli/watch.h"

#include <inttypes.h>
#include <sysexits.h>
#include <time.h>
#include <yyjson.h>

#define BAR_COLUMNS 30
#define ERRORS_SHOWN 4
#define FLIGHTS_SHOWN 10
/* Lines of the screen for flights, and half of them where there are few. */
#define FLIGHTS_KEPT 5
#define FEW_LINES 30
#define LINE_MAX_BYTES 1024
#define STEP_WORDS "second minute"

struct top {
    struct top_feed feed;
    struct watch watch;
};

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_GOOD, STYLE_BAD };

/* Adds a whole line in one style, cut to the width; a width of 0 cuts nothing. */
static void add_line(struct buf *out, unsigned width, enum style style, const char *text)
{
    static const char *const codes[] = {"", "\x1b[1m", "\x1b[32m", "\x1b[1;31m"};
    const bool is_styled = style != STYLE_PLAIN && width > 0 && term_has_color();
    if (is_styled)
        buf_add(out, slice_from(codes[style]));
    grid_add_cut(out, text, width == 0 ? LINE_MAX_BYTES : width);
    if (is_styled)
        buf_add(out, SLICE_OF("\x1b[0m"));
    buf_add_char(out, '\n');
}

/* Adds the text of a scratch buffer and empties it. */
static void add_gathered(struct buf *out, unsigned width, enum style style, struct buf *line)
{
    buf_add_char(line, '\0');
    add_line(out, width, style, buf_slice(line).data);
    buf_reset(line);
}

/* ---- the head ---------------------------------------------------------------------------- */

static void add_title(const struct top *top, struct buf *out, unsigned width, struct buf *line)
{
    const time_t now = time(NULL);
    struct tm date;
    char clock[16];
    (void)localtime_r(&now, &date);
    (void)strftime(clock, sizeof clock, "%H:%M:%S", &date);
    buf_add(line, SLICE_OF("solvegate at "));
    show_add_url(line, top->feed.remote.url);
    buf_addf(line, ", %s", clock);
    if (top->feed.uptime_s > 0) {
        buf_add(line, SLICE_OF(", up "));
        show_add_seconds(line, (double)top->feed.uptime_s);
    }
    if (width > 0)
        buf_add(line, SLICE_OF("  (q quits)"));
    add_gathered(out, width, STYLE_BOLD, line);
    if (top->feed.trouble[0] != '\0') {
        buf_addf(line, "%s; trying on, this is what was last known", top->feed.trouble);
        add_gathered(out, width, STYLE_BAD, line);
    } else {
        buf_add_char(out, '\n');
    }
}

static void add_saved(struct buf *out, unsigned width, yyjson_val *root, struct buf *line)
{
    yyjson_val *const today = yyjson_obj_get(root, "today");
    const uint64_t free_count = show_number(today, "deduplicated");
    const uint64_t answered = free_count + show_number(today, "answered_api");
    if (answered == 0) {
        buf_add(line, SLICE_OF("saved      -        nothing was answered today"));
    } else {
        buf_addf(line, "saved      %.1f %%   today ",
                 100.0 * (double)free_count / (double)answered);
        show_add_count(line, free_count);
        buf_add(line, SLICE_OF(" of "));
        show_add_count(line, answered);
        buf_add(line, SLICE_OF(" answers cost nothing"));
    }
    add_gathered(out, width, STYLE_GOOD, line);
}

static void add_slots(struct buf *out, unsigned width, yyjson_val *now, struct buf *line)
{
    const uint64_t used = show_number(now, "slots_used");
    const uint64_t limit = show_number(now, "slots_limit");
    const uint64_t plan = show_number(now, "slots_plan");
    const bool is_cut = yyjson_get_bool(yyjson_obj_get(now, "slots_cut"));
    const uint64_t most = limit > 0 ? limit : 1;
    /* Rounded up, so that one slot in use is visible. */
    const uint64_t filled = used >= most ? BAR_COLUMNS : (used * BAR_COLUMNS + most - 1) / most;
    buf_add(line, SLICE_OF("slots      ["));
    for (uint64_t i = 0; i < BAR_COLUMNS; i++)
        buf_add_char(line, i < filled ? '#' : '.');
    buf_addf(line, "] %" PRIu64 " of %" PRIu64, used, limit);
    if (is_cut)
        buf_addf(line, " (cut: the vendor is busy, plan %" PRIu64 ")", plan);
    else if (plan > limit)
        buf_add(line, SLICE_OF(" (the plan is not known)"));
    add_gathered(out, width, STYLE_PLAIN, line);
}

static void add_flying(const struct top *top, struct buf *out, unsigned width, yyjson_val *now,
                       struct buf *line)
{
    const struct flight_list *const flights = &top->feed.flights;
    buf_add(line, SLICE_OF("in flight  "));
    show_add_count(line, show_number(now, "flights"));
    buf_add(line, SLICE_OF(" flights, "));
    show_add_count(line, show_number(now, "queued"));
    buf_add(line, SLICE_OF(" queued, "));
    show_add_count(line, show_number(now, "waiting"));
    buf_add(line, SLICE_OF(" requests waiting"));
    if (flights->count > 0) {
        buf_add(line, SLICE_OF(", oldest "));
        show_add_seconds(line, flights->rows[0].age);
    }
    add_gathered(out, width, STYLE_PLAIN, line);
}

static void add_health(struct buf *out, unsigned width, yyjson_val *now, struct buf *line)
{
    const bool is_open = strcmp(show_text(now, "breaker"), "closed") != 0;
    buf_add(line, SLICE_OF("breaker    "));
    show_add_clean(line, show_text(now, "breaker"));
    if (show_has(now, "breaker_cause")) {
        buf_add(line, SLICE_OF(" by "));
        show_add_clean(line, show_text(now, "breaker_cause"));
    }
    buf_add(line, SLICE_OF(", "));
    show_add_count(line, show_number(now, "letters"));
    buf_add(line, SLICE_OF(" dead letters, "));
    show_add_count(line, show_number(now, "solutions"));
    buf_add(line, SLICE_OF(" solutions in memory"));
    add_gathered(out, width, is_open ? STYLE_BAD : STYLE_PLAIN, line);
}

/* ---- rates ------------------------------------------------------------------------------- */

static void add_rates(struct grid *grid, const struct top_feed *feed, size_t looks)
{
    const double span = top_feed_span(feed, looks);
    if (span <= 0)
        grid_add(grid, "per second");
    else
        grid_addf(grid, "per second, %.0f s", span < 1 ? 1 : span);
    for (int i = 0; i < TOP_COUNTERS; i++) {
        const double rate = top_feed_rate(feed, (enum top_counter)i, looks);
        if (rate < 0)
            grid_add(grid, "-");
        else
            grid_addf(grid, rate < 99.95 ? "%.1f" : "%.0f", rate);
    }
}

static void add_rate_table(const struct top *top, struct buf *out, unsigned width, yyjson_val *root)
{
    static const struct grid_column columns[] = {
        {.title = "", .is_shrinking = true},
        {.title = "REQUESTS", .is_right = true},
        {.title = "FREE", .is_right = true},
        {.title = "PAID", .is_right = true},
        {.title = "FAILED", .is_right = true},
        {.title = "REFUSED", .is_right = true},
        {.title = "SUBMITS", .is_right = true, .drop = 1},
        {.title = "SOLVED", .is_right = true, .drop = 2},
    };
    const struct top_feed *const feed = &top->feed;
    struct grid grid;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    add_rates(&grid, feed, 1);
    if (feed->sample_count > 2)
        add_rates(&grid, feed, TOP_SAMPLES - 1);
    grid_add(&grid, "today");
    for (int i = 0; i < TOP_COUNTERS; i++)
        grid_add_number(&grid, show_number(yyjson_obj_get(root, "today"),
                                           top_counter_member((enum top_counter)i)));
    grid_write(&grid, out, width, SIZE_MAX);
    grid_close(&grid);
}

/* ---- errors ------------------------------------------------------------------------------ */

/* Seconds since a time like 2026-01-31T23:59:59.123Z; negative if it is not one. */
static double seconds_since(const char *text)
{
    struct tm date = {.tm_mday = 1};
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &date) == NULL)
        return -1;
    const double seconds = difftime(time(NULL), timegm(&date));
    return seconds < 0 ? 0 : seconds;
}

static bool is_small(struct term_size size)
{
    return size.lines > 0 && size.lines <= FEW_LINES;
}

static void add_errors(const struct top *top, struct buf *out, struct term_size size)
{
    static const struct grid_column columns[] = {
        {.title = "AGO", .is_right = true},
        {.title = "LETTER", .is_right = true, .drop = 1},
        {.title = "CLIENT", .cut = 16},
        {.title = "TYPE", .drop = 2},
        {.title = "CLASS"},
        {.title = "RECENT ERRORS", .is_shrinking = true},
    };
    yyjson_val *const letters = yyjson_obj_get(yyjson_doc_get_root(top->feed.letters), "letters");
    const size_t most = is_small(size) ? ERRORS_SHOWN / 2 : ERRORS_SHOWN;
    struct grid grid;
    yyjson_arr_iter iter;
    size_t count = 0;
    grid_init(&grid, columns, sizeof columns / sizeof columns[0]);
    (void)yyjson_arr_iter_init(letters, &iter);
    for (yyjson_val *one; count < most && (one = yyjson_arr_iter_next(&iter)) != NULL; count++) {
        grid_add_seconds(&grid, seconds_since(show_text(one, "created")));
        grid_add(&grid, show_text(one, "id"));
        grid_add(&grid, show_text(one, "client"));
        grid_add(&grid, show_text(one, "type"));
        grid_add(&grid, show_text(one, "class"));
        grid_add(&grid, show_text(one, "error"));
    }
    buf_add_char(out, '\n');
    if (count > 0)
        grid_write(&grid, out, size.columns, SIZE_MAX);
    else
        add_line(out, size.columns, STYLE_PLAIN, "no dead letters: no recent errors");
    grid_close(&grid);
}

/* ---- lines over time --------------------------------------------------------------------- */

/* How many lines the table of flights keeps: its titles and the oldest ones. */
static size_t kept_for_flights(const struct top *top, struct term_size size)
{
    const size_t all = top->feed.flights.count == 0 ? 0 : top->feed.flights.count + 1;
    const size_t most = is_small(size) ? FLIGHTS_KEPT / 2 + 1 : FLIGHTS_KEPT;
    return all < most ? all : most;
}

static void add_lines(const struct top *top, struct buf *out, struct term_size size, size_t used)
{
    const struct top_series *const series = &top->feed.series;
    const size_t wanted = top_lines_count(series, size.columns);
    const size_t kept = used + 1 + kept_for_flights(top, size);
    const size_t room = size.lines == 0 ? wanted : size.lines > kept ? size.lines - kept : 0;
    struct buf text;
    struct buf line;
    buf_init(&text, (size_t)TOP_LINES_MAX * LINE_MAX_BYTES);
    buf_init(&line, LINE_MAX_BYTES);
    top_lines_write(series, &text, size.columns, wanted < room ? wanted : room);
    struct slice rest = buf_slice(&text);
    while (rest.len > 0) {
        buf_add(&line, slice_take(&rest, '\n'));
        add_gathered(out, size.columns, STYLE_PLAIN, &line);
    }
    if (text.len > 0)
        buf_add_char(out, '\n');
    buf_close(&line);
    buf_close(&text);
}

/* ---- the whole --------------------------------------------------------------------------- */

static size_t count_lines(const struct buf *out)
{
    size_t lines = 0;
    for (size_t i = 0; i < out->len; i++)
        lines += out->data[i] == '\n' ? 1 : 0;
    return lines;
}

static void write_view(void *context, struct buf *out, struct term_size size)
{
    const struct top *top = context;
    yyjson_val *const root = yyjson_doc_get_root(top->feed.stats);
    yyjson_val *const now = yyjson_obj_get(root, "now");
    struct buf line;
    if (top->feed.remote.is_json) {
        buf_add(out, buf_slice(&top->feed.reply.body));
        buf_add_char(out, '\n');
        return;
    }
    buf_init(&line, LINE_MAX_BYTES);
    add_title(top, out, size.columns, &line);
    add_saved(out, size.columns, root, &line);
    add_slots(out, size.columns, now, &line);
    add_flying(top, out, size.columns, now, &line);
    add_health(out, size.columns, now, &line);
    buf_add_char(out, '\n');
    add_rate_table(top, out, size.columns, root);
    add_errors(top, out, size);
    if (!is_small(size)) /* what follows has a title of its own */
        buf_add_char(out, '\n');
    add_lines(top, out, size, count_lines(out) + 1);
    const size_t used = count_lines(out) + 1;
    const size_t room = size.lines == 0 ? FLIGHTS_SHOWN : size.lines > used ? size.lines - used : 0;
    if (top->feed.flights.count > 0 && room > 0)
        flight_list_write(&top->feed.flights, out, size.columns, room);
    if (size.lines == 0)
        buf_add_char(out, '\n');
    buf_close(&line);
}

static int update(void *context, bool is_first)
{
    struct top *top = context;
    return top_feed_update(&top->feed, &command_top, is_first);
}

/* Seconds or minutes. */
static bool press(void *context, int key)
{
    struct top *top = context;
    if (key != 'm' && key != 'M')
        return false;
    top_series_set_step(&top->feed.series, !top->feed.series.is_by_minute);
    return true;
}

static const struct cli_flag flags[] = {
    {.name = "step",
     .value_name = "NAME",
     .words = STEP_WORDS,
     .help = "what the bars show: the last minute by the second, or the last 24 hours by the "
             "minute (second)"},
    WATCH_FLAGS,
    REMOTE_FLAGS,
    {.name = NULL}};

static enum cli_result take_flag(const struct command *command, struct top *top,
                                 const struct cli_arg *arg)
{
    if (!cli_is_flag(arg, "step"))
        return watch_take_flag(command, &top->watch, arg);
    if (!cli_has_word(STEP_WORDS, arg->value))
        return cli_wrong_word(command, "step", arg->value, STEP_WORDS);
    top_series_set_step(&top->feed.series, strcmp(arg->value, "minute") == 0);
    return CLI_ARG;
}

static enum cli_result read_args(struct cli_args *args, struct top *top)
{
    struct cli_arg arg;
    enum cli_result result;
    while ((result = cli_next(args, &arg)) == CLI_ARG) {
        if (arg.flag == NULL)
            return cli_wrong_argument(args->command, arg.value);
        if (!remote_take_flag(&top->feed.remote, &arg))
            result = take_flag(args->command, top, &arg);
        if (result != CLI_ARG)
            return result;
    }
    return result;
}

static int run(struct cli_args *args)
{
    struct top top;
    top_feed_init(&top.feed);
    top.watch = (struct watch){.interval_ms = 1000,
                               .remote = &top.feed.remote,
                               .context = &top,
                               .update = update,
                               .write = write_view,
                               .press = press};
    int code;
    if (remote_open(args->command, &top.feed.remote, read_args(args, &top), &code))
        code = watch_run(&top.watch);
    top_feed_close(&top.feed);
    return code;
}

const struct command command_top = {
    .name = "top",
    .group = GROUP_WATCH,
    .summary = "Watch rates, slots, savings, the oldest flights and recent errors",
    .usage = "[--step NAME] [--interval DURATION] [--count N] [FLAGS]",
    .details = "On a terminal it redraws itself; q, Esc or Ctrl-C leave, the space bar looks at "
               "once. Elsewhere it prints one snapshot per interval, with --json one line of "
               "the statistics.\n"
               "The bars show requests, by whose work they were answered, flights, solve times, "
               "savings and slots: one column for each of the last seconds, or with the key m "
               "for the minutes of the last 24 hours, where a column that is more than one "
               "minute has the highest of them. Kinds of answers that did not occur are left "
               "out, and a small terminal shows only the first lines. Needs a key with scope "
               "admin.\n" REMOTE_KEY_HELP,
    .flags = flags,
    .run = run,
};
